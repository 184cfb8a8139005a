"""Playbooks as the soak takes them."""

from __future__ import annotations

from tests.equivalence.drawn import Kind
from tests.playbooks.drawing import random_told
from tests.playbooks.drivers import try_driver
from tests.playbooks.model import Told
from tests.playbooks.render import document
from tests.playbooks.smaller import smaller


def shown(told: Told) -> str:
    """A playbook as a document, and as a value that a test can take."""
    return f"{document(told.book)}\nfiles {told.book.files}\ninputs {told.inputs}\nreplies {told.replies}\n{told!r}\n"


KIND = Kind("playbook", random_told, try_driver, smaller, shown)
