"""What the kernel costs beside bare SimPy, on the same work in the same process."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import simpy

from ckptsim.sim.kernel import STRUCTURAL, Channel, Environment, SeededRandom, TiePolicy, fence
from tests.bench import Figure, interleaved, ratio

HAND_OFFS = 20_000
STEPS = 20_000
ENTERS = 2_000
CAPACITY = 10


def hand_off_simpy(env: Any) -> None:
    """Hand items over a SimPy store: one put and one get each."""
    store = simpy.Store(env, CAPACITY)
    _hand_over(env, store.put, store.get)


def hand_off_ours(ties: TiePolicy = STRUCTURAL) -> None:
    """Hand items over a traced channel of the kernel, account and digest included."""
    env = Environment(ties=ties)
    channel: Channel[int] = Channel(env, env.entity("channel"), CAPACITY, traced=True)
    _hand_over(env, channel.put, channel.get)
    env.finish()
    env.trace.digest()


def _hand_over(env: Any, put: Callable[[int], Any], get: Callable[[], Any]) -> None:
    def give() -> Any:
        for number in range(HAND_OFFS):
            yield put(number)

    def take() -> Any:
        for number in range(HAND_OFFS):
            found = yield get()
            if found != number:
                raise AssertionError(f"found {found}, expected {number}")

    env.process(give())
    env.process(take())
    env.run()


def _steps_simpy(env: Any) -> None:
    def tick() -> Any:
        for _ in range(STEPS // 10):
            yield env.timeout(1)

    for _ in range(10):
        env.process(tick())
    env.run()


def _steps_timers() -> None:
    env = Environment()
    for number in range(10):
        _Ticker(env, number)
    env.run()


class _Ticker:
    """Does what a process of `_steps_simpy` does, by a timer with one calendar entry."""

    def __init__(self, env: Environment, number: int) -> None:
        self._left = STEPS // 10
        self._timer = env.timer(0, env.entity("actor", number), self._tick)
        self._timer.arm_at(0)

    def _tick(self) -> None:
        self._left -= 1
        if self._left:
            self._timer.arm_in(1)


def _enter() -> None:
    for _ in range(ENTERS):
        with fence():
            pass


def measure() -> list[Figure]:
    """Return the cost of a traced hand-off, of plain SimPy code, of timers, of the fence."""
    seconds = interleaved(
        {
            "bare": lambda: hand_off_simpy(simpy.Environment()),
            "ours": hand_off_ours,
            "random": lambda: hand_off_ours(SeededRandom(1)),
            "unchanged": lambda: hand_off_simpy(Environment()),
            "bare steps": lambda: _steps_simpy(simpy.Environment(0)),
            "our steps": lambda: _steps_simpy(Environment()),
            "timers": _steps_timers,
            "fence": _enter,
        }
    )
    bare = seconds["bare"]
    per = min(bare) / HAND_OFFS * 1e6
    ours = min(seconds["ours"]) / HAND_OFFS * 1e6
    return [
        Figure(
            name="traced channel hand-off / Store put-and-get",
            value=ratio(seconds["ours"], bare),
            at_most=1.5,
            says=f"{ours:.2f} us against {per:.2f} us per item, digest and account included",
        ),
        Figure(
            name="the same under random ties",
            value=ratio(seconds["random"], bare),
            says="a keyed hash per calendar entry",
        ),
        Figure(
            name="unchanged SimPy code on the kernel",
            value=ratio(seconds["unchanged"], bare),
            says="the Store program above, on the kernel's environment",
        ),
        Figure(
            name="processes that wait, on the kernel",
            value=ratio(seconds["our steps"], seconds["bare steps"]),
            says="10 processes with timeouts, all ties; against bare SimPy",
        ),
        Figure(
            name="timers instead of processes",
            value=ratio(seconds["timers"], seconds["bare steps"]),
            says="10 re-armed timers doing the same steps; against bare SimPy processes",
        ),
        Figure(
            name="entering and leaving the fence",
            value=min(seconds["fence"]) / ENTERS * 1e6,
            unit="us",
            says="once per run",
        ),
    ]
