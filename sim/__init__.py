"""The simulated world: SimPy kernel, drivers of the cores, properties, result rows, command line."""
