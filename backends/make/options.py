"""The options of the make target: what lets the Makefile stand beside another one, or within it."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field


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
