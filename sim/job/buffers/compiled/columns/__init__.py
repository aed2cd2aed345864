"""Columns of the tables in which the compiled driver keeps the data plane."""
