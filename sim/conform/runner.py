"""Read vector files, run each vector through the adapter of its suite, and compare."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar

from ckptsim.models.core import ProtocolError
from ckptsim.scenarios.dialect import suggestion, too_long
from ckptsim.scenarios.errors import UserError
from ckptsim.sim.conform.vocabulary import VocabularyError, check
from ckptsim.sim.slots import Factory
from ckptsim.sim.slots.guest import CORE_ANSWERS, CoreUnansweredError, answering
from ckptsim.sim.slots.process import CoreSilentError
from ckptsim.sim.slots.resolve import Choice, resolve

# What a vector leads to that passes the check of its words and makes no sense.
_ODD_VECTOR = (KeyError, TypeError, ValueError, AttributeError, IndexError, ArithmeticError)
SHOWN = 20  # problems of a file that are reported one by one

Vector = dict[str, Any]
Step = dict[str, Any]
Called = TypeVar("Called")

# Suite -> its adapter, as module of this package and name.
SUITES: dict[str, str] = {
    "ordering": "ordering:ADAPTER",
    "barriers": "barriers:ADAPTER",
    "channel_state": "channel_state:ADAPTER",
    "coordinator": "coordinator:ADAPTER",
    "rescale": "coordinator:RESCALE",
    "final_checkpoint": "final_checkpoint:ADAPTER",
    "checkpoint_plan": "coordinator:PLAN",
    "checkpoint_store": "store_steps:ADAPTER",
}


@dataclass(frozen=True, slots=True)
class Mismatch:
    """Where a vector and the core part: the step (or `end`), and both sides as text."""

    step: str
    expected: str
    found: str


_FINE = Mismatch("", "", "")


@dataclass(frozen=True, slots=True)
class VectorOutcome:
    """What became of one vector. left_out: what it asks and no host does, so was not asked."""

    name: str
    suite: str
    mismatch: Mismatch | None = None
    skipped: str | None = None
    left_out: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Adapter:
    """Drives the core of one suite from its vectors. Never looks at name, origin or note.

    run: runs one vector on our core, or on what the factory makes.
    slot: names the slot of the core that a vector is about. None where it is about none.
    skip_reason: says why a vector is not run, or None when it is. The mutant is of the vector's
    slot.
    for_hosts: returns a vector without what no host asks or sends, and names what it lacks. None
    where nothing is left.
    """

    run: Callable[[Vector, Factory | None], Mismatch | None]
    slot: Callable[[Vector], str | None] = lambda _vector: None
    skip_reason: Callable[[Vector, str | None], str | None] = lambda _vector, _mutant: None
    for_hosts: Callable[[Vector], tuple[Vector | None, tuple[str, ...]]] = lambda vector: (
        vector,
        (),
    )


def run_file(
    path: Path,
    *,
    cores: Mapping[str, Factory | str] | None = None,
    mutant: str | None = None,
    choice: Choice | None = None,
) -> Iterator[VectorOutcome]:
    """Yield the outcome of every vector of a JSON-lines file, in file order.

    cores: slot -> factory to run instead of ours, or the text that names it. mutant: a mutant of
    ours. Vectors of other slots are skipped then, the ones of none are run.  choice: what `choose`
    makes of both, for several files. Raises UserError when the file cannot be read or has no
    vectors of the slots taken. After the last outcome when lines of it are not vectors, with a
    sentence for each of them.
    """
    if choice is None:
        choice = choose([path], cores=cores, mutant=mutant)
    problems: list[str] = []
    silent = False  # a core that does not come back would take as long for each vector
    for number, line in enumerate(_lines(path), start=1):
        if not line.strip():
            continue
        try:
            vector = _parsed(line)
            name = str(vector.get("name", f"line {number}"))
            if silent:
                outcome = VectorOutcome(
                    name, vector["suite"], skipped=f"{CORE_ANSWERS} is violated"
                )
            else:
                outcome = _run(vector, name, choice)
        except VocabularyError as error:
            problems.append(f"{path}:{number}: {error}")
        else:
            silent = silent or (outcome.mismatch or _FINE).step == CORE_ANSWERS
            yield outcome
    if problems:
        more = [f"{path}: and {len(problems) - SHOWN} lines more"] if problems[SHOWN:] else []
        raise UserError("\n".join(problems[:SHOWN] + more))


def choose(
    paths: Sequence[Path], *, cores: Mapping[str, Factory | str] | None, mutant: str | None
) -> Choice:
    """Return the content of the slots that the vectors of some files need. See `resolve`."""
    if not cores and mutant is None:
        return Choice()
    return resolve(*suites_of(paths), cores=cores, mutant=mutant)


def suites_of(paths: Sequence[Path]) -> list[str]:
    """Return `suite NAME` for each with vectors in the files, in the order of the first."""
    suites = (f"suite {vector['suite']}" for path in paths for vector in _vectors(path))
    return list(dict.fromkeys(suites))


def names_of(path: Path) -> list[str]:
    """Return the names of the vectors of a file. Lines that are none have no name."""
    return [str(vector.get("name", "")) for vector in _vectors(path)]


def _vectors(path: Path) -> Iterator[Vector]:
    """Yield the lines that are vectors. Of the others is notified when they are run."""
    for line in _lines(path):
        with suppress(VocabularyError):
            if line.strip():
                yield _parsed(line)


def _run(vector: Vector, name: str, choice: Choice) -> VectorOutcome:
    suite = vector["suite"]
    adapter = load_adapter(suite)
    slot = adapter.slot(vector)
    make = choice.factories.get(slot) if slot is not None else None
    if make is None and slot is not None and not choice.ours_alone:
        taken = ", ".join(choice.factories)
        return VectorOutcome(name, suite, skipped=f"it is about slot {slot}; not ours are: {taken}")
    mutant = choice.mutant if slot not in choice.names else None
    reason = adapter.skip_reason(vector, mutant)
    if reason is not None:
        return VectorOutcome(name, suite, skipped=reason)
    left_out: tuple[str, ...] = ()
    if slot in choice.names:  # the vectors are an acceptance test: a core owes what hosts ask
        asked, left_out = adapter.for_hosts(vector)
        if asked is None:
            return VectorOutcome(name, suite, skipped=f"no host does {', '.join(left_out)}")
        vector = asked
    core = f"core {slot}={choice.names[slot]}" if slot and slot in choice.names else None
    try:
        with nullcontext() if core is None else answering(core):
            mismatch = adapter.run(vector, make)
    except (CoreUnansweredError, CoreSilentError) as error:
        mismatch = Mismatch(CORE_ANSWERS, "an answer", getattr(error, "says", str(error)))
    except ProtocolError as error:
        mismatch = Mismatch("unexpected error", "no error", str(error))
    except Exception as error:
        if make is None and not isinstance(error, _ODD_VECTOR):
            raise
        if make is None:
            raise VocabularyError(
                f"vector {name!r} does not follow the vocabulary of suite {suite!r}: "
                f"{type(error).__name__}: {error}"
            ) from error
        mismatch = Mismatch("the core failed", "no exception", f"{type(error).__name__}: {error}")
    return VectorOutcome(name, suite, mismatch=mismatch, left_out=left_out)


def load_adapter(suite: str) -> Adapter:
    """Import the adapter of a suite."""
    module, _, name = SUITES[suite].partition(":")
    adapter: Adapter = getattr(import_module(f"ckptsim.sim.conform.{module}"), name)
    return adapter


def _lines(path: Path) -> list[str]:
    try:
        # Only line feeds end a line: other separators of Unicode may stand inside a text.
        return path.read_text(encoding="utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{path}: cannot be read as vectors: {error}") from error


def _parsed(line: str) -> Vector:
    try:
        vector = json.loads(line)
    except (ValueError, RecursionError) as error:
        number = too_long(error, line) if isinstance(error, ValueError) else None
        found = f"no JSON ({error})" if number is None else number
        raise VocabularyError(f"found {found}, expected a vector") from error
    if not isinstance(vector, dict):
        raise VocabularyError(f"found {type(vector).__name__}, expected a JSON object")
    suite = vector.get("suite")
    if not isinstance(suite, str) or suite not in SUITES:
        raise VocabularyError(f"found suite {suite!r}, expected one of {', '.join(SUITES)}")
    try:
        check(vector)
    except VocabularyError as error:
        name = str(vector.get("name", ""))
        raise VocabularyError(f"vector {name!r} of suite {suite!r}: {error}") from error
    except _ODD_VECTOR as error:  # a value of a kind that no word of the suite has
        found = f"{type(error).__name__}: {error}"
        raise VocabularyError(f"found a vector of suite {suite!r} with {found}") from error
    return vector


def place(number: int, step: Step) -> str:
    """Return a step's place in its vector, counted from 1."""
    return f"step {number} ({step['op']})"


