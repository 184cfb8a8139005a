"""The options of the make target."""

from __future__ import annotations

import re
from typing import Annotated, Literal

from msgspec import Meta

from backends.base import check_path
from backends.options.fields import Check, Options


def _program(path: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9_./-]+\.py", path):
        raise ValueError("write a path with only letters, digits, `_`, `-`, `.` and `/` that ends with `.py`")
    return check_path(path)


class MakeOptions(Options, frozen=True):
    """The options of the make target."""

    state_dir: Annotated[
        str, Meta(pattern=r"^[A-Za-z0-9_./][A-Za-z0-9_./-]*$"), "The folder for the state of runs."
    ] = ".rdc"
    form: Annotated[
        Literal["resumable", "plain"],
        "`plain` writes a rule with a stamp file for each step, as you would by hand. It is for documents "
        "without branches.",
    ] = "resumable"
    operator: Annotated[
        Literal["full", "basic"],
        "Whether the Makefile has all operator commands: `PROMPTED`, `AGENT`, `AS`, `NOTIFY`, `BY`, `NOTE` and "
        "more. With `full`, it calls the program.",
    ] = "basic"
    program: Annotated[
        str | None,
        Check(_program),
        "The compiled Python file that the Makefile calls, relative to the Makefile. The default is "
        "`rdc/NAME.py` with the name of the document.",
    ] = None

    def check(self) -> None:
        """Reject options that a plain Makefile has no use for."""
        if self.form == "plain" and self.operator == "full":
            raise ValueError("`form: plain` excludes `operator: full`; remove one of them")
