"""Ties: structural order does not depend on age, random ties reach every order, FIFO holds."""

from __future__ import annotations

from itertools import permutations

import pytest
import simpy
from hypothesis import given
from hypothesis import strategies as st

from ckptsim.sim import kernel

POLICIES = ["structural", "random", "pct", "pct:1", "pct:7"]


def _order(ties: kernel.TiePolicy, names: list[tuple[str, int]]) -> list[str]:
    env = kernel.Environment(ties=ties)
    seen: list[str] = []
    for component, index in names:
        entity = env.entity(component, index)
        env.call_at(10, 1, entity, seen.append, entity.name)
    env.run()
    return seen


@given(st.permutations([("b", 1), ("a", 2), ("a", 10), ("ab", 0), ("a b", 0), ("\u00fc", 0)]))
def test_structural_order_is_that_of_names_and_numbers(names):
    """Whatever is scheduled first, component decides, then the number as a number."""
    expected = ["a[2]", "a[10]", "a b[0]", "ab[0]", "b[1]", "\u00fc[0]"]
    assert _order(kernel.Structural(), names) == expected


@pytest.mark.parametrize("text", POLICIES)
def test_no_policy_looks_at_the_order_of_scheduling(text):
    """The same entities in any order of creation and scheduling come out in one order."""
    names = [("a", 0), ("b", 0), ("c", 0), ("c", 1)]
    orders = {tuple(_order(kernel.parse_ties(text, 5), list(p))) for p in permutations(names)}
    assert len(orders) == 1


@pytest.mark.parametrize("text", ["random", "pct"])
def test_all_interleavings_are_reached(text):
    """Over a few hundred seeds every order of four simultaneous callbacks occurs."""
    names = [("a", 0), ("b", 0), ("c", 0), ("d", 0)]
    reached = {tuple(_order(kernel.parse_ties(text, seed), names)) for seed in range(400)}
    assert len(reached) == 24


@pytest.mark.parametrize("text", POLICIES)
def test_first_scheduled_is_first_served_inside_one_entity(text):
    """No policy turns round what one entity does at one instant."""
    env = kernel.Environment(ties=kernel.parse_ties(text, 3))
    seen: list[int] = []
    actor = env.entity("actor")
    for number in range(20):
        env.call_at(7, 0, actor, seen.append, number)
    env.run()
    assert seen == list(range(20))


@pytest.mark.parametrize("text", POLICIES)
def test_a_store_keeps_its_order_under_every_policy(text):
    """Items leave a SimPy store in the order in which they entered it."""
    env = kernel.Environment(ties=kernel.parse_ties(text, 3))
    store = simpy.Store(env, capacity=3)
    seen: list[int] = []

    def give():
        for number in range(30):
            yield store.put(number)

    def take():
        while len(seen) < 30:
            item = yield store.get()
            seen.append(item)

    env.process(give())
    env.process(take())
    env.run()
    assert seen == list(range(30))


def test_kinds_come_before_entities_in_structural_order():
    """At one instant the lower kind goes first, anyone who it concerns."""
    env = kernel.Environment()
    seen: list[str] = []
    env.call_at(5, 2, env.entity("a"), seen.append, "a2")
    env.call_at(5, 300, env.entity("a"), seen.append, "a300")
    env.call_at(5, 1, env.entity("z"), seen.append, "z1")
    env.run()
    assert seen == ["z1", "a2", "a300"]


def test_random_ties_also_order_the_kinds_of_one_entity():
    """Two things of different kinds that one entity has at an instant come in either order."""
    reached: dict[tuple[int, ...], int] = {}
    for seed in range(40):
        env = kernel.Environment(ties=kernel.SeededRandom(seed))
        seen: list[int] = []
        for kind in (1, 2):
            env.call_at(5, kind, env.entity("a"), seen.append, kind)
        env.run()
        reached[tuple(seen)] = reached.get(tuple(seen), 0) + 1
    assert min(reached[(1, 2)], reached[(2, 1)]) > 5


