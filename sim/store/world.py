"""The world of one checkpoint store: one process that ingests versions, dies, and starts again.

The client, its stores and its ingestion cores are the real ones. The world gives them time, a log,
and faults.  It ends when the logs have been processed and a last graceful stop has synced, when a
partition is refused for good, or without progress.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, cast

from ckptsim.models import store
from ckptsim.models.store.client import ModelDictionaryServer
from ckptsim.models.store.ingestion.events import Cause
from ckptsim.models.store.log import Control
from ckptsim.models.store.medium import GENERATIONS
from ckptsim.models.store.replica import WorkingContent
from ckptsim.models.store.state import DICTIONARY_STRATEGY, FieldValue, VersionCopy, copy_of
from ckptsim.models.store.versions import Patrol
from ckptsim.scenarios.store import GOALS, DictionaryKept, Generation, StoreModel, Upsert
from ckptsim.sim.mishaps import fail_next_commit
from ckptsim.sim.store.content import (
    Contents,
    Feed,
    FeedBook,
    FeedShape,
    FirstWinsContent,
    SpanContent,
    SpanMedium,
)
from ckptsim.sim.store.costs import Costs, commit_ns
from ckptsim.sim.store.faults import FaultPlan, WatchedMedium
from ckptsim.sim.store.oracle.oracle import StoreProperties
from ckptsim.sim.store.process import Drainer, Endpoint, Owners, ProcessHost, Releases
from ckptsim.sim.store.truth import PartitionTruth, SyncAccount
from ckptsim.sim.store.vocabulary import KIND_OUTSIDE

if TYPE_CHECKING:
    from ckptsim.models.store import Medium, Step
    from ckptsim.sim.run_spec import RunSpec
    from ckptsim.sim.store.process import Steps

STORE = "s"
_SECOND_NS = 1_000_000_000
# Assumption: no run of a library scenario takes a month. One that does is stuck.
_BOUND_NS = 30 * 24 * 3600 * _SECOND_NS


class StoreWorld:
    """One run."""

    def __init__(self, spec: RunSpec) -> None:
        self.spec = spec
        self.model = cast("StoreModel", spec.scenario.model)
        self.env = spec.environment(GOALS)
        self.entity = self.env.entity("broker")
        self.placement = store.Placement[self.model.placement.name]
        self.versions = spec.cores.store(self.placement)
        self.client = self.versions.client
        if self.model.generation is not Generation.THREE_OPERATIONS:
            kind = GENERATIONS[self.model.generation]
            self.client.parts = replace(self.client.parts, generation=kind)
        self.releases = Releases(self)
        self.releases.wrap(self.client)
        if type(self.client.medium) is store.ModelMedium:  # the same, for feeds of any length
            self.client.use_medium(SpanMedium(atomic=self.atomic))
        medium = WatchedMedium(self.client.medium, self._watch)
        self.client.use_medium(medium)
        self.contents = Contents(self, medium)
        self.book = FeedBook()
        self.client.logs = self.book
        self.dictionaries = ModelDictionaryServer()
        self.client.dictionaries = self.dictionaries
        self.endpoint = Endpoint(self)
        if self.model.sync.upsert is Upsert.FIRST_WINS:
            self.client.parts = replace(self.client.parts, content=FirstWinsContent)
        elif self.client.parts.content is WorkingContent:
            self.client.parts = replace(self.client.parts, content=self._content)
        self.settings = _settings(self.model)
        self.client.configure(self.settings)
        remote = self.placement is store.Placement.CONSUMER_GROUP_BLOB
        self.costs = Costs(self.model.costs, self.env, stream="remote commit", remote=remote)
        self.truths: dict[store.TopicPartition, PartitionTruth] = {}
        self.drainers: dict[store.TopicPartition, Drainer] = {}
        self.dropped: dict[str, None] = {}
        self._present: list[store.TopicPartition] = []
        self._behind = Patrol[store.TopicPartition]()
        self.properties = StoreProperties(self)
        self.owners = Owners(self)
        self.faults = FaultPlan(self)
        self.process = ProcessHost(self)
        self.finished = self.env.event()
        self.succeeded = False
        self.stuck: str | None = None
        self.syncs_begun = 0
        self._acting: tuple[store.TopicPartition, ...] = ()

    def run(self) -> None:
        """Run to the end, or to the bound."""
        self.env.process(self._push_versions(), entity=self.entity)
        self.env.process(self.process.run(), entity=self.process.entity)
        self.env.call_at(_BOUND_NS, KIND_OUTSIDE, self.entity, self.give_up, "a month has passed")
        self.spec.bound(self.env, partial(self.give_up, "the run is cut short"))
        self.faults.schedule()
        self.properties.on_begin()
        self.env.run(until=self.finished)
        self.properties.on_end()
        self.env.finish()

    # What the model says -----------------------------------------------------------------------

    @property
    def atomic(self) -> bool:
        """Return whether data and checkpoint are one step."""
        return self.placement is store.Placement.COLOCATED

    @property
    def hooked(self) -> bool:
        """Return whether a sync flushes the user's rows."""
        return self.model.sync.hooked or self.atomic

    @property
    def apply_ns(self) -> int:
        """Return the time that one record takes, its own commit included where it has one."""
        return self.model.process.apply_ns + commit_ns(self.model)

    def topics_of(self, version: int) -> tuple[str, ...]:
        """Name the topics of a version: its own, and the one of its view if it has one."""
        topic = store.version_topic(STORE, version)
        return (topic, f"{topic}_view_mv") if self.model.input.view else (topic,)

    def copy_of(self, feed: Feed) -> VersionCopy:
        """Return what a partition keeps of its start of push."""
        return copy_of(feed.shape.fields, dictionary=self.settings.copies_dictionary)

    def partitions(self) -> list[store.TopicPartition]:
        """List the partitions that exist and are not dropped, in the order of their beginning."""
        return self._present

    # What happens ------------------------------------------------------------------------------

    def act(self, *keys: store.TopicPartition) -> None:
        """Say which partitions the next steps are allowed to touch."""
        self._acting = keys

    def reprocessed(self, records: int) -> None:
        """Account for records that are applied again."""
        self.env.goals.reach("records_reprocessed")
        self.process.reprocessed(records)

    def sync_begun(self, drainer: Drainer, cause: Cause, size_bytes: int) -> SyncAccount:
        """Open the account of a sync."""
        self.syncs_begun += 1
        replica = drainer.replica
        account = SyncAccount(
            number=self.syncs_begun,
            incarnation=self.process.starts,
            cause=cause,
            begun_ns=self.env.now,
            position=-1 if replica is None else replica.position,
            records=size_bytes // self.model.input.record_bytes,
            size_bytes=size_bytes,
        )
        self.properties.syncs.begun(drainer, account)
        self.properties.producers.sync_begun(drainer)
        drainer.truth.syncs.append(account)
        self.env.trace.record(
            "sync", drainer.entity, account.number, str(drainer.key), account.position, cause.name
        )
        return account

    def sync_ended(self, drainer: Drainer, account: SyncAccount) -> None:
        """Tell how a sync ended."""
        if account.status == "completed":
            self.properties.syncs.synced(drainer.key, account)
        kind = {"completed": "synced", "failed": "sync_failed"}.get(account.status, "sync_aborted")
        self.env.trace.record(kind, drainer.entity, account.number, str(drainer.key))

    def prepare_commit(self, key: store.TopicPartition, part: store.StepContent) -> None:
        """Let the commit that follows fail if the remote side is out."""
        if part is not store.StepContent.DATA and self.faults.commits_fail(key):
            fail_next_commit(self.client, key)

    def frozen(self, drainer: Drainer, refusal: store.Refusal, reason: str) -> None:
        """Account for an errored partition, and open it anew after a while."""
        self.env.goals.reach("partition_errored")
        self.env.trace.record("frozen", drainer.entity, str(drainer.key), refusal.value, reason)
        self.properties.on_frozen(drainer)
        if refusal is store.Refusal.INCONSISTENT_SVS:
            self.process.begin_anew(drainer.key.topic)
        self.process.open_later(drainer)

    def control_applied(self, drainer: Drainer, position: int, record: store.ControlRecord) -> None:
        """React to a control entry: report a completion, swap versions, ask for version state."""
        self.env.trace.record("control", drainer.entity, record.control.value, position)
        if record.control in (Control.END_OF_PUSH, Control.TOPIC_SWITCH):
            self.properties.on_report(drainer, position)
        if record.control is Control.TOPIC_SWITCH:
            self.process.switch_later(drainer)
        if record.control is Control.END_OF_PUSH:
            self._try_swap(drainer.key.topic)
        if record.control is Control.START_OF_PUSH:
            self.process.fetch_version_state(drainer.key.topic)

    def caught_up(self) -> None:
        """End the run when nothing is left to do."""
        if not self.faults.over or self.process.busy or len(self.truths) < self._partition_count:
            return
        if not self.endpoint.idle:
            return
        if self._behind.first_not(self._present, self._is_done) is None:
            self.succeeded = not self.process.refused
            self.process.stop("the end", down_ns=None)

    def _is_done(self, key: store.TopicPartition) -> bool:
        return key in self.process.refused or self.drainers[key].caught_up

    def finish(self) -> None:
        """End the run."""
        if not self.finished.triggered:
            self.finished.succeed()

    def give_up(self, reason: str) -> None:
        """End a run that gets nowhere."""
        if not self.finished.triggered:
            self.stuck = reason
            self.succeeded = False
            self.finish()

    @property
    def _partition_count(self) -> int:
        given = self.model.input
        return given.versions * given.partitions * (2 if given.view else 1)

    def _push_versions(self) -> Steps:
        """Let the versions begin one after the other."""
        wait_ns = 0
        for version in range(1, self.model.input.versions + 1):
            yield self.env.timeout(wait_ns, kind=KIND_OUTSIDE)
            self._begin_version(version)
            wait_ns = self.model.input.version_gap_ns

    def _begin_version(self, version: int) -> None:
        given = self.model.input
        for topic in self.topics_of(version):
            self.client.topics.register(topic, given.partitions)
            self.dictionaries.dictionaries[topic] = f"dictionary of {topic}"
            shape = _shape(self.model, version, self.dictionaries.dictionaries[topic])
            for key in self.client.topics.of_topic(topic):
                feed = Feed(shape, self.env.now, lambda: self.env.now)
                self.book.feeds[key] = feed
                self.truths[key] = truth = PartitionTruth(key=key)
                self.drainers[key] = Drainer(self, key, feed, truth)
                self._present.append(key)
                if given.seek_position > 0:
                    # Said apart from the stored data, so that a seek to a wrong place shows.
                    truth.begin_behind(given.seek_position - 1)
                    self._seek(key, feed)
                if self.process.up and not self.process.stopping:
                    self.process.open(key)
            self.process.fetch_version_state(topic)

    def _seek(self, key: store.TopicPartition, feed: Feed) -> None:
        """Store the position that the user wants to begin after, past the start of push."""
        position = self.model.input.seek_position - 1
        version = self.copy_of(feed) if self.model.input.synthesise else None
        # No seek goes past the records of a push, so its end is still to come.
        state = store.PartitionState(position=position, end_of_push=False, version=version)
        self.act(key)
        self.client.store.set(key, store.encode_state(state))

    def _try_swap(self, topic: str) -> None:
        version = int(topic.partition("_v")[2].partition("_")[0])
        before = self.versions.current.get(STORE)
        if before is not None and before >= version:
            return
        try:
            self.versions.swap(STORE, version)
        except store.StoreError as error:
            if error.refusal is not store.Refusal.NOT_READY:
                raise
            return
        self.env.goals.reach("version_swapped")
        self.env.trace.record("swapped", self.process.entity, version)
        self.properties.on_swap(version)
        for older in range(1, version):
            self._drop(older)  # also one that a newer one has overtaken

    def _drop(self, version: int) -> None:
        """Drop a version and its views, unless that has been done."""
        topics = self.topics_of(version)
        if topics[0] in self.dropped:
            return
        for topic in topics:
            keys = self.client.topics.of_topic(topic)
            for key in keys:
                self.drainers[key].die("its version was dropped")
            self.act(*keys)
            self.versions.drop(topic)
            self.dropped[topic] = None
        self._present = [key for key in self._present if key.topic not in self.dropped]
        self.properties.on_drop(version)
        self.env.goals.reach("version_dropped")
        self.env.trace.record("dropped", self.process.entity, version)

    def _content(self, medium: Medium, key: store.TopicPartition) -> WorkingContent:
        return SpanContent(medium, key, self.book[key])

    def _watch(self, step: Step) -> None:
        self.properties.before_step(step, self._acting)
        self.faults.before_step(step)


