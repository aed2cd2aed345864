"""Make a scenario of a recording: one job of the common dialect, with the origin of every value."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from ckptsim.scenarios import Scenario
from ckptsim.scenarios.errors import Problem, ScenarioError, UserError
from ckptsim.scenarios.job import (
    Checkpointing,
    Input,
    Job,
    Machine,
    Mode,
    Network,
    NoRestart,
    Partitioner,
    PlacementKind,
    Plane,
    Profile,
    Storage,
    Vertex,
    VertexKind,
)
from ckptsim.scenarios.job.job import ON_BUFFERS
from ckptsim.sim.infer import options, topology
from ckptsim.sim.infer.advice.budget import bounded
from ckptsim.sim.infer.found import Finding, Findings, Found, Sureness
from ckptsim.sim.infer.tasks import keys, load, rates, state
from ckptsim.sim.infer.tasks.machine import (
    MachineChoice,
    cores_of,
    machine_of,
    pace_of,
    usual_cores,
)
from ckptsim.sim.job.buffers.constants import PROFILES, Constants
from ckptsim.sim.recording import Recording, VertexAnswer

_MOST_VERTICES = 128
_MOST_SUBTASKS = 1024
_SECOND_NS = 1_000_000_000
# Sizes of records that differ by less are one size, counted with noise.
_SAME_SIZE = 0.03
# A run ends after so many completed checkpoints, as the measured ones did, or after this time.
CHECKPOINTS = 14
_LONGEST_NS = 600 * _SECOND_NS
_STEADY = Found(
    value=0.0,
    how="counters are sums, in which it does not show",
    answers=(),
    sure=Sureness.ASSUMED,
    effect="where several subtasks share the load the slowest one decides, so checkpoints take "
    "longer the more it varies",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """A scenario made of a recording. findings: every value with its origin, in the file's order.

    names: id of a vertex -> its name in the scenario.
    """

    scenario: Scenario
    findings: tuple[Finding, ...]
    names: dict[str, str]

    @property
    def asked(self) -> tuple[Finding, ...]:
        """Return what the recording could not say, which has a default."""
        return tuple(one for one in self.findings if one.sure is Sureness.ASSUMED and one.effect)


def scenario_of(
    recording: Recording,
    *,
    name: str = "recorded",
    machine: MachineChoice = MachineChoice.QUIET,
    profile: Profile = Profile.PLAIN,
) -> Imported:
    """Return the scenario that a recording describes.

    machine: whether the answer is for a quiet machine, or for the one that was recorded.
    profile: the profile of constants. Raises UserError for a job that no scenario can hold.
    """
    findings = Findings()
    names = topology.names_of(recording)
    topology.check_joined(recording)
    vertices = topology.ordered(recording)
    _check_size(vertices)
    placement, places = topology.placement_of(recording)
    findings.add(("job", "placement"), "placement", placement, placement.value.value)
    network = _network(recording, vertices, findings)
    checkpointing = _checkpointing(recording, findings)
    constants = PROFILES[profile]
    storage, on = _storage_and_machine(
        recording, findings, (checkpointing.subtasks_per_file, machine, constants)
    )
    pace = pace_of(recording, machine)
    findings.add(("job", "machine"), "machine: service times", pace, f"x {pace.value:.3f}")
    findings.add(("job", "vertices"), "service times: service_variation", _STEADY)
    is_map = placement.value is PlacementKind.MAP
    built = tuple(
        _vertex(recording, vertex, names, (network, pace.value, index, findings), constants)
        for index, vertex in enumerate(vertices)
    )
    if is_map:
        built = tuple(
            replace(ours, task_managers=tuple(places[vertex.id]))
            for ours, vertex in zip(built, vertices, strict=True)
        )
    job = Job(
        plane=Plane.BUFFERS,
        profile=profile,
        vertices=built,
        placement=placement.value,
        network=network,
        checkpointing=checkpointing,
        storage=storage,
        machine=on,
        restart=NoRestart(),
        # Then a run ends that has not completed its checkpoints, whatever they take.
        duration_ns=max(_LONGEST_NS, 4 * CHECKPOINTS * checkpointing.interval_ns),
    )
    problems = job.problems()
    if problems:
        raise ScenarioError([Problem(f"job.{p.path}", p.found, p.expected) for p in problems])
    says = f"recorded from a job of Apache Flink {recording.version or 'of unknown version'}"
    scenario = Scenario(name=name, link=ON_BUFFERS, says=says, model=job)
    return Imported(scenario=bounded(scenario), findings=findings.all, names=names)


def _storage_and_machine(
    recording: Recording, findings: Findings, context: tuple[int, MachineChoice, Constants]
) -> tuple[Storage, Machine]:
    """Return storage and machine. context: subtasks that share a file, the choice, the profile."""
    per_file, choice, constants = context
    cores = cores_of(recording)
    usual = usual_cores(recording, cores.value, constants)
    storage = _storage(recording, findings, (per_file, usual, constants))
    limits: dict[str, Any] = {"storage": storage, "subtasks_per_file": per_file}
    found = machine_of(recording, choice, cores.value, constants=constants, **limits)
    findings.add(("job", "machine", "cores"), "machine: cores", cores, str(usual))
    if found.value.cost_factor != 1.0:
        factor = f"{found.value.cost_factor:.3g}"
        findings.add(("job", "machine", "cost_factor"), "machine", found, factor)
    return storage, found.value


def _check_size(vertices: tuple[VertexAnswer, ...]) -> None:
    if len(vertices) > _MOST_VERTICES:
        raise UserError(f"found {len(vertices)} vertices, expected at most {_MOST_VERTICES}")
    for vertex in vertices:
        if vertex.parallelism > _MOST_SUBTASKS:
            found = f"{vertex.parallelism} subtasks of {vertex.name}"
            raise UserError(f"found {found}, expected at most {_MOST_SUBTASKS}")


# Tables of the job -------------------------------------------------------------------------------


def _network(
    recording: Recording, vertices: tuple[VertexAnswer, ...], findings: Findings
) -> Network:
    """Return options of the network, and the size of most records."""
    values: dict[str, Any] = {}
    for key, found in options.network_options(recording):
        values[key] = found.value
        findings.add(("job", "network", key), f"network: {key}", found)
    sizes = [(load.record_bytes_of(vertex), _bytes_out(vertex)) for vertex in vertices]
    known = [(found, volume) for found, volume in sizes if found is not None]
    if known:
        most, _ = max(known, key=lambda pair: pair[1])
    else:
        most = Found(
            value=Network().record_bytes,
            how="no vertex has emitted enough records to tell",
            answers=(),
            sure=Sureness.ASSUMED,
            effect="bytes in flight are proportional to it where buffers are not full",
        )
    findings.add(("job", "network", "record_bytes"), "network: record_bytes", most)
    return Network(record_bytes=most.value, **values)


def _bytes_out(vertex: VertexAnswer) -> float:
    return sum(subtask.last("numBytesOut") or 0.0 for subtask in vertex.subtasks)


def _checkpointing(recording: Recording, findings: Findings) -> Checkpointing:
    mode = options.mode_of(recording)
    interval = options.interval_of(recording)
    place = ("job", "checkpointing")
    findings.add((*place, "mode"), "checkpoints: mode", mode, mode.value[0].value)
    findings.add((*place, "interval_ns"), "checkpoints: interval", interval)
    values: dict[str, Any] = {}
    for key, found in options.limits_of(recording):
        values[key] = found.value
        findings.add((*place, key), f"checkpoints: {key}", found)
    # Whether checkpoints fail is no question here, and one that does must not end the run.
    values["tolerable_failures"] = max(1000, values.get("tolerable_failures", 0))
    if mode.value[0] in (Mode.UNALIGNED, Mode.ALIGNED_TIMEOUT):
        values["max_concurrent"] = 1
    return Checkpointing(
        mode=mode.value[0],
        aligned_timeout_ns=mode.value[1],
        interval_ns=max(1_000, interval.value),
        count=CHECKPOINTS,
        **values,
    )


def _storage(
    recording: Recording, findings: Findings, context: tuple[int, int, Constants]
) -> Storage:
    """Return the storage. context: how many subtasks share a file, processors, the profile's."""
    subtasks_per_file, cores, constants = context
    inline = options.inline_of(recording)
    table = Storage()
    if inline is not None:
        table = replace(table, inline_threshold_bytes=inline.value)
        findings.add(("job", "storage", "inline_threshold_bytes"), "storage: inline", inline)
    speed = state.storage_of(
        recording,
        inline_bytes=table.inline_threshold_bytes,
        subtasks_per_file=subtasks_per_file,
        cores=cores,
        constants=constants,
    )
    rate = speed.value.write_bytes_per_s
    text = "no limit that shows" if rate is None else f"{rate:,} bytes/s"
    table = replace(table, shared_limit=speed.value.shared or table.shared_limit)
    text += " of all together" if speed.value.shared else ""
    key = "write_bytes_per_s" if rate is not None else "shared_limit"
    findings.add(("job", "storage", key), "storage: rate of a stream", speed, text)
    if (read := state.read_rate_of(recording)) is not None:
        table = replace(table, read_bytes_per_s=read.value)
        findings.add(("job", "storage", "read_bytes_per_s"), "storage: read of a stream", read)
    return replace(table, write_bytes_per_s=rate, create_latency_ns=speed.value.create_latency_ns)


