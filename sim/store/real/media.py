"""The placements on real files, after the protocol that the model medium fills too."""

from __future__ import annotations

from pathlib import Path

from ckptsim.models import store
from ckptsim.models.store.medium import check_one_step
from ckptsim.sim.store.real.duck import DuckFile
from ckptsim.sim.store.real.errors import StoreFileError, StoreMismatchError
from ckptsim.sim.store.real.lite import LiteFile

DATA_FILE = "data.duckdb"
CHECKPOINT_FILE = "checkpoints.sqlite"


class _DuckRows:
    """Rows in a DuckDB file: a step is one transaction."""

    def __init__(
        self, path: Path, *, memory_limit: str = "512MB", kind: type[DuckFile] = DuckFile
    ) -> None:
        self.data = kind(path, memory_limit=memory_limit)

    def rows(self, area: store.Area, key: store.TopicPartition) -> store.Rows:
        """Return the durable rows of one partition."""
        return self.data.rows(area, key)

    def row(self, area: store.Area, key: store.TopicPartition, name: str) -> bytes | None:
        """Return the durable value of one row, or None."""
        return self.data.row(area, key, name)

    def crash(self) -> None:
        """Open the file as a killed process leaves it."""
        self.data.crash()

    def close(self) -> None:
        """Close the file."""
        self.data.close()

    def _transact(self, step: store.Step) -> None:
        """Make a step durable in one transaction, or nothing of it."""
        try:
            self._write(step)
            self.data.commit()
        except BaseException:  # an interrupt, too, leaves no transaction open for the next step
            self.data.rollback()
            raise

    def _write(self, step: store.Step) -> None:
        self.data.begin()
        for write in step.rows:
            self.data.write_rows(write)
        self.data.write_slots(step.slots)


class DuckMedium(_DuckRows):
    """Data and checkpoints in one DuckDB file: a step is one transaction."""

    @property
    def atomic(self) -> bool:
        """One step may hold rows and checkpoints."""
        return True

    def slot(self, slot: store.Slot, key: store.TopicPartition) -> bytes | None:
        """Return the stored bytes of one checkpoint slot, or None."""
        return self.data.slot(slot, key)

    def commit(self, step: store.Step) -> None:
        """Make a step durable in one transaction, or nothing of it."""
        self._transact(step)

    def abandon(self, step: store.Step) -> None:
        """Write a step into a transaction and leave that open for the crash to come."""
        self._write(step)

    def lose(self, *, areas: tuple[store.Area, ...], slots: bool) -> None:
        """Empty the tables, as a new file would be."""
        self.data.clear(areas, slots=slots)


class DuckLiteMedium(_DuckRows):
    """Data in a DuckDB file, checkpoints in a SQLite file beside it: two durable steps.

    Both carry the identity of the store.  Raises StoreMismatchError when they differ: the data was
    lost or replaced while its checkpoints stayed, and to resume would skip everything that is gone.
    """

    def __init__(self, folder: Path, *, memory_limit: str = "512MB") -> None:
        folder.mkdir(parents=True, exist_ok=True)
        super().__init__(folder / DATA_FILE, memory_limit=memory_limit)
        try:
            identity = self.data.about["identity"]
            self.checkpoints = LiteFile(folder / CHECKPOINT_FILE, identity=identity)
        except StoreFileError:
            self.data.close()
            raise
        if self.checkpoints.about.get("identity") != identity:
            self.close()
            raise StoreMismatchError(
                f"{folder}: the data ({DATA_FILE}) and the checkpoints ({CHECKPOINT_FILE}) are not "
                "of the same store; remove the checkpoints to start from scratch"
            )

    @property
    def atomic(self) -> bool:
        """A step holds rows or checkpoints, never both."""
        return False

    def slot(self, slot: store.Slot, key: store.TopicPartition) -> bytes | None:
        """Return the stored bytes of one checkpoint slot, or None."""
        return self.checkpoints.slot(slot, key)

    def commit(self, step: store.Step) -> None:
        """Make a step durable in the file that it concerns."""
        check_one_step(step, atomic=False)
        if step.rows:
            self._transact(step)
        if step.slots:
            self.checkpoints.write_slots(step.slots)

    def abandon(self, step: store.Step) -> None:
        """Write nothing: each file's step is its own transaction."""
        check_one_step(step, atomic=False)

    def crash(self) -> None:
        """Open both files as a killed process leaves them."""
        super().crash()
        self.checkpoints.crash()

    def lose(self, *, areas: tuple[store.Area, ...], slots: bool) -> None:
        """Empty the tables of the lost part."""
        self.data.clear(areas, slots=False)
        if slots:
            self.checkpoints.clear()

    def close(self) -> None:
        """Close both files."""
        super().close()
        self.checkpoints.close()


class DuckGroupMedium(_DuckRows, store.ModelMedium):
    """Data in a DuckDB file, checkpoints in a simulated consumer group on the far side.

    A crash leaves the group as it is: it is elsewhere.
    """

    def __init__(self, path: Path, *, memory_limit: str = "512MB") -> None:
        store.ModelMedium.__init__(self, atomic=False)
        _DuckRows.__init__(self, path, memory_limit=memory_limit)

    def commit(self, step: store.Step) -> None:
        """Commit rows to the file, or checkpoints to the group."""
        check_one_step(step, atomic=False)
        if step.rows:
            self._transact(step)
        super().commit(store.Step(slots=step.slots))

    def lose(self, *, areas: tuple[store.Area, ...], slots: bool) -> None:
        """Empty the tables, and forget the group's offsets if they expired."""
        self.data.clear(areas, slots=False)
        super().lose(areas=(), slots=slots)


def real_medium(placement: store.Placement, folder: Path) -> store.Medium:
    """Open the real medium of a placement in a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    if placement is store.Placement.COLOCATED:
        return DuckMedium(folder / DATA_FILE)
    if placement is store.Placement.EXTERNAL:
        return DuckLiteMedium(folder)
    return DuckGroupMedium(folder / DATA_FILE)
