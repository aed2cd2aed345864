"""Options of network and checkpoints: the settings, by the engine's names, over its defaults."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from ckptsim.scenarios.job import Mode
from ckptsim.sim.infer.found import Found, Sureness
from ckptsim.sim.recording import Recording
from ckptsim.sim.recording.answers import duration_ns, flag, size_bytes, whole

_SET = ("/jobmanager/config",)
_JOB = ("/checkpoints/config",)
_MS = 1_000_000
_SUBTASKS_PER_FILE = "execution.checkpointing.unaligned.max-subtasks-per-channel-state-file"
# The engine's word for "no periodic checkpoints" is Long.MAX_VALUE ms. So is anything near it.
_NEVER_NS = 10 * 86_400 * 1_000_000_000


@dataclass(frozen=True, slots=True)
class NetworkOption:
    """An option of the network: our key, the engine's names (newest first), how it reads."""

    key: str
    names: tuple[str, ...]
    read: Callable[[object], Any]
    least: int


NETWORK = (
    NetworkOption("segment_bytes", ("taskmanager.memory.segment-size",), size_bytes, 256),
    NetworkOption(
        "exclusive_buffers", ("taskmanager.network.memory.buffers-per-channel",), whole, 0
    ),
    NetworkOption(
        "floating_buffers", ("taskmanager.network.memory.floating-buffers-per-gate",), whole, 1
    ),
    NetworkOption(
        "max_buffers_per_channel", ("taskmanager.network.memory.max-buffers-per-channel",), whole, 2
    ),
    NetworkOption(
        "max_overdraft_buffers",
        ("taskmanager.network.memory.max-overdraft-buffers-per-gate",),
        whole,
        0,
    ),
    NetworkOption(
        "buffer_timeout_ns",
        ("execution.buffer-timeout.interval", "execution.buffer-timeout"),
        duration_ns,
        -_MS,
    ),
    NetworkOption("debloat", ("taskmanager.network.memory.buffer-debloat.enabled",), flag, 0),
    NetworkOption(
        "debloat_target_ns", ("taskmanager.network.memory.buffer-debloat.target",), duration_ns, _MS
    ),
)


def flush_ns(timeout_ns: int) -> int:
    """Return the flush interval: 0 for a negative time-out, which means never.

    A flush after every record (0) is taken as one per millisecond (assumption: no one sees less).
    """
    return 0 if timeout_ns < 0 else max(_MS, timeout_ns)


def network_options(recording: Recording) -> Iterator[tuple[str, Found[Any]]]:
    """Yield our keys of the network options that were set, in the order of the table."""
    for option in NETWORK:
        for name in option.names:
            value = option.read(recording.options.get(name))
            if value is None or value < option.least:
                continue
            if option.key == "buffer_timeout_ns":
                enabled = flag(recording.options.get("execution.buffer-timeout.enabled"))
                value = 0 if enabled is False else flush_ns(value)
            yield (
                option.key,
                Found(value=value, how=f"{name} is set", answers=_SET, sure=Sureness.READ),
            )
            break


def mode_of(recording: Recording) -> Found[tuple[Mode, int]]:
    """Return how checkpoints treat in-flight data, and after which ns an alignment gives up."""
    answer = recording.checkpointing
    unaligned = flag(answer.get("unaligned_checkpoints"))
    if unaligned is None:
        names = ("execution.checkpointing.unaligned.enabled", "execution.checkpointing.unaligned")
        known = [flag(recording.options.get(name)) for name in names]
        unaligned = next((value for value in known if value is not None), None)
    exactly_once = str(answer.get("mode", "exactly_once")).lower() != "at_least_once"
    timeout = duration_ns(answer.get("aligned_checkpoint_timeout"))
    if timeout is None:
        name = "execution.checkpointing.aligned-checkpoint-timeout"
        timeout = duration_ns(recording.options.get(name)) or 0
    mode = Mode.ALIGNED
    if not exactly_once:
        mode = Mode.AT_LEAST_ONCE
    elif unaligned:
        mode = Mode.ALIGNED_TIMEOUT if timeout > 0 else Mode.UNALIGNED
    if unaligned is None:
        return Found(
            value=(mode, 0),
            how="no answer says; the engine's default",
            answers=(),
            sure=Sureness.ASSUMED,
            effect="decides whether checkpoints wait for back-pressure",
        )
    return Found(
        value=(mode, max(0, timeout)),
        how="mode, unaligned_checkpoints and aligned_checkpoint_timeout of the job",
        answers=_JOB,
        sure=Sureness.READ,
    )


