"""A job of a workflow, as data; the template writes it."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct, field

from backends.github.step import Step


class Job(Struct, frozen=True):
    """A job with its steps; `permissions` are scope, access and the reason for it, `comments` stand above it.

    `timeout` is in minutes, 0 for that of the options.

    `matrix` has a label for each entry of a parallel step, which then has a job of its own with all this.
    """

    id: str
    name: str
    steps: tuple[Step, ...]
    condition: str = ""
    needs: tuple[str, ...] = ()
    environment: str = ""
    permissions: tuple[tuple[str, str, str], ...] = ()
    outputs: Mapping[str, str] = field(default_factory=dict)
    env: Mapping[str, str] = field(default_factory=dict)
    shell: str = ""
    matrix: tuple[str, ...] = ()
    comments: tuple[str, ...] = ()
    timeout: int = 0
