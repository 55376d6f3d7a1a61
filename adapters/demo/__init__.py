"""A made-up coworking space for `semel demo`: its history, its rules, and a door system with a fault."""
