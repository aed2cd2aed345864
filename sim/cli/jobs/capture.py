"""`ckptsim capture`: record a running job from the REST server of its engine."""

from __future__ import annotations

import argparse
import json
import re
import ssl
import sys
from collections.abc import Sequence
from pathlib import Path

from ckptsim.scenarios.errors import UserError
from ckptsim.sim.capture.client import Client, resolved, server_of
from ckptsim.sim.capture.folder import check_free, write_recording
from ckptsim.sim.capture.redaction import redacted
from ckptsim.sim.capture.visit import Visit
from ckptsim.sim.cli.main import EXIT_FINE
from ckptsim.sim.cli.options import repeated
from ckptsim.sim.cli.places import output_folder
from ckptsim.sim.cli.progress import ProgressBar

EXAMPLES = """examples:
  ckptsim capture http://localhost:8081 --out recorded/
  ckptsim capture https://flink.example/jobs-of-mine --out recorded/ --seconds 120 --job 7306f4ad
  ckptsim capture https://flink.example --out recorded/ --header "Authorization: Bearer $TOKEN"

It asks with GET and nothing else, of this one server, and writes nothing but the answers: never a
header, nor the address.  Hosts, paths, users, and values of options that smell of secrets are
replaced unless --no-redact is given.
exit codes: 0 the recording was written, 2 the server did not answer as a Flink REST server does"""

_STEPS = 100
_HEADER = re.compile(r"([!#$%&'*+\-.^_`|~0-9A-Za-z]+):[ \t]*([\x20-\x7e]*)")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verb's arguments."""
    parser.add_argument("url", metavar="URL", help="address of the REST server")
    parser.add_argument(
        "--out", type=output_folder, required=True, metavar="DIR", help="a new or empty folder"
    )
    parser.add_argument(
        "--seconds",
        type=_seconds,
        default=30.0,
        help="how long to take samples (default: 30); longer than some checkpoints is better",
    )
    parser.add_argument("--job", metavar="ID", help="which one, if several run")
    repeated(
        parser,
        "--header",
        "'NAME: VALUE'",
        "send this with every GET, such as a token; never written; may be repeated",
    )
    parser.add_argument(
        "--timeout", type=_seconds, default=10.0, metavar="S", help="per answer (default: 10)"
    )
    tls = parser.add_mutually_exclusive_group()
    tls.add_argument("--ca", type=Path, metavar="FILE", help="certificates to trust, as PEM")
    tls.add_argument(
        "--insecure", action="store_true", help="take any certificate: others may listen"
    )
    parser.add_argument("--no-redact", action="store_true", help="write the answers as they came")
    parser.add_argument("--json", action="store_true", help="print what was done as JSON")


def run(arguments: argparse.Namespace) -> int:
    """Record a job and say what was written."""
    check_free(arguments.out)
    server = server_of(arguments.url)
    client = Client(
        server,
        headers=_headers(arguments.header),
        timeout_s=arguments.timeout,
        context=_context(arguments) if server.is_encrypted else None,
    )
    resolved(server)
    with ProgressBar("capture") as bar:
        visit = Visit(
            client,
            seconds=arguments.seconds,
            job=arguments.job,
            progress=lambda share: bar(done=round(share * _STEPS), total=_STEPS),
        )
        visit.run()
    taken, counts = visit.taken, {}
    if not arguments.no_redact:
        taken, redaction = redacted(taken)
        counts = redaction.counts
    recording, size = write_recording(arguments.out, taken)
    document = {
        "written": str(arguments.out),
        "answers": len(taken),
        "bytes": size,
        "flink_version": recording.version,
        "job": recording.job_name,
        "vertices": len(recording.vertices),
        "checkpoints": len(recording.completed),
        "redacted": counts,
        "left_out": visit.left_out,
    }
    print(json.dumps(document, indent=1) if arguments.json else "\n".join(_lines(document)))
    if arguments.insecure:
        print("ckptsim capture: the certificate was not checked", file=sys.stderr)
    return EXIT_FINE


def _lines(done: dict[str, object]) -> list[str]:
    version = done["flink_version"] or "of unknown version"
    lines = [f"job {done['job']!r} of Flink {version}"]
    lines.append(f"{done['vertices']} vertices, {done['checkpoints']} completed checkpoints")
    counts = done["redacted"]
    if isinstance(counts, dict):
        plural = (f"{count} {kind}{'s' if count != 1 else ''}" for kind, count in counts.items())
        lines.append(f"redacted: {', '.join(plural) or 'nothing'}")
    left_out = done["left_out"]
    if isinstance(left_out, list) and left_out:
        lines.append("not answered:")
        lines += [f"  {one}" for one in left_out]
    lines.append(f"written: {done['written']} ({done['answers']} answers, {done['bytes']:,} bytes)")
    lines.append(f"next: ckptsim import {done['written']} --out job.toml")
    return lines


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


def _context(arguments: argparse.Namespace) -> ssl.SSLContext:
    """Return how certificates are judged."""
    context = ssl.create_default_context()
    if arguments.ca is not None:
        try:
            context = ssl.create_default_context(cafile=str(arguments.ca))
        except (OSError, ssl.SSLError) as error:
            expected = "certificates as PEM"
            raise UserError(f"--ca: found {str(arguments.ca)!r}, expected {expected}") from error
    if arguments.insecure:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context


def _seconds(text: str) -> float:
    """Return a number of seconds above 0; raises argparse's error for anything else."""
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value <= 86_400:
        raise argparse.ArgumentTypeError(f"found {text!r}, expected seconds, above 0")
    return value
