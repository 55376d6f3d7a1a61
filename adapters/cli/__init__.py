"""The command `semel`: one module for each group of commands; heavy imports wait until a command runs."""
