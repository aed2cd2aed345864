"""The kernel alone: everything in it is checked without the rest of the project."""
