"""Kinds of calendar entries of a sync: at one instant the smaller kind goes first.

The order is a modelling choice for figures (the arrivals is seen before a timer fires). The random
policies shuffle it.
"""

KIND_FAULT = 1
KIND_ARRIVE = 2
KIND_UPLOADED = 3
KIND_COMPLETE = 4
KIND_STORED = 5
KIND_SENT = 6
KIND_CHECKPOINT = 7
KIND_BATCH_TIMER = 8
KIND_HEARTBEAT = 9
KIND_POLL = 10
KIND_WATCH = 11
KIND_ATTEMPT = 12
