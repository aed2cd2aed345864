"""The result tables of sweeps: their columns, their directory with its lock, pieces, frames."""
