"""What the page of a run shows, as JSON data: lanes, events and their links, checkpoints, causes.

Times are integers in nanoseconds since the start of the run.  An event is a list: time, index of
its kind, index of its lane, then the fields of its kind.  A link is a list: indices of a cause and
its effect, and the name of the span that they bound, empty for none. A checkpoint has a `key`,
which is its number in a job, and `scope/number` in a sync.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import Any

from ckptsim.analysis.viewer.events import Events
from ckptsim.scenarios import Scenario
from ckptsim.scenarios.dialect import duration_text
from ckptsim.scenarios.job import Job
from ckptsim.sim.rows import CheckpointRow, RunResult, TaskRow
from ckptsim.sim.story import Vocabulary
from ckptsim.sim.why.observed import Lane, Observed
from ckptsim.sim.why.why import causes_of

VERSION = 1
_PARTS_MAX = 40_000  # parts of subtasks in checkpoints
_CAUSES_MAX = 60  # checkpoints with a cause
_FAILED = ("expired", "aborted", "failed")
_PARTS = ("start_delay_ns", "alignment_ns", "sync_ns", "async_ns")
# Lanes from the source to the platform. The vertices of a job come after the coordinator.
_BEFORE = ("reader", "feed", "socket", "destination", "storage", "job", "coordinator")
_AFTER = ("process", "partition", "store", "attempt", "platform")
# What passes between lanes, also where a trace has no entry of it.
_FLOWS = (
    *(("reader", "feed"), ("feed", "socket"), ("socket", "readers"), ("sink", "store")),
    *(("socket", "destination"), ("destination", "storage"), ("destination", "platform")),
    *(("partition", "process"), ("partition", "store")),
)
_WAITS = {
    "wait_records_ns": "for its records to be durable",
    "wait_upload_ns": "for an upload",
    "wait_predecessor_ns": "for the state before it",
    "wait_send_ns": "for its delivery",
}


def document(
    scenario: Scenario,
    result: RunResult,
    vocabulary: Vocabulary,
    *,
    title: str = "",
    checkpoint: int | None = None,
) -> dict[str, Any]:
    """Return what the page shows of a run. Its trace may be missing, as of a recording.

    title: above the page, if not the name of the scenario.  checkpoint: the one that is selected,
    else the slowest one.
    """
    run = result.run
    lanes = _Lanes(scenario, result)
    chosen = _chosen(result, checkpoint)
    ranked = _ranked(result, chosen)
    events = Events(vocabulary, lanes.index, lanes.senders())
    events.take(result.trace, ranked)
    observed = lanes.observed
    causes = _causes(scenario, observed, ranked, lanes) if observed else _waits(result)
    return {
        "version": VERSION,
        "title": title or scenario.name,
        "says": scenario.says,
        "facts": _facts(result),
        "replay": run.replay,
        "ended": max([run.ended_ns, *(_end(row) for row in result.checkpoints)]),
        "clock": "simulated time" if run.digest else "time",
        "lanes": lanes.names,
        "groups": lanes.groups(events),
        "kinds": [[name, *events.words(name)] for name in events.kinds],
        "events": events.events,
        "links": events.links,
        "left_out": events.left_out,
        "checkpoints": _checkpoints(result),
        "parts": lanes.parts(ranked),
        "recoveries": [asdict(row) for row in result.recoveries],
        "causes": causes,
        "violations": [
            {
                "property": row.property,
                "at": row.at_ns,
                "says": row.says,
                "story": row.story.splitlines(),
            }
            for row in result.violations
        ],
        "selected": _key_of(result, chosen),
    }


def _facts(result: RunResult) -> list[tuple[str, str]]:
    run = result.run
    done = sum(row.status == "completed" for row in result.checkpoints)
    failed = sum(row.status in _FAILED for row in result.checkpoints)
    facts = [("checkpoints", f"{done} completed" + (f", {failed} not" if failed else ""))]
    if run.digest:
        facts.insert(0, ("outcome", f"{run.outcome} after {duration_text(run.ended_ns)}"))
    if run.records_produced:
        truth = f"{run.records_produced:,} produced, {run.records_committed:,} committed"
        facts.append(("records", truth))
    if result.recoveries:
        facts.append(("recoveries", str(len(result.recoveries))))
    if run.digest:
        facts.append(("seed", f"{run.seed}, {run.ties} ties, digest {run.digest[:12]}"))
    return facts


def _checkpoints(result: RunResult) -> list[dict[str, Any]]:
    """Return the checkpoints with their keys. Of a recording the longest parts of subtasks."""
    longest: dict[int, dict[str, int]] = {}
    for part in result.task_checkpoints:
        own = longest.setdefault(part.checkpoint_id, {})
        for name in _PARTS:
            own[name] = max(own.get(name, 0), getattr(part, name))
    return [
        {"key": key, **longest.get(row.checkpoint_id, {}), **_checkpoint(row)}
        for key, row in _keyed(result.checkpoints).items()
    ]


def _end(row: CheckpointRow) -> int:
    return row.triggered_ns + (row.duration_ns or 0)


def _keyed(rows: Sequence[CheckpointRow]) -> dict[str, CheckpointRow]:
    """Return the checkpoints by their keys. A key that repeats has the attempt after it."""
    found: dict[str, CheckpointRow] = {}
    for row in rows:
        number = str(row.checkpoint_id)
        key = number if row.scope == "job" else f"{row.scope}/{number}"
        found[f"{key}@{row.attempt}" if key in found else key] = row
    return found


def _key_of(result: RunResult, chosen: int | None) -> str | None:
    rows = {
        key: row for key, row in _keyed(result.checkpoints).items() if row.checkpoint_id == chosen
    }
    return max(rows, key=lambda key: rows[key].duration_ns or 0) if rows else None


def _waits(result: RunResult) -> dict[str, Any]:
    """Return where the time of each state of a sync went, by its key."""
    found = {}
    for key, row in _keyed(result.checkpoints).items():
        waits = {says: getattr(row, name) or 0 for name, says in _WAITS.items()}
        total = sum(waits.values())
        if not total:
            continue
        says, longest = max(waits.items(), key=lambda one: one[1])
        told = [f"{duration_text(ns)} {name}" for name, ns in waits.items() if ns]
        lines = [
            f"State {key} took {duration_text(total)}.",
            f"{100 * longest / total:.0f} % of it: it waited {says}.",
            f"In all: {', '.join(told)}.",
        ]
        found[key] = {"lines": lines, "path": []}
    return found


def _checkpoint(row: CheckpointRow) -> dict[str, Any]:
    kept = ("scope", "kind", "status", "reason", "attempt", *_PARTS, "persisted_bytes", "unaligned")
    values = {name: getattr(row, name) for name in kept}
    found = {name: value for name, value in values.items() if value is not None}
    return found | {"id": row.checkpoint_id, "at": row.triggered_ns, "took": row.duration_ns}


def _chosen(result: RunResult, asked: int | None) -> int | None:
    """Return the checkpoint that is selected: that asked for, of a violation, or the slowest."""
    if asked is not None:
        return asked
    rows = [row for row in result.checkpoints if not row.inner] or result.checkpoints
    broken = [row.index for row in result.violations if row.index is not None]
    known = {row.checkpoint_id for row in rows}
    for index in broken:
        if index in known:
            return index
    done = [row for row in rows if row.status == "completed"]
    if not done:
        return rows[0].checkpoint_id if rows else None
    return max(done, key=lambda row: row.duration_ns or 0).checkpoint_id


def _ranked(result: RunResult, chosen: int | None) -> list[int]:
    """Return the numbers of checkpoints, those first that people want to look at."""
    rows = sorted(
        result.checkpoints,
        key=lambda row: (row.status not in _FAILED, -(row.duration_ns or 0), row.checkpoint_id),
    )
    found = dict.fromkeys(row.checkpoint_id for row in rows)
    return [*([] if chosen is None else [chosen]), *found]


def _causes(
    scenario: Scenario, observed: Observed, ranked: Sequence[int], lanes: _Lanes
) -> dict[str, Any]:
    """Return the cause and the critical path of checkpoints and recoveries."""
    found: dict[str, Any] = {}
    for name, why in causes_of(scenario, observed, ranked[:_CAUSES_MAX]):
        found[name] = {
            "lines": why.lines,
            "path": [
                [lanes.of(step.place), step.phase, step.from_ns, step.until_ns] for step in why.path
            ],
        }
    return found


class _Lanes:
    """The lanes of a page: the coordinator and the subtasks of a job, or users who acts in a trace.

    observed: a job as its rows and its trace show it, None of a run without one.
    """

    def __init__(self, scenario: Scenario, result: RunResult) -> None:
        model, self._result = scenario.model, result
        self.observed = Observed(scenario, result) if isinstance(model, Job) else None
        vertices = model.spelled_out().vertices if isinstance(model, Job) else ()
        self._vertices = getattr(model, "vertices", ()) if self.observed is None else vertices
        order = [*_BEFORE, *(vertex.name for vertex in self._vertices), *_AFTER]
        acting = [str(entry[2]).removeprefix("task ") for entry in result.trace]
        if self.observed is not None:
            own = self.observed.places
            acting += ["coordinator", *(f"{vertex}[{subtask}]" for vertex, subtask in own)]
        places = {name: place for place, name in enumerate(order)}
        self.names = sorted(
            dict.fromkeys(acting),
            key=lambda name: (places.get(_role(name), len(order)), *_numbered(name)),
        )
        self.index = {name: place for place, name in enumerate(self.names)}

    def of(self, place: tuple[str | None, int | None]) -> int:
        """Return the lane of a subtask. The coordinator's of what no subtask does."""
        vertex, subtask = place
        found = self.index.get(f"{vertex}[{subtask or 0}]") if vertex is not None else None
        return self.index.get("coordinator", 0) if found is None else found

    def senders(self) -> dict[str, list[str]]:
        """Return the sender of each channel, by the name of its receiver."""
        if self.observed is None:
            return {}
        return {
            f"{vertex}[{subtask}]": [
                f"{name}[{number}]" for name, number in self.observed.senders((vertex, subtask))
            ]
            for vertex, subtask in self.observed.places
        }

    def parts(self, ranked: Iterable[int]) -> dict[int, list[list[int | None]]]:
        """Return what each subtask did for a checkpoint, by its number.

        A part is a list: lane, then after the trigger when the first and the last barrier came,
        when the snapshot began, was copied, was written, was acknowledged, then bytes in flight.
        """
        if self.observed is None:
            return {}
        rows = {row.checkpoint_id: row for row in self._result.checkpoints}
        found: dict[int, list[list[int | None]]] = {}
        count = 0
        for number in ranked:
            row, lanes = rows.get(number), self.observed.lanes.get(number, {})
            count += len(lanes)
            if row is None or number in found or count > _PARTS_MAX:
                continue
            found[number] = [self._part(row, place, lane) for place, lane in lanes.items()]
        return found

    def _part(
        self, row: CheckpointRow, place: tuple[str | None, int | None], lane: Lane
    ) -> list[int | None]:
        assert self.observed is not None
        part = self.observed.part(row.checkpoint_id, place)
        instants = (lane.first_ns, lane.last_ns, lane.snapshot_ns, lane.copied_ns)
        times = [*instants, lane.written_ns, lane.acknowledged_ns]
        after = [None if at_ns is None else at_ns - row.triggered_ns for at_ns in times]
        return [self.of(place), *after, part.persisted_bytes if part else None]

    def groups(self, events: Events) -> dict[str, Any]:
        """Return the graph: vertices with their lanes and load, and edges between them."""
        members: dict[str, list[int]] = {}
        for place, name in enumerate(self.names):
            members.setdefault(_role(name), []).append(place)
        pairs = [(one.upstream, vertex.name) for vertex in self._vertices for one in vertex.inputs]
        if self.observed is None:
            roles = [_role(name) for name in self.names]
            lanes = ((events.events[a][2], events.events[b][2]) for a, b, _ in events.links)
            pairs += [*_FLOWS, *((roles[a], roles[b]) for a, b in lanes)]
        pairs = [(a, b) for a, b in pairs if a in members and b in members and a != b]
        joined = {name for pair in pairs for name in pair}
        joined |= {vertex.name for vertex in self._vertices}
        loads = _loads(self._result.tasks)
        return {
            "vertices": [
                {"name": name, "lanes": lanes, **loads.get(name, {})}
                for name, lanes in members.items()
                if name in joined
            ],
            "edges": list(dict.fromkeys(pairs)),
            "job": self.observed is not None,
        }


