"""`python -m rdc` is the same as `rdc`."""

import sys

from rdc.cli import main

sys.exit(main())
