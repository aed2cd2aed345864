"""A toy link: producers hand numbered items to a shop. Faults lose some, ties let one overtake."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pytest

from ckptsim.scenarios import LINKS, Link, Problem, Scenario
from ckptsim.scenarios.fields import count, duration_ns, many, name
from ckptsim.sim import world
from ckptsim.sim.kernel import Channel
from ckptsim.sim.mutants.mutant import Mutant
from ckptsim.sim.mutants.registry import MUTANTS
from ckptsim.sim.rows import CheckpointRow, RunResult
from ckptsim.sim.run_spec import RunSpec
from ckptsim.sim.slots import SLOTS, protocols
from ckptsim.sim.slots.slot import Call, Slot
from ckptsim.sim.story import Telling

ORIGIN = "assumption: a toy"


@dataclass(frozen=True, slots=True, kw_only=True)
class Producer:
    """Who makes items."""

    name: str = name("one", says="its name", source=ORIGIN)
    items: int = count(3, maximum=1000, says="how many", source=ORIGIN)
    pause_ns: int = duration_ns("1 ms", says="between two items", source=ORIGIN)


@dataclass(frozen=True, slots=True, kw_only=True)
class Model:
    """The toy's parameters."""

    producers: tuple[Producer, ...] = many(
        Producer, (Producer(),), minimum=1, says="who makes items", source=ORIGIN
    )
    room: int = count(2, minimum=1, maximum=100, says="items in the shop", source=ORIGIN)
    serve_ns: int = duration_ns("2 ms", says="time to serve an item", source=ORIGIN)


@dataclass(frozen=True, slots=True, kw_only=True)
class Lose:
    """The n-th item served is lost."""

    occurrence: int = count(1, minimum=1, maximum=10_000, says="which", source=ORIGIN)


@dataclass(frozen=True, slots=True, kw_only=True)
class Slow:
    """The shop is slow for a while."""

    producer: int = count(0, maximum=99, says="whose items", source=ORIGIN)
    at_ns: int = duration_ns("1 ms", says="since when", source=ORIGIN)

    def problems_in(self, model: Model) -> list[Problem]:
        """Return what does not fit the model."""
        if self.producer < len(model.producers):
            return []
        return [Problem("producer", str(self.producer), "the index of a producer")]


LINK = Link(
    name="toy",
    says="a toy",
    key="toy",
    model=Model,
    faults={"lose": Lose, "slow": Slow},
    goals=("shop_full", "never"),
    properties=("nothing_lost", "first_is_first"),
)
ANSWER = Slot(
    name="answer",
    says="what the counter answers",
    takes="()",
    gives="Answers",
    ours="tests.search.toy:Answers",
    links=("toy",),
    whole=True,
    sample=Call,
    protocol=protocols.RecoveryLines,  # `step` alone
)
ORDER = Slot(
    name="overtaking", says="who is first", takes="", gives="bool", ours="", links=("toy",)
)
VOCABULARY = {
    "made": Telling("makes item {index}", "scope index", begins="way:scope,index"),
    "served": Telling("serves {scope}/{index}", "scope index", ends="way:scope,index"),
    "lost": Telling("loses {scope}/{index}", "scope index", always=True),
    "answer": Telling("answers {answer}", "answer"),
    "given": Telling("thanks {to}", "to"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ToyCores:
    """The content of the slots of the toy: who answers at the counter, and whether ties matter."""

    answer: Callable[[], Answers] | None = None
    overtaking: bool = False


CORES = ToyCores


class Answers:
    """Answers with the number that it is asked for."""

    def step(self, number: int) -> int:
        """Answer."""
        return number


def run(spec: RunSpec) -> RunResult:
    """Run the toy."""
    cores = spec.cores
    assert isinstance(cores, ToyCores)
    model = spec.scenario.model
    assert isinstance(model, Model)
    env = spec.environment(LINK.goals)
    shop: Channel[tuple[str, int]] = Channel(env, env.entity("shop"), model.room)
    counter = env.entity("counter")
    lost = {fault.occurrence for fault in spec.scenario.faults if isinstance(fault, Lose)}
    served: list[tuple[str, int]] = []
    rows: list[CheckpointRow] = []

    def produce(maker, entity):
        jitter = env.stream("jitter", entity.index)
        for number in range(maker.items):
            yield env.timeout(maker.pause_ns + jitter.integer(0, 1) * maker.pause_ns // 2)
            env.trace.record("made", entity, entity.name, number)
            if len(shop) == model.room:
                env.goals.reach("shop_full")
            yield shop.put((entity.name, number))

    def serve():
        while True:
            scope, number = yield shop.get()
            yield env.timeout(model.serve_ns)
            served.append((scope, number))
            missing = len(served) in lost
            kind = "lost" if missing else "served"
            if cores.answer is not None:
                env.trace.record("answer", counter, cores.answer().step(number))
            env.trace.record(kind, counter, scope, number)
            if not missing:
                env.trace.record("given", counter, scope)
                rows.append(
                    CheckpointRow(
                        run_key=spec.run_key,
                        scope=scope,
                        checkpoint_id=number,
                        attempt=1,
                        kind="item",
                        status="completed",
                        reason=None,
                        triggered_ns=env.now - model.serve_ns,
                        completed_ns=env.now,
                        duration_ns=model.serve_ns,
                    )
                )

    for index, maker in enumerate(model.producers):
        entity = env.entity("producer", index)
        env.process(produce(maker, entity), entity=entity)
    env.process(serve(), entity=counter)
    env.run()
    env.finish()
    result = spec.result(env, outcome="completed", records_produced=len(served))
    result.checkpoints = rows
    for position, (scope, number) in enumerate(served, start=1):
        if position in lost:
            says = f"item {number} of {scope} was lost"
            row = spec.violation("nothing_lost", env.now, says, scope=scope, index=number)
            result.violations.append(row)
    if cores.overtaking and served and served[0][0] != "producer[0]":
        says = f"{served[0][0]} was first"
        result.violations.append(spec.violation("first_is_first", env.now, says))
    return result


@pytest.fixture
def toy(monkeypatch):
    """Register the toy as a link for one test, and return a function that makes scenarios."""
    monkeypatch.setitem(LINKS, "toy", LINK)
    monkeypatch.setitem(world.WORLDS, "toy", __name__)
    for slot in (ANSWER, ORDER):
        monkeypatch.setitem(SLOTS, slot.name, slot)
    mutant = Mutant("overtaking", "Lets one overtake.", "overtaking", True)
    monkeypatch.setitem(MUTANTS, mutant.name, mutant)

    def scenario(*faults: object, **parameters: object) -> Scenario:
        return Scenario(
            name="toy",
            link="toy",
            says="a toy",
            goals=("shop_full", "never"),
            model=Model(**parameters),
            faults=faults,
        )

    return scenario


class Raising(Answers):
    """Raises what no core may raise."""

    def step(self, number: int) -> int:
        """Raise."""
        raise KeyError(number)


def broken_factory() -> Answers:
    """Raise instead of making a core."""
    raise RuntimeError("no such day")


def no_core() -> int:
    """Give something that is no core."""
    return 3


def wrong_signature(number: int) -> Answers:
    """Ask for what no world gives."""
    del number
    return Answers()


_ASKED: list[int] = []


class Remembering(Answers):
    """Keeps something from run to run."""

    def step(self, number: int) -> int:
        """Count the questions of all runs."""
        _ASKED.append(number)
        return len(_ASKED)
