"""Scenarios put to the test: by the semantics, and on the generated targets, which really run (S1).

A target that can be tested on is a module with a function `run(setting) -> Run`, and an entry here.
"""

TARGETS = {
    "python": "rdc.trials.python",
    "make": "rdc.trials.make",
    "github": "rdc.trials.github",
}

JUMPING = frozenset({"python", "make"})
"""The targets whose programs an operator can take to another step; `rdc.trials.driving` does so."""

OPENING = ("python", "make")
"""Those whose gates a trial can open; on GitHub reviewers do that, which act does not have."""
