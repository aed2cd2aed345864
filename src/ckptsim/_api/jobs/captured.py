"""Recordings: what `capture` writes, from a server or from saved answers."""

from __future__ import annotations

import json
import re
import ssl
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, count
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ckptsim._api.columns import frame_of, ns_of, tidy
from ckptsim._api.jobs.plots import CheckpointPlots
from ckptsim._api.result import Duration, Facts, Result, nanoseconds
from ckptsim.scenarios.errors import UserError
from ckptsim.sim.capture.client import Body, Client, resolved, server_of
from ckptsim.sim.capture.redaction import redacted
from ckptsim.sim.capture.visit import Taken, Visit, check_free, write_recording
from ckptsim.sim.recording import CheckpointAnswer, Recording, job_of, read_answers

if TYPE_CHECKING:
    import pandas as pd

_HEADER = re.compile(r"([!#$%&'*+\-.^_`|~0-9A-Za-z]+):[ \t]*([\x20-\x7e]*)")
_NS_PER_MS, _NS_PER_S = 1_000_000, 1_000_000_000
_SIZES = ("checkpointed_bytes", "processed_bytes", "persisted_bytes")


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class Captured(Result):
    """A recording of a running job in a folder, with counts of the redacted and left out parts."""

    folder: Path
    recording: Recording
    answers: int
    size_bytes: int
    redacted: Mapping[str, int]
    left_out: Sequence[str]

    def frame(self) -> pd.DataFrame:
        """Return one row per completed checkpoint that the server showed."""
        completed = self.recording.completed
        first_ms = min((one.trigger_ms or 0 for one in completed), default=0)
        rows = [_recorded(one, first_ms) for one in completed]
        return tidy(frame_of(rows, ("checkpoint_id", "triggered_ns", "duration_ns", *_SIZES)))

    def to_dict(self) -> dict[str, Any]:
        """Return what `ckptsim capture --json` prints."""
        return {
            "written": str(self.folder),
            "answers": self.answers,
            "bytes": self.size_bytes,
            "flink_version": self.recording.version,
            "job": self.recording.job_name,
            "vertices": len(self.recording.vertices),
            "checkpoints": len(self.recording.completed),
            "redacted": dict(self.redacted),
            "left_out": list(self.left_out),
        }

    @property
    def plot(self) -> CheckpointPlots:
        """The figures of the recording."""
        return CheckpointPlots(self.recording, ())

    @property
    def text(self) -> str:
        """The job, and the written, replaced and missing answers."""
        counts = self.redacted.items()
        plural = (f"{count} {kind}{'s' if count != 1 else ''}" for kind, count in counts)
        vertices, completed = len(self.recording.vertices), len(self.recording.completed)
        version = self.recording.version or "of unknown version"
        missing = ["not answered:", *(f"  {one}" for one in self.left_out)]
        lines = [
            f"job {self.recording.job_name!r} of Flink {version}",
            f"{vertices} vertices, {completed} completed checkpoints",
            f"redacted: {', '.join(plural) or 'nothing'}",
            *(missing if self.left_out else ()),
            f"written: {self.folder} ({self.answers} answers, {self.size_bytes:,} bytes)",
            f"next: ckptsim import {self.folder} --out job.toml",
        ]
        return "\n".join(lines)

    def _facts(self) -> Facts:
        return [
            ("job", f"{self.recording.job_name}"),
            ("vertices", len(self.recording.vertices)),
            ("checkpoints", f"{len(self.recording.completed)} completed"),
            ("not answered", ", ".join(self.left_out) or "nothing"),
            ("written", f"{self.folder} ({self.answers} answers)"),
            ("next", f"ckptsim.import_job({str(self.folder)!r})"),
        ]


def _recorded(one: CheckpointAnswer, first_ms: int) -> dict[str, Any]:
    triggered_ms = None if one.trigger_ms is None else one.trigger_ms - first_ms
    return {
        "checkpoint_id": one.id,
        "triggered_ns": ns_of(triggered_ms, _NS_PER_MS),
        "duration_ns": ns_of(one.duration_ms, _NS_PER_MS),
        **{name: getattr(one, name) for name in _SIZES},
    }


