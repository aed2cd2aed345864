"""Mutation testing itself: everything that is planted, where, and that a conviction is one."""

from __future__ import annotations

import ast
import random
import sys
import time
from functools import partial

import pytest

from ckptsim.models.ordering import core
from tests.mutation import __main__ as command
from tests.mutation import survivors
from tests.mutation.measure import LINKS, Result, chosen, load, results
from tests.mutation.operators import MODELS, Fault, faults_of, files, planted
from tests.mutation.plant import EndedError, explore_with, in_process
from tests.mutation.reach import Reach

FAULTS = [fault for name in files() for fault in faults_of(name)]
# Durable records that are not counted: no state of any drawn sync is ever ready.
SEVERE = next(
    fault
    for fault in FAULTS
    if fault.function == "OrderingCore._on_records_durable"
    and fault.before == "ledger.account(event.level, event.id, increment)"
)


def test_every_core_and_every_operator_has_faults() -> None:
    """No package of cores is left out, and each operator finds places."""
    assert {fault.core for fault in FAULTS} == set(LINKS)
    assert {fault.operator for fault in FAULTS} == {
        "and/or",
        "arithmetic",
        "boundary",
        "comparison",
        "constant",
        "delete statement",
        "drop item",
        "drop not",
        "min/max, any/all",
        "negate condition",
        "swap branches",
    }


def test_faults_have_names_of_their_own() -> None:
    """Everything that is kept of a fault distinguishes it from every other one."""
    assert len({fault.key for fault in FAULTS}) == len(FAULTS) > 3000


def test_a_planted_fault_changes_its_file_and_compiles() -> None:
    """A fault changes what its file means, so none counts that is no fault."""
    for fault in random.Random(0).sample(FAULTS, 60):
        right = ast.parse((MODELS / fault.file).read_text(encoding="utf-8"))
        tree = planted(fault)
        assert ast.dump(tree) != ast.dump(right), fault
        compile(tree, fault.file, "exec")


def test_texts_for_people_are_left_alone() -> None:
    """A wrong word in a message is no fault of a protocol."""
    assert not any("__str__" in fault.function for fault in FAULTS)
    assert not any(fault.function.endswith("scope_text") for fault in FAULTS)


def test_a_sample_is_the_same_for_a_seed() -> None:
    """Samples repeat, and another seed draws another one."""
    first, again, other = (chosen(["ordering"], "", 20, seed) for seed in (1, 1, 2))
    assert first == again != other
    assert {fault.core for fault in first} == {"ordering"}


def test_a_fault_is_convicted_in_a_process_of_its_own() -> None:
    """The faulty core is the one that exploring runs, and this process keeps the right one."""
    work = partial(explore_with, SEVERE, "ordering", [], seconds=30, seed=0)
    found = in_process(work, seconds=30)
    assert found["property"] is not None
    assert sys.modules[core.__name__] is core
    assert type(core.__loader__).__module__ != "tests.mutation.plant"


def test_right_cores_are_not_convicted() -> None:
    """Without a fault nothing is broken, so that a conviction means something."""
    found = in_process(partial(explore_with, None, "ordering", [], seconds=1, seed=0), seconds=1)
    assert found["property"] is None
    assert found["runs"] > 0


def _raise() -> None:
    raise LookupError("found none")


def test_a_process_that_raises_says_what() -> None:
    """An exception outside of a run, such as of an import, is reported."""
    with pytest.raises(EndedError, match="LookupError: found none"):
        in_process(_raise, seconds=5)


def _use_memory() -> int:
    return len([bytes(1 << 28) for _ in range(64)])


def test_a_process_that_needs_too_much_memory_is_ended() -> None:
    """A fault that collects without end does not take the machine."""
    with pytest.raises(EndedError, match="MemoryError"):
        in_process(_use_memory, seconds=60)


def test_kept_results_are_not_tried_again(tmp_path) -> None:
    """An interrupted measurement continues where it was."""
    kept = tmp_path / "results.jsonl"
    reaches = {"ordering": Reach("ordering", [])}
    told: list[Result] = []
    run = partial(
        results, [SEVERE], reaches, seconds=20, seed=0, jobs=1, kept=kept, progress=told.append
    )
    first = run()
    began = time.monotonic()
    again = run()
    assert [each.key for each in told] == [SEVERE.key]
    assert first == again == load(kept)
    assert first[0].convicted
    assert time.monotonic() - began < 20


def test_survivors_are_told_with_their_reason(capsys, tmp_path) -> None:
    """The report has the share of each core, and of a survivor why it is one."""
    fault = chosen(["ordering"], "", 1, 0)[0]
    row = Result(
        key=fault.key, reached=True, link="ordering", broken=None, says=None, runs=1, seconds=1.0
    )
    text = command._report([fault], [row], entries=False)
    assert "ordering             1          0    0.0%" in text
    assert str(fault) in text
    assert "no reason is known" in text


def test_reasons_are_of_faults_that_are_there() -> None:
    """When source changes, the reason of a survivor goes with it or is written anew."""
    keys = {fault.key for fault in FAULTS}
    reasons = survivors.read()
    assert [key for key in reasons if key not in keys] == []
    assert all(len(reason.says.split()) > 4 for reason in reasons.values())


def test_an_entry_is_read_as_it_was_written(tmp_path) -> None:
    """What the command prints of a survivor names just this fault, quotes included."""
    path = tmp_path / "survivors.toml"
    picked = random.Random(3).sample(FAULTS, 40)
    texts = [
        survivors.entry(fault)
        .replace('kind = ""', 'kind = "gap"')
        .replace('says = ""', 'says = "a reason in some words"')
        for fault in picked
    ]
    path.write_text("\n\n".join(texts), encoding="utf-8")
    assert list(survivors.read(path)) == [fault.key for fault in picked]


def test_a_fault_that_is_gone_cannot_be_planted() -> None:
    """A key that no longer fits the source is refused, not planted somewhere else."""
    gone = Fault(SEVERE.file, SEVERE.function, SEVERE.operator, "before()", "pass", 1, 1, 1)
    with pytest.raises(LookupError, match="no such fault"):
        planted(gone)
