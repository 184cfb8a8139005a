"""The JSON target: the whole program as data for tools."""

import json
from typing import ClassVar

from backends.base import MARK, Backend, Emission
from backends.options.model import Options
from compiler.ir.features import Feature
from compiler.ir.program import Program
from compiler.ir.serialize import to_json
from compiler.version import __version__


class JsonBackend(Backend[Options]):
    """The intermediate representation before any pass. `docs/program.schema.json` describes it."""

    name: ClassVar[str] = "json"
    summary: ClassVar[str] = "the program as data for tools, with a published JSON Schema"
    suffix: ClassVar[str] = ".json"
    options = Options
    features: ClassVar[frozenset[Feature]] = frozenset(Feature)

    def render(self, program: Program, options: Options) -> Emission:  # noqa: ARG002 (there are none)
        """Return the JSON form, with its origin as the first key because JSON has no comments."""
        path = program.sources[0].path
        note = f"{MARK} {__version__} from {path}. Do not edit: change {path} and compile it again."
        first = f'{{\n  "generated": {json.dumps(note, ensure_ascii=False)},\n'
        return Emission(first + to_json(program).removeprefix("{\n"))
