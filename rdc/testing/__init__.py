"""Test scenarios: by the semantics, and by running generated targets."""

from backends.registry import BACKENDS, load

TARGETS = {name: command for name in BACKENDS if (command := load(name).test_command)}
"""The targets that can be tested, each with a module that has a function `run(setting) -> Run`."""

JUMPING = frozenset(name for name in TARGETS if load(name).has_test_jumps)
"""The targets whose tests can move runs and approve gates."""
