"""Runs that could have been measured: plausible ones in the schema of the measurements."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

Line = dict[str, Any]
MODES = ("aligned", "unaligned", "aligned_timeout")


@st.composite
def lines(draw: st.DrawFn) -> Line:
    """Draw one line: a configuration, with jobs as measured or with less than that."""
    family = draw(st.sampled_from(["T1", "T2", "T3", "T4", "T5"]))
    config = draw(configs(family))
    line: Line = {"run_id": f"{family.lower()}_made#1", "config": config}
    if draw(st.booleans()):
        line |= {"cell_id": f"{family.lower()}_made", "family": family, "repeat": 1}
    if draw(st.integers(0, 3)):
        count = config.get("jobs_per_run") or 1
        line["jobs"] = [draw(measured_jobs(config)) for _ in range(count)]
    return line


@st.composite
def configs(draw: st.DrawFn, family: str) -> Line:
    """Draw the configuration of a run of a family."""
    parallelism = draw(st.sampled_from([1, 2, 3, 4]))
    names = (
        ["srcA", "srcB"] if family == "T3" or (family == "T4" and draw(st.booleans())) else ["src"]
    )
    sources = [draw(sources_of(name, family, parallelism)) for name in names]
    config: Line = {
        "sources": sources,
        "operators": draw(operators_of(family, names, parallelism)),
        "two_input_merge": draw(st.sampled_from(["union", "connect"])) if len(names) > 1 else None,
        "placement": draw(st.sampled_from(["remote", "local", "mixed"])),
        "record_bytes_on_wire": draw(st.sampled_from([128, 1024, 8192, 40_000])),
        "memory_segment_bytes": 32768,
        "exclusive_buffers_per_channel": draw(st.sampled_from([0, 1, 2, 4])),
        "floating_buffers_per_gate": draw(st.sampled_from([1, 8, 32])),
        "max_buffers_per_channel": draw(st.sampled_from([2, 10, 40])),
        "max_overdraft_buffers_per_gate": draw(st.sampled_from([0, 5])),
        "buffer_debloat_enabled": draw(st.booleans()),
        "buffer_debloat_target_ms": draw(st.sampled_from([100, 1000])),
        "buffer_timeout_ms": draw(st.sampled_from([-1, 0, 5, 100, 1000])),
        "checkpoint": draw(checkpoints_of()),
        "storage": draw(storages()),
        "jobs_per_run": draw(st.integers(1, 3)) if family == "T4" else 1,
    }
    for key in ("two_input_merge", "storage", "buffer_timeout_ms", "exclusive_buffers_per_channel"):
        if not draw(st.integers(0, 5)):
            del config[key]
    return config


@st.composite
def sources_of(draw: st.DrawFn, name: str, family: str, parallelism: int) -> Line:
    """Draw a source."""
    rate = draw(st.sampled_from([None, 300, 500 * parallelism, 900 * parallelism]))
    hot = draw(st.sampled_from([0, 0.3, 0.9])) if family == "T5" else 0
    return {
        "name": name,
        "parallelism": parallelism,
        "rate_limit_per_s_total": rate,
        "hot_fraction_to_subtask0": hot,
        "stops_after_ms": draw(st.integers(300, 2_000)) if family == "T4" else None,
    }


@st.composite
def operators_of(draw: st.DrawFn, family: str, names: list[str], parallelism: int) -> list[Line]:
    """Draw a chain of one to three operators, with a slow one before it on one path in T3."""
    operators = []
    inputs = list(names)
    if family == "T3" and draw(st.booleans()):
        operators.append(draw(operator_of("preA", parallelism, ["srcA"], family)))
        inputs = ["preA", "srcB"]
    for index in range(draw(st.integers(2, 3)) if family == "T2" else 1):
        width = parallelism if draw(st.integers(0, 3)) else 2
        operators.append(draw(operator_of(f"op{index + 1}", width, inputs, family)))
        inputs = [f"op{index + 1}"]
    return operators


@st.composite
def operator_of(
    draw: st.DrawFn, name: str, parallelism: int, inputs: list[str], family: str
) -> Line:
    """Draw an operator."""
    partitioner = draw(st.sampled_from(["keyBy", "rebalance"]))
    return {
        "name": name,
        "parallelism": parallelism,
        "inputs": [{"from": other, "partitioner": partitioner} for other in inputs],
        "service_time_us": draw(st.sampled_from([0, 100, 1000, 4000])),
        "slow_subtask0_factor": draw(st.sampled_from([1, 4])) if family == "T5" else 1,
        "state_bytes_total": draw(st.sampled_from([0, 2_000_000])) if partitioner == "keyBy" else 0,
    }


@st.composite
def checkpoints_of(draw: st.DrawFn) -> Line:
    """Draw how checkpoints are taken."""
    mode = draw(st.sampled_from(MODES))
    return {
        "mode": mode,
        "unaligned_enabled": mode != "aligned",
        "aligned_timeout_ms": draw(st.sampled_from([50, 300])) if mode == MODES[2] else None,
        "interval_ms": draw(st.sampled_from([200, 500, 1000])),
        "min_pause_ms": draw(st.sampled_from([0, 0, 300])),
        "max_concurrent": 1,
    }


@st.composite
def storages(draw: st.DrawFn) -> Line:
    """Draw where checkpoints are written."""
    rate = draw(st.sampled_from([None, None, 1_000_000, 20_000_000]))
    return {
        "kind": "local files" if rate is None else "throttled local files",
        "write_bytes_per_s": rate,
        "limit_scope": None
        if rate is None
        else draw(st.sampled_from(["each stream", "all streams together"])),
        "create_latency_ms": draw(st.sampled_from([0, 20])),
        "inline_threshold_bytes": 20480,
    }


@st.composite
def measured_jobs(draw: st.DrawFn, config: Line) -> Line:
    """Draw the measured values of a job: a few checkpoints, and nothing that cannot be missing."""
    interval = config["checkpoint"]["interval_ms"]
    first = draw(st.integers(20, interval))
    count = draw(st.integers(0, 4))
    last = draw(st.sampled_from(["COMPLETED", "FAILED", "IN_PROGRESS"]))
    checkpoints = [
        {
            "id": number + 1,
            "status": "COMPLETED" if number < count - 1 else last,
            "trigger_ms": 100 + first + number * interval,
            "end_to_end_duration_ms": 40 if number < count - 1 or last == "COMPLETED" else None,
            "persisted_bytes": 0,
        }
        for number in range(count)
    ]
    if draw(st.booleans()):
        for number, checkpoint in enumerate(checkpoints):
            checkpoint["warmup"] = number < 1
    job: Line = {"running_ms": 100, "ran_ms": 2_000, "checkpoints": checkpoints}
    for key in ("ran_ms", "checkpoints"):
        if not draw(st.integers(0, 5)):
            del job[key]
    return job
