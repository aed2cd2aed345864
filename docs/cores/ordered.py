"""A right ordering core, written without ours."""

from collections import Counter, defaultdict

from ckptsim.cores import ProtocolError
from ckptsim.cores import ordering as o

LEVELS = (o.Level.COMPLETE, o.Level.PERSISTED)  # the first one wins where both have come as far


def refuse_if(wrong, kind):
    if wrong:
        raise ProtocolError(kind.value)


class OrderedCore:
    """Releases the states of a scope in order, each when its records are durable."""

    def __init__(self, parameters):
        self.socket = parameters.medium is o.Medium.SOCKET
        self.streams, self.open_channels = list(parameters.streams), parameters.channels
        self.opened, self.done, self.is_global = [], [], None
        self.read, self.durable = Counter(), defaultdict(o.Count)
        self.interval, self.total = defaultdict(lambda: 1), defaultdict(o.Count)
        self.states, self.next, self.used = {}, {}, {}
        self.sending, self.again = None, False
        self.finishing = self.waiting = self.over = False

    def step(self, event):
        match event:
            case o.RecordsRead():
                return self.take_records(event)
            case o.RecordsDurable(stream=stream, id=id, level=level):
                count = o.Count(event.count, event.size_bytes, event.rejected)
                self.durable[stream, id, level] += count
                return self.send() if self.waiting else []
            case o.StateRead():
                self.take_state(event)
                return self.send() if self.waiting else []
            case o.StreamAnnounced(stream=stream):
                self.streams += [] if stream in self.streams else [stream]
            case o.FlushRequested():
                self.again = True
                return self.send()
            case o.StateSent():
                scope, index, counts = self.sending
                del self.states[scope, index]
                self.next[scope] = index + 1
                for stream, count in counts:
                    self.total[stream] += count
                self.sending, self.again = None, True
                return self.send()
            case o.SendFailed():
                self.sending = None
                return self.send()
            case o.CompleteRead(stream=stream):
                self.done.append(stream)
            case o.ChannelClosed(channel=channel):
                self.open_channels -= 1
                last = [] if self.open_channels else self.close()
                return [o.EndChannel(channel=channel), *last]
            case o.FinishRequested(wait_ns=wait_ns):
                self.finishing, self.again, self.waiting = True, True, wait_ns > 0
                return [o.SetFinishTimer(wait_ns=wait_ns)] * self.waiting + self.send()
            case o.FinishTimerFired():
                self.waiting = False
                return self.send()
        return []

    def take_records(self, event):
        """Pass records on under the id of their state: on STDIO, the number of the interval."""
        stream = event.stream
        refuse_if(stream not in self.streams, o.Refusal.UNKNOWN_STREAM)
        id = event.id if self.socket else str(self.interval[stream])
        refuse_if(id is None, o.Refusal.MISSING_PARTITION_ID)
        self.read[stream, id] += event.count
        self.read[stream] += event.count
        first = [] if stream in self.opened else [o.OpenStream(stream=stream)]
        self.opened += [stream] if first else []
        passed = o.PassRecords(stream=stream, id=id, count=event.count, size_bytes=event.size_bytes)
        return [*first, passed]

    def take_state(self, state):
        """Keep a state with the streams and ids of the records that it covers."""
        scope, is_global = state.stream, state.kind is not o.StateKind.STREAM
        refuse_if(scope is not None and scope not in self.streams, o.Refusal.UNKNOWN_STREAM)
        refuse_if(self.is_global not in (None, is_global), o.Refusal.MIXED_STATE_TYPES)
        inner = [stream for stream, _ in state.inner]
        covered = [scope] if scope else list(state.listed or inner or self.streams)
        if self.socket:
            index, id = state.index, state.id
            refuse_if(index is None or id is None, o.Refusal.MISSING_CHECKPOINT_KEY)
            if state.kind is o.StateKind.SNAPSHOT:
                covered = self.streams
            ids = [(stream, id) for stream in covered]
            refuse_if(any(pair in self.used for pair in ids), o.Refusal.DUPLICATE_ID)
            ids += [pair for pair in state.inner if pair[1] not in (None, id)]
        else:
            last = self.next.get(scope, 1) - 1
            index = 1 + max((i for s, i in self.states if s == scope), default=last)
            ids = [(stream, str(self.interval[stream])) for stream in covered]
            id = ids[0][1]
            self.interval |= {stream: self.interval[stream] + 1 for stream in covered}
        refuse_if(index < self.next.get(scope, 1), o.Refusal.STALE_INDEX)
        refuse_if((scope, index) in self.states, o.Refusal.DUPLICATE_INDEX)
        self.used |= dict.fromkeys(ids)
        self.is_global = is_global
        self.next.setdefault(scope, 1)
        self.states[scope, index] = state, id, ids

    def in_turn(self):
        """Return the next state of each scope."""
        return [each for each in self.next.items() if each in self.states]

    def send(self):
        """Send the next ready state, or end the sync."""
        if self.sending:
            return []
        for scope, index in self.in_turn() if self.again or self.waiting else ():
            state, id, ids = self.states[scope, index]
            if self.lack(state, ids) is None:
                counts = [(stream, self.count(stream, id)) for stream, id in ids]
                self.sending = scope, index, counts
                return [
                    o.SendState(
                        scope=scope,
                        key=o.CheckpointKey(index, id),
                        kind=state.kind,
                        payload=state.payload,
                        source_count=state.source_count,
                        statistics=self.statistics(scope, counts),
                    )
                ]
        self.again = False
        return self.end() if self.finishing and not self.over else []

    def count(self, stream, id):
        """Return the durable count: both levels count the same records, so take the larger one."""
        return max((self.durable[stream, id, level] for level in LEVELS), key=lambda c: c.accounted)

    def lack(self, state, ids):
        """Return the records that a state lacks: read ones, and on sockets the sent ones."""
        for stream, id in ids:
            read, found = self.read[stream, id], self.count(stream, id).accounted
            if found < read:
                return o.Shortfall(
                    obstacle=o.Obstacle.DURABILITY, expected=read, found=found, stream=stream, id=id
                )
        found = sum(self.count(*pair).accounted for pair in ids)
        if self.socket and found != state.source_count:
            return o.Shortfall(
                obstacle=o.Obstacle.SOURCE_COUNT, expected=state.source_count, found=found
            )
        return None

    def statistics(self, scope, counts):
        """Return the counts of this state, and the totals of its scope with it."""
        after = self.total.copy()
        for stream, count in counts:
            after[stream] += count
        streams = list(dict.fromkeys(stream for stream, _ in counts))
        total = after[scope] if scope else sum((after[each] for each in self.streams), o.Count())
        return o.ReleaseStatistics(
            destination=sum((count for _, count in counts), o.Count()),
            total=total,
            per_stream=() if scope else tuple((stream, after[stream]) for stream in streams),
        )

    def close(self):
        """End all streams when the last channel has closed: more records could come before."""
        ended = [stream for stream in self.streams if stream in self.done]
        ends = [o.EndStream(stream=stream, records_read=self.read[stream]) for stream in ended]
        missing = self.incomplete()
        told = [o.ReportIncomplete(streams=missing)] if missing else []
        return [*ends, *told, o.CloseInput()]

    def incomplete(self):
        return tuple(stream for stream in self.streams if stream not in self.done)

    def end(self):
        missing = self.incomplete()
        well = not self.states and not missing
        if self.waiting and not well:
            return []
        self.over = True
        cancel = [o.CancelFinishTimer()] * self.waiting
        if well:
            return [*cancel, o.CompleteSync()]
        kind = o.Refusal.INCOMPLETE_STREAMS if missing else o.Refusal.UNFLUSHED_STATES
        return [o.FailSync(kind=kind, incomplete=missing, blocked=self.blocked())]

    def blocked(self):
        """Return the next state of each scope with unsent ones, and its obstacle."""
        found = []
        for scope, index in self.next.items():
            left = [i for s, i in self.states if s == scope]
            if left:
                key = lack = None
                obstacle = o.Obstacle.PREDECESSOR
                if index in left:
                    state, id, ids = self.states[scope, index]
                    key, lack = o.CheckpointKey(index, id), self.lack(state, ids)
                    obstacle = lack.obstacle if lack else o.Obstacle.FLUSH
                if self.sending and self.sending[:2] == (scope, index):
                    obstacle, lack = o.Obstacle.SEND, None
                found.append(
                    o.Blocked(
                        scope=scope,
                        next_index=index,
                        lowest=min(left),
                        pending=len(left),
                        obstacle=obstacle,
                        key=key,
                        shortfall=lack,
                    )
                )
        return tuple(found)

    def pending_count(self):
        return len(self.states)

    def head(self, scope):
        return min((index for each, index in self.states if each == scope), default=None)
