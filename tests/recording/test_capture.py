"""`ckptsim capture` against a server on the loopback, which answers well or badly."""

from __future__ import annotations

import errno
import json
import os
import socket
import time
from pathlib import Path
from typing import Any

import pytest

import ckptsim
from ckptsim.scenarios import UserError
from ckptsim.sim.capture import visit
from ckptsim.sim.capture.client import Body
from ckptsim.sim.capture.redaction import redacted
from ckptsim.sim.cli.main import main
from ckptsim.sim.infer.job import scenario_of
from ckptsim.sim.recording import read_recording
from tests.recording import servers
from tests.recording.folders import SHIPPED
from tests.recording.servers import Recorded, serving

Captured = pytest.CaptureFixture[str]


def capture(recorded: Recorded, out: Path, *words: str) -> int:
    """Capture from a server for a moment. Return the exit code."""
    with serving(recorded) as url:
        return main(["capture", url, "--out", str(out), "--seconds", "0.2", *words])


def _files(folder: Path) -> list[bytes]:
    return [path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()]


def test_a_captured_job_is_the_recorded_one(tmp_path: Path, capsys: Captured) -> None:
    """Everything that was captured imports as the recording that the server answers from."""
    out = tmp_path / "recorded"
    assert capture(Recorded(SHIPPED / "job15"), out, "--json") == 0
    done = json.loads(capsys.readouterr().out)
    assert (done["flink_version"], done["vertices"], done["checkpoints"]) == ("1.20.3", 4, 17)
    ours, theirs = read_recording(out), read_recording(SHIPPED / "job15")
    assert [v.name for v in ours.vertices] == [v.name for v in theirs.vertices]
    assert ours.checkpoints == theirs.checkpoints
    assert all(len(s.samples) == 2 for v in ours.vertices for s in v.subtasks)
    names = {finding.name for finding in scenario_of(ours).findings}
    assert names == {finding.name for finding in scenario_of(theirs).findings}


def test_it_only_reads(tmp_path: Path) -> None:
    """Every request is a GET, and of this server."""
    recorded = Recorded(SHIPPED / "job00")
    assert capture(recorded, tmp_path / "out") == 0
    assert {method for method, _, _ in recorded.asked} == {"GET"}
    assert max(len(path) for _, path, _ in recorded.asked) < 4000


def test_a_token_is_sent_and_never_written(tmp_path: Path, capsys: Captured) -> None:
    """A header goes with every GET. Neither files nor output have its value."""
    recorded = Recorded(SHIPPED / "job00", token="s3cr3t-value")
    out = tmp_path / "out"
    assert capture(recorded, out, "--header", "X-Token: s3cr3t-value") == 0
    assert all(headers.get("X-Token") == "s3cr3t-value" for _, _, headers in recorded.asked)
    printed = capsys.readouterr()
    assert not any(b"s3cr3t-value" in content for content in _files(out))
    assert "s3cr3t-value" not in printed.out + printed.err


def test_a_missing_token_is_said(tmp_path: Path, capsys: Captured) -> None:
    """Without leave to read the sentence says the missing part, and nothing is written."""
    recorded = Recorded(SHIPPED / "job00", token="s3cr3t-value")
    assert capture(recorded, tmp_path / "out") == 2
    assert "--header" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("where", "bad", "says"),
    [
        ("/config", servers.endless, "without an end"),
        ("/plan", servers.dripping, "within 0.5 s"),
        ("/overview", servers.silent, "no answer"),
        ("/config", servers.dripping_head, "within 0.5 s"),
        ("/config", servers.continuing, "within 0.5 s"),
        ("/plan", servers.dripping_chunk_size, "within 0.5 s"),
        ("/plan", servers.dripping_trailers, "within 0.5 s"),
        ("/plan", servers.truncated, "expected all of it"),
        ("/plan", servers.torn, "no JSON"),
        ("/taskmanagers", servers.elsewhere, "redirect to http://evil.example/steal"),
        ("/config", servers.web_page, "a web page"),
        ("/config", servers.page_as_json, "a web page"),
        ("/jobs/overview", servers.one_page, "one page of several"),
        ("/plan", servers.broken, "status 500"),
        ("/plan", servers.hung_up, "an HTTP server"),
        ("/plan", servers.no_text, "no text in UTF-8"),
        ("/plan", servers.nested, "no JSON"),
    ],
)
def test_bad_answers_end_in_a_sentence(
    tmp_path: Path, capsys: Captured, where: str, bad: Any, says: str
) -> None:
    """Whatever a server does, exit code 2 and one sentence follow, and nothing is written."""
    recorded = Recorded(SHIPPED / "job00", bad={where: bad})
    # Everything that has no end meets the limit of size. A busy machine must not meet the one of
    # time before.
    timeout = "60" if bad is servers.endless else "0.5"
    assert capture(recorded, tmp_path / "out", "--timeout", timeout) == 2
    message = capsys.readouterr().err
    assert says in message
    assert "Traceback" not in message
    assert list(tmp_path.iterdir()) == []


