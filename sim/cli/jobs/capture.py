"""`ckptsim capture`: record a running job from the REST server of its engine."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from ckptsim.sim.answers.jobs.capturing import Access, capture
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
    access = Access(
        headers=arguments.header,
        timeout_s=arguments.timeout,
        ca=arguments.ca,
        insecure=arguments.insecure,
    )
    with ProgressBar("capture") as bar:
        done = capture(
            arguments.url,
            arguments.out,
            access,
            seconds=arguments.seconds,
            job=arguments.job,
            redact=not arguments.no_redact,
            progress=lambda share: bar(done=round(share * _STEPS), total=_STEPS),
        )
    print(json.dumps(done.document(), indent=1) if arguments.json else "\n".join(done.lines()))
    if arguments.insecure:
        print("ckptsim capture: the certificate was not checked", file=sys.stderr)
    return EXIT_FINE


def _seconds(text: str) -> float:
    """Return a number of seconds above 0; raises argparse's error for anything else."""
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value <= 86_400:
        raise argparse.ArgumentTypeError(f"found {text!r}, expected seconds, above 0")
    return value