def capture(
    url: str,
    *,
    out: str | Path | None = None,
    seconds: float = 30.0,
    job: str | None = None,
    headers: Mapping[str, str] | Sequence[str] = (),
    timeout: Duration = 10.0,
    ca: str | Path | None = None,
    insecure: bool = False,
    redact: bool = True,
    progress: Callable[[float], object] = float,
) -> Captured:
    """Record a job from the REST server of its engine, with GET and nothing else.

    url: of a job manager or a history server. A folder of saved answers, or an archive of the
    history server, is read instead.
    out: a new or empty folder. Without it `recorded` in the working directory, or the first of
    `recorded-2`, `recorded-3`, ... that is free.  seconds: how long samples are taken.
    job: its id, where several run.  headers: of every request, such as a token, also as texts
    "NAME: VALUE". Never written.  ca: certificates to trust, as PEM. insecure: take any
    certificate.  redact: replace hosts, paths, users and secrets.
    progress: called with the share of the time that is over.

    Raises UserError for a folder that is in use, and for a server that does not answer as one of
    Flink's does.
    """
    if ca is not None and insecure:
        raise UserError("insecure: found together with ca, expected one of them")
    folder = _free() if out is None else Path(out)
    check_free(folder)
    if Path(url).exists():
        taken, left_out = _saved(Path(url), job)
    else:
        server = server_of(url)
        client = Client(
            server,
            headers=_headers(headers),
            timeout_s=nanoseconds(timeout, "timeout") / _NS_PER_S,
            context=_context(ca, insecure=insecure) if server.is_encrypted else None,
        )
        resolved(server)
        visit = Visit(client, seconds=seconds, job=job, progress=progress)
        visit.run()
        taken, left_out = visit.taken, visit.left_out
    counts: Mapping[str, int] = {}
    if redact:
        taken, redaction = redacted(taken)
        counts = redaction.counts
    recording, size = write_recording(folder, taken)
    return Captured(
        folder=folder,
        recording=recording,
        answers=len(taken),
        size_bytes=size,
        redacted=counts,
        left_out=left_out,
    )


def _saved(place: Path, job: str | None) -> tuple[list[Taken], list[str]]:
    """Return a place's answers about one job, and what could not be read. Raises UserError."""
    answers = read_answers(place)
    prefix = f"/jobs/{job_of(answers, job)}"
    taken = [
        Taken(one.path, one.at_ms or 0, Body(json.dumps(one.body).encode(), one.body))
        for one in answers.all
        if not one.path.startswith("/jobs/")
        or f"{one.path}/".startswith((f"{prefix}/", f"{prefix}?"))
    ]
    return taken, [str(note) for note in answers.notes]


def _free() -> Path:
    names = chain(["recorded"], (f"recorded-{number}" for number in count(2)))
    return next(
        path
        for path in map(Path, names)
        if not path.exists() or (path.is_dir() and not any(path.iterdir()))
    )


def _headers(given: Mapping[str, str] | Sequence[str]) -> dict[str, str]:
    """Return the headers that were given. A message never repeats their values."""
    found = {}
    words = [f"{n}: {v}" for n, v in given.items()] if isinstance(given, Mapping) else given
    for word in words:
        match = _HEADER.fullmatch(word)
        if match is None:
            name = word.partition(":")[0][:40]
            raise UserError(f"header: found {name!r} and more, expected 'NAME: VALUE'")
        found[match[1]] = match[2]
    return found


def _context(ca: str | Path | None, *, insecure: bool) -> ssl.SSLContext:
    context = ssl.create_default_context()
    if ca is not None:
        try:
            context = ssl.create_default_context(cafile=str(ca))
        except (OSError, ssl.SSLError) as error:
            expected = "certificates as PEM"
            raise UserError(f"ca: found {str(ca)!r}, expected {expected}") from error
    if insecure:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context
