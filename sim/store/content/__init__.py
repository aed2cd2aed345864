"""What a partition's feed gives and what is applied of it, as spans in place of rows."""

from ckptsim.sim.store.content.feed import Feed, FeedBook, FeedShape
from ckptsim.sim.store.content.record_run import RecordWriter, Run
from ckptsim.sim.store.content.spans import Contents, FirstWinsContent, SpanContent, SpanMedium

__all__ = [
    "Contents",
    "Feed",
    "FeedBook",
    "FeedShape",
    "FirstWinsContent",
    "RecordWriter",
    "Run",
    "SpanContent",
    "SpanMedium",
]
