"""Tell the observer what a stretch has moved, channel by channel."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ckptsim.sim.job.buffers.stretch.inlet import Mode

if TYPE_CHECKING:
    from ckptsim.sim.job.buffers.stretch.inlet import Inlet
    from ckptsim.sim.job.oracle.buffers.observer import BufferObserver


def report(inlet: Inlet, observer: BufferObserver) -> None:
    """Report what an inlet has moved; both ends of its channels have been settled before."""
    of_bytes = np.concatenate([[0], np.cumsum(inlet.bytes[:-2])]).tolist()
    for lane, channel in enumerate(inlet.channels):
        first_sent = inlet.start_sent[lane]
        sent, arrived = inlet.sent[lane], inlet.arrived[lane]
        observer.moved(
            channel,
            sent_bytes=of_bytes[sent] - of_bytes[first_sent],
            taken_bytes=of_bytes[inlet.polled[lane]] - of_bytes[inlet.base[lane]],
            wired=inlet.bytes[arrived:sent].tolist(),
        )
    hand = None
    if inlet.mode is Mode.READING:  # in a buffer's last record the buffer is free
        hand = (inlet.channels[inlet.hand_lane], bool(inlet.lent[inlet.hand]))
    observer.rested(inlet.gate, hand)
