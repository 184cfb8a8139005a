"""The options of the make target: what lets the Makefile stand beside another one, and what an operator gets."""

from __future__ import annotations

import re
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

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
