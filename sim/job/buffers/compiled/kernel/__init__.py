"""The functions that the compiled driver consists of, and the tables on which they work."""
