"""The coordinator's side of checkpoints."""
