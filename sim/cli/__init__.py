"""The command line: the one place that joins all folders; each verb is a module of this package."""

from ckptsim.sim.cli.main import main

__all__ = ["main"]
