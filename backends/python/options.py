"""The options of the python target."""

from __future__ import annotations

from typing import Annotated, Literal

from backends.options.fields import Options


class PythonOptions(Options, frozen=True):
    """The options of the python target. By default, a program is a single file."""

    runtime: Annotated[
        Literal["bundled", "shared", "script"],
        "Whether the runtime is part of the program (`bundled`), or a separate file for several programs "
        "(`shared`). `script` is a short program without state, which cannot resume runs.",
    ] = "bundled"
    operator: Annotated[
        Literal["full", "basic"],
        "Whether the program has all operator commands: goto, logs, notifications and more.",
    ] = "basic"

    caller: Annotated[
        Literal["person", "make", "github"],
        "Who calls the program. With `make` or `github`, a separate file reads their values, and hints show their "
        "commands. rdc sets this for the programs of Makefiles and workflows.",
    ] = "person"

    def check(self) -> None:
        """Check that a caller has a separate runtime, and that a script has no operator commands."""
        if self.caller != "person" and self.runtime != "shared":
            raise ValueError(f"`caller: {self.caller}` needs a separate runtime; add `runtime: shared`")
        if self.runtime == "script" and self.operator == "full":
            raise ValueError("a script has no operator commands; remove `operator: full`")
