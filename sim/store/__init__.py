"""The link `checkpoint_store`: its simulated world, and real stores on files."""