def test_answers_that_a_version_lacks_are_left_out(tmp_path: Path, capsys: Captured) -> None:
    """A server without some answers gives a recording that says which."""
    recorded = Recorded(SHIPPED / "job00", bad={"/checkpoints/details": servers.broken})
    out = tmp_path / "out"
    assert capture(recorded, out) == 0
    assert "not answered:" in capsys.readouterr().out
    assert any("parts of the subtasks" in str(note) for note in read_recording(out).notes)


def test_nobody_there_is_said(tmp_path: Path, capsys: Captured) -> None:
    """A port without a server, a name without a host and no address at all are distinguished."""
    for url, says in (
        ("http://127.0.0.1:1", "an HTTP server at 127.0.0.1:1"),
        ("http://no-such-host.invalid", "the name of a host"),
        ("localhost:8081", "an address such as"),
        ("ftp://localhost", "an address such as"),
    ):
        assert main(["capture", url, "--out", str(tmp_path / "out")]) == 2
        assert says in capsys.readouterr().err


def test_a_full_folder_is_left_alone(tmp_path: Path, capsys: Captured) -> None:
    """Everything that is there is not overwritten. An empty folder is filled."""
    (tmp_path / "kept.txt").write_text("mine")
    assert capture(Recorded(SHIPPED / "job00"), tmp_path) == 2
    assert "new or empty" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["kept.txt"]
    (tmp_path / "empty").mkdir()
    assert capture(Recorded(SHIPPED / "job00"), tmp_path / "empty") == 0


def test_one_of_several_jobs_is_named(tmp_path: Path, capsys: Captured) -> None:
    """Of two running jobs one has to be chosen. The message lists them."""
    recorded = Recorded(SHIPPED / "job00")
    jobs = [{"jid": f"{letter * 32}", "name": letter, "state": "RUNNING"} for letter in "ab"]

    def two(handler: Any, _: bytes) -> None:
        servers.send(handler, json.dumps({"jobs": jobs}).encode())

    recorded.bad["/jobs/overview"] = two
    assert capture(recorded, tmp_path / "out") == 2
    message = capsys.readouterr().err
    assert "--job" in message
    assert "b" * 32 in message
    assert capture(recorded, tmp_path / "out", "--job", recorded.job) == 0


def test_secrets_hosts_and_paths_are_taken_out(tmp_path: Path, capsys: Captured) -> None:
    """By default no file has them, ids still fit, and the command says what it did."""
    recorded = Recorded(SHIPPED / "job00")
    secret = [
        {"key": "s3.secret-key", "value": "AKIAVERYSECRET"},
        {"key": "jobmanager.rpc.address", "value": "jm-7.corp.example"},
        {"key": "state.checkpoints.dir", "value": "s3://bucket-of-mine/checkpoints"},
        {"key": "env.log.dir", "value": "/" + "home/jane/logs"},
        {"key": "hadoop.user.name", "value": "jane"},
        {"key": "taskmanager.memory.segment-size", "value": "64kb"},
    ]
    config = next(k for k in recorded._answers if k == "/jobmanager/config")
    recorded._answers[config] = [json.dumps(secret).encode()]
    out = tmp_path / "out"
    assert capture(recorded, out) == 0
    printed = capsys.readouterr().out
    assert "redacted:" in printed
    content = b"".join(_files(out))
    for word in (b"AKIAVERYSECRET", b"corp.example", b"bucket-of-mine", b"jane"):
        assert word not in content
    options = read_recording(out).options
    assert options["taskmanager.memory.segment-size"] == "64kb"
    assert options["state.checkpoints.dir"].startswith("s3://path-")


def test_redaction_changes_no_inference(tmp_path: Path) -> None:
    """A redacted recording imports as the same job, task managers and all."""
    assert capture(Recorded(SHIPPED / "job15"), tmp_path / "plain", "--no-redact") == 0
    assert capture(Recorded(SHIPPED / "job15"), tmp_path / "redacted") == 0
    plain, hidden = (
        scenario_of(read_recording(tmp_path / name)).scenario for name in ("plain", "redacted")
    )
    assert plain == hidden
    answers = [json.loads((tmp_path / "plain" / "index.json").read_text())["answers"]]
    assert b"file:/checkpoints" in b"".join(_files(tmp_path / "plain"))
    assert b"file:/checkpoints" not in b"".join(_files(tmp_path / "redacted"))
    assert len(answers[0]) > 50