def test_leaving_out_unobservable_events_changes_no_tie():
    """Two drivers of one model, one with extra events in between, agree on every order."""
    for seed in range(50):
        orders = []
        for extra in (0, 3):
            env = kernel.Environment(ties=kernel.SeededRandom(seed))
            seen: list[str] = []
            for name in ("a", "b", "c"):
                actor = env.entity(name)
                for time in range(0, 9, 3):
                    for _ in range(extra):
                        env.call_at(time, 0, actor, int)
                    env.call_at(time, 1, actor, seen.append, f"{name}{time}")
            env.run()
            orders.append(seen)
        assert orders[0] == orders[1]


def test_random_ties_forget_and_pct_keeps():
    """`random` orders each instant anew. `pct` keeps an order between its change instants."""

    def orders(ties: kernel.TiePolicy) -> set[tuple[str, ...]]:
        env = kernel.Environment(ties=ties)
        rounds: list[list[str]] = [[] for _ in range(100)]
        for number, seen in enumerate(rounds):
            for name in ("a", "b", "c"):
                env.call_at(number + 1, 0, env.entity(name), seen.append, name)
        env.run()
        return {tuple(seen) for seen in rounds}

    assert len(orders(kernel.SeededRandom(1))) == 6
    assert len(orders(kernel.Pct(1, depth=1))) == 1


def test_pct_lowers_an_entity_at_a_change_instant_for_good():
    """After a change instant some entity that was in front is after, and stays there."""
    turned = 0
    entities = [kernel.Entity("a"), kernel.Entity("b")]
    for seed in range(60):
        ties = kernel.Pct(seed, depth=2)
        (instant,) = ties.change_instants
        times = (instant - 1, instant, instant + 10**9)
        before, after, later = (
            [e.name for e in sorted(entities, key=lambda e: ties.tie(t, 0, e))] for t in times
        )
        assert after == later
        turned += before != after
    assert 5 <= turned <= 30


def test_processes_without_a_name_are_children_of_who_starts_them():
    """Their entity follows from who starts them and how often, not from what else was started."""

    def child(env):
        seen.append(env.active_entity.name)
        yield env.timeout(1)

    def parent(env):
        for _ in range(2):
            env.process(child(env))
        yield env.timeout(1)

    seen: list[str] = []
    env = kernel.Environment()
    env.process(parent(env))
    env.process(parent(env))
    env.run()
    assert sorted(seen) == [f"parent[{p}]/child[{c}]" for p in range(2) for c in range(2)]


@pytest.mark.parametrize(
    "text",
    ["", "fifo", "random:2", "pct:", "pct:0", "pct:x", "pct:-1", "exhaustive:", "exhaustive:1..2"],
)
def test_unknown_ties_are_refused(text):
    """Any other text than the ones of the policies is refused, and the policies are named."""
    with pytest.raises(ValueError, match="structural, random, pct"):
        kernel.parse_ties(text, 0)


@pytest.mark.parametrize("text", POLICIES)
def test_a_policy_knows_its_text(text):
    """The name of a policy gives the policy back."""
    assert kernel.parse_ties(text, 1).name == text


@pytest.mark.parametrize(("component", "index"), [("", None), ("a\0b", None), ("a", -1)])
def test_a_name_that_could_be_two_is_refused(component, index):
    """Entity names are such that no two of them look alike to the tie key."""
    with pytest.raises(ValueError, match="expected"):
        kernel.Entity(component, index)


def test_exploring_reaches_every_order_once():
    """Three entities at one instant and two at another have 3! times 2! orders, and no more."""

    def run(ties: kernel.Exhaustive) -> tuple[str, ...]:
        env = kernel.Environment(ties=ties)
        seen: list[str] = []
        for time, names in ((5, "abc"), (9, "ab")):
            for name in names:
                env.call_at(time, 0, env.entity(name), seen.append, f"{name}{time}")
        env.run()
        return tuple(seen)

    exploration = kernel.Exploration(run, limit=100)
    orders = list(exploration)
    assert exploration.complete
    assert len(orders) == len(set(orders)) == 12
    cut = kernel.Exploration(run, limit=11)
    assert len(list(cut)) == 11
    assert not cut.complete


