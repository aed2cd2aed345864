"""Summaries: what the rows of a sweep come to, aggregated by Spark and read without it.

    refresh(session, store)    # aggregates what is stale; a sweep does so when its runs are done
    is_current(store)          # whether the summaries are those of all rows; no JVM
    read(store)                # the summaries of a sweep as pandas frames; no JVM
    frames(store)              # the same, by name, as Spark has written them

A point is a scenario with its swept parameters: the columns `scenario` and `parameters`.  In the
frames of `read` the parameters are in words, as JSON (`{"time of an upload": "20 ms"}`), in the
ones of `frames` as the rows have them, as canonical JSON by path.  Its runs differ in `seed` and
`ties`. All frames with a point are in the order of the points.  Times are integers in nanoseconds.

| frame | columns after the point | one row per |
|---|---|---|
| `outcomes` | `runs`, `completed`, `failed`, `stalled`, `error`, `violations`, `runs_violated`, `attempts` | point |
| `latency` | `n`, `completed`, `failed`, `aborted`, `expired`, `pending`, `probability`, `completed_ns`, `latency_ns` | point and probability |
| `distribution` | `n`, `unfinished`, `latency_ns`, `below` | point and step of the curve |
| `phases` | `phase`, `n`, `total_ns`, `duration_ns`, `share` | point and phase of checkpoints |
| `waits` | `n`, `wait_records_ns`, `wait_upload_ns`, `wait_predecessor_ns`, `wait_send_ns`, `duration_ns` | point |
| `first_barriers` | `n`, `low_ns`, `median_ns`, `high_ns` | point |
| `tasks` | `task`, `subtasks`, `records_per_s`, `busy_ratio`, `backpressured_ratio`, `idle_ratio`, `input_queue_buffers_mean`, `output_queue_buffers_mean` | point and task |
| `intervals` | `metric`, `n`, `mean`, `low`, `high` | point and metric |
| `differences` | `metric`, `n`, `unpaired`, `mean`, `low`, `high` | point but the first, and metric |
| `expected` | `metric`, `expected` | point and metric with a closed form |
| `violations` | `property`, `runs`, `of`, `rank`, `seed`, `ties`, `at_ns`, `says`, `story`, `replay` | point, property and example |
| `errors` | `error`, `runs`, `seed`, `replay` | point and text |
| `outliers` | `seed`, `ties`, `run_key`, `scope`, `checkpoint_id`, `attempt`, `status`, `reason`, `triggered_ns`, `elapsed_ns`, `replay` | slow checkpoint, one per run |
| `goals` | without a point: `goal`, `runs`, `runs_reached`, `reached` | goal |
| `replications` | in `frames` alone, `read` has them by metric and point: `seed` and a column per metric | point and seed |
| `metrics` | `seed`, `ties`, `run_key` and a column per metric | run with a metric, in `frames` alone |
"""  # noqa: E501 - the rows of a table

from ckptsim.analysis.summaries.reading import Point as Point
from ckptsim.analysis.summaries.reading import Replications as Replications
from ckptsim.analysis.summaries.reading import Summaries as Summaries
from ckptsim.analysis.summaries.reading import frames as frames
from ckptsim.analysis.summaries.reading import is_current as is_current
from ckptsim.analysis.summaries.reading import read as read
from ckptsim.analysis.summaries.reading import refresh as refresh