def interval_of(recording: Recording) -> Found[int]:
    """Return the interval of the periodic checkpoints in ns."""
    found = duration_ns(recording.checkpointing.get("interval"))
    if found is not None and 0 < found <= _NEVER_NS:
        return Found(value=found, how="interval of the job", answers=_JOB, sure=Sureness.READ)
    found = duration_ns(recording.options.get("execution.checkpointing.interval"))
    if found is not None and 0 < found <= _NEVER_NS:
        how = "execution.checkpointing.interval is set"
        return Found(value=found, how=how, answers=_SET, sure=Sureness.READ)
    triggers = [one.trigger_ms for one in recording.completed if one.trigger_ms is not None]
    gaps = [after - before for before, after in pairwise(triggers) if after > before]
    if gaps:
        how = f"least gap between the triggers of {len(triggers)} checkpoints"
        gap = min(gaps) * _MS
        return Found(value=gap, how=how, answers=("/checkpoints",), sure=Sureness.ESTIMATED)
    return Found(
        value=60_000 * _MS,
        how="the job takes no periodic checkpoints, as far as the recording says",
        answers=(),
        sure=Sureness.ASSUMED,
        effect="how often barriers come, and how much is done again after a failure",
    )


def limits_of(recording: Recording) -> Iterator[tuple[str, Found[Any]]]:
    """Yield our keys of the other options of checkpoints that the job answers."""
    answer = recording.checkpointing
    read: tuple[tuple[str, str, Callable[[object], Any], int], ...] = (
        ("min_pause_ns", "min_pause", duration_ns, 0),
        ("timeout_ns", "timeout", duration_ns, _MS),
        ("max_concurrent", "max_concurrent", whole, 1),
        ("tolerable_failures", "tolerable_failed_checkpoints", whole, 0),
    )
    for key, name, of, least in read:
        value = of(answer.get(name))
        if value is not None and least <= value <= _NEVER_NS:
            how = f"{name} of the job"
            yield key, Found(value=value, how=how, answers=_JOB, sure=Sureness.READ)
    shared = whole(recording.options.get(_SUBTASKS_PER_FILE))
    if shared is not None and shared >= 1:
        how = f"{_SUBTASKS_PER_FILE} is set"
        found = Found(value=min(1000, shared), how=how, answers=_SET, sure=Sureness.READ)
        yield "subtasks_per_file", found


def inline_of(recording: Recording) -> Found[int] | None:
    """Return the size below which state travels in the acknowledgement, where it was set."""
    names = ("execution.checkpointing.data-inline-threshold", "state.storage.fs.memory-threshold")
    for name in names:
        value = size_bytes(recording.options.get(name))
        if value is not None:
            return Found(value=value, how=f"{name} is set", answers=_SET, sure=Sureness.READ)
    return None


# Options that say how long after a failure the engine restarts a job, by the strategy that is set.
_DELAYS = {
    "fixed-delay": "restart-strategy.fixed-delay.delay",
    "fixeddelay": "restart-strategy.fixed-delay.delay",
    "failure-rate": "restart-strategy.failure-rate.delay",
    "failurerate": "restart-strategy.failure-rate.delay",
    "exponential-delay": "restart-strategy.exponential-delay.initial-backoff",
    "exponentialdelay": "restart-strategy.exponential-delay.initial-backoff",
}


def restart_delay_of(options: Mapping[str, str]) -> int:
    """Return how long after a failure the job is restarted, in ns: 1 s where nothing says so.

    Source: Apache Flink 1.20.3, RestartStrategyOptions: all three strategies begin with 1 s.
    """
    kind = options.get("restart-strategy.type", options.get("restart-strategy", "")).lower()
    found = duration_ns(options.get(_DELAYS.get(kind, "")))
    return 1_000 * _MS if found is None or found < 0 else found
