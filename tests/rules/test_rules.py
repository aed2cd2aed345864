"""Right cores follow their naive rules in the runs that exploring draws; faulty ones are named."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from ckptsim.models.barriers.channel_state.writer import SharedStateWriter
from ckptsim.models.barriers.channels.subpartition import Subpartition
from ckptsim.models.core import ProtocolError
from ckptsim.models.lifecycle import WatermarkValve
from ckptsim.models.ordering import Level
from ckptsim.models.ordering.release.ledger import Ledger
from ckptsim.models.recovery import GateAssignment
from ckptsim.models.recovery.records import RecordPart
from ckptsim.models.recovery.recovered_input import PartTaken
from ckptsim.models.store import DataRecord
from ckptsim.models.store.replica import WorkingContent
from ckptsim.scenarios.catalogue import by_name
from ckptsim.scenarios.generators import GENERATORS
from ckptsim.sim.kernel import Streams
from ckptsim.sim.rules.answers import Pick, Refused
from ckptsim.sim.rules.beside import HostDuties
from ckptsim.sim.search import Subject, trial
from ckptsim.sim.search.explore import Corpus, Explorer, Exploring, explore
from ckptsim.sim.slots import OURS, Factory
from ckptsim.sim.world import load_world
from tests.mutants import MUTANTS
from tests.rules.naive.beside import FOLLOWS_RULES
from tests.rules.naive.naive import agree, walked
from tests.rules.naive.recovery.restoring import RecoveredInputRules
from tests.rules.naive.table import RULES, WALKS, differential, of_mutants

WALKING = {name: walk for walks in WALKS.values() for name, walk in walks.items()}
LINKS = sorted(GENERATORS)
STAYS = GateAssignment(old_subtasks=(0,), old_channels=((0,),), identity=True, ambiguous=())
WALKED = {name: one for name, one in MUTANTS.items() if one.slot in WALKING}
# Mutants that follow the rules of their core, and why.
FOLLOWS = {
    "slow_stores_forgotten": "sixteen checkpoints have to end while one is stored",
    "hangs_on_recovery": "what a failed recovery ends is the process, which no walk has",
    "wipes_before_clearing": "a crash has to come between two writes of one step",
}


def _first_difference(slot: str, make: Factory, walks: int) -> tuple[str, list[str]] | None:
    for number in range(walks):
        walk = replace(WALKING[slot], events=max(40, WALKING[slot].events))
        found = walk.walked(make, Pick(Streams(number).stream(slot)))
        if found is not None:
            return found
    return None


@pytest.mark.parametrize("name", sorted(WALKING))
def test_right_cores_walk_as_their_rules_say(name: str) -> None:
    """On events that no host of ours sends, too, core and rules agree."""
    make = WALKING[name].make or getattr(OURS, name)
    assert _first_difference(name, make, 150) is None


@pytest.mark.parametrize("name", sorted(WALKED))
def test_a_mutant_parts_from_the_rules_of_its_core(name: str) -> None:
    """Each is told from the right core on walks alone, but for those with a reason."""
    found = _first_difference(WALKED[name].slot, WALKED[name].factory, 300)
    assert (found is None) == (name in FOLLOWS)


def test_walks_do_not_change_how_many_parts_a_record_has() -> None:
    """What goes on from a real record of two parts is of two parts: more could not come."""
    rules = RecoveredInputRules(STAYS, 1, accepts=bool)
    rules.answer(PartTaken(0, RecordPart(5, 0, 2)))
    strays = (rules.copied().stray(Pick(Streams(n).stream("walk"))) for n in range(3_000))
    parts = [event.part for event in strays if isinstance(event, PartTaken)]
    counts = {part.count for part in parts if part.record == 5}
    assert counts == {2}
    assert {part.index for part in parts if part.record == 5} == {0, 1}


def _credits_once(ledger: Ledger, identity: Any, credited: Any) -> None:
    if identity in ledger._ids:
        ledger._ids[identity].credited = credited


def test_walks_cover_an_id_by_one_state_after_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    """A core that forgets what it has added to the totals but for the last time is told apart."""
    monkeypatch.setattr(Ledger, "release", _credits_once)
    assert _first_difference("ordering", OURS.ordering, 150) is not None


def _by_the_best_level(ledger: Ledger, identity: Any) -> None:
    counts = ledger._ids.pop(identity)
    best = max(counts.at(level).accounted for level in Level)
    for level in Level:
        ledger._allowance[level] += counts.read - best


def test_walks_report_late_for_ids_whose_counters_are_folded(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A core that leaves no room for the second level of a folded id is told apart."""
    monkeypatch.setattr(Ledger, "_fold", _by_the_best_level)
    assert _first_difference("ordering", OURS.ordering, 150) is not None


