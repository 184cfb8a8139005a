"""The options of the python target."""

from __future__ import annotations

from typing import Annotated, Literal

from backends.options.fields import Options


class PythonOptions(Options, frozen=True):
    """The options of the python target; the default is one file that needs no other."""

    runtime: Annotated[
        Literal["bundled", "shared", "script"],
        "Whether the runtime is part of the program, or a file beside it that several programs share; "
        "`script` is a short one that keeps nothing, and so resumes nothing.",
    ] = "bundled"
    operator: Annotated[
        Literal["full", "basic"],
        "Whether the program can do what operators ask for besides: goto, logs, notices and more.",
    ] = "basic"

    caller: Annotated[
        Literal["person", "make", "github"],
        "What calls the program: with `make` or `github`, a file beside it reads what these give, and "
        "hints are in their words. Makefiles and workflows come with such programs.",
    ] = "person"

    def check(self) -> None:
        """A caller has a file beside the program, and a script has no operator."""
        if self.caller != "person" and self.runtime != "shared":
            raise ValueError(f"what {self.caller} needs is beside the program, as its runtime: add `runtime: shared`")
        if self.runtime == "script" and self.operator == "full":
            raise ValueError("a script keeps nothing that operators could look at: leave out `operator: full`")
