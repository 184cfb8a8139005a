"""The variables that a command may use, and guards and effects in bash."""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import assert_never

from msgspec import Struct

from compiler.ir.edges import Add, AtLeast, Clear, CounterTest, Edge, Effect, Keep, Reset, Set, counter_tests
from compiler.ir.program import Counter
from compiler.text.regex import Regex

_TOOLS = frozenset(
    shlex.split(
        ": [ basename cat cd chmod cmp comm cp cut date dirname du echo exit expr false grep head ln ls mkdir mktemp mv"
        " printf pwd realpath rm rmdir seq sha256sum sleep stat tail tee test touch tr true uniq wc"
    )
)
"""Builtins and tools that use only variables they are given, and run no other program."""

_PREFIXES = frozenset(shlex.split("! if then elif else while until do { } fi done"))
_SEPARATORS = frozenset(";&|()\n")
_UNSEEN = ("`", "$(", "<(", ">(", "<<", "${!", "@P", "environ", "/proc")
"""Constructs that run commands inside a string, or read variables without naming them."""

_COMMENT = Regex(r"(?:^|[\s;&|()<>])#.*['\"\\]", re.MULTILINE)
"""A comment with a quote, which would look like the start of a string that spans the lines below."""


def may_use(command: str, *names: str) -> bool:
    """Return whether a command, or a program that it runs, may use a variable with one of these prefixes.

    A program that is not one of the plain tools can do anything with its environment. So can a script that is more than
    a sequence of such tools. In doubt, the answer is yes.
    """
    if any(text in command for text in (*names, *_UNSEEN)) or _COMMENT.search(command):
        return True
    try:
        return not all(word in _TOOLS for word in _programs(command))
    except ValueError:  # quotes that do not close
        return True


def _programs(command: str) -> Iterator[str]:
    words = shlex.shlex(command, posix=True, punctuation_chars=";()<>|&\n")
    words.whitespace = " \t"
    words.whitespace_split = True
    words.commenters = ""
    begins = True
    for word in words:
        if set(word) <= _SEPARATORS:
            begins = True
        elif begins and word not in _PREFIXES:
            yield word
            begins = False


class Registers(Struct, frozen=True):
    """The registers of a program in a script.

    `members` are the registers that a reset of each scope changes. `variables` are the names of counters in the script.
    `followed` are the counters that the script knows; it ignores effects on others.
    """

    members: Mapping[str, tuple[Counter, ...]]
    variables: Mapping[str, str]
    followed: Collection[str]

    def asked(self, edge: Edge) -> Conjunction:
        """Return the tests of an edge."""
        return tuple((self.variables[test.register], test) for test in counter_tests(edge))

    def done(self, effects: Iterable[Effect]) -> list[str]:
        """Return the lines for some effects, in order."""
        return [line for effect in effects for line in self._effect(effect)]

    def _effect(self, effect: Effect) -> list[str]:
        if isinstance(effect, Set | Add | AtLeast) and effect.register not in self.followed:
            return []
        match effect:
            case Reset(scope):
                found = [register for register in self.members.get(scope, ()) if register.name in self.followed]
                return [f"{self.variables[counter.name]}={counter.initial}" for counter in found]
            case Set(register, value):
                return [f"{self.variables[register]}={value}"]
            case Add(register, amount):
                name = self.variables[register]
                return [f"{name}=$(({name} + {self.variables[amount] if isinstance(amount, str) else amount}))"]
            case AtLeast(register, value):
                return [f"(({self.variables[register]} < {value})) && {self.variables[register]}={value}"]
            case Keep() | Clear():  # a target without slots rejects such a program earlier
                raise ValueError(f"an effect of the kind {effect.kind} cannot be expressed")
            case _:
                assert_never(effect)


_OPERATORS = {"<": "<", ">=": ">=", "=": "=="}

Conjunction = tuple[tuple[str, CounterTest], ...]
"""Tests of counters that must all hold, each with its variable (I17)."""


def condition(alternatives: Sequence[Conjunction]) -> str:
    """Return a command that succeeds if any of the conjunctions holds, as one arithmetic expression."""
    terms = ([f"{name} {_OPERATORS[test.operator]} {test.value}" for name, test in tests] for tests in alternatives)
    return f"(({' || '.join(map(' && '.join, terms))}))"
