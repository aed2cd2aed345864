"""The command line: each verb parses its options, calls the Python API and prints the result."""

from ckptsim.sim.cli.main import main as main
