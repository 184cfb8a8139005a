"""Agent workflows as the soak takes them."""

from __future__ import annotations

from tests.agent_workflows.drawing import random_told
from tests.agent_workflows.drivers import try_driver
from tests.agent_workflows.model import Told
from tests.agent_workflows.render import document
from tests.agent_workflows.smaller import smaller
from tests.equivalence.drawn import Kind


def shown(told: Told) -> str:
    """A workflow as a document, and as a value that a test can take."""
    return f"{document(told.flow)}\ntask {told.task!r}\nreplies {told.replies}\n{told!r}\n"


KIND = Kind("workflow", random_told, try_driver, smaller, shown)
