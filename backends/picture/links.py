"""Links from a picture to the source lines of its boxes."""

from __future__ import annotations

from typing import Annotated
from urllib.parse import quote

from backends.options.fields import Check, Options
from compiler.ir.edges import Origin
from compiler.regex import Regex

_WEB = Regex(r"https?://[A-Za-z0-9][A-Za-z0-9.:-]*(/[A-Za-z0-9._~%+=@:/-]*)?")


def _on_the_web(address: str) -> str:
    if not _WEB.fullmatch(address):
        raise ValueError("write a web address such as https://example.org/project/blob/main/")
    return address.rstrip("/") + "/"


class LinkOptions(Options, frozen=True):
    """`link-base`: the address that source paths are relative to. Boxes link to their source lines."""

    link_base: Annotated[
        str,
        Check(_on_the_web),
        "The web address (`http` or `https`) that source paths are relative to, such as "
        "`https://example.org/shop/blob/main/`. Boxes then link to their source lines "
        "(`…deploy.runbook.md#L7`).",
    ] = ""


def source_link(base: str, origin: Origin) -> str:
    """Return the address of a source line below a `link-base`. No target treats its characters specially."""
    return f"{base}{quote(origin.path)}#L{origin.span.line}"