def test_a_host_may_be_called_as_an_option(tmp_path: Path) -> None:
    """A host named `jobmanager` is hidden without spoiling paths and options of that name."""
    recorded = Recorded(SHIPPED / "job00")
    config = json.loads(recorded._answers["/jobmanager/config"][0])
    config.append({"key": "jobmanager.rpc.address", "value": "jobmanager"})
    recorded._answers["/jobmanager/config"] = [json.dumps(config).encode()]
    out = tmp_path / "out"
    assert capture(recorded, out) == 0
    options = read_recording(out).options
    assert options["jobmanager.rpc.address"] == "host-1"
    assert options["taskmanager.memory.segment-size"] == "32kb"


def test_many_subtasks_are_asked_in_parts() -> None:
    """No request line is longer than a server takes, and no subtask is split."""
    paths = list(visit._metric_paths("/jobs/a/vertices/b/metrics?get=", 100))
    assert max(map(len, paths)) < 4096
    words = [word for path in paths for word in path.partition("=")[2].split(",")]
    assert len(words) == 100 * len(visit.METRICS)
    for path in paths:
        subtasks = [word.partition(".")[0] for word in path.partition("=")[2].split(",")]
        assert all(subtasks.count(one) == len(visit.METRICS) for one in set(subtasks))


def test_a_handshake_that_never_ends_is_over_in_time(tmp_path: Path, capsys: Captured) -> None:
    """The deadline bounds what comes before HTTP, too."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"https://127.0.0.1:{silent.getsockname()[1]}"
        began = time.monotonic()
        assert main(["capture", url, "--out", str(tmp_path / "out"), "--timeout", "0.3"]) == 2
    assert time.monotonic() - began < 10
    assert "within 0.3 s" in capsys.readouterr().err


def test_what_is_no_recording_leaves_nothing(
    tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Answers that cannot be read back, or a disk without room, leave no half recording."""

    def full(*_: object) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def unreadable(_: Path) -> None:
        raise UserError("no recording")

    recorded = Recorded(SHIPPED / "job00")
    monkeypatch.setattr(visit, "read_recording", unreadable)
    assert capture(recorded, tmp_path / "out") == 2
    monkeypatch.setattr(Path, "write_bytes", full)
    assert capture(recorded, tmp_path / "out") == 2
    assert "No space left on device at" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_redaction_takes_time_in_proportion() -> None:
    """Ten times the hosts take some ten times as long. Each has its own stand-in everywhere."""

    def took(count: int) -> float:
        names = [f"tm-{number}.rack{number % 40}.corp.example" for number in range(count)]
        options = [{"key": "a.host", "value": name} for name in names]
        ids = [{"id": f"{name}:6122-abcdef", "name": f"x{name} {name}!"} for name in names]
        taken = [visit.Taken("/a", 1, Body(b"", each)) for each in (options, ids)]
        began = time.process_time()
        (_, hidden), redaction = redacted(taken)
        assert redaction.counts == {"host": count}
        last = {"id": f"host-{count}:6122-abcdef", "name": f"x{names[-1]} host-{count}!"}
        assert hidden.body.value[-1] == last
        return time.process_time() - began

    assert took(10_000) < 40 * took(1_000)


def test_the_longest_host_is_hidden_and_no_part_of_a_word() -> None:
    """Of hosts that begin alike the longest that ends with a word is meant."""
    hosts = ["db", "db.corp", "db.corp.", "1.2.3.4"]
    told = "db.corp, db.corp.x adb db-1 (db) 1.2.3.4a 1.2.3.4"
    options = [{"key": "host", "value": host} for host in hosts]
    taken = [visit.Taken("/a", 1, Body(b"", [*options, {"name": told}]))]
    (hidden,), _ = redacted(taken)
    expected = "host-2, host-2.x adb host-1-1 (host-1) 1.2.3.4a host-4"
    assert hidden.body.value[-1]["name"] == expected


def test_python_captures_and_imports(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`ckptsim.capture` writes into the first default folder that is free, which then imports."""
    monkeypatch.chdir(tmp_path)
    with serving(Recorded(SHIPPED / "job15")) as url:
        first = ckptsim.capture(url, seconds=0.2)
        second = ckptsim.capture(url, seconds=0.2, headers={"X-Mine": "yes"})
    assert (str(first.folder), str(second.folder)) == ("recorded", "recorded-2")
    assert first.to_dict()["checkpoints"] == len(first.frame()) == 17
    assert len(repr(first).splitlines()) <= 12
    assert [v.name for v in ckptsim.import_job("recorded/", seeds=0).scenario.job.vertices]
    with pytest.raises(UserError, match="timeout: found 'soon'"):
        ckptsim.capture(url, timeout="soon")