def as_text(value: object) -> str:
    """Return a value as compact JSON, for messages."""
    return json.dumps(value, default=str, ensure_ascii=False)


def allowed_errors(step: Step) -> list[str]:
    """Return the error kinds that the step must fail with, any of them. empty: must succeed."""
    error = step.get("error")
    if error is None:
        return []
    return [error] if isinstance(error, str) else list(error)


def compare_error(where: str, step: Step, kind: str | None) -> Mismatch | None:
    """Compare a step's outcome, an error kind or None, with what it must be."""
    allowed = allowed_errors(step)
    if kind is None and not allowed:
        return None
    if kind is not None and str(kind) in allowed:
        return None
    return Mismatch(where, " or ".join(allowed) or "no error", str(kind or "no error"))


def compare(where: str, expected: object, found: object) -> Mismatch | None:
    """Compare two values."""
    if expected == found:
        return None
    return Mismatch(where, as_text(expected), as_text(found))


def compare_fields(
    where: str, expected: Mapping[str, Any], found: Mapping[str, Any]
) -> Mismatch | None:
    """Compare all that was found, key by key, and return the first difference."""
    prefix = f"{where}, " if where else ""
    each = (compare(f"{prefix}{key}", expected.get(key), value) for key, value in found.items())
    return next((one for one in each if one is not None), None)


