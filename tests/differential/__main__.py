"""`python -m tests.differential`: the soak. Ends with 1 if it has found a difference, which it saves as a case."""

from __future__ import annotations

import sys

from tests.differential.soak import main

if __name__ == "__main__":
    sys.exit(main())
