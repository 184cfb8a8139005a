"""Links from a picture to the source lines of what it shows."""

from __future__ import annotations

from typing import Annotated
from urllib.parse import quote

from backends.options.fields import Check, Options
from compiler.ir.edges import Origin
from compiler.regex import Regex

_WEB = Regex(r"https?://[A-Za-z0-9][A-Za-z0-9.:-]*(/[A-Za-z0-9._~%+=@:/-]*)?")


def _on_the_web(address: str) -> str:
    if not _WEB.fullmatch(address):
        raise ValueError("not an address like https://example.org/project/blob/main/")
    return address.rstrip("/") + "/"


class LinkOptions(Options, frozen=True):
    """`link-base`: the address of the folder that source paths count from; boxes then link to their source lines."""

    link_base: Annotated[
        str,
        Check(_on_the_web),
        "The web address (`http` or `https`) of the folder that source paths count from, such as "
        "`https://example.org/shop/blob/main/`. What is drawn then links to its source line "
        "(`…deploy.runbook.md#L7`).",
    ] = ""


def source_link(base: str, origin: Origin) -> str:
    """The address of a source line under a `link-base`; nothing in it has a meaning to any target."""
    return f"{base}{quote(origin.path)}#L{origin.span.line}"
