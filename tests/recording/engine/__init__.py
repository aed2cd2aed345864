"""A real engine, started from a package of jars, to be recorded and compared with."""