def compare_steps(
    vector: Vector, take: Callable[[Step, Mapping[str, Any]], dict[str, Any]]
) -> Mismatch | None:
    """Take step by step, and compare the result with the entry of `expect` at its place."""
    for number, (step, expected) in enumerate(zip(vector["steps"], vector["expect"], strict=True)):
        found = take(step, expected)
        where = f"step {number} ({step['event']})"
        mismatch = compare_fields(where, expected, dict.fromkeys(expected) | found)
        if mismatch is not None:
            return mismatch
    return None


def named(table: Mapping[str, Called], name: str) -> Called:
    """Return an entry of a table of steps or kinds. Raises ValueError for a name it has not."""
    if name not in table:
        raise ValueError(f"found {name!r}, expected one of {', '.join(table)}")
    return table[name]


# Without them a core may release fewer states than a vector has, and no others.
PROMISES: tuple[str, ...] = ("every_state_is_released", "releases_without_gaps")


def check_ignored(paths: Sequence[Path], ignore: Sequence[str]) -> None:
    """Raise UserError for a name that is neither a promise nor a vector of the files."""
    if all(name in PROMISES for name in ignore):
        return
    known = [*PROMISES, *(name for path in paths for name in names_of(path))]
    for name in ignore:
        if name not in known:
            hint = suggestion(name, known)
            expected = f"a vector of these files or one of {', '.join(PROMISES)}"
            raise UserError(f"--ignore: found {name!r}, expected {expected}{hint}")


def declined(outcome: VectorOutcome, ignore: Collection[str]) -> VectorOutcome:
    """Return an outcome, skipped where its vector or what it rests on is declined."""
    if outcome.name in ignore:
        return replace(outcome, mismatch=None, skipped="declined")
    taken = [name for name in PROMISES if name in ignore]
    if not taken or outcome.suite != "ordering" or outcome.mismatch is None:
        return outcome
    try:
        expected = json.loads(outcome.mismatch.expected)
        found = json.loads(outcome.mismatch.found)
    except ValueError:  # the mismatch is of another kind
        return outcome
    both_lists = isinstance(expected, list) and isinstance(found, list)
    if not both_lists or not _is_part(found, expected):
        return outcome
    return replace(outcome, mismatch=None, skipped=f"rests on {' or '.join(taken)}, declined")


def _is_part(found: list[object], expected: list[object]) -> bool:
    rest = iter(expected)
    return all(any(one == other for other in rest) for one in found)
