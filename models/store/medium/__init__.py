"""The durable data and its form: media, checkpoints, codecs and the frame around a blob."""

from ckptsim.models.store.medium.checkpoints import Checkpoints
from ckptsim.models.store.medium.codec import GROUP_BLOB_BYTES_MAX, Codec, GroupCodec, PlainCodec
from ckptsim.models.store.medium.frame import Checksum, seal, unseal
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
    "GROUP_BLOB_BYTES_MAX",
    "Area",
    "Changes",
    "Checkpoints",
    "Checksum",
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
    "seal",
    "unseal",
]
