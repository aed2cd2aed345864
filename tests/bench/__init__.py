"""Speed, as ratios measured in one process; `make bench` prints them.

A section is a module of this package with `measure() -> list[Figure]`, named in `SECTIONS` or
`ON_DEMAND`.
"""

from tests.bench.figures import Figure, interleaved, ratio

# Modules whose `measure()` is called, in this order.
SECTIONS = [
    "tests.bench.kernel",
    "tests.bench.check",
    "tests.bench.dataflow",
    "tests.bench.chains",
    "tests.bench.spark",
    "tests.bench.report",
]

# The same, but only measured where they are named: they take minutes.
ON_DEMAND = ["tests.bench.scale"]

__all__ = ["ON_DEMAND", "SECTIONS", "Figure", "interleaved", "ratio"]
