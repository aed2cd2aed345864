"""The host of the shared writer of channel state, with a storage that a test holds in its hand."""

from ckptsim.models.barriers import SharedStateWriter
from ckptsim.models.barriers import channel_state as writer_events
from ckptsim.models.barriers.reason import FailureReason
from ckptsim.models.barriers.subtask import events as subtask_events
from ckptsim.sim.job.control.task.channel_state import ChannelStateHost
from ckptsim.sim.job.events import Events, of_job, of_tasks
from ckptsim.sim.job.oracle.channel_state import FileOracle
from ckptsim.sim.job.port import FileStored

ABORTED = FailureReason.CHECKPOINT_DECLINED
GROUP = (0, 1)


class Storage:
    """Keeps everything that is to be stored until the test says how that ends."""

    def __init__(self) -> None:
        self.stored: list[tuple[int, int]] = []
        self.dropped: list[int] = []
        self.answers: list[
            tuple[int, subtask_events.ChannelStateWritten | subtask_events.ChannelStateFailed]
        ] = []
        self.end: FileStored

    def store(self, checkpoint: int, size: int, stored: FileStored) -> None:
        """Note the file."""
        self.stored.append((checkpoint, size))
        self.end = stored

    def drop(self, checkpoint: int) -> None:
        """Note the file that is aborted."""
        self.dropped.append(checkpoint)

    def answer(
        self,
        subtask: int,
        event: subtask_events.ChannelStateWritten | subtask_events.ChannelStateFailed,
    ) -> None:
        """Note the answer."""
        self.answers.append((subtask, event))


class Rig:
    """Two subtasks that share a file."""

    def __init__(self, core: type[SharedStateWriter] = SharedStateWriter) -> None:
        self.storage = Storage()
        self.violated: list[str] = []
        self.events = Events()
        self.oracle = FileOracle("task/{}".format, self.violate)
        self.events.attach(self.oracle)
        self.host = ChannelStateHost(core([0, 1]), self.storage, self.events, GROUP)

    def violate(self, name: str, says: str, checkpoint: int | None = None, /) -> None:
        """Note a property that does not hold."""
        del says, checkpoint
        self.violated.append(name)

    def write(self, subtask: int, checkpoint: int, size: int) -> None:
        """Let a subtask write all that it has."""
        self.host.step(writer_events.WriteStarted(subtask, checkpoint))
        self.host.step(writer_events.DataAdded(subtask, checkpoint, size))
        self.host.step(writer_events.InputClosed(subtask, checkpoint))
        self.host.step(writer_events.OutputClosed(subtask, checkpoint))


def test_the_slowest_of_a_group_has_the_file_stored() -> None:
    """One file holds both parts, and each subtask learns of its own when that is durable."""
    rig = Rig()
    rig.write(0, 1, 10)
    assert rig.storage.stored == []
    rig.write(1, 1, 20)
    assert rig.storage.stored == [(1, 30)]
    assert rig.storage.answers == []
    rig.storage.end(1, failed=False)
    written = [
        (0, subtask_events.ChannelStateWritten(1, 10)),
        (1, subtask_events.ChannelStateWritten(1, 20)),
    ]
    assert rig.storage.answers == written
    rig.oracle.end(lambda _task, _checkpoint: False)
    assert rig.violated == []


def test_a_file_that_cannot_be_written_fails_for_all() -> None:
    """Both subtasks hear that their channel state is lost, which is a cause."""
    rig = Rig()
    rig.write(0, 1, 10)
    rig.write(1, 1, 20)
    rig.storage.end(1, failed=True)
    reason = FailureReason.CHANNEL_STATE_SHARED_STREAM_EXCEPTION
    failed = [(subtask, subtask_events.ChannelStateFailed(1, reason)) for subtask in (0, 1)]
    assert rig.storage.answers == failed
    assert rig.violated == []


def test_an_abort_drops_the_file_and_answers_everybody() -> None:
    """The culprit learns its own reason, the other one that the shared file is gone."""
    rig = Rig()
    rig.write(0, 1, 10)
    rig.host.step(writer_events.WriteAborted(1, 1, ABORTED))
    assert rig.storage.dropped == [1]
    assert [subtask for subtask, _ in rig.storage.answers] == [0]
    rig.host.step(writer_events.WriteStarted(1, 1))
    assert rig.storage.answers[-1] == (1, subtask_events.ChannelStateFailed(1, ABORTED))
    rig.oracle.end(lambda _task, _checkpoint: False)
    assert rig.violated == []


class Silent(SharedStateWriter):
    """Forgets the parts of an older checkpoint when a newer one begins."""

    def _start(self, event: writer_events.WriteStarted) -> None:
        self._clear()
        super()._start(event)


class Groundless(SharedStateWriter):
    """Fails every part at once."""

    def _start(self, event: writer_events.WriteStarted) -> None:
        super()._start(event)
        self._fail_all(ABORTED)


def test_a_beginning_without_an_answer_is_seen() -> None:
    """A core that forgets who waits is found out when a subtask begins the next, or at the end."""
    rig = Rig(Silent)
    rig.host.step(writer_events.WriteStarted(0, 1))
    assert rig.violated == []
    rig.host.step(writer_events.WriteStarted(0, 2))
    assert rig.violated == ["channel_state_writes_are_answered"]
    rig.oracle.end(lambda _task, _checkpoint: False)
    assert rig.violated == ["channel_state_writes_are_answered"] * 2


def test_a_broken_file_that_nobody_is_told_of_is_seen() -> None:
    """A host that keeps a failure for itself is found out when the next is written, or never is."""
    for goes_on in (True, False):
        rig = Rig()
        rig.write(0, 1, 10)
        rig.events.emit(of_tasks.FileBroken(GROUP, 1))
        if goes_on:
            rig.host.step(writer_events.WriteStarted(1, 1))
        else:
            rig.events.emit(of_job.AttemptDeploying())
        assert rig.violated == ["channel_state_writes_are_answered"]


def test_a_second_answer_is_seen() -> None:
    """A core that answers once more, to no one, is found out."""
    rig = Rig()
    rig.write(0, 1, 10)
    rig.write(1, 1, 20)
    rig.storage.end(1, failed=False)
    rig.events.emit(of_tasks.FileAnswered(GROUP, 1, 0, failed=False))
    assert rig.violated == ["channel_state_writes_are_answered"]


def test_a_failure_without_a_cause_is_seen() -> None:
    """A core that gives up the newest checkpoint though nothing has happened is found out."""
    rig = Rig(Groundless)
    rig.host.step(writer_events.WriteStarted(0, 1))
    assert rig.violated == ["channel_state_writes_are_answered"]


def test_aborts_leave_nothing_behind() -> None:
    """A thousand aborted checkpoints are not remembered one by one."""
    rig = Rig()
    for checkpoint in range(1000):
        rig.host.step(writer_events.WriteAborted(0, checkpoint, ABORTED))
        rig.host.step(writer_events.WriteStarted(0, checkpoint))
    rig.oracle.end(lambda _task, _checkpoint: False)
    assert rig.violated == []
