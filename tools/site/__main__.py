"""`python -m tools.site FOLDER` builds the site into FOLDER/html."""

from __future__ import annotations

import sys
from pathlib import Path

from tools.site.build import BrokenSiteError, build

if __name__ == "__main__":
    try:
        print(f"wrote {build(Path(sys.argv[1]))}/index.html")
    except BrokenSiteError as error:
        sys.exit(str(error))
