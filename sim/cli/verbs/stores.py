"""`store` and `measure-store`: the contents of a store file, and the costs of a store here."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from ckptsim._api.pages.stores import asked, measure_store, store
from ckptsim.scenarios import UserError
from ckptsim.scenarios.dialect import printable
from ckptsim.sim.cli.main import EXIT_FINE
from ckptsim.sim.cli.options import Verb, json_of, option, output_file, whole
from ckptsim.sim.cli.printing import document_text, show
from ckptsim.sim.cli.progress import ProgressBar

_OUT = "out/measure-store/costs.toml"


def _measure(arguments: argparse.Namespace) -> int:
    with ProgressBar("measuring") as bar:
        found = measure_store(
            folder=arguments.folder,
            repeats=arguments.repeats,
            rounds=arguments.rounds,
            progress=lambda _says, done, total: bar(done=done, total=total),
        )
    out = arguments.out
    try:
        found.save(out)
    except OSError as error:
        raise UserError(f"--out: cannot write {out}: {error.strerror}") from error
    if arguments.json:
        print(document_text(found.to_dict() | {"file": str(out)}))
    else:
        print(f"{found.text}\n\nwritten: {out}; try: ckptsim sweep store_knee --costs {out}")
    return EXIT_FINE


def _store(arguments: argparse.Namespace) -> int:
    """List the partitions of a store, or answer a question. A damaged checkpoint is exit code 1."""
    if arguments.sql is not None:
        names, rows = asked(arguments.file, arguments.sql)
        texts = [[_text(value) for value in row] for row in rows]
        if arguments.json:
            print(document_text([dict(zip(names, row, strict=True)) for row in texts]))
        else:
            print("\n".join(_columns([names, *texts])))
        return EXIT_FINE
    return show(store(arguments.file), as_json=arguments.json)


def _text(value: object) -> str | int | float | None:
    if value is None or isinstance(value, int | float | str):
        return value
    return value.decode(errors="backslashreplace") if isinstance(value, bytes) else str(value)


def _columns(rows: Sequence[Sequence[Any]]) -> Iterator[str]:
    texts = [[printable("" if value is None else str(value)) for value in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*texts, strict=True)]
    for row in texts:
        cells = [text.ljust(width) for text, width in zip(row, widths, strict=True)]
        yield "  ".join(cells).rstrip()


VERBS = {
    "measure-store": Verb(
        run=_measure,
        options=(
            option(
                "--out",
                f"where the costs are written, for --costs (default {_OUT})",
                "FILE",
                output_file,
                default=_OUT,  # a text: it is looked at like one that was given
            ),
            option(
                "--folder", "a folder on the disk to measure (default a temporary one)", type_=Path
            ),
            option(
                "--repeats",
                "of each small transaction in a round (default 30)",
                type_=whole(3, 10_000),
                default=30,
            ),
            option(
                "--rounds",
                "how often everything is measured; the medians of the rounds count (default 3)",
                type_=whole(1, 100),
                default=3,
            ),
            json_of("measurements and costs"),
        ),
        examples="""examples:
  ckptsim measure-store
  ckptsim run external_crashes --costs out/measure-store/costs.toml
  ckptsim sweep store_knee --costs out/measure-store/costs.toml
  ckptsim sweep store_placements --costs out/measure-store/costs.toml
  ckptsim measure-store --folder /data/stores --rounds 9 --out costs.toml --json""",
    ),
    "store": Verb(
        run=_store,
        options=(
            option("file", "a store file", "FILE", Path),
            option("--sql", "answer a question to `checkpoints`, `data` or `runs`", "QUESTION"),
            json_of("the contents"),
        ),
        examples="""examples:
  ckptsim store runs.duckdb
  ckptsim store runs.duckdb --sql "SELECT topic, part, position FROM checkpoints"
  ckptsim store orders.duckdb --json""",
    ),
}