# Vertices ----------------------------------------------------------------------------------------


def _vertex(
    recording: Recording,
    vertex: VertexAnswer,
    names: dict[str, str],
    context: tuple[Network, float, int, Findings],
    constants: Constants,
) -> Vertex:
    """Return a vertex.

    context: the network, the pace of the machine, the vertex's index, and where to note findings.
    """
    network, pace, index, findings = context
    place = ("job", "vertices", index)
    name = names[vertex.id]
    values: dict[str, Any] = {"name": name, "parallelism": vertex.parallelism}
    chain = topology.chain_of(vertex)
    if chain.value > 1:
        values["chain"] = chain.value
        findings.add((*place, "chain"), f"{name}: chain", chain, f"{chain.value} operators")
    size = load.record_bytes_of(vertex)
    if size is not None and abs(size.value / network.record_bytes - 1) > _SAME_SIZE:
        values["record_bytes"] = size.value
        findings.add((*place, "record_bytes"), f"{name}: record_bytes", size)
    if vertex.inputs:
        services = load.services_of(vertex, pace)
        values |= _service(services, name, (place, findings), constants)
        values |= _operator(recording, vertex, names, (place, findings))
    else:
        values |= _source(vertex, name, (place, findings))
    return Vertex(**values)


def _source(
    vertex: VertexAnswer, name: str, context: tuple[tuple[str | int, ...], Findings]
) -> dict[str, Any]:
    place, findings = context
    found = rates.rates_of(vertex)
    if found.value is None:
        findings.add((*place, "kind"), f"{name}: rate", found, "as fast as it can")
        return {"kind": VertexKind.SOURCE}
    total = round(sum(found.value), 3)
    findings.add((*place, "rate_per_s"), f"{name}: rate", found, f"{total:,.1f} /s")
    values: dict[str, Any] = {"kind": VertexKind.SOURCE, "rate_per_s": total}
    if len(set(found.value)) > 1:
        values["rate_shares"] = tuple(round(rate / total, 4) for rate in found.value)
    course = rates.course_of(vertex)
    if course is not None:
        *changes, last = course.value
        values |= {"rate_changes": tuple(changes), "rate_period_ns": last.at_ns}
        said = ", ".join(f"{one.factor:.2g}" for one in changes)
        findings.add((*place, "rate_period_ns"), f"{name}: course of its rate", course, said)
    kept, how = rates.keeps_what_it_missed(vertex)
    values["replayable"] = kept
    missed = Found(value=kept, how=how, answers=found.answers, sure=Sureness.ESTIMATED)
    said = "comes later" if kept else "is dropped"
    findings.add((*place, "replayable"), f"{name}: what it missed", missed, said)
    return values


