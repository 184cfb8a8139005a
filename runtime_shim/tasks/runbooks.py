"""Documents with steps that run commands and steps that ask a person."""

from __future__ import annotations

from typing import ClassVar

from runtime_shim.engine.builder import Builder
from runtime_shim.engine.lifecycle import Extension, Performers
from runtime_shim.tasks.ask import Prompts
from runtime_shim.tasks.shell import Commands


class Runbooks(Extension):
    """Builds the table of a document, and runs its commands and questions."""

    builder = Builder
    performers: ClassVar[Performers] = {"shell": Commands, "ask": Prompts}
