"""Identifiers in scripts for what somebody has named, and tokens for words that somebody wrote (I9 to I15)."""

from __future__ import annotations

import re
from collections.abc import Iterable

from compiler.ir.program import Program
from compiler.ir.tasks import PASS_OR_FAIL, UNREAD, alphabet

_OURS = frozenset({*PASS_OR_FAIL, *UNREAD, "yes", "no", "approved", "rejected"})


def identifiers(names: Iterable[str], prefix: str) -> dict[str, str]:
    """A plain identifier for each name, which says something of the name and has a number of its own."""
    return {
        name: f"{prefix}{number}_{re.sub(r'[^A-Za-z0-9]+', '_', name)[:40].strip('_')}"
        for number, name in enumerate(names, 1)
    }


def tokens_of(program: Program) -> dict[str, str]:
    """A token for each word of an outcome that somebody wrote, so that a script compares nothing but tokens.

    The words that rdc itself has names for stand for themselves.
    """
    words = dict.fromkeys(word for node in program.nodes for word in alphabet(node.task) if word not in _OURS)
    return identifiers(words, "w")
