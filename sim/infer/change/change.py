"""The one language of options: the engine's own names, or ours, from a scenario to a scenario.

`execution.checkpointing.interval=500 ms` is an option of the engine. `source.NAME.rate=3900 /s`,
`vertex.NAME.parallelism=4` and `vertices.NAME.KEY=VALUE` name a vertex, `parallelism.default` all
of them.  A path such as `job.vertices[NAME].state` is ours.  The end of a path or of an engine's
name is enough where only one ends so: `interval`, `checkpointing.timeout`, `unaligned.enabled`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from ckptsim.scenarios import Scenario
from ckptsim.scenarios.describe import describe
from ckptsim.scenarios.dialect import one_of, suggestion, units
from ckptsim.scenarios.errors import Problem, ScenarioError
from ckptsim.scenarios.job import Checkpointing, Job, Mode, Network
from ckptsim.scenarios.planning import assignments, with_parameters
from ckptsim.sim.infer.change.parallelism import with_parallelism
from ckptsim.sim.infer.options import NETWORK, flush_ns
from ckptsim.sim.infer.topology import bare_name
from ckptsim.sim.recording.answers import duration_ns, flag, size_bytes, whole

Read = Callable[[object], Any]
_UNIT = re.compile(r"_(?:ns|bytes|per_s|bytes_per_s)$")
_VERTEX = re.compile(r"^job\.vertices\[([0-9]+)\]")
_VERTICES = re.compile(r"^vertices\.")
_TABLE = re.compile(r"[.\[]")
_INDEX = re.compile(r"\[[^\]]*\]")
_LISTED = 6  # so many candidates of an ambiguous name in an error
_CHECKPOINTS = "execution.checkpointing."
# The engine's name -> our key of the table of checkpoints, how it reads, its least value.
_OF_CHECKPOINTS: Mapping[str, tuple[str, Read, int]] = {
    "interval": ("interval_ns", duration_ns, 1_000),
    "interval-during-backlog": ("interval_during_backlog_ns", duration_ns, 0),
    "min-pause": ("min_pause_ns", duration_ns, 0),
    "timeout": ("timeout_ns", duration_ns, 1_000),
    "aligned-checkpoint-timeout": ("aligned_timeout_ns", duration_ns, 0),
    "alignment-timeout": ("aligned_timeout_ns", duration_ns, 0),
    "max-concurrent-checkpoints": ("max_concurrent", whole, 1),
    "tolerable-failed-checkpoints": ("tolerable_failures", whole, 0),
    "unaligned.max-subtasks-per-channel-state-file": ("subtasks_per_file", whole, 1),
}
# The engine's name -> our path. The backend has another word there.
_OF_STATE: Mapping[str, str] = {
    "state.backend.type": "job.state.backend",
    "state.backend": "job.state.backend",
    f"{_CHECKPOINTS}incremental": "job.state.incremental",
    "state.backend.incremental": "job.state.incremental",
    f"{_CHECKPOINTS}local-backup.enabled": "job.state.local_recovery",
    "execution.state-recovery.from-local": "job.state.local_recovery",
    "state.backend.local-recovery": "job.state.local_recovery",
    "state.backend.rocksdb.checkpoint.transfer.thread.num": "job.storage.transfer_threads",
    "execution.state-recovery.claim-mode": "job.state.claim",
    "state.changelog.enabled": "job.state.changelog",
    "state.backend.changelog.enabled": "job.state.changelog",
    "state.changelog.periodic-materialize.interval": "job.state.materialization_interval",
    "dstl.dfs.preemptive-persist-threshold": "job.state.persisted",
    "execution.savepoint-restore-mode": "job.state.claim",
    f"{_CHECKPOINTS}file-merging.enabled": "job.storage.file_merging",
    f"{_CHECKPOINTS}file-merging.max-file-size": "job.storage.file_merging_bytes",
    f"{_CHECKPOINTS}file-merging.across-checkpoint-boundary": "job.storage.file_merging_across",
    "s3.upload.max.concurrent.uploads": "job.storage.host_transfers",
    "jobmanager.execution.failover-strategy": "job.recovery.failover",
}
_WORDS = {"hashmap": "heap", "no_claim": "no_claim", "claim": "claim", "legacy": "legacy"}
_UNALIGNED = (f"{_CHECKPOINTS}unaligned.enabled", f"{_CHECKPOINTS}unaligned")
_MODE = f"{_CHECKPOINTS}mode"
_INLINE = (f"{_CHECKPOINTS}data-inline-threshold", "state.storage.fs.memory-threshold")
PARALLELISM = "parallelism.default"
_FLUSHES = "execution.buffer-timeout.enabled"
_EXPECTED: tuple[tuple[Read, str], ...] = (
    (duration_ns, "a duration such as 500 ms"),
    (size_bytes, "a size such as 32 kb"),
    (flag, "true or false"),
)
_NETWORK = {name: option for option in NETWORK for name in option.names}

OPTIONS: tuple[str, ...] = (
    *(f"{_CHECKPOINTS}{name}" for name in _OF_CHECKPOINTS),
    *_UNALIGNED,
    _MODE,
    *_INLINE,
    *_NETWORK,
    _FLUSHES,
    PARALLELISM,
    *_OF_STATE,
)
KNOWN = frozenset(OPTIONS)
"""The options of the engine that mean something here, for a look whether one does."""


def read_change(words: Sequence[str], flag_: str = "--set") -> dict[str, str]:
    """Return the change that words such as `execution.checkpointing.interval=500 ms` make.

    Raises ScenarioError for a word that is no assignment, and for an option that is set twice.
    """
    found: dict[str, str] = {}
    problems: list[Problem] = []
    for word in words:
        option, equals, value = word.partition("=")
        option = _VERTICES.sub("vertex.", option.strip())
        if not equals or not option:
            problems.append(Problem(flag_, f'"{word}"', "OPTION=VALUE"))
        elif option in found:
            problems.append(Problem(f"{flag_} {option}", f'"{value}"', "one value"))
        else:
            found[option] = value.strip()
    if problems:
        raise ScenarioError(problems)
    return found


def read_values(words: Sequence[str]) -> dict[str, list[str]]:
    """Return the values of each option that words such as `job.machine.cores=2,4` vary.

    Raises ScenarioError as `read_change` does.
    """
    found = read_change(words, "--vary")
    return {option: [part.strip() for part in text.split(",")] for option, text in found.items()}


def changed(scenario: Scenario, change: Mapping[str, str]) -> Scenario:
    """Return a scenario with options set, in the order of the engine's meaning, not of the words.

    change: option -> value as a text, both as in a configuration file of the engine.
    Raises ScenarioError with every option that is not known and every value that is none.
    """
    theirs, ours = _sorted(scenario, change)
    if theirs:
        scenario = _with_options(scenario, theirs, ours)
    if not ours:
        return scenario
    words = assignments([f"{path}={value}" for path, value in ours.items()])
    return with_parameters(scenario, words, source="--set")


def parameters_of(scenario: Scenario, words: Sequence[str]) -> dict[str, object]:
    """Return what words of either language set, as values by paths of ours.

    What the engine's names come to is read from the scenario that they make. Raises ScenarioError
    as `changed` does. Values at paths are judged when they are set.
    """
    theirs, ours = _sorted(scenario, read_change(words))
    found: dict[str, object] = {}
    if theirs:
        job = cast("Job", scenario.model)
        before = {one.path: one.value for one in describe(scenario)}
        for one in describe(_with_options(scenario, theirs, ours)):
            if one.value != before.get(one.path):
                found[_by_name(job, one.path)] = one.value
    return found | assignments([f"{path}={value}" for path, value in ours.items()])


def axis_of(
    scenario: Scenario, option: str, values: Sequence[str]
) -> tuple[str, tuple[object, ...]]:
    """Return the path that an option of either language varies, and its values there.

    Raises ScenarioError as `parameters_of` does, and for an option that sets several parameters.
    """
    try:
        found = [parameters_of(scenario, [f"{option}={value}"]) for value in values]
    except ScenarioError as error:
        raise ScenarioError([_varied(problem) for problem in error.problems]) from error
    paths = list(dict.fromkeys(path for one in found for path in one))
    if len(paths) != 1:
        says = f"values that set {', '.join(paths)}" if paths else "values that change nothing"
        raise ScenarioError([Problem(f"--vary {option}", says, "values of one parameter")])
    as_it_is = {one.path: one.value for one in describe(scenario)}
    if isinstance(scenario.model, Job):
        as_it_is = {_by_name(scenario.model, path): value for path, value in as_it_is.items()}
    (path,) = paths
    taken = tuple(one.get(path, as_it_is.get(path)) for one in found)
    # Texts have their unit with them.
    return _UNIT.sub("", path) if all(isinstance(one, str) for one in taken) else path, taken


def _varied(problem: Problem) -> Problem:
    """Return a problem of a value as one of `--vary`, which gave it."""
    return replace(problem, path=problem.path.replace("--set", "--vary", 1))


def _by_name(job: Job, path: str) -> str:
    """Return a path with the name of a vertex in place of its index."""
    return _VERTEX.sub(lambda found: f"job.vertices[{job.vertices[int(found[1])].name}]", path)


def _sorted(scenario: Scenario, change: Mapping[str, str]) -> tuple[dict[str, str], dict[str, str]]:
    """Return the engine's options of a change, and the paths of ours.

    Raises ScenarioError for an option that is none of both.
    """
    theirs: dict[str, str] = {}
    ours: dict[str, str] = {}
    problems: list[Problem] = []
    described = describe(scenario)
    tables = dict.fromkeys(_TABLE.split(one.path)[0] for one in described)
    paths = [one.path for one in described]
    is_job = isinstance(scenario.model, Job)
    if isinstance(scenario.model, Job):
        paths = [_by_name(scenario.model, path) for path in paths]
    for option, value in change.items():
        if option in _OF_STATE and is_job:
            ours[_OF_STATE[option]] = _WORDS.get(value.lower(), value)
            continue
        is_theirs = option in OPTIONS or option.startswith(("source.", "vertex."))
        if is_theirs and is_job:
            theirs[option] = value
        elif _TABLE.split(option)[0] in tables:
            ours[option] = value
        else:
            ends = [path for path in paths if _ends_with(path, option)]
            engine = [name for name in OPTIONS if is_job and _is_part(name, option)]
            if len(ends) == 1:
                ours[ends[0]] = value
            elif len(engine) == 1 and not ends:
                theirs[engine[0]] = value
            else:
                keys = [_UNIT.sub("", path.rpartition(".")[2]) for path in paths]
                every = [*ends, *engine]
                problems.append(_unknown(option, every, list(tables), keys=keys, is_job=is_job))
    if problems:
        raise ScenarioError(problems)
    return theirs, ours


def _ends_with(path: str, key: str) -> bool:
    """Return whether a path ends with a key, or with several, written with or without unit."""
    return any(f".{one}".endswith(f".{key}") for one in (path, _UNIT.sub("", path)))


def _is_part(name: str, key: str) -> bool:
    """Return whether an engine's name begins or ends with a key, or with several."""
    return name.endswith(f".{key}") or name.startswith(f"{key}.")