class _WaitsForTheReleased(SharedStateWriter):
    """Does not look again whether all parts are there when it waits for one subtask less."""

    def _release(self, subtask: int) -> None:
        self._subtasks = [index for index in self._subtasks if index != subtask]


def test_walks_release_subtasks_that_have_not_begun() -> None:
    """A writer that goes on waiting for such a one is told apart."""
    assert _first_difference("channel_state", _WaitsForTheReleased, 150) is not None


def _forgets_both(content: WorkingContent, record: DataRecord) -> None:
    if record.value is None and content._changes.get(record.key) is not None:
        del content._changes[record.key]
    else:
        content._changes[record.key] = record.value


def test_walks_delete_what_is_durable_and_was_written_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A content that takes a deletion and the write before it for nothing is told apart."""
    make = WALKING["small parts"].make
    assert make is not None
    monkeypatch.setattr(WorkingContent, "apply", _forgets_both)
    assert _first_difference("small parts", make, 50) is not None


class _Hasty(WatermarkValve):
    """Counts a channel that comes back from idle at once, however far it is behind."""

    def take_status(self, channel: int, *, idle: bool) -> None:
        super().take_status(channel, idle=idle)
        self._channels[channel].aligned = not idle


class _Patient(WatermarkValve):
    """Leaves event time where it is when the last active channel goes idle."""

    def take_status(self, channel: int, *, idle: bool) -> None:
        before = self.watermark
        super().take_status(channel, idle=idle)
        self.watermark = before if self.idle else self.watermark


class _Eager(WatermarkValve):
    """Goes to the largest watermark whichever channel is the last to go idle."""

    def take_status(self, channel: int, *, idle: bool) -> None:
        was_idle = self.idle
        super().take_status(channel, idle=idle)
        if self.idle and not was_idle:
            self.watermark = max(one.watermark for one in self._channels)


class _StillAsked(Subpartition):
    """Keeps a flush request whose last element has left as one of high priority."""

    def poll(self) -> object | None:
        asked = self.flush_requested and bool(self._priority)
        element = super().poll()
        self.flush_requested = self.flush_requested or asked
        return element


def test_walks_flush_a_queue_whose_barrier_overtakes() -> None:
    """A sender's end that takes a flush for asked for when nothing is left is told apart."""
    assert _first_difference("output_subpartition", _StillAsked, 300) is not None


def test_walks_let_the_last_channel_that_counts_go_idle_first() -> None:
    """A valve that goes by any last channel, also one that had come back behind, is told apart."""
    assert _first_difference("watermarks", _Eager, 200) is not None


@pytest.mark.parametrize("faulty", [_Hasty, _Patient])
def test_walks_tell_who_counts_for_event_time(faulty: Factory) -> None:
    """A valve that lets a channel hold event time back that is behind, or lets none move it."""
    assert _first_difference("watermarks", faulty, 20) is not None


def test_a_watermark_that_says_nothing_changes_nothing() -> None:
    """Event time stays where it is at a watermark behind an earlier one of its channel."""
    assert _first_difference("watermarks", OURS.watermarks, 1_500) is None


@pytest.mark.parametrize("link", LINKS)
def test_right_cores_follow_their_rules_in_drawn_runs(link: str) -> None:
    """Beside every core of a run that has rules, nothing differs."""
    explorer = Explorer(link=link, watches=(differential,))
    report = explore(explorer, Exploring(runs=20, seed=7), Corpus())
    assert report.violating == []


@pytest.mark.long
@pytest.mark.parametrize("link", LINKS)
def test_right_cores_follow_their_rules_in_a_thousand_runs(link: str) -> None:
    """The same in a thousand runs of each link."""
    how = Exploring(runs=1000, seed=8, jobs=2)
    explorer = Explorer(link=link, watches=(differential,))
    assert explore(explorer, how, Corpus()).violating == []


