"""A job of a workflow as data. The template writes it."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct, field

from backends.github.step import Step


class Job(Struct, frozen=True):
    """A job with its steps. `permissions` are scope, access and reason; `comments` appear above the job.

    `timeout` is in minutes; 0 means the value of the option. `matrix` has a label for each entry of a parallel step.
    Each entry then runs as a separate job.
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
