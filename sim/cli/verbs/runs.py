"""`run`, `replay` and `why`: one run, its story, and the cause of a slow checkpoint."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from ckptsim._api.runs.ran import RunResult
from ckptsim._api.runs.verbs import ran, retold
from ckptsim.scenarios import UserError
from ckptsim.scenarios.job import Job
from ckptsim.sim.blame import OUTCOME_RAISED
from ckptsim.sim.cli.options import (
    ALLOW_COMMANDS,
    HOW_MUCH,
    LIKE_OURS,
    SEED,
    SUBJECT,
    Verb,
    default_folder,
    flag,
    json_of,
    limits,
    option,
    output_file,
    output_folder,
    positive,
)
from ckptsim.sim.cli.printing import document_text, show
from ckptsim.sim.cli.progress import SimulatedTime
from ckptsim.sim.cli.subject import kept_of, source_of, subject_of
from ckptsim.sim.extras import ExtraMissing, extras_explained
from ckptsim.sim.infer.advice.budget import shortened
from ckptsim.sim.kernel import Environment
from ckptsim.sim.limits import Limits, limited
from ckptsim.sim.run_spec import prefer_processes
from ckptsim.sim.why import is_traced_at_ease


def _run(arguments: argparse.Namespace) -> int:
    """Run once, print what came of it. A violation that is not expected is exit code 1."""
    subject = subject_of(arguments)
    words, notes = shortened(subject.scenario, full=arguments.full, quick=arguments.quick)
    if words:
        arguments.set += [f"{path}={json.dumps(value)}" for path, value in words.items()]
        subject = subject_of(arguments)
    _check_store(arguments.store)
    model = subject.scenario.model
    explained = isinstance(model, Job) and is_traced_at_ease(model)
    bounds = Limits(seconds=arguments.run_timeout, memory_bytes=arguments.run_memory)
    with SimulatedTime(getattr(model, "duration_ns", None)) as clock, limited(bounds):

        def began(env: Environment) -> None:
            prefer_processes(env)
            clock.watch(env)

        keep_trace = explained or arguments.store is not None or arguments.view is not None
        found = ran(subject, arguments.seed, arguments.ties, keep_trace=keep_trace, began=began)
    raised = found.run.outcome == OUTCOME_RAISED
    kept = None if raised or arguments.store is None else _keep(arguments.store, found)
    if arguments.json:
        more = {"store": kept, "notes": notes}
        print(document_text(found.to_dict() | {name: one for name, one in more.items() if one}))
        return int(found.failed)
    print("\n\n".join([found.text, *notes]))
    if arguments.view is not None:
        from ckptsim._api.runs.causes import View
        from ckptsim.analysis.viewer import view_of_run

        page = View(documents=[view_of_run(subject, found)])
        print(f"\nwritten: {page.save(arguments.view)}, a page in which you walk through the run")
    if kept is not None:
        where = f"\nkept in {arguments.store}: {len(kept)} partitions"
        print(f"{where}; `ckptsim store FILE` lists them")
    return int(found.failed)


def _check_store(path: Path | None) -> None:
    """Refuse a place for a store before the run. Raises StoreFileError or UserError."""
    if path is None:
        return
    from ckptsim.sim.store.real import RunStore, checked_path

    checked_path(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        expected = "a file in a folder that is there or can be made"
        raise UserError(
            f"--store: found {str(path)!r} ({error.strerror}), expected {expected}"
        ) from error
    if path.exists():
        RunStore(path).close()


def _keep(path: Path, found: RunResult) -> list[str]:
    """Keep a run in a store file. Return the partitions that were written."""
    from ckptsim.sim.store.real import RunStore

    with RunStore(path) as store:
        return [str(key) for key in store.keep(found)]


def _replay(arguments: argparse.Namespace) -> int:
    kept = kept_of(arguments)
    subject = subject_of(arguments) if kept is None else kept.subject
    how = arguments if kept is None else kept
    found = retold(
        subject, seed=how.seed, ties=how.ties, checkpoint=arguments.checkpoint, kept=kept
    )
    key = found.result.run.run_key[:12]
    folder = arguments.out or default_folder(Path("out", "replay", key))
    for name in ("barriers", "pending"):
        try:
            with extras_explained():
                drawn = getattr(found, name)
            found.files.update({} if drawn is None else {f"{name}.svg": drawn})
        except ExtraMissing as missing:  # all else can be told without it
            print(f"{name}.svg is not drawn: {missing}", file=sys.stderr)
    found.save(folder)
    files = [str(folder / name) for name in found.files]
    if arguments.json:
        print(document_text(found.to_dict() | {"files": files}))
    else:
        print(found.told(arguments.lines))
        print(f"written: {', '.join(files)}")
        print("the traces are for ui.perfetto.dev, Mermaid and ShiViz")
    return int(found.failed)


def _why(arguments: argparse.Namespace) -> int:
    from ckptsim._api.runs.causes import cause_of

    target, source = _target(arguments.target), source_of(arguments)
    found = cause_of(source, target, seed=arguments.seed, ties=arguments.ties)
    return show(found, as_json=arguments.json)


def _target(words: list[str]) -> int | str:
    """Return a number, `recovery N`, `expired`, `failed` or `slowest`. Raises UserError."""
    text = " ".join(words)
    kind, _, number = text.partition(" ")
    if text.isascii() and text.isdigit():
        return int(text)
    if kind == "recovery" and (not number or number.isdigit()):
        return text
    if text in ("", "expired", "failed", "slowest"):
        return text or "slowest"
    expected = "a checkpoint's number, `recovery N`, `expired`, `failed` or nothing"
    raise UserError(f"target: found {text!r}, expected {expected}")


VERBS = {
    "run": Verb(
        run=_run,
        options=(
            *SUBJECT,
            *SEED,
            *HOW_MUCH,
            *limits("ends with an error"),
            json_of("the result"),
            option(
                "--store",
                "keep the run, its checkpoints and what its store held in a DuckDB file",
                "FILE",
                output_file,
            ),
            option("--view", "write a page in which you walk through the run", "FILE", output_file),
        ),
        examples="""examples:
  ckptsim run reference
  ckptsim run back_pressure_aligned --view run.html
  ckptsim run reference --seed 7 --ties random
  ckptsim run mine.toml --quick                # a few checkpoints of a job that runs for long
  ckptsim run reference --set sync.sockets.count=4 --json
  ckptsim run pipeline --store out/runs.duckdb
  ckptsim run mine.toml --run-timeout "30 s" --run-memory "2 GiB"
  ckptsim run alignment_timeout --core handler=my_module:make --core coordinator=my_module:other""",
    ),
    "replay": Verb(
        run=_replay,
        options=(
            *SUBJECT,
            LIKE_OURS,
            *SEED,
            option("--checkpoint", "tell the story of this checkpoint only", "[SCOPE/]INDEX"),
            ALLOW_COMMANDS,
            option(
                "--lines",
                "print at most so many lines of the story; its file has all (default 120)",
                type_=positive,
                default=120,
            ),
            option("--out", "where the pictures go (out/replay/RUN_KEY)", "DIR", output_folder),
            json_of("story and files"),
        ),
        examples="""examples:
  ckptsim replay reference --seed 7
  ckptsim replay reference --seed 7 --ties random --checkpoint users/3
  ckptsim replay pipeline --checkpoint job/2
  ckptsim replay alignment_timeout --checkpoint 3   # also draws its barriers: barriers.svg
  ckptsim replay out/hunt/reference-releases_without_gaps   # what `hunt` has written
  ckptsim replay my_scenario.toml --mutant arrival_order --out pictures""",
    ),
    "why": Verb(
        run=_why,
        options=(
            *SUBJECT,
            option(
                "target",
                "what to explain; default: the slowest checkpoint, or why none completed",
                "CHECKPOINT|recovery N|expired|failed",
                nargs="*",
            ),
            *SEED,
            ALLOW_COMMANDS,
            flag("--json", "print cause, path and remedies"),
        ),
        examples="""examples:
  ckptsim why back_pressure_aligned 3
  ckptsim why job.toml                # the slowest checkpoint, or why none completed
  ckptsim why job.toml expired
  ckptsim why job.toml recovery 1 --seed 7
  ckptsim why orders 17               # a recording: a folder of `capture`, or a shipped one
  ckptsim why out/hunt/reference-releases_without_gaps --json
exit codes: 0 done, 2 no such scenario, recording, checkpoint or recovery""",
    ),
}
