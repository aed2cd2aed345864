"""The interfaces of a checkpoint store before the present one, as adapters on it."""
