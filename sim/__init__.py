"""The simulated world: kernel, drivers of the cores, properties, result rows, command line."""
