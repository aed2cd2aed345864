"""Content kept as spans of a feed is the content that the model medium keeps as rows."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from ckptsim.models.store import Area, ModelMedium, RowsWrite, Step, TopicPartition
from ckptsim.models.store.replica import WorkingContent
from ckptsim.sim.store.content import Feed, FeedShape, SpanContent, SpanMedium
from ckptsim.sim.store.content.spans import FeedChanges

KEY = TopicPartition("s_v1", 0)
_SPAN = st.tuples(st.integers(0, 30), st.integers(1, 12)).map(lambda s: (s[0], s[0] + s[1]))
_OTHER = st.dictionaries(
    st.sampled_from(["k0", "k1", "x"]), st.sampled_from([b"other", None]), max_size=2
)
_WRITES = st.lists(st.one_of(_SPAN, _SPAN, _SPAN, _OTHER, st.just("wipe")), max_size=12)


def _feed(keys: int, deletes_every: int) -> Feed:
    shape = FeedShape(
        push=100,
        stream=0,
        interval_ns=1,
        keys=keys,
        deletes_every=deletes_every,
        switch_every=0,
        record_bytes=1,
    )
    return Feed(shape, 0, lambda: 0)


@settings(max_examples=300, derandomize=True, database=None, deadline=None)
@given(writes=_WRITES, keys=st.sampled_from([1, 3, 7, 100]), deletes=st.sampled_from([0, 2, 5]))
def test_spans_say_what_rows_say(writes: list[object], keys: int, deletes: int) -> None:
    """Whatever is written, in whatever order, rows, single rows and emptiness are the same."""
    feed, spans, plain = _feed(keys, deletes), SpanMedium(atomic=True), ModelMedium(atomic=True)
    for write in writes:
        changes: FeedChanges | dict[str, bytes | None] = {}
        if isinstance(write, tuple):
            changes = FeedChanges(feed)
            changes.append(*write)
            assert len(changes) == len(dict(changes))
        elif isinstance(write, dict):
            changes = write
        for medium in (spans, plain):
            kept = changes if medium is spans else dict(changes)
            rows = RowsWrite(area=Area.DATA, key=KEY, changes=kept, wipe=write == "wipe")
            medium.commit(Step(rows=(rows,)))
        found = plain.rows(Area.DATA, KEY)
        assert spans.rows(Area.DATA, KEY) == found
        assert spans.has_rows(Area.DATA, KEY) == bool(found)
        assert all(spans.row(Area.DATA, KEY, name) == found.get(name) for name in ("k0", "x"))
        for end in range(0, 40, 3):
            if spans.is_fold(Area.DATA, KEY, first=0, end=end):
                assert found == feed.fold(end)


@settings(max_examples=200, derandomize=True, database=None, deadline=None)
@given(spans=st.lists(st.tuples(_SPAN, st.booleans()), max_size=8), deletes=st.sampled_from([0, 3]))
def test_working_content_of_spans_is_that_of_records(
    spans: list[tuple[tuple[int, int], bool]], deletes: int
) -> None:
    """Applying spans and flushing now and then leaves what applying each record leaves."""
    feed, medium, plain = _feed(7, deletes), SpanMedium(atomic=True), ModelMedium(atomic=True)
    fast, slow = SpanContent(medium, KEY, feed), WorkingContent(plain, KEY)
    for (first, end), flush in spans:
        fast.apply_span(first, end)
        for index in range(first, end):
            slow.apply(feed.record(index))
        assert dict(fast.changes()) == dict(slow.changes())
        assert len(fast.changes()) == len(slow.changes())
        assert fast.rows() == slow.rows()
        if flush:
            for content, store in ((fast, medium), (slow, plain)):
                write = RowsWrite(area=Area.DATA, key=KEY, changes=content.changes())
                store.commit(Step(rows=(write,)))
                content.flushed()
    assert medium.rows(Area.DATA, KEY) == plain.rows(Area.DATA, KEY)
