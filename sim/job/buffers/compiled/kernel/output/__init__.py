"""Outputs of tasks: routes, buffers that records fill, pools, queues and the flusher."""
