"""Events from outside become facts here, once each."""
