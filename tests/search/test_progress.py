"""The progress bar tells the time left from all runs so far, not from the last moments."""

from __future__ import annotations

import io

import pytest

from ckptsim.sim.cli import progress


class Terminal(io.StringIO):
    """A terminal that keeps what is written to it."""

    def isatty(self) -> bool:
        """Be a terminal."""
        return True


def shown(monkeypatch: pytest.MonkeyPatch, ends_s: list[float], total: int) -> str:
    """Return the last line of a bar whose runs end at these seconds after its beginning."""
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
