"""`python -m ckptsim` is the command `ckptsim`."""

import sys

from ckptsim.sim.cli import main

sys.exit(main())
