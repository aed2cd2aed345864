"""`python -m sim` is the command `ckptsim`."""

import sys

from sim.cli import main

sys.exit(main())
