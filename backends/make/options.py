"""The options of the make target."""

import re
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from backends.options.model import Options
from backends.options.paths import check_path


def _program(path: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9_./-]+\.py", path):
        raise ValueError("write a path with only letters, digits, `_`, `-`, `.` and `/` that ends with `.py`")
    return check_path(path)


class MakeOptions(Options):
    """The options of the make target."""

    state_dir: str = Field(
        default=".rdc", pattern=r"^[A-Za-z0-9_./][A-Za-z0-9_./-]*$", description="The folder for the state of runs."
    )
    form: Literal["resumable", "plain"] = Field(
        default="resumable",
        description="`plain` writes a rule with a stamp file for each step, as you would by hand. It is for "
        "documents without branches.",
    )
    operator: Literal["full", "basic"] = Field(
        default="basic",
        description="Whether the Makefile has all operator commands: `PROMPTED`, `AGENT`, `AS`, `NOTIFY`, `BY`, "
        "`NOTE` and more. With `full`, it calls the program.",
    )
    program: Annotated[str, AfterValidator(_program)] | None = Field(
        default=None,
        description="The compiled Python file that the Makefile calls, relative to the Makefile. The default is "
        "`rdc/NAME.py` with the name of the document.",
    )

    @model_validator(mode="after")
    def check(self) -> Self:
        """Reject options that a plain Makefile has no use for."""
        if self.form == "plain" and self.operator == "full":
            raise ValueError("`form: plain` excludes `operator: full`; remove one of them")
        return self