def job_graph(job: Job, rows: Sequence[TaskRow] = ()) -> dict[str, Any]:
    """Return the graph of a job as pages draw it. rows: how its subtasks spend their time."""
    vertices, loads = job.spelled_out().vertices, _loads(rows)
    return {
        "vertices": [
            {"name": one.name, "subtasks": one.parallelism, **loads.get(one.name, {})}
            for one in vertices
        ],
        "edges": [(way.upstream, one.name) for one in vertices for way in one.inputs],
        "loaded": bool(loads),
    }


def _role(name: str) -> str:
    """Return what a lane is: a vertex, `reader`, `socket`, `partition`, ..."""
    return name.partition("[")[0].partition(".")[0].partition(" ")[0]


def _numbered(name: str) -> tuple[str, int]:
    """Return a name without its number, and the number."""
    stem, _, number = name.rpartition("[")
    return (stem, int(number[:-1])) if number[:-1].isdigit() else (name, 0)


def _loads(rows: Sequence[TaskRow]) -> dict[str, dict[str, float]]:
    """Return how each vertex spends its time: the one of its subtask with the most work."""
    found: dict[str, TaskRow] = {}
    for row in rows:
        load = row.busy_ratio + row.backpressured_ratio
        other = found.get(row.task)
        if other is None or load > other.busy_ratio + other.backpressured_ratio:
            found[row.task] = row
    return {
        name: {"busy": round(row.busy_ratio, 4), "pressed": round(row.backpressured_ratio, 4)}
        for name, row in found.items()
    }
