"""The Mermaid target: a flowchart that GitHub and many editors draw, for review."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import ClassVar

from pydantic import BaseModel, ConfigDict, Field, field_validator

from backends.base import MARK, Backend, Emission
from backends.mermaid.chart import MOST_ARROWS, MOST_CHARACTERS, SHAPES, chart, is_too_big
from backends.mermaid.labels import escaped
from compiler.ir.program import Program
from compiler.version import __version__

_WEB = re.compile(r"https?://[A-Za-z0-9][A-Za-z0-9.:-]*(/[A-Za-z0-9._~%+=@:/-]*)?")


class MermaidOptions(BaseModel):
    """`link-base`: the address of the folder that source paths count from; boxes then link to their source lines."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    link_base: str = Field("", alias="link-base")

    @field_validator("link_base")
    @classmethod
    def _is_on_the_web(cls, address: str) -> str:
        if not _WEB.fullmatch(address):
            raise ValueError("not an address like https://example.org/project/blob/main/")
        return address.rstrip("/") + "/"


class MermaidBackend(Backend[MermaidOptions]):
    """Mermaid flowcharts, which say all that matters to a reviewer, and are not run."""

    name: ClassVar[str] = "mermaid"
    summary: ClassVar[str] = "a flowchart for review, drawn by GitHub and many editors"
    suffix: ClassVar[str] = ".mmd"
    options = MermaidOptions
    tasks: ClassVar[frozenset[str]] = frozenset(SHAPES)

    def render(self, program: Program, options: MermaidOptions) -> Emission:
        """The diagram below comments that say where it comes from."""
        text = "\n".join((*_header(program), chart(program, {}, source_lines=True, link_base=options.link_base)))
        return Emission(f"%% {_TOO_BIG}\n{text}" if is_too_big(text) else text)


_TOO_BIG = f"GitHub does not draw this: it has more than {MOST_ARROWS} arrows or {MOST_CHARACTERS:,} characters."


def _header(program: Program) -> Iterator[str]:
    """Where the diagram comes from, in comments; a path could hold what Mermaid takes for a directive."""
    source = program.sources[0]
    yield f"%% {MARK} {__version__} from {escaped(source.path)} (sha256 {source.sha256})."
    yield f"%% Do not edit: change {escaped(source.path)} and compile it again."
    for included in program.sources[1:]:
        yield f"%% It includes {escaped(included.path)} (sha256 {included.sha256})."
