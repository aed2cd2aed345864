"""What a partition's feed gives and the applied data of it, as spans in place of rows."""

from ckptsim.sim.store.content.contents import Contents, FirstWinsContent
from ckptsim.sim.store.content.feed import Feed, FeedBook, FeedShape
from ckptsim.sim.store.content.record_run import RecordWriter, Run
from ckptsim.sim.store.content.spans import FeedChanges, SpanContent, SpanMedium

__all__ = [
    "Contents",
    "Feed",
    "FeedBook",
    "FeedChanges",
    "FeedShape",
    "FirstWinsContent",
    "RecordWriter",
    "Run",
    "SpanContent",
    "SpanMedium",
]
