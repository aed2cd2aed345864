"""Spark as sweeps use it: its session, the Java below it, the program shipped to its workers."""
