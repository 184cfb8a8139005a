"""Links from a picture to the source lines of what it shows."""

from __future__ import annotations

from urllib.parse import quote

from pydantic import BaseModel, ConfigDict, Field, field_validator

from compiler.ir.edges import Origin
from compiler.regex import Regex

_WEB = Regex(r"https?://[A-Za-z0-9][A-Za-z0-9.:-]*(/[A-Za-z0-9._~%+=@:/-]*)?")


class LinkOptions(BaseModel):
    """`link-base`: the address of the folder that source paths count from; boxes then link to their source lines."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    link_base: str = Field(
        "",
        alias="link-base",
        description="The web address (`http` or `https`) of the folder that source paths count from, such as "
        "`https://example.org/shop/blob/main/`. What is drawn then links to its source line (`…deploy.runbook.md#L7`).",
    )

    @field_validator("link_base")
    @classmethod
    def _is_on_the_web(cls, address: str) -> str:
        if not _WEB.fullmatch(address):
            raise ValueError("not an address like https://example.org/project/blob/main/")
        return address.rstrip("/") + "/"


def source_link(base: str, origin: Origin) -> str:
    """The address of a source line under a `link-base`; nothing in it has a meaning to any target."""
    return f"{base}{quote(origin.path)}#L{origin.span.line}"
