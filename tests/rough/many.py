"""Many accepted scenarios in pieces: `python -m tests.rough.many FIRST COUNT [SIZE]`.

Each piece has a number, from which its SIZE scenarios (default 100) are drawn, so that pieces can
run one after the other, apart, or again.  It prints how many ended with which exit code, and every
scenario that ended in a fault of ours.
"""

from __future__ import annotations

import sys

from hypothesis import given, seed, settings

from tests.rough.mutants import Document, accepted
from tests.rough.test_runs import CODES, SETTINGS, ends_by_itself


def piece(number: int, size: int) -> list[str]:
    """Run the scenarios of a piece.

    Return the notified news of those that ended in a fault of ours.
    """
    wrong: list[str] = []

    @seed(number)
    @settings(SETTINGS, max_examples=size, derandomize=False)
    @given(document=accepted())
    def run(document: Document) -> None:
        try:
            ends_by_itself(document)
        except AssertionError as error:
            wrong.append(str(error))

    run()
    return wrong


def main(words: list[str]) -> int:
    """Run pieces and print what came of them. Returns 1 if any scenario ended in a fault."""
    first, count, size = (*map(int, words), 100)[:3]
    wrong: list[str] = []
    for number in range(first, first + count):
        found = piece(number, size)
        wrong += found
        so_far = dict(sorted(CODES.items()))
        print(f"piece {number}: {len(found)} faults; so far {so_far}", flush=True)
    print(*wrong, sep="\n\n")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