def _operator(
    recording: Recording,
    vertex: VertexAnswer,
    names: dict[str, str],
    context: tuple[tuple[str | int, ...], Findings],
) -> dict[str, Any]:
    place, findings = context
    name = names[vertex.id]
    inputs = _inputs(recording, vertex, names, context)
    values: dict[str, Any] = {"inputs": inputs}
    if len(inputs) == 2:
        two = topology.two_input_of(vertex)
        values["two_input"] = two.value
        said = "connected" if two.value else "a union"
        key = "two_input" if two.value else "inputs"
        findings.add((*place, key), f"{name}: its two inputs", two, said)
    receivers = [v for v in recording.vertices if any(i.upstream == vertex.id for i in v.inputs)]
    selectivity = load.selectivity_of(vertex, receivers)
    if selectivity.value != 1.0 or selectivity.sure is Sureness.ASSUMED:
        values["selectivity"] = min(1000.0, selectivity.value)
        said = f"{selectivity.value:g}"
        findings.add((*place, "selectivity"), f"{name}: selectivity", selectivity, said)
    sizes = state.states_of(recording, vertex)
    if sizes is not None and any(sizes.value):
        values["subtask_state_bytes"] = sizes.value
        said = f"{sum(sizes.value):,} bytes"
        findings.add((*place, "subtask_state_bytes"), f"{name}: state", sizes, said)
    if (full := state.full_of(recording, vertex)) is not None:
        values["state_bytes"] = full.value
        findings.add((*place, "state_bytes"), f"{name}: what a restore reads", full)
    return values


