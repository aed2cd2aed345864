"""A found violation as a folder: everything that repeats and explains it, and nothing else needed.

`scenario.toml` and `decisions.json` (seed, tie policy, cores, mutant, what broke, the digest)
repeat the run. `test_find.py` is the same for pytest, failing while the property breaks. The story
and the pictures explain it.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from ckptsim.scenarios import UserError
from ckptsim.scenarios.dialect import shown, too_long
from ckptsim.scenarios.files import alone_in, load, loads, to_toml, written_whole
from ckptsim.sim.export import STORY, pictures
from ckptsim.sim.judging import Judging
from ckptsim.sim.kernel import parse_ties
from ckptsim.sim.rows import RunResult, ViolationRow
from ckptsim.sim.search.stories import stories
from ckptsim.sim.search.trial import Subject
from ckptsim.sim.world import load_world

SCENARIO = "scenario.toml"
DECISIONS = "decisions.json"
ALLOW = "--allow-commands"  # has `replay` start the commands that a folder names
TEST = "test_find.py"

_TEST = '''"""{says}

Fails while that is so; run it with pytest, where the package ckptsim{cores_too} can be imported.
"""

from pathlib import Path

import ckptsim

SCENARIO = Path(__file__).with_name("{scenario}")


def test_{name}():
    result = ckptsim.run(
        SCENARIO,
        seed={seed},
        ties={ties!r},
        cores={cores!r},
        mutant={mutant!r},
        rules={rules},
        like_ours={like_ours},
    {more})
    rows = [row for row in result.violations if row.property == {property!r}]
    assert not rows, "\\n".join([rows[0].says, rows[0].story])
'''


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """What a folder repeats. property, says, digest: what broke, and the digest of the run."""

    subject: Subject
    seed: int
    ties: str
    property: str
    says: str
    digest: str


def slug(name: str) -> str:
    """Return what names files and tests of a property: of a user's, its function."""
    return name.rpartition(":")[2].replace(".", "_")


def is_find(path: Path) -> bool:
    """Return whether a path is a folder that `keep` has written."""
    return (path / DECISIONS).is_file()


def keep(
    folder: Path,
    subject: Subject,
    *,
    seed: int,
    ties: str,
    name: str,
    beside: bool = True,
    pages: Callable[[Kept, RunResult], Mapping[str, str]] | None = None,
) -> ViolationRow:
    """Run a subject once more, write the folder, and return the violation with its story.

    name: the property that breaks.  beside: tell the story beside the nearest run that holds, for
    which some more runs are made.  pages: makes further files of the run, which has its trace and
    its story, by name.  Files of other names in the folder are left alone.
    Raises ValueError when the run does not break it.
    """
    subject = replace(subject, source=str(folder), parameters="{}")
    scenario = replace(
        subject.scenario,
        says=f"the smallest scenario found that breaks {name}",
        violates=(),
        goals=(),
    )
    # Run as it will be read again: the file is everything that is shared.
    text = to_toml(scenario)
    subject = replace(subject, scenario=loads(text, source=str(folder / SCENARIO)))
    result = subject.run(seed, ties, keep_trace=True)
    result.violations = [row for row in result.violations if row.property == name]
    rows = stories(subject, result, beside=beside)
    if not rows:
        raise ValueError(f"{folder}: the run does not break {name}")
    row = replace(rows[0], replay=shlex.join(["ckptsim", "replay", str(folder)]) + _leave(subject))
    result.violations = [row]
    files = {SCENARIO: text} | _texts(subject, result, row)
    if pages is not None:
        found = Kept(
            subject=subject,
            seed=seed,
            ties=ties,
            property=row.property,
            says=row.says,
            digest=result.run.digest,
        )
        files |= pages(found, result)
    with alone_in(folder):
        # Without its decisions a folder is no find: they go first and come last.
        (folder / DECISIONS).unlink(missing_ok=True)
        for file in sorted(files, key=lambda file: file == DECISIONS):
            written_whole(folder / file, files[file])
    return row


