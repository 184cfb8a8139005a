"""Test scenarios: by the semantics, and by running generated targets (S1).

A testable target has a module with a function `run(setting) -> Run`, and an entry here.
"""

TARGETS = {
    "python": "rdc.testing.targets.python",
    "make": "rdc.testing.targets.make",
    "dbos": "rdc.testing.targets.dbos",
    "github": "rdc.testing.targets.github",
}

JUMPING = frozenset({"python", "make", "dbos"})
"""The targets whose programs support the operator's jumps, and whose gates a test can approve.

On GitHub reviewers approve, which act doesn't support. See `rdc.testing.driver`.
"""