def _service(
    services: Found[tuple[int, ...]],
    name: str,
    context: tuple[tuple[str | int, ...], Findings],
    constants: Constants,
) -> dict[str, Any]:
    place, findings = context
    usual, factors = load.factored(services.value, constants)
    text = f"{usual / 1000:,.0f} us" + (f" x {factors}" if factors else "")
    findings.add((*place, "service_ns"), f"{name}: service", services, text)
    return {"service_ns": usual, "service_factors": factors}


def _inputs(
    recording: Recording,
    vertex: VertexAnswer,
    names: dict[str, str],
    context: tuple[tuple[str | int, ...], Findings],
) -> tuple[Input, ...]:
    place, findings = context
    by_id = {one.id: one for one in recording.vertices}
    found = []
    partitioners = [
        topology.partitioner_of(vertex, edge, by_id[edge.upstream])
        for edge in vertex.inputs
        if edge.upstream in by_id
    ]
    shares = None
    if all(p.value == "hash" for p in partitioners):
        segment = dict(options.network_options(recording)).get("segment_bytes")
        size = Network().segment_bytes if segment is None else segment.value
        shares = keys.shares_of(vertex, segment_bytes=size)
    for index, edge in enumerate(edge for edge in vertex.inputs if edge.upstream in by_id):
        partitioner = partitioners[index]
        where = (*place, "inputs", index)
        label = f"{names[vertex.id]} <- {names[edge.upstream]}"
        findings.add((*where, "partitioner"), label, partitioner, partitioner.value.value)
        keyed = len(vertex.inputs) == 1 and partitioner.value is Partitioner.HASH
        upstream = by_id[edge.upstream]
        kept = keys.keeps_key(vertex, upstream) if keyed else None
        if kept is not None:
            said = f"that of {names[upstream.id]}" if kept.value else "one of its own"
            findings.add((*where, "keeps_key"), f"{label}: its key", kept, said)
        stays = kept is not None and kept.value and vertex.parallelism == upstream.parallelism
        own = None if stays else shares
        if own is not None:
            said = ", ".join(f"{share:.1%}" for share in own.value)
            findings.add((*where, "shares"), f"{label}: keys", own, said)
        size = load.size_on_edge(recording.vertices, vertex, upstream)
        if size is not None:
            findings.add((*where, "record_bytes"), f"{label}: record_bytes", size)
        found.append(
            Input(
                upstream=names[edge.upstream],
                partitioner=partitioner.value,
                shares=() if own is None else own.value,
                keeps_key=None if kept is None else kept.value,
                record_bytes=None if size is None else size.value,
            )
        )
    return tuple(found)