@pytest.mark.parametrize(
    ("link", "mutant"),
    [("ordering", "gaps_tolerated"), ("final_checkpoint", "told_before_stored")],
)
def test_a_faulty_core_is_named_where_it_parts_from_its_rules(link: str, mutant: str) -> None:
    """The violation says which core, at which event, what it gave and what it was to give."""
    explorer = Explorer(link=link, mutant=mutant, watches=(of_mutants,))
    for number in range(40):
        more = Streams(5).stream("drawn", number).integer
        found = explorer.run(number, (), more)
        rows = [row for row in found.trial.violations if row.property == FOLLOWS_RULES]
        if rows:
            break
    assert rows[0].says.startswith("core ")
    assert "by its rules it is" in rows[0].says
    assert rows[0].story


@pytest.mark.parametrize("link", LINKS)
def test_rules_beside_a_run_change_nothing_of_it(link: str) -> None:
    """A run has the same digest, outcome and number of events with rules and without."""
    explorer = Explorer(link=link, watches=(differential,))
    subject, seed, ties, _ = explorer.subject((), Streams(3).stream("drawn").integer)
    plain = Subject(scenario=subject.scenario)
    assert subject.watches == (differential, HostDuties)
    watched, alone = trial(subject, seed, ties), trial(plain, seed, ties)
    assert (watched.digest, watched.outcome, watched.events) == (
        alone.digest,
        alone.outcome,
        alone.events,
    )


@pytest.mark.parametrize("name", ["final_chain_naive", "final_backlog_naive_aligned"])
def test_the_design_before_flip_147_is_run_as_it_is_beside_rules(name: str) -> None:
    """A job that ends by the naive protocol has the naive cores in exploring runs, too."""
    watched, alone = (
        trial(Subject(scenario=by_name(name), watches=one), 3, "random")
        for one in ((differential, HostDuties), ())
    )
    assert watched.violations == ()
    assert watched.digest == alone.digest


@pytest.mark.parametrize("link", LINKS)
def test_cores_of_a_user_have_no_rules_beside_them(link: str) -> None:
    """Whoever promises the same by other effects is not held to ours."""
    world = load_world(link)
    cores = world.CORES()
    slots = [slot for slot in RULES if hasattr(cores, slot)]
    watched = differential(link, 0).beside(cores, slots)
    assert all(getattr(watched, slot) is getattr(cores, slot) for slot in slots)


def test_a_refusal_is_compared_by_its_kind() -> None:
    """A refusal agrees with one that names its kind among others, or none, and with no effects."""
    given = Refused.by("stale_index")
    assert agree(given, Refused.by("stale_index", "duplicate_index"))
    assert agree(given, Refused())
    assert not agree(given, Refused.by("duplicate_index"))
    assert not agree(given, ())
    assert not agree((), Refused())
    assert agree((1, 2), (1, 2))
    assert not agree((1, 2), (2, 1))


class _Silent:
    def step(self, event: object) -> list[object]:
        return []


class _Raising:
    def step(self, event: object) -> list[object]:
        raise KeyError(event)


class _Echo:
    """Rules that expect an answer of one effect, the event."""

    def answer(self, event: object) -> tuple[object, ...]:
        return (event,)

    def copied(self) -> _Echo:
        return self

    def says(self, core: object) -> object:
        return iter(())

    def normal(self, answer: object) -> object:
        return answer

    def stray(self, pick: Pick) -> object:
        return pick.integer(1, 5)


@pytest.mark.parametrize(("core", "text"), [(_Silent(), "it gave []"), (_Raising(), "KeyError")])
def test_a_walk_ends_at_the_first_difference(core: object, text: str) -> None:
    """What a core gives too little, and what it raises, both end a walk with a sentence."""
    found = walked(core, _Echo(), Pick(Streams(1).stream("walk")), 10)  # type: ignore[arg-type]
    assert found is not None
    assert text in found[0]
    assert found[1] == []


class _Refusing:
    def __init__(self, error: ProtocolError) -> None:
        self._error = error

    def step(self, event: object) -> list[object]:
        raise self._error


class _Refused(_Echo):
    """Rules that expect a refusal."""

    def answer(self, event: object) -> Refused:  # type: ignore[override]
        return Refused.by("stale_index")


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (ProtocolError("stale_index", event=3), None),
        (ProtocolError("stale_index", state="one\nanother"), "not one line"),
        (ProtocolError("stale_index"), "names nothing that was refused"),
    ],
)
def test_the_text_of_a_refusal_is_judged(error: ProtocolError, text: str | None) -> None:
    """A refusal is one line that names what was refused."""
    pick = Pick(Streams(1).stream("walk"))
    found = walked(_Refusing(error), _Refused(), pick, 10)  # type: ignore[arg-type]
    assert (found is None) == (text is None)
    assert found is None or str(text) in found[0]
