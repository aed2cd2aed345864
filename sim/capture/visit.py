"""The questions to the server, in order: fixed facts once, then samples, then the past.

An answer that a version of the engine does not have is noted and left out. Without a list of jobs,
the job and its plan there is no recording.  A history server has jobs that have ended, and neither
task managers nor metrics.
"""

from __future__ import annotations

import json
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import quote

from ckptsim.scenarios.dialect import printable
from ckptsim.scenarios.errors import UserError
from ckptsim.sim.capture.client import Body, CaptureError
from ckptsim.sim.recording import INDEX, Recording, read_recording

SAMPLE_S = 2.0
# A server of the engine takes no longer request line than 4,096 bytes.  Source: Netty 4.1,
# HttpObjectDecoder.DEFAULT_MAX_INITIAL_LINE_LENGTH, which RestServerEndpoint leaves as it is.
_PATH_MAX = 3_500
_DETAILS_MAX = 10
_TASK_MANAGERS_MAX = 200
_VERTICES_MAX = 5_000  # an assumption: no job graph has as many
_BYTES_MAX = 512 << 20

METRICS = (
    "busyTimeMsPerSecond",
    "backPressuredTimeMsPerSecond",
    "idleTimeMsPerSecond",
    "numRecordsIn",
    "numRecordsOut",
    "numBytesIn",
    "numBytesOut",
    "numBuffersOut",
    "accumulateBusyTimeMs",
    "accumulateBackPressuredTimeMs",
    "accumulateIdleTimeMs",
    "buffers.inputQueueLength",
    "buffers.outputQueueLength",
    "buffers.inPoolUsage",
    "buffers.outPoolUsage",
    "checkpointStartDelayNanos",
    "checkpointAlignmentTime",
    "debloatedBufferSize",
    "estimatedTimeToConsumeBuffersMs",
    "mailboxLatencyMs_mean",
)


class Asker(Protocol):
    """What answers a GET."""

    def get(self, path: str) -> Body:
        """Return the answer, or raise CaptureError."""


@dataclass(frozen=True, slots=True)
class Taken:
    """One answer that was taken: its path, when it was asked for, and what it said."""

    path: str
    at_ms: int
    body: Body


