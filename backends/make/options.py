"""The options of the make target: what lets the Makefile stand beside another one, and what an operator gets."""

from __future__ import annotations

import re
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from backends.companions import check_path


def _program(path: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9_./-]+\.py", path):
        raise ValueError("a program is named by letters, digits, `_`, `-`, `.` and `/`, and ends with `.py`")
    return check_path(path)


class MakeOptions(BaseModel):
    """The options of the make target; the defaults make a Makefile that stands alone."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=False)

    prefix: str = Field(
        default="",
        pattern=r"^([A-Za-z][A-Za-z0-9_.-]*)?$",
        max_length=60,
        description="What all targets and variables begin with, so that another Makefile can include this one.",
    )
    state_dir: str = Field(
        default=".rdc",
        alias="state-dir",
        pattern=r"^[A-Za-z0-9_./][A-Za-z0-9_./-]*$",
        description="The folder in which the state of runs is kept.",
    )
    form: Literal["resumable", "plain"] = Field(
        default="resumable",
        description="`plain` writes a rule for each step, with a stamp file, as you would by hand. It is for documents "
        "whose flow is a line.",
    )
    driver: Literal["bundled", "shared"] = Field(
        default="bundled",
        description="Whether the driver is part of the Makefile, or a file beside it that several Makefiles include.",
    )
    operator: Literal["full", "basic"] = Field(
        default="basic",
        description="Whether the Makefile takes what operators ask for besides: `PROMPTED`, `AGENT`, `AS`, `NOTIFY`, "
        "`BY`, `NOTE` and more. With `full` it calls the program.",
    )
    program: Annotated[str, AfterValidator(_program)] | None = Field(
        default=None,
        description="The compiled Python file that the Makefile calls, from the folder of the Makefile. Without it, "
        "`rdc/NAME.py` with the name of the document.",
    )

    @model_validator(mode="after")
    def _plain_stands_alone(self) -> Self:
        if self.form == "plain" and (self.operator == "full" or self.driver == "shared"):
            raise ValueError(
                "a plain Makefile has no driver and no operator: leave out `form: plain`, or the other option"
            )
        return self
