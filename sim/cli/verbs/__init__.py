"""The verbs of the command line: their options, and the calls of the Python API."""