def test_exploring_departs_at_one_decision_before_it_departs_at_two():
    """Cut short, it has seen every single departure, early and late in the run."""

    def run(ties: kernel.Exhaustive) -> int:
        env = kernel.Environment(ties=ties)
        for time in range(1, 21):
            for name in "ab":
                env.call_at(time, 0, env.entity(name), int)
        env.run()
        return sum(decision > 0 for decision, _ in ties.taken)

    departures = list(kernel.Exploration(run, limit=1 + 20 + 190 + 5))
    assert departures == [0] + [1] * 20 + [2] * 190 + [3] * 5


def test_exploring_follows_what_depends_on_earlier_orders():
    """What only some orders lead to is explored in those, and all runs repeat by name."""

    def run(ties: kernel.Exhaustive | kernel.TiePolicy) -> tuple[str, ...]:
        env = kernel.Environment(ties=ties)
        seen: list[str] = []

        def act(name: str) -> None:
            seen.append(name)
            if len(seen) == 1 and name == "b":
                for other in ("x", "y", "z"):
                    env.call_in(1, 0, env.entity(other), seen.append, other)

        for name in ("a", "b"):
            env.call_at(1, 0, env.entity(name), act, name)
        env.run()
        return (*seen, ties.name)

    found = list(kernel.Exploration(run, limit=100))
    assert len(found) == 1 + 6
    for outcome in found:
        assert run(kernel.parse_ties(outcome[-1], 0)) == outcome


def test_exploring_keeps_first_in_first_out_inside_an_entity():
    """What one entity does at an instant stays in causal order in every order of entities."""

    def run(ties: kernel.Exhaustive) -> list[int]:
        env = kernel.Environment(ties=ties)
        seen: list[int] = []
        for number in range(3):
            env.call_at(5, number % 2, env.entity("a"), seen.append, number)
            env.call_at(5, 0, env.entity("b", number), int)
        env.run()
        return seen

    assert all(seen == [0, 1, 2] for seen in kernel.Exploration(run, limit=100))


def test_one_instant_can_be_ordered_as_another_policy_does():
    """At the instants named the inner policy's keys hold, at all others the structural ones."""
    policy, inner = kernel.parse_ties("random@5.9", 3), kernel.parse_ties("random", 3)
    entity = kernel.Entity("task", 1)
    for time in range(12):
        wanted = inner if time in (5, 9) else kernel.STRUCTURAL
        assert policy.tie(time, 0, entity) == wanted.tie(time, 0, entity)
    assert policy.name == "random@5.9"
    assert kernel.parse_ties("pct:2@7", 1).name == "pct:2@7"
    for text in ("structural@5", "random@", "random@x", "exhaustive@4", "fifo@4"):
        with pytest.raises(ValueError, match="ties: found"):
            kernel.parse_ties(text, 0)


def test_shared_instants_are_noted():
    """The order can matter at an instant with two active entities."""
    noting = kernel.Noting(kernel.parse_ties("random", 0))
    first, second = kernel.Entity("task", 0), kernel.Entity("task", 1)
    for time, entity in ((1, first), (1, first), (2, first), (2, second), (3, second)):
        assert noting.tie(time, 0, entity) == kernel.parse_ties("random", 0).tie(time, 0, entity)
    assert list(noting.shared) == [2]


@pytest.mark.parametrize("ties", ["structural", "random", "pct", "exhaustive"])
def test_what_is_behind_comes_last_and_is_no_tie(ties: str) -> None:
    """It comes after all else at its instant, and asks the policy nothing."""
    for seed in range(10):
        policy = kernel.Noting(kernel.parse_ties(ties, seed))
        env, order = kernel.Environment(seed, policy), []
        behind = env.timer(1, env.entity("a"), order.append, "behind")
        behind.arm_behind(5)
        assert policy.shared == {}
        for name in "bc":
            env.call_at(5, 9, env.entity(name), order.append, name)
        env.call_at(5, 9, env.entity("d"), env.call_at, 5, 9, env.entity("d"), order.append, "d")
        env.run_until(5)
        assert sorted(order[:3]) == ["b", "c", "d"]
        assert order[3] == "behind"
        behind.arm_behind(7)
        behind.arm_at(6)  # it is seen after all: the later arming counts
        env.run_until(8)
        assert order[4:] == ["behind"]
