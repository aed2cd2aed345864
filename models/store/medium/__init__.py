"""What is durable and how it lies there: media, checkpoints, codecs and the frame around a blob."""

from ckptsim.models.store.medium.checkpoints import Checkpoints
from ckptsim.models.store.medium.codec import Codec, GroupCodec, PlainCodec
from ckptsim.models.store.medium.medium import (
    Area,
    Changes,
    Medium,
    ModelMedium,
    Rows,
    RowsWrite,
    Slot,
    SlotWrite,
    Step,
    check_one_step,
)

__all__ = [
    "Area",
    "Changes",
    "Checkpoints",
    "Codec",
    "GroupCodec",
    "Medium",
    "ModelMedium",
    "PlainCodec",
    "Rows",
    "RowsWrite",
    "Slot",
    "SlotWrite",
    "Step",
    "check_one_step",
]