def _leave(subject: Subject) -> str:
    commands = any(name.startswith("process:") for name in subject.names.values())
    return f" {ALLOW}" if commands else ""


def _texts(subject: Subject, result: RunResult, row: ViolationRow) -> dict[str, str]:
    vocabulary = load_world(subject.scenario.world).VOCABULARY
    found = pictures(result.trace, vocabulary, subject.scenario, result)
    decisions = {
        "property": row.property,
        "says": row.says,
        "seed": result.run.seed,
        "ties": result.run.ties,
        "cores": subject.names,
        "mutant": subject.mutant,
        **subject.judging.document,
        "cut_after": subject.cut_after,
        "digest": result.run.digest,
        "version": result.run.version,
    }
    test = _TEST.format(
        says=f"{row.property}: {row.says}".replace("\\", "\\\\").replace('"', "'"),
        scenario=SCENARIO,
        name=slug(row.property),
        property=row.property,
        more=_judged(subject),
        seed=result.run.seed,
        ties=result.run.ties,
        cores=subject.names,
        mutant=subject.mutant,
        rules=bool(subject.watches),
        like_ours=subject.judging.like_ours,
        cores_too=" and the core" if subject.names else "",
    )
    whole = f"VIOLATED {row.property}: {row.says}\n\n{row.story}\n\nthe whole run:\n\n"
    return found | {
        STORY: whole + found[STORY],
        DECISIONS: json.dumps(decisions, indent=1) + "\n",
        TEST: test,
    }


def _judged(subject: Subject) -> str:
    given = subject.judging.document
    names = ("ignore", "properties")
    return "".join(f"    {name}={given[name]!r},\n    " for name in names if given[name])


def read(folder: Path) -> Kept:
    """Return what a folder repeats. Raises UserError for a missing or foreign file."""
    path, text = folder / DECISIONS, ""
    try:
        text = path.read_text(encoding="utf-8")
        found = json.loads(text)
    except (OSError, UnicodeDecodeError, ValueError, RecursionError) as error:
        number = too_long(error, text) if isinstance(error, ValueError) else None
        raise UserError(f"{path}: cannot be read as decisions: {number or error}") from error
    kinds = {"property": str, "says": str, "seed": int, "ties": str, "digest": str, "cores": dict}
    for key, kind in kinds.items():
        value = found.get(key) if isinstance(found, dict) else None
        if type(value) is not kind:
            raise UserError(f"{path}: {key}: found {value!r}, expected {kind.__name__}")
    mutant, cores = found.get("mutant"), found["cores"]
    for key, value in (*cores.items(), ("mutant", mutant)):
        if not isinstance(value, str) and (key, value) != ("mutant", None):
            raise UserError(f"{path}: {key}: found {shown(value)}, expected a name")
    cut_after = found.get("cut_after")
    if cut_after is not None and type(cut_after) is not int:
        raise UserError(f"{path}: cut_after: found {shown(cut_after)}, expected int")
    judging = {name: found.get(name, []) for name in ("ignore", "properties")}
    for name, value in judging.items():
        if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
            raise UserError(f"{path}: {name}: found {shown(value)}, expected a list of names")
    try:
        parse_ties(found["ties"], found["seed"])
    except ValueError as error:
        raise UserError(f"{path}: {error}") from error
    return Kept(
        subject=Subject(
            scenario=load(folder / SCENARIO),
            cores=cores,
            mutant=mutant,
            source=str(folder),
            judging=Judging(
                ignore=tuple(judging["ignore"]),
                properties=tuple(judging["properties"]),
                like_ours=found.get("like_ours") is True,
            ),
            cut_after=cut_after,
        ),
        seed=found["seed"],
        ties=found["ties"],
        property=found["property"],
        says=found["says"],
        digest=found["digest"],
    )
