"""The durable data and its form: media, checkpoints, codecs and the frame around a blob."""

from ckptsim.models.store.medium.checkpoints import Checkpoints as Checkpoints
from ckptsim.models.store.medium.codec import Codec as Codec
from ckptsim.models.store.medium.codec import GroupCodec as GroupCodec
from ckptsim.models.store.medium.codec import PlainCodec as PlainCodec
from ckptsim.models.store.medium.generations import GENERATIONS as GENERATIONS
from ckptsim.models.store.medium.medium import Area as Area
from ckptsim.models.store.medium.medium import Changes as Changes
from ckptsim.models.store.medium.medium import Medium as Medium
from ckptsim.models.store.medium.medium import ModelMedium as ModelMedium
from ckptsim.models.store.medium.medium import Rows as Rows
from ckptsim.models.store.medium.medium import RowsWrite as RowsWrite
from ckptsim.models.store.medium.medium import Slot as Slot
from ckptsim.models.store.medium.medium import SlotWrite as SlotWrite
from ckptsim.models.store.medium.medium import Step as Step
from ckptsim.models.store.medium.medium import check_one_step as check_one_step
