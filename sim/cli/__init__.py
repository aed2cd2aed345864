"""The command line: the one place that joins all folders; each verb is a module of a folder here.

`runs` has the verbs that run scenarios and judge cores, `sweeps` those of sweeps and reports,
`jobs` those of real jobs, `stores` those of store files, `pages` those that explain.
"""

from ckptsim.sim.cli.main import main

__all__ = ["main"]
