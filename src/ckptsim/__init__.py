"""ckptsim: a deterministic discrete-event simulator of checkpoint protocols of data pipelines."""
