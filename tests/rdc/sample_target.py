"""A target for tests whose options are of all sorts; what it writes are the options that it was given."""

from __future__ import annotations

import json
from typing import Annotated, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue, StringConstraints, model_validator

from backends.base import MARK, Backend, Emission
from compiler.diagnostic import Diagnostic
from compiler.ir.features import Feature
from compiler.ir.program import Program

PATH = f"{__name__}:SampleBackend"

Name = Annotated[str, StringConstraints(pattern="^[A-Z]+$")]


class Step(BaseModel):
    """One item of the option `setup`."""

    model_config = ConfigDict(extra="forbid")

    uses: str
    inputs: dict[str, str] = Field(default_factory=dict, alias="with")


class SampleOptions(BaseModel):
    """Every option is given by its alias, with dashes."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    on: JsonValue = None
    runs_on: str | list[str] = Field(default="ubuntu", alias="runs-on")
    timeout_minutes: Annotated[int, Field(ge=1)] = Field(default=5, alias="timeout-minutes")
    checkout: bool = True
    title: str | None = None
    prompts: Literal["answers", "agent"] = "answers"
    agent: str | None = None
    labels: list[str] = Field(default_factory=list)
    env: dict[Name, str] = Field(default_factory=dict)
    setup: list[Step] = Field(default_factory=list)
    most_units: int = Field(default=100, alias="most-units")

    @model_validator(mode="after")
    def _agent_for_prompts(self) -> SampleOptions:
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
        """A line with the mark, and the options that were given."""
        if len(program.nodes) > options.most_units:
            problem = f"{len(program.nodes)} units are more than the target sample takes"
            return Emission(None, (Diagnostic("RD502", program.sources[0].path, None, problem, "leave some out"),))
        given = options.model_dump(by_alias=True, exclude_unset=True)
        return Emission(f"# {MARK}\n{json.dumps(given)}\n")
