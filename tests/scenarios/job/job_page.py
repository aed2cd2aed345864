"""The tables of jobs and pipelines, made from what the program runs."""

from __future__ import annotations

from collections.abc import Sequence

from ckptsim.scenarios import LINKS
from ckptsim.scenarios.describe import reference
from ckptsim.scenarios.job.faults import JOB_FAULTS
from ckptsim.scenarios.limits import BUFFERS, PIPELINE, RECORDS, limits_of

JOBS = ("barriers", "barrier_protocol", "final_checkpoint")


def _row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


def _table(*rows: str) -> str:
    head, *rest = rows
    return "\n".join([head, "|---" * (head.count("|") - 1) + "|", *rest])


def defaults() -> str:
    """Return the table of the defaults in which the links differ."""
    shown = {link: {one.path: _told(one.value) for one in reference(LINKS[link])} for link in JOBS}
    first = shown[JOBS[0]]
    differing = [
        path for path in first if any(shown[link].get(path) != first[path] for link in JOBS)
    ]
    rows = [
        _row(f"`{path}`", *(f"`{shown[link][path]}`" for link in JOBS))
        for path in differing
        if path.startswith("job.")
    ]
    return _table(_row("parameter", *(f"`{link}`" for link in JOBS)), *rows)


def _told(value: object) -> str:
    return str(value["kind"] if isinstance(value, dict) else value)


def limits(link: str = "barriers", places: Sequence[str] = (RECORDS, BUFFERS)) -> str:
    """Return the table of everything that is refused on a plane, or in a pipeline."""
    key, model = LINKS[link].key, LINKS[link].model
    keys: dict[tuple[str, str], list[str]] = {}
    for place in places:
        for one in limits_of(model):
            if one.limit.place == place and not one.limit.noted:
                keys.setdefault((place, one.limit.because), []).append(f"`{key}.{one.path}`")
    rows = (_row(f"`{place}`", ", ".join(named), why) for (place, why), named in keys.items())
    return _table(_row("place", "keys that keep their default", "because"), *rows)


def pipeline_limits() -> str:
    """Return the table of everything that is refused in a pipeline on either plane."""
    return limits("composed", (PIPELINE,))


def faults() -> str:
    """Return the table of all faults."""
    return _table(
        _row("kind", "what happens"),
        *(_row(f"`{kind}`", _says(table)) for kind, table in JOB_FAULTS.items()),
    )


def _says(table: type) -> str:
    return (table.__doc__ or "").partition("\n")[0]


def page() -> str:
    """Return the page of the site on planes, pipelines and faults."""
    head = "# Planes and faults of jobs\n\nKeys without a meaning somewhere keep their default."
    return f"{head}\n\n{limits()}\n\n{pipeline_limits()}\n\n## Faults\n\n{faults()}\n"
