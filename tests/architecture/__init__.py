"""The rules that the whole tree keeps, each proved first on a small tree that breaks it."""
