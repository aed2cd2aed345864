"""The gallery: twenty figures and pages, each made by the line or the command that it shows."""

from __future__ import annotations

import contextlib
import io
import shlex
import shutil
from pathlib import Path
from tempfile import TemporaryDirectory

import ckptsim as ck
from ckptsim.analysis.figures.style import svg
from ckptsim.sim.cli import main

# Title, and the line that returns the axes of the figure.
FIGURES: tuple[tuple[str, str], ...] = (
    ("Barriers overtake buffers", 'ck.run("alignment_timeout").plot.barriers(3)'),
    ("Aligned barriers wait", 'ck.run("back_pressure_aligned").plot.barriers(3)'),
    ("Parts of each checkpoint", 'ck.run("back_pressure_aligned").plot.durations()'),
    ("Bytes in flight", 'ck.run("back_pressure_unaligned").plot.in_flight()'),
    ("Alignment of each subtask", 'ck.run("back_pressure_aligned").plot.alignment()'),
    ("A recovery", 'ck.run("recovery_in_its_time").plot.recovery()'),
    ("Pending states of a sync with a crash", 'ck.run("reference").plot.pending()'),
    ("Rare situations that runs reached", 'ck.check("reference", seeds=50).plot.goals()'),
    (
        "Aligned beside unaligned",
        'ck.whatif("orders", set={"job.checkpointing.mode": "unaligned"}).plot.durations()',
    ),
    ("Which interval costs least", 'ck.advise("orders", mtbf="30min", restart="20s").plot.cost()'),
    (
        "Durations by interval and mode",
        'ck.read_sweep("modes").plot.duration(x="interval", by="mode")',
    ),
    ("Distribution of durations", 'ck.read_sweep("modes").plot.distribution()'),
    (
        "Bytes that checkpoints persist",
        'ck.read_sweep("modes").plot.metric("persisted_bytes", x="interval", by="mode")',
    ),
    ("Differences, paired by seed", 'ck.read_sweep("modes").plot.differences("median_latency_ns")'),
)
# Title, the command that writes the page, and the page's file.
PAGES: tuple[tuple[str, str, str], ...] = (
    ("Walk through a run", "ckptsim view alignment_timeout --checkpoint 3 --out run.html", "run"),
    (
        "Two runs beside each other",
        "ckptsim view back_pressure_unaligned --beside back_pressure_aligned --out two.html",
        "two",
    ),
    ("Walk through a recording", "ckptsim view orders --checkpoint 17 --out orders.html", "orders"),
    (
        "An answer of whatif",
        "ckptsim whatif orders --vary execution.checkpointing.interval='1 s,5 s' --out answer.html",
        "answer",
    ),
    ("The report of a sweep", "ckptsim report modes", "modes/report"),
)
SWEEP = (
    "ckptsim sweep back_pressure_aligned --set duration='8 s' --vary interval='500 ms,1 s,2 s'"
    " --vary mode=aligned,unaligned --seeds 3 --out modes --master 'local[2]' --no-report"
)


def page(folder: Path) -> str:
    """Draw everything into a folder, and return the page, beside the folder `static`."""
    folder.mkdir(parents=True)
    lines = ["# Gallery", "", "The build of this site draws each figure by the line below it.", ""]
    with TemporaryDirectory() as work, contextlib.chdir(work):
        _command(SWEEP)
        for number, (title, line) in enumerate(FIGURES):
            file = f"figure-{number:02}.svg"
            drawn = svg(eval(line, {"ck": ck}).figure)
            (folder / file).write_text(drawn, encoding="utf-8")
            lines += [f"## {title}", "", f"![{title}](static/gallery/{file})", ""]
            lines += ["```python", line, "```", ""]
        for title, command, file in PAGES:
            _command(command)
            name = f"{Path(file).name}.html"
            shutil.copy(f"{file}.html", folder / name)
            address = f"_static/gallery/{name}"
            lines += [f"## {title}", "", f"```console\n$ {command}\n```", ""]
            lines += [f'<iframe loading="lazy" title="{title}" src="{address}"></iframe>', ""]
            lines += [f'<p><a href="{address}">Open it as a page</a></p>', ""]
    return "\n".join(
        [*lines, "The figures of sweeps come from:", "", f"```console\n$ {SWEEP}\n```"]
    )


def _command(command: str) -> None:
    """Run a command. Raises RuntimeError where it does not end well."""
    with contextlib.redirect_stdout(io.StringIO()) as out:
        code = main(shlex.split(command)[1:])
    if code:
        raise RuntimeError(f"{command}: exit code {code}\n{out.getvalue()}")
