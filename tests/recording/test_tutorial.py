"""The commands of the tutorial run, and end in what the page says of them."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest

from ckptsim.analysis.report.page import page as report_page
from ckptsim.analysis.templates import page, rendered
from ckptsim.sim.cli.main import main
from ckptsim.sim.cli.verbs import demo
from ckptsim.sim.infer.folder import RECORDINGS
from tests.recording.folders import SHIPPED
from tests.recording.servers import Recorded, serving

PAGE = Path(__file__).parents[2] / "docs" / "your-job.md"
COMMANDS = re.findall(r"^ckptsim .*$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
Captured = pytest.CaptureFixture[str]


def test_the_tutorial_has_ten_commands() -> None:
    """As many as it promises."""
    assert len(COMMANDS) == 10


def test_its_commands_run(
    tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every command of the page ends well, one after the other, and shows what it promises."""
    monkeypatch.chdir(tmp_path)
    for command in COMMANDS:
        words = shlex.split(command)[1:]
        if words[0] == "capture":
            with serving(Recorded(SHIPPED / "job15")) as url:
                rest = ["0.2" if word == "60" else word for word in words[2:]]
                assert main(["capture", url, *rest]) == 0
        else:
            words += ["--seeds", "1"] if words[0] == "whatif" else []
            assert main(words) == 0, command
        printed = capsys.readouterr().out
        if words[:2] == ["import", "orders"] and "--set" not in words:
            assert printed.splitlines()[-1] == "replay: good"
        if words[0] == "whatif":
            assert "as it is, predicted" in printed
    page = (tmp_path / "out" / "your-job" / "answer.html").read_text()
    assert 'data-graph="' in page
    assert "floating-buffers-per-gate=32" in page
    assert "http" not in page.replace("http-equiv", "").replace("http://www.w3.org/2000/svg", "")


def test_its_figures_are_those_of_the_program(capsys: Captured) -> None:
    """Predicted durations and bytes of the two variants are what the page says."""
    option = "execution.checkpointing."
    words = ["whatif", "orders", "--set", f"{option}unaligned.enabled=true", "--json"]
    vary = ["--vary", f"{option}aligned-checkpoint-timeout=0 ms,300 ms"]
    assert main([*words, *vary]) == 0
    found = json.loads(capsys.readouterr().out)
    figures = [
        (
            one["predicted"]["end_to_end_duration_ms"]["median"],
            one["predicted"]["persisted_bytes"]["median"] / 1e6,
        )
        for one in (found["baseline"], *found["variants"])
    ]
    assert figures[0][0] == pytest.approx(1_200, rel=0.05)
    assert figures[1] == pytest.approx((60, 2.7), rel=0.05)
    assert figures[2] == pytest.approx((335, 1.8), rel=0.05)
    causes = [one["cause"] for one in (found["baseline"], found["variant"])]
    assert [(one["vertex"], one["phase"]) for one in causes] == [
        ("enrich", "start_delay"), ("enrich", "alignment"),
    ]  # fmt: skip
    assert found["baseline"]["path"]
    assert found["baseline"]["remedies"] == []


def test_what_is_shipped_is_a_recording() -> None:
    """The recording inside the package is one of those that the tests read."""
    assert (RECORDINGS / "orders" / "index.json").is_file()
    assert (SHIPPED / "job15").resolve() == (RECORDINGS / "orders").resolve()


def test_a_page_shows_what_users_name_as_text() -> None:
    """Nothing that a recording or an option says becomes markup."""
    bad = "<script>alert(1)</script>"
    inside = rendered(
        "whatif.html",
        headline=(bad, bad),
        graph={"vertices": [{"name": bad, "subtasks": 1}], "edges": [], "loaded": False},
        causes=[bad],
        tables=[{"title": bad, "head": (bad,), "rows": ((bad,),)}],
        bars=[{"label": bad, "vertex": bad, "took": bad, "parts": []}],
        moved=[bad],
        notes=[bad],
    )
    text = page(bad, inside)
    assert "<script>alert" not in text
    assert text.count("&lt;script&gt;") == 13
    assert '"><script' not in text


def test_the_demo_s_report_opens_with_the_tutorial_s_job() -> None:
    """Its first section has measured, predicted and changed durations of the recorded job."""
    opening = demo.job_of_the_tutorial()
    text = report_page("Answers", [], opening)
    first = text[text.index("<main") :]
    assert first.index(opening.title) < first.index("as it is, measured")
    assert "aligned-checkpoint-timeout=300 ms" in first
    assert f'href="#{opening.anchor}"' in text
    assert "orders" in demo.TUTORIAL
