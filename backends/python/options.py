"""The options of the python target."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field


class PythonOptions(BaseModel):
    """The options of the python target; the default is one file that needs no other."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    runtime: Literal["bundled", "shared", "script"] = Field(
        default="bundled",
        description="Whether the runtime is part of the program, or a file beside it that several programs share; "
        "`script` is a short one that keeps nothing, and so resumes nothing.",
    )
    operator: Literal["full", "basic"] = Field(
        default="basic",
        description="Whether the program can do what operators ask for besides: goto, logs, notices and more.",
    )
