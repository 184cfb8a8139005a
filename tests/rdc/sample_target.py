"""Targets for tests: one with options of all sorts, which writes those that it was given, and one with companions."""

import json
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import Field, model_validator

from backends.base import MARK, Backend, Companion, Emission
from backends.options.model import CompanionPath, Options
from compiler.diagnostics.model import Diagnostic
from compiler.ir.features import Feature
from compiler.ir.program import Program

PATH = f"{__name__}:SampleBackend"
PAIR_PATH = f"{__name__}:PairBackend"

Name = Annotated[str, Field(pattern="^[A-Z]+$")]


class Step(Options):
    """One item of the option `setup`."""

    uses: str
    inputs: dict[str, str] = Field(default={}, alias="with")


class SampleOptions(Options):
    """Every option is given by its name with dashes."""

    on: Any = None
    runs_on: str | list[str] = "ubuntu"
    timeout_minutes: int = Field(default=5, ge=1, description="After how many minutes the run ends.")
    checkout: bool = True
    title: str | None = None
    prompts: Literal["answers", "agent"] = "answers"
    agent: str | None = None
    labels: list[str] = []
    env: dict[Name, str] = {}
    setup: list[Step] = []
    most_steps: int = 100

    @model_validator(mode="after")
    def check(self) -> Self:
        """An agent that answers prompts is named."""
        if self.prompts == "agent" and self.agent is None:
            raise ValueError("`prompts: agent` needs the option `agent`")
        return self


class SampleBackend(Backend[SampleOptions]):
    """Writes its options as JSON."""

    name: ClassVar[str] = "sample"
    summary: ClassVar[str] = "the options as JSON"
    suffix: ClassVar[str] = ".txt"
    options = SampleOptions
    features: ClassVar[frozenset[Feature]] = frozenset({Feature.COMMANDS})

    def render(self, program: Program, options: SampleOptions) -> Emission:
        """A line with the mark, and the options that differ from their defaults."""
        if len(program.nodes) > options.most_steps:
            problem = f"{len(program.nodes)} steps are more than the target sample takes"
            return Emission(None, (Diagnostic("RD502", program.sources[0].path, None, problem, "leave some out"),))
        return Emission(f"# {MARK}\n{json.dumps(options.model_dump(by_alias=True, exclude_defaults=True))}\n")


class PairOptions(Options):
    """Where the companions go, and what is in the one that several programs can share."""

    program: CompanionPath | None = None
    runtime: CompanionPath | None = None
    greeting: str = "hello"


class PairBackend(Backend[PairOptions]):
    """Writes a script; by options a program that the script calls, and a text that the program shows."""

    name: ClassVar[str] = "pair"
    summary: ClassVar[str] = "a script that calls a program"
    suffix: ClassVar[str] = ".sh"
    executable: ClassVar[bool] = True
    options = PairOptions
    features: ClassVar[frozenset[Feature]] = frozenset({Feature.COMMANDS})

    def render(self, program: Program, options: PairOptions) -> Emission:
        head = f"#!/bin/sh\n# {MARK}\n# {program.title}\n"
        here = 'cd -- "$(dirname -- "$0")" || exit'
        companions = []
        if options.program:
            shown = f"cat -- {options.runtime}\n" if options.runtime else ""
            companions.append(Companion(options.program, f"{head}{shown}echo {program.title}\n", "program", True))
        if options.runtime:
            companions.append(Companion(options.runtime, f"# {MARK}\n{options.greeting}\n", "runtime"))
        called = f"exec ./{options.program}" if options.program else "true"
        return Emission(f"{head}{here}\n{called}\n", companions=tuple(companions))
