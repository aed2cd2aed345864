"""What is drawn around restarts: savepoints, and checkpoints that are restored from."""
