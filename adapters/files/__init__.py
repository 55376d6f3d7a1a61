"""Files that people write: rules, scenarios, types; read with the place of everything in them."""
