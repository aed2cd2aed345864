"""Mutation testing: faults planted mechanically in `models`, and the share that exploring convicts.

`python -m tests.mutation` measures. `operators` says which faults, `survivors.toml` why those that
are left survive.
"""