def _unknown(
    option: str, ends: Sequence[str], tables: Sequence[str], *, keys: Sequence[str], is_job: bool
) -> Problem:
    """Return the problem of an option that is not known, or of an end that several have.

    keys: last keys of paths, as candidates.
    """
    if ends:
        named = [f'"{_UNIT.sub("", path)}"' for path in ends]
        listed = ", ".join(named[:_LISTED])
        more = f" and {len(named) - _LISTED} more" if len(named) > _LISTED else ""
        items = dict.fromkeys(_INDEX.sub("[*]", name) for name in named if "[" in name)
        if len(items) == 1 and len(named) > 1:  # the same key of each item of an array
            more += f", or all of them: {next(iter(items))}"
        found = f'"{option}", which may mean any of {len(ends)}'
        return Problem("--set", found, f"one of {listed}{more}")
    hint = suggestion(option, [*(OPTIONS if is_job else ()), *tables, *keys])
    known = f"a path that begins with one of {', '.join(tables)}"
    if is_job:
        known = "an option that the simulation knows, or a path such as job.network.segment"
    elif option in OPTIONS:
        known += ", as only jobs have the engine's options"
    return Problem("--set", f'"{option}"', known + hint)


def _with_options(scenario: Scenario, change: Mapping[str, str], ours: dict[str, str]) -> Scenario:
    """Return a job with the engine's options set.

    Everything that is better set by a path goes to `ours`.
    """
    job = cast("Job", scenario.model)
    problems: list[Problem] = []
    for option, value in change.items():
        job = _one(job, (option, value), ours, problems)
    job = replace(job, checkpointing=_mode(job.checkpointing, change, problems))
    if not problems:
        problems = [Problem(f"job.{p.path}", p.found, p.expected) for p in job.problems()]
    if problems:
        raise ScenarioError(problems)
    return replace(scenario, model=job)


