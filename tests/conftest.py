"""What all tests share: the profiles of Hypothesis."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

# `project` decides the same way every time and leaves nothing after. Deadlines would measure the
# machine, not the program.  HYPOTHESIS_PROFILE=explore looks for new examples.
settings.register_profile(
    "project",
    derandomize=True,
    database=None,
    deadline=None,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],  # says that the machine is busy
)
settings.register_profile("explore", deadline=None, print_blob=True, max_examples=1000)
# Commands that run here would leave the kernel in Python to all tests after them.
os.environ.setdefault("CKPTSIM_KERNEL", "compiled")
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "project"))
