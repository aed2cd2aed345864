"""What a partition's feed gives and the applied data of it, as spans in place of rows."""

from ckptsim.sim.store.content.feed import Feed as Feed
from ckptsim.sim.store.content.feed import FeedBook as FeedBook
from ckptsim.sim.store.content.feed import FeedShape as FeedShape
from ckptsim.sim.store.content.record_run import RecordWriter as RecordWriter
from ckptsim.sim.store.content.record_run import Run as Run
from ckptsim.sim.store.content.spans import Contents as Contents
from ckptsim.sim.store.content.spans import FirstWinsContent as FirstWinsContent
from ckptsim.sim.store.content.spans import SpanContent as SpanContent
from ckptsim.sim.store.content.spans import SpanMedium as SpanMedium
