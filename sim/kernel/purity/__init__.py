"""Find in a program's source what makes a run depend on more than its seed.

Order of sets, hashes, ids, wall clock, global randomness: some of that the fence cannot catch while
a run continues, so it is looked for in the source.  `impurities(source)` reads one module.
"""

from ckptsim.sim.kernel.purity.check import impurities as impurities
