"""Print every section's figures: `python -m tests.bench [SECTION ...]`."""

from __future__ import annotations

import platform
import sys
from importlib import import_module

from tests.bench import ON_DEMAND, SECTIONS, Figure


def main(names: list[str]) -> int:
    """Measure the sections that are named, or all that are quick, and print as they come."""
    print(f"Python {platform.python_version()}, {platform.machine()}; CPU time, medians of rounds")
    missed = 0
    for name in [*SECTIONS, *ON_DEMAND]:
        short = name.rpartition(".")[2]
        if short not in names and (names or name in ON_DEMAND):
            continue
        print(f"\n{short}")
        figures: list[Figure] = import_module(name).measure()
        for figure in figures:
            print(figure)
            missed += not figure.met
    print(f"\n{missed} bar(s) missed" if missed else "\nevery bar is met")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
