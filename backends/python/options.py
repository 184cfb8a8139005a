"""The options of the python target."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator


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

    caller: Literal["person", "make", "github"] = Field(
        default="person",
        description="What calls the program: with `make` or `github`, a file beside it reads what these give, and "
        "hints are in their words. Makefiles and workflows come with such programs.",
    )

    @model_validator(mode="after")
    def _caller_has_a_file(self) -> Self:
        if self.caller != "person" and self.runtime != "shared":
            raise ValueError(f"what {self.caller} needs is beside the program, as its runtime: add `runtime: shared`")
        return self

    @model_validator(mode="after")
    def _script_has_no_operator(self) -> Self:
        if self.runtime == "script" and self.operator == "full":
            raise ValueError("a script keeps nothing that operators could look at: leave out `operator: full`")
        return self
