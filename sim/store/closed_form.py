"""What can be computed on paper: how much a crash repeats, and what syncs and crashes cost.

`n` records are applied at rate `r` between two syncs, a sync takes `c`, crashes come at random with
mean `m` between two.  The interval is `T = n/r + c`.  A crash at a phase `t` of an interval undoes
the records applied since the last sync: `r t` while they are applied, `n` while they are synced.

* Crashes have no memory, and an interval begins anew after each, so the phase of a crash has the
  exponential distribution cut off at `T`.  For `m` far above `T` it is uniform, and the mean is
  `(n/2)(1 - q) + n q` with `q = c/T`, the share of time that syncs take.
* Of the working time, syncs take the share of phases that lie in one. Few intervals reach them when
  crashes are frequent.
* An interval of length `T` that crashes interrupt takes `m (exp(T/m) - 1)` of working time (Daly).
  All above the `n/r` of its records is lost.  Least is lost near `T = sqrt(2 c m)` (Young).
* Where records come slower than they are applied, a restart begins with those that the crash has
  undone: with `p = 1 - exp(-T/m)` each crash undoes on average `(own + p * down) / (1 - p)`, where
  `down` came in while the process was away.
* With the checkpoint first, a crash undoes nothing from its step on, and loses the `n` records with
  data still to come.  Where each record is durable by itself, a sync is the checkpoint alone, and
  what each record takes for that is time not worked, as a sync's is.

Source: J. W. Young, CACM 17(9), 1974. J. T. Daly, FGCS 22(3), 2006, equation for the expected time
of a segment without restart cost.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from ckptsim.models.store import StepContent
from ckptsim.scenarios.store import (
    CrashRate,
    StepOrder,
    StoreFault,
    StoreModel,
    StorePlacement,
    Upsert,
)
from ckptsim.sim.store.costs import commit_ns, each_durable, local_ns, remote_mean_ns

_PARTS = {
    StorePlacement.COLOCATED: (StepContent.BOTH,),
    StorePlacement.EXTERNAL: (StepContent.DATA, StepContent.CHECKPOINT),
    StorePlacement.CONSUMER_GROUP_BLOB: (StepContent.DATA, StepContent.CHECKPOINT),
}

# exp of more overflows: an interval so much longer than the mean time between crashes never ends.
_EXPONENT_MAX = 700.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """One interval of a partition: a ramp while records come, a sync, and perhaps a rest.

    records: how many there are at the end of the ramp. first: how many more than the ramp says
    there are on average, as they come in whole ones. kept_ns: after how much of the sync its
    checkpoint is durable. commit_share: how much of the ramp records take to be durable.
    """

    records: int
    spacing_ns: float
    first: float
    ramp_ns: float
    sync_ns: float
    kept_ns: float
    rest_ns: float = 0.0
    commit_share: float = 0.0

    @property
    def length_ns(self) -> float:
        """Return how long all of it lasts."""
        return self.ramp_ns + self.sync_ns + self.rest_ns

    def undone(self, mean_ns: float) -> float:
        """Return the mean number of records that a crash undoes which falls into it."""
        ramp_ns, kept_ns = self.ramp_ns, self.ramp_ns + self.kept_ns
        inside, in_ramp = _by(self.length_ns, mean_ns), _by(ramp_ns, mean_ns)
        in_sync = _by(kept_ns, mean_ns) - in_ramp
        # The integral of first + t / spacing over the ramp, by the density of the phase.
        rise = mean_ns * in_ramp - ramp_ns * math.exp(-ramp_ns / mean_ns)
        return (self.first * in_ramp + rise / self.spacing_ns + self.records * in_sync) / inside

    def sync_share(self, mean_ns: float) -> float:
        """Return the share of the working time that durability takes: few crashes reach a sync."""
        in_ramp = _by(self.ramp_ns, mean_ns)
        in_sync = _by(self.ramp_ns + self.sync_ns, mean_ns) - in_ramp
        return (in_sync + self.commit_share * in_ramp) / _by(self.length_ns, mean_ns)

    def lost(self, mean_ns: float) -> float:
        """Return the mean number of records that a crash in it loses for good."""
        kept_ns, synced_ns = self.ramp_ns + self.kept_ns, self.ramp_ns + self.sync_ns
        ahead = _by(synced_ns, mean_ns) - _by(kept_ns, mean_ns)
        return self.records * ahead / _by(self.length_ns, mean_ns)


def _by(time_ns: float, mean_ns: float) -> float:
    """Return the probability of a crash within a time."""
    return -math.expm1(-time_ns / mean_ns)


def on_paper(model: StoreModel, faults: Sequence[StoreFault]) -> dict[str, float]:
    """Return the figures of a run that have a closed form, by name. None where nothing does.

    They are known for one backlog of a partition, and for streams that are synced by time. For
    plain settings and no other faults than random crashes.
    """
    rates = [fault for fault in faults if isinstance(fault, CrashRate)]
    sync = model.sync
    odd = sync.mirror or not sync.hooked
    odd = odd or sync.upsert is Upsert.FIRST_WINS or len(rates) < len(faults) or len(rates) > 1
    if odd or model.input.versions > 1 or model.input.view:
        return {}
    mean_ns = rates[0].mean_ns if rates else None
    if model.input.stream_records == 0 and model.input.partitions == 1:
        return _backlog(model, mean_ns)
    if model.input.push_records == 0 and mean_ns is not None and not each_durable(model):
        return _stream(model, mean_ns)
    return {}


def sync_cost_ns(model: StoreModel, records: int) -> float:
    """Return the mean cost of a sync after so many records."""
    return sum(_step_costs_ns(model, records).values())


def _step_costs_ns(model: StoreModel, records: int) -> dict[StepContent, float]:
    """Return the mean cost of each step of a sync after so many records."""
    rows = min(records, model.input.keys)
    size = records * model.input.record_bytes
    remote = model.placement is StorePlacement.CONSUMER_GROUP_BLOB
    costs: dict[StepContent, float] = {}
    for part in _PARTS[model.placement]:
        if part is StepContent.CHECKPOINT and remote:
            costs[part] = remote_mean_ns(model.costs)
        elif part is StepContent.DATA and each_durable(model):
            costs[part] = 0.0
        else:
            costs[part] = local_ns(model.costs, part, rows=rows, size_bytes=size)
    return costs


def _kept_ns(model: StoreModel, records: int) -> float:
    """Return how long a sync lasts until its checkpoint is durable."""
    costs = _step_costs_ns(model, records)
    if StepContent.CHECKPOINT in costs and model.sync.order is StepOrder.CHECKPOINT_FIRST:
        return costs[StepContent.CHECKPOINT]
    return sum(costs.values())


def _backlog(model: StoreModel, mean_ns: float | None) -> dict[str, float]:
    apply_ns, records = model.process.apply_ns + commit_ns(model), _records_by_bytes(model)
    if model.sync.sync_interval_ns:
        by_time = model.sync.sync_interval_ns // apply_ns + 1
        records = by_time if records is None else min(records, by_time)
    if records is None or 4 * records > model.input.push_records:
        return {}  # never, or so seldom that the ends of the run weigh more
    cost_ns, work_ns = sync_cost_ns(model, records), float(records * apply_ns)
    useful_ns = float(records * model.process.apply_ns)
    if mean_ns is None:
        length_ns = work_ns + cost_ns
        return {"sync_share": 1 - useful_ns / length_ns, "lost_share": length_ns / useful_ns - 1}
    interval = Interval(
        records=records,
        spacing_ns=apply_ns,
        first=-0.5,
        ramp_ns=work_ns,
        sync_ns=cost_ns,
        kept_ns=_kept_ns(model, records),
        commit_share=commit_ns(model) / apply_ns,
    )
    found = {
        "undone_per_crash": interval.undone(mean_ns),
        "lost_per_crash": interval.lost(mean_ns),
        "sync_share": interval.sync_share(mean_ns),
    }
    exponent = interval.length_ns / mean_ns
    # Everything that is lost is not done again. Where crashes leave no interval whole, nothing is
    # ever done.
    if not found["lost_per_crash"] and exponent <= _EXPONENT_MAX:
        found["lost_share"] = mean_ns * math.expm1(exponent) / useful_ns - 1
    return found


def _stream(model: StoreModel, mean_ns: float) -> dict[str, float]:
    """Return what a crash undoes of streams that are synced by time and not by bytes."""
    spacing_ns, wait_ns = 1e9 / model.input.rate_per_s, model.sync.sync_interval_ns
    records = int(wait_ns // spacing_ns) + 1
    by_bytes = _records_by_bytes(model)
    cost_ns = sync_cost_ns(model, records)
    rest_ns = records * spacing_ns - wait_ns - cost_ns
    if not wait_ns or rest_ns < 0 or (by_bytes is not None and by_bytes <= records):
        return {}
    interval = Interval(
        records=records,
        spacing_ns=spacing_ns,
        first=0.5,
        ramp_ns=wait_ns,
        sync_ns=cost_ns,
        kept_ns=_kept_ns(model, records),
        rest_ns=rest_ns,
    )
    if 2 * interval.length_ns > mean_ns:
        return {}  # crashes follow each other so closely that no steady state is reached
    crashed = _by(interval.length_ns, mean_ns)
    down = model.process.restart_ns / spacing_ns
    undone = (interval.undone(mean_ns) + crashed * down) / (1 - crashed)
    lost = interval.lost(mean_ns)
    found = {"undone_per_crash": undone, "lost_per_crash": lost}
    return {name: each * model.input.partitions for name, each in found.items()}


def _records_by_bytes(model: StoreModel) -> int | None:
    if not model.sync.sync_bytes:
        return None
    return math.ceil(model.sync.sync_bytes / model.input.record_bytes)