def _one(
    job: Job, assignment: tuple[str, str], ours: dict[str, str], problems: list[Problem]
) -> Job:
    """Return a job with one option set, except for the mode, which comes last."""
    option = assignment[0]
    if option in (*_UNALIGNED, _MODE):
        return job
    if option.startswith(("source.", "vertex.")):
        return _of_vertex(job, assignment, ours, problems)
    if option.removeprefix(_CHECKPOINTS) in _OF_CHECKPOINTS or option in _INLINE:
        return _of_checkpoints(job, assignment, problems)
    if option == PARALLELISM:
        found = _read(assignment, whole, 1, problems)
        names = [vertex.name for vertex in job.vertices]
        return job if found is None else with_parallelism(job, dict.fromkeys(names, found))
    return replace(job, network=_network(job.network, assignment, problems))


def _of_checkpoints(job: Job, assignment: tuple[str, str], problems: list[Problem]) -> Job:
    """Return a job with an option of its checkpoints set, except for their mode."""
    if assignment[0] in _INLINE:
        size = _read(assignment, size_bytes, 0, problems)
        storage = job.storage if size is None else replace(job.storage, inline_threshold_bytes=size)
        return replace(job, storage=storage)
    key, read, least = _OF_CHECKPOINTS[assignment[0].removeprefix(_CHECKPOINTS)]
    found = _read(assignment, read, least, problems)
    if found is None:
        return job
    return replace(job, checkpointing=replace(job.checkpointing, **{key: found}))


