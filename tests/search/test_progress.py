"""The bar shows the time left, and a long run its simulated time."""

from __future__ import annotations

import io

import pytest

from ckptsim.sim.cli import progress
from ckptsim.sim.cli.main import main
from ckptsim.sim.kernel import Environment, fence


class Terminal(io.StringIO):
    """A terminal that keeps the written data to it."""

    def isatty(self) -> bool:
        """Be a terminal."""
        return True


def shown(monkeypatch: pytest.MonkeyPatch, ends_s: list[float], total: int) -> str:
    """Return the last line of a bar with runs that end at these seconds after its beginning."""
    terminal, now_s = Terminal(), [1_000.0]
    monkeypatch.setattr(progress.sys, "stderr", terminal)
    monkeypatch.setattr(progress.time, "time", lambda: now_s[0])
    monkeypatch.setattr("tqdm.std.time", lambda: now_s[0])
    with progress.ProgressBar("runs") as bar:
        for number, end_s in enumerate(ends_s, start=1):
            now_s[0] = 1_000.0 + end_s
            bar(done=number, total=total)
    return terminal.getvalue().replace("\n", "\r").strip("\r").rpartition("\r")[2]


@pytest.mark.parametrize(
    ("ends_s", "left"),
    [
        ([60.0, 120.0], "08:00"),  # 60 s each, 8 of 10 to come
        ([100.0, 101.0, 102.0, 104.0], "02:36"),  # 26 s each in the mean, 6 to come
        ([1.0, 2.0, 3.0, 200.0], "05:00"),  # a long one does not make all others long
    ],
)
def test_the_time_left_follows_the_mean_of_all_runs(
    monkeypatch: pytest.MonkeyPatch, ends_s: list[float], left: str
) -> None:
    """With few long runs the time left is their mean time, as often as there are runs to come."""
    assert f"<{left}" in shown(monkeypatch, ends_s, total=10)


def test_a_long_run_shows_simulated_time_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """The line has the run's own clock and its end, and is gone when the run is over."""
    terminal = Terminal()
    monkeypatch.setattr(progress.sys, "stderr", terminal)
    monkeypatch.setattr(progress, "SHOWN_EVERY_S", 0.001)
    monkeypatch.setattr(progress, "LONG_S", 0.0)
    env = Environment()
    env.run_until(1_500_000_000)
    with progress.SimulatedTime(60_000_000_000) as clock, fence():
        clock.watch(env)
        while "simulated 1.5 s of 1 min in 0 s, " not in terminal.getvalue():
            env.run_until(env.now)  # the run continues, inside its fence
    assert terminal.getvalue().endswith("\r\x1b[K")


def test_run_tells_its_clock_and_shows_it_on_terminals_only(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """`ckptsim run` shows the time of its run, and nothing where standard error is a file."""
    monkeypatch.setattr(progress, "SHOWN_EVERY_S", 0.001)
    monkeypatch.setattr(progress, "LONG_S", 0.0)
    words = ["run", "alignment_timeout"]
    assert main(words) == 0
    printed = capsys.readouterr()
    assert printed.err == ""
    terminal = Terminal()
    monkeypatch.setattr(progress.sys, "stderr", terminal)
    assert main(words) == 0
    assert "simulated" in terminal.getvalue()
    assert capsys.readouterr().out == printed.out
