"""The answer of `capture`: the recording of a running job, as it was written."""

from __future__ import annotations

import re
import ssl
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ckptsim.scenarios.errors import UserError
from ckptsim.sim.capture.client import Client, resolved, server_of
from ckptsim.sim.capture.folder import check_free, write_recording
from ckptsim.sim.capture.redaction import redacted
from ckptsim.sim.capture.visit import Visit
from ckptsim.sim.recording import Recording

_HEADER = re.compile(r"([!#$%&'*+\-.^_`|~0-9A-Za-z]+):[ \t]*([\x20-\x7e]*)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Captured:
    """A recording, its folder, and what was done for it.

    redacted: how many of each kind were replaced; left_out: what the server did not answer.
    """

    folder: Path
    recording: Recording
    answers: int
    size_bytes: int
    redacted: Mapping[str, int]
    left_out: Sequence[str]

    def lines(self) -> Iterator[str]:
        """Yield what is printed."""
        version = self.recording.version or "of unknown version"
        yield f"job {self.recording.job_name!r} of Flink {version}"
        vertices, completed = len(self.recording.vertices), len(self.recording.completed)
        yield f"{vertices} vertices, {completed} completed checkpoints"
        counts = self.redacted.items()
        plural = (f"{count} {kind}{'s' if count != 1 else ''}" for kind, count in counts)
        yield f"redacted: {', '.join(plural) or 'nothing'}"
        if self.left_out:
            yield "not answered:"
            yield from (f"  {one}" for one in self.left_out)
        yield f"written: {self.folder} ({self.answers} answers, {self.size_bytes:,} bytes)"
        yield f"next: ckptsim import {self.folder} --out job.toml"

    def document(self) -> dict[str, object]:
        """Return what `--json` prints."""
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """How a server is asked: headers of every request, patience, and which certificates count.

    ca: a file of certificates to trust; insecure: any certificate is taken.
    """

    headers: Sequence[str] = ()
    timeout_s: float = 10.0
    ca: Path | None = None
    insecure: bool = False


def capture(
    url: str,
    folder: Path,
    access: Access,
    *,
    seconds: float = 30.0,
    job: str | None = None,
    redact: bool = True,
    progress: Callable[[float], object] = float,
) -> Captured:
    """Record a running job from the REST server at an address into a new or empty folder.

    seconds: how long samples are taken; progress: is called with the share of it that is over.
    Raises UserError for a folder that is in use, and for a server that answers as none of Flink's.
    """
    check_free(folder)
    server = server_of(url)
    client = Client(
        server,
        headers=_headers(access.headers),
        timeout_s=access.timeout_s,
        context=_context(access) if server.is_encrypted else None,
    )
    resolved(server)
    visit = Visit(client, seconds=seconds, job=job, progress=progress)
    visit.run()
    taken, counts = visit.taken, {}
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
        left_out=visit.left_out,
    )


def _headers(words: Sequence[str]) -> dict[str, str]:
    """Return the headers that were given; a message never repeats their values."""
    found = {}
    for word in words:
        match = _HEADER.fullmatch(word)
        if match is None:
            name = word.partition(":")[0][:40]
            raise UserError(f"--header: found {name!r} and more, expected 'NAME: VALUE'")
        found[match[1]] = match[2]
    return found


def _context(access: Access) -> ssl.SSLContext:
    """Return how certificates are judged."""
    context = ssl.create_default_context()
    if access.ca is not None:
        try:
            context = ssl.create_default_context(cafile=str(access.ca))
        except (OSError, ssl.SSLError) as error:
            expected = "certificates as PEM"
            raise UserError(f"--ca: found {str(access.ca)!r}, expected {expected}") from error
    if access.insecure:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context