def _read(assignment: tuple[str, str], read: Read, least: int, problems: list[Problem]) -> Any:
    option, value = assignment
    found = read(value)
    if found is None or found < least:
        expected = next((says for of, says in _EXPECTED if of is read), "a whole number")
        problems.append(Problem(f"--set {option}", f'"{value}"', expected))
        return None
    return found


def _network(network: Network, assignment: tuple[str, str], problems: list[Problem]) -> Network:
    if assignment[0] == _FLUSHES:
        on = _read(assignment, flag, 0, problems)
        usual = network.buffer_timeout_ns or Network().buffer_timeout_ns
        return network if on is None else replace(network, buffer_timeout_ns=usual if on else 0)
    option = _NETWORK[assignment[0]]
    found = _read(assignment, option.read, option.least, problems)
    if found is None:
        return network
    if option.key == "buffer_timeout_ns":
        found = flush_ns(found)
    return replace(network, **{option.key: found})


def _mode(
    checkpointing: Checkpointing, change: Mapping[str, str], problems: list[Problem]
) -> Checkpointing:
    """Return the checkpoints with the mode that the engine's three options come to."""
    unaligned = checkpointing.unaligned
    exactly_once = checkpointing.exactly_once
    for option in _UNALIGNED:
        if option in change:
            found = _read((option, change[option]), flag, 0, problems)
            unaligned = unaligned if found is None else bool(found)
    if _MODE in change:
        word = change[_MODE].strip().upper()
        if word not in ("EXACTLY_ONCE", "AT_LEAST_ONCE"):
            expected = "EXACTLY_ONCE or AT_LEAST_ONCE"
            problems.append(Problem(f"--set {_MODE}", f'"{change[_MODE]}"', expected))
        exactly_once = word != "AT_LEAST_ONCE"
    mode = Mode.ALIGNED
    if not exactly_once:
        mode = Mode.AT_LEAST_ONCE
    elif unaligned:
        mode = Mode.ALIGNED_TIMEOUT if checkpointing.aligned_timeout_ns else Mode.UNALIGNED
    return replace(checkpointing, mode=mode)


def _of_vertex(
    job: Job, assignment: tuple[str, str], ours: dict[str, str], problems: list[Problem]
) -> Job:
    """Set a key of a vertex, which is named: names may have dots, keys have none."""
    option, value = assignment
    kind, _, rest = option.partition(".")
    name, _, key = rest.rpartition(".")
    names = [v.name for v in job.vertices if kind == "vertex" or v.is_source]
    name = name if name in names else bare_name(name)
    if name not in names:
        problems.append(Problem(f"--set {option}", f'"{name}"', one_of(name, names)))
        return job
    if key == "parallelism":
        count = _read(assignment, whole, 1, problems)
        return job if count is None else with_parallelism(job, {name: count})
    index = [vertex.name for vertex in job.vertices].index(name)
    if key in ("state", "state_bytes"):
        size = units.parse(value, units.SIZE_UNITS)
        size = _read(assignment, size_bytes, 0, problems) if size is None else size
        return job if size is None else _with_state(job, index, size)
    as_fast_as_it_can = key == "rate" and value.strip().lower() in ("none", "unlimited", "null")
    ours[f"job.vertices[{name}].{key}"] = "none" if as_fast_as_it_can else value
    return job


def _with_state(job: Job, index: int, size: int) -> Job:
    """Return a job in which the subtasks of a vertex have state of this size together."""
    vertices = list(job.vertices)
    before = vertices[index].subtask_state_bytes
    weights = before if any(before) else (1,) * vertices[index].parallelism
    sizes = tuple(round(size * weight / sum(weights)) for weight in weights)
    vertices[index] = replace(vertices[index], subtask_state_bytes=sizes)
    return replace(job, vertices=tuple(vertices))
