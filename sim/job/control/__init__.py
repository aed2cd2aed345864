"""Hosts of the cores of a job: each carries out one core's effects, on whichever data plane.

A host gets what it uses: its core, a port to the data plane (`ckptsim.sim.job.port`) and the hosts
next to it.  It knows no world, so a test drives it with a port of its own.
"""