def _settings(model: StoreModel) -> store.Settings:
    sync = model.sync
    return store.Settings(
        sync_bytes=sync.sync_bytes,
        sync_interval_ns=sync.sync_interval_ns,
        order=store.Order[sync.order.name],
        durability=store.Durability[sync.durability.name],
        sync_hook=sync.hooked,
        mirror=sync.mirror,
        slot=store.Slot.BUILT_IN if sync.built_in else store.Slot.CUSTOM,
        reset=store.Reset[sync.reset.name],
        copies_dictionary=model.dictionary.kept is DictionaryKept.COPIED,
    )


def _shape(model: StoreModel, version: int, dictionary: str) -> FeedShape:
    given = model.input
    fields: dict[str, FieldValue] = {
        "sorted": True,
        "chunked": False,
        "compressionStrategy": DICTIONARY_STRATEGY if given.compressed else "NO_OP",
        "batchConflictResolutionPolicy": 0,
        "startOfPushTimestamp": version,
        "endOfPushTimestamp": 0,
        "compressionDictionary": dictionary if given.compressed else None,
    }
    return FeedShape(
        push=given.push_records,
        stream=given.stream_records,
        interval_ns=max(1, round(_SECOND_NS / given.rate_per_s)),
        keys=given.keys,
        deletes_every=given.deletes_every,
        switch_every=given.switch_every,
        producers=given.producers,
        segment_records=given.segment_records,
        record_bytes=given.record_bytes,
        fields=fields,
    )
