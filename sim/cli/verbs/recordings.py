"""`capture` and `import`: record a running job, and make a scenario of a recording."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from ckptsim._api.jobs.captured import capture
from ckptsim._api.jobs.recorded import import_job
from ckptsim.scenarios.job import Profile
from ckptsim.sim.cli.options import (
    Verb,
    flag,
    given,
    json_of,
    option,
    output_file,
    output_folder,
    positive,
    repeated,
)
from ckptsim.sim.cli.printing import show
from ckptsim.sim.cli.progress import ProgressBar
from ckptsim.sim.infer.change import read_change
from ckptsim.sim.infer.folder import place_named
from ckptsim.sim.infer.tasks.machine import MachineChoice

_STEPS = 100


def _capture(arguments: argparse.Namespace) -> int:
    with ProgressBar("capture") as bar:
        found = capture(
            arguments.url,
            headers=arguments.header,
            redact=not arguments.no_redact,
            progress=lambda share: bar(done=round(share * _STEPS), total=_STEPS),
            **given(arguments, "out seconds job timeout ca insecure"),
        )
    code = show(found, as_json=arguments.json)
    if arguments.insecure:
        print("ckptsim capture: the certificate was not checked", file=sys.stderr)
    return code


def _import(arguments: argparse.Namespace) -> int:
    seeds = 0 if arguments.no_replay else arguments.seeds
    with ProgressBar("replay") as bar:
        found = import_job(
            arguments.folder,
            set=read_change(arguments.set),
            seeds=seeds,
            progress=lambda done: bar(done=done, total=seeds),
            **given(arguments, "out spans job machine profile"),
        )
    return show(found, as_json=arguments.json)


def _seconds(text: str) -> float:
    """Return a number of seconds above 0. Raises argparse's error for anything else."""
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value <= 86_400:
        raise argparse.ArgumentTypeError(f"found {text!r}, expected seconds, above 0")
    return value


# How a recording becomes a scenario. For every verb that takes one.
IMPORT = (
    option("--job", "which one, if several were recorded", "ID"),
    option(
        "--machine",
        "the machine that answers are for: one with nothing else to do (default), or as busy as "
        "while it was recorded",
        type_=MachineChoice,
        choices=list(MachineChoice),
        default=MachineChoice.QUIET,
    ),
    option(
        "--profile",
        "profile of constants for a recording: plain (default), or rig for shipped ones",
        type_=Profile,
        choices=list(Profile),
        default=Profile.PLAIN,
    ),
    repeated(
        "--set",
        "OPTION=VALUE",
        "say what the recording does not, by the engine's name or ours; may be repeated",
    ),
)

VERBS = {
    "capture": Verb(
        run=_capture,
        options=(
            option(
                "url",
                "address of the REST server or the history server, a folder of saved answers, or "
                "an archived job",
                "URL|DIR|FILE",
            ),
            option("--out", "a new or empty folder", "DIR", output_folder, required=True),
            option(
                "--seconds",
                "how long to take samples (default: 30); longer than some checkpoints is better",
                type_=_seconds,
                default=30.0,
            ),
            option("--job", "which one, if several run", "ID"),
            repeated(
                "--header",
                "'NAME: VALUE'",
                "send this with every GET, such as a token; never written; may be repeated",
            ),
            option("--timeout", "per answer (default: 10)", "S", _seconds, default=10.0),
            option("--ca", "certificates to trust, as PEM", "FILE", Path),
            flag("--insecure", "take any certificate: others may listen; not with --ca"),
            flag("--no-redact", "write the answers as they came"),
            flag("--json", "print the result as JSON"),
        ),
        examples="""examples:
  ckptsim capture http://localhost:8081 --out recorded/
  ckptsim capture https://flink.example/jobs-of-mine --out recorded/ --seconds 120 --job 7306f4ad
  ckptsim capture https://flink.example --out recorded/ --header "Authorization: Bearer $TOKEN"
  ckptsim capture http://history:8082 --out recorded/ --job 7306f4ad        a history server
  ckptsim capture saved/ --out recorded/            answers saved as saved/jobs/ID/checkpoints.json

It asks with GET and nothing else, of this one server, and writes nothing but the answers: never a
header, nor the address.  Hosts, paths, users, and values of options that smell of secrets are
replaced unless --no-redact is given.
exit codes: 0 the recording was written, 2 the server did not answer as a Flink REST server does""",
    ),
    "import": Verb(
        run=_import,
        options=(
            option(
                "folder",
                "a recording, an archived job, or spans; `orders` is shipped",
                "DIR|FILE",
                place_named,
            ),
            option("--out", "the file to write", "JOB.toml", output_file, required=True),
            option("--spans", "spans of its checkpoints and restores, as OTLP JSON", "FILE", Path),
            *IMPORT,
            option("--seeds", "of the replay (default: 3)", type_=positive, default=3),
            flag("--no-replay", "do not simulate the job as it is"),
            json_of("everything"),
        ),
        examples="""examples:
  ckptsim import orders --out job.toml             a recording that is shipped
  ckptsim import recorded/ --out job.toml
  ckptsim import recorded/ --out job.toml --set 'source.orders.rate=3900 /s'
  ckptsim import recorded/ --out job.toml --machine recorded --seeds 9
  ckptsim import recorded/ --out job.toml --json > imported.json
  ckptsim import recorded/ --out job.toml --spans spans.json    checkpoints that only spans have

A recording is a folder that `ckptsim capture` wrote, a folder of saved answers, or the archive of a
job for the history server.  Spans alone name no vertex: a source and an operator are assumed.  The
last line says how far a replay of the job as it is agrees with what was measured: good, fair, or do
not trust, with the reason.
exit codes: 0 the scenario was written, 2 the recording says too little of a job""",
    ),
}
