"""Measure the share of planted faults that exploring or tests convict: `make mutants`.

Every fault is explored for at most `--seconds` of the processor, first on the scenarios that are
known to run its lines.  The tests of its core are tried on what survives that.  Results are kept,
so that an interrupted measurement continues where it was.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from tests.mutation import survivors
from tests.mutation.measure import LINKS, Result, chosen, results
from tests.mutation.operators import ROOT, Fault
from tests.mutation.reach import reach_of

OUT = ROOT / "out" / "mutants"


def main(words: Sequence[str]) -> int:
    """Measure, print the shares and what survived."""
    arguments = _parsed(words)
    faults = chosen(arguments.core, arguments.files, arguments.sample, arguments.seed)
    if arguments.list:
        print("\n".join(str(fault) for fault in faults))
        return 0
    links = dict.fromkeys(link for fault in faults for link in LINKS[fault.core])
    reaches = {link: reach_of(link, OUT, seconds=arguments.reach_seconds) for link in links}
    found = results(
        faults,
        reaches,
        seconds=arguments.seconds,
        seed=arguments.seed,
        jobs=arguments.jobs,
        kept=arguments.resume or OUT / "results.jsonl",
        progress=_tell,
    )
    print(_report(faults, found, entries=arguments.entries))
    return 0


def _parsed(words: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.mutation", description=__doc__)
    parser.add_argument("--sample", type=int, help="how many faults; by default all")
    parser.add_argument(
        "--core", action="append", default=[], choices=sorted(LINKS), help="a package of models"
    )
    parser.add_argument("--files", default="", help="files below models that begin so")
    parser.add_argument("--seconds", type=float, default=60.0, help="of work, for each fault")
    parser.add_argument(
        "--reach-seconds", type=float, default=60.0, help="to learn what scenarios reach, per link"
    )
    parser.add_argument("--seed", type=int, default=0, help="of the sample and of exploring")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--resume", type=Path, help="where results are kept")
    parser.add_argument("--list", action="store_true", help="print the faults and try none")
    parser.add_argument(
        "--entries", action="store_true", help="print survivors as entries of survivors.toml"
    )
    return parser.parse_args(words)


def _tell(result: Result) -> None:
    if not sys.stderr.isatty():
        return
    file, function, operator, *_ = result.key
    print(f"{result.broken or 'survived'}: {file} {function}: {operator}", file=sys.stderr)


def _report(faults: Sequence[Fault], found: Sequence[Result], *, entries: bool) -> str:
    reasons = survivors.read()
    lines = [f"{'core':14}{'faults':>8}{'convicted':>11}{'share':>8}{'explained':>11}"]
    whole = list(zip(faults, found, strict=True))
    for core in [*sorted({fault.core for fault in faults}), "in all"]:
        here = [(f, result) for f, result in whole if core in (f.core, "in all")]
        convicted = sum(result.convicted for _, result in here)
        known = sum(not result.convicted and f.key in reasons for f, result in here)
        share = f"{convicted / len(here):.1%}" if here else "-"
        lines.append(f"{core:14}{len(here):8}{convicted:11}{share:>8}{known:11}")
    by = Counter(result.broken for result in found if result.broken)
    lines += ["", "convicted by"]
    lines += [f"  {count:5} {name}" for name, count in by.most_common()]
    lines += ["", "survivors"]
    for fault, result in whole:
        if result.convicted:
            continue
        reason = reasons.get(fault.key)
        if entries:
            lines += ["" if reason else survivors.entry(fault) + "\n"]
            continue
        why = f"{reason.kind}: {reason.says}" if reason else "no reason is known"
        lines.append(f"  {fault}\n      {'' if result.reached else 'not reached; '}{why}")
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
