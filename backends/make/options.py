"""The options of the make target: what lets the Makefile stand beside another one, and what an operator gets."""

from __future__ import annotations

import re
from typing import Annotated, Literal

from msgspec import Meta

from backends.companions import check_path
from backends.options.fields import Check, Options


def _program(path: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9_./-]+\.py", path):
        raise ValueError("a program is named by letters, digits, `_`, `-`, `.` and `/`, and ends with `.py`")
    return check_path(path)


class MakeOptions(Options, frozen=True):
    """The options of the make target; the defaults make a Makefile that stands alone."""

    prefix: Annotated[
        str,
        Meta(pattern=r"^([A-Za-z][A-Za-z0-9_.-]*)?$", max_length=60),
        "What all targets and variables begin with, so that another Makefile can include this one.",
    ] = ""
    state_dir: Annotated[
        str, Meta(pattern=r"^[A-Za-z0-9_./][A-Za-z0-9_./-]*$"), "The folder in which the state of runs is kept."
    ] = ".rdc"
    form: Annotated[
        Literal["resumable", "plain"],
        "`plain` writes a rule for each step, with a stamp file, as you would by hand. It is for documents "
        "whose flow is a line.",
    ] = "resumable"
    driver: Annotated[
        Literal["bundled", "shared"],
        "Whether the driver is part of the Makefile, or a file beside it that several Makefiles include.",
    ] = "bundled"
    operator: Annotated[
        Literal["full", "basic"],
        "Whether the Makefile takes what operators ask for besides: `PROMPTED`, `AGENT`, `AS`, `NOTIFY`, "
        "`BY`, `NOTE` and more. With `full` it calls the program.",
    ] = "basic"
    program: Annotated[
        str | None,
        Check(_program),
        "The compiled Python file that the Makefile calls, from the folder of the Makefile. Without it, "
        "`rdc/NAME.py` with the name of the document.",
    ] = None

    def check(self) -> None:
        """A plain Makefile stands alone."""
        if self.form == "plain" and (self.operator == "full" or self.driver == "shared"):
            raise ValueError(
                "a plain Makefile has no driver and no operator: leave out `form: plain`, or the other option"
            )
