"""Build the site: `python -m tests.site [FOLDER]`."""

from __future__ import annotations

import sys
from pathlib import Path

from tests.site.build import ROOT, SiteError, build

out = (Path(sys.argv[1]) if sys.argv[1:] else ROOT / "out" / "site").resolve()
try:
    build(out)
except SiteError as error:
    raise SystemExit(str(error)) from error
print(f"the site is in {out}: open {out / 'index.html'}")