@dataclass(slots=True)
class Visit:
    """A visit to one server: `taken` and `left_out`. progress: gets the share done, 0 to 1."""

    client: Asker
    seconds: float
    job: str | None = None
    progress: Callable[[float], object] = lambda _: None
    sleep: Callable[[float], None] = time.sleep
    taken: list[Taken] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)
    _bytes: int = 0

    def run(self) -> None:
        """Ask for everything. Raises CaptureError if what a recording needs is missing."""
        about = self._ask("/config")
        features = about.get("features") if isinstance(about, dict) else None
        is_history = isinstance(features, dict) and features.get("web-history") is True
        if not is_history:
            for path in ("/jobmanager/config", "/overview", "/taskmanagers"):
                self._ask(path)
            self._task_managers()
        job = f"/jobs/{quote(self._job(is_history=is_history), safe='')}"
        vertices = self._vertices(self._must(job))
        self._must(f"{job}/plan")
        of_job = ("/jobmanager/config",) if is_history else ()
        for path in ("/config", "/checkpoints/config", *of_job):
            self._ask(job + path)
        of_vertex = ("", "/taskmanagers", "/subtasktimes", *(() if is_history else ("/metrics",)))
        for vertex, _ in vertices:
            for path in of_vertex:
                self._ask(f"{job}/vertices/{vertex}{path}")
        if not is_history:
            self._samples(job, vertices)
        self._checkpoints(job, [vertex for vertex, _ in vertices])
        self.progress(1.0)

    # One GET ----------------------------------------------------------------------------------

    def _must(self, path: str) -> Any:
        at_ms = time.time_ns() // 1_000_000
        body = self.client.get(path)
        self._bytes += len(body.raw)
        if self._bytes > _BYTES_MAX:
            expected = f"at most {_BYTES_MAX >> 20} MiB in all"
            raise CaptureError(f"{path}: found {self._bytes:,} bytes, expected {expected}")
        self.taken.append(Taken(path, at_ms, body))
        return body.value

    def _ask(self, path: str) -> Any:
        """Return an answer, or None with a note where the server has no such thing."""
        try:
            return self._must(path)
        except CaptureError as error:
            if error.status in (400, 404, 405, 500, 503):
                if str(error)[:300] not in self.left_out:
                    self.left_out.append(str(error)[:300])
                return None
            raise

    # What there is ----------------------------------------------------------------------------

    def _job(self, *, is_history: bool) -> str:
        if self.job is not None:
            return self.job
        answer = self._must("/jobs/overview")
        found = answer.get("jobs") if isinstance(answer, dict) else None
        jobs = [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []
        running = [one for one in jobs if is_history or one.get("state") == "RUNNING"]
        # The list names other jobs, which are not part of this recording.
        self.taken.pop()
        if len(running) == 1:
            return str(running[0].get("jid"))
        words = [printable(f"{one.get('jid')}  {one.get('name')}"[:200]) for one in running[:20]]
        shown = "".join(f"\n  {each}" for each in words)
        kind = "archived" if is_history else "running"
        found_text = f"{len(running)} {kind} jobs of {len(jobs)}"
        none = "one that is archived" if is_history else "one that runs"
        expected = "`--job` with the id of one" if running else none
        raise CaptureError(f"/jobs/overview: found {found_text}, expected {expected}{shown}")

    def _task_managers(self) -> None:
        answer = self.taken[-1].body.value if self.taken else None
        entries = answer.get("taskmanagers") if isinstance(answer, dict) else None
        if not isinstance(entries, list):
            return
        names = [one["id"] for one in entries if isinstance(one, dict) and one.get("id")]
        for name in names[:_TASK_MANAGERS_MAX]:
            self._ask(f"/taskmanagers/{quote(str(name), safe=':')}")

    def _vertices(self, answer: Any) -> list[tuple[str, int]]:
        entries = answer.get("vertices") if isinstance(answer, dict) else None
        found = []
        for one in entries if isinstance(entries, list) else []:
            count = one.get("parallelism") if isinstance(one, dict) else None
            if isinstance(count, int) and 0 < count <= 1 << 15 and one.get("id"):
                found.append((quote(str(one["id"]), safe=""), count))
        if not found or len(found) > _VERTICES_MAX:
            expected = f"1 to {_VERTICES_MAX:,}, those of a running job"
            raise CaptureError(f"/jobs/:id: found {len(found):,} vertices, expected {expected}")
        return found

    # Samples ----------------------------------------------------------------------------------

    def _samples(self, job: str, vertices: Sequence[tuple[str, int]]) -> None:
        count = max(2, round(self.seconds / SAMPLE_S) + 1)
        began = time.monotonic()
        for number in range(count):
            due = began + number * self.seconds / (count - 1)
            while (left := due - time.monotonic()) > 0:
                self.progress(min(1.0, (number - left / SAMPLE_S) / count))
                self.sleep(min(left, 0.25))
            for vertex, parallelism in vertices:
                for path in _metric_paths(f"{job}/vertices/{vertex}/metrics?get=", parallelism):
                    self._ask(path)
                if number % 2 == 0:
                    self._ask(f"{job}/vertices/{vertex}/backpressure")

    def _checkpoints(self, job: str, vertices: Sequence[str]) -> None:
        answer = self._ask(f"{job}/checkpoints")
        history = answer.get("history") if isinstance(answer, dict) else None
        done = [
            one["id"]
            for one in (history if isinstance(history, list) else [])
            if isinstance(one, dict)
            and isinstance(one.get("id"), int)
            and one.get("status") == "COMPLETED"
        ]
        for number in done[:_DETAILS_MAX]:
            path = f"{job}/checkpoints/details/{number}"
            if self._ask(path) is None:
                continue
            for vertex in vertices:
                self._ask(f"{path}/subtasks/{vertex}")


def _metric_paths(head: str, parallelism: int) -> Iterator[str]:
    """Yield GETs for the metrics of all subtasks, each with all metrics of whole subtasks."""
    words: list[str] = []
    size = len(head)
    for subtask in range(parallelism):
        word = ",".join(f"{subtask}.{metric}" for metric in METRICS)
        if words and size + len(word) + 1 > _PATH_MAX:
            yield head + ",".join(words)
            words, size = [], len(head)
        words.append(word)
        size += len(word) + 1
    yield head + ",".join(words)


def check_free(folder: Path) -> None:
    """Check before the work that the folder is free. Raises UserError."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UserError(f"--out: found {str(folder)!r}, expected a folder that is new or empty")


def write_recording(folder: Path, taken: Sequence[Taken]) -> tuple[Recording, int]:
    """Write the answers and their index. Return what they say and their size. Raises UserError."""
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        scratch = Path(tempfile.mkdtemp(dir=folder.parent, prefix=f".{folder.name[:200]}."))
    except OSError as error:
        raise _unwritable(folder, error) from error
    try:
        entries = []
        size = 0
        for number, answer in enumerate(taken):
            name = f"{number:04d}.json"
            size += (scratch / name).write_bytes(answer.body.raw)
            entries.append({"file": name, "path": answer.path, "at_ms": answer.at_ms})
        index = json.dumps({"url_of": "recorded", "answers": entries}, indent=0)
        size += (scratch / INDEX).write_bytes(index.encode())
        recording = read_recording(scratch)
        scratch.chmod(0o755)
        if folder.is_dir():
            folder.rmdir()  # an empty one, as was checked. A rename does not replace it everywhere
        scratch.rename(folder)
    except OSError as error:
        raise _unwritable(folder, error) from error
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    return recording, size


def _unwritable(folder: Path, error: OSError) -> UserError:
    return UserError(f"--out: found {error.strerror} at {folder}, expected a place to write")
