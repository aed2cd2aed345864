"""The command line: the one place that joins all folders; each verb is a module of this package."""

from sim.cli.main import main

__all__ = ["main"]
