"""Input files of runs in place: JSON, or YAML whose scalars are strings."""

from __future__ import annotations

from typing import Any

from runtime_shim.data.shared import read_json
from runtime_shim.engine.program import RefusedError


def parse(path: str, text: str) -> Any:  # noqa: ANN401 (dicts, lists and strings)
    """Return the content of a file. Scalars of YAML are strings as written: `no` and 1.50 stay unchanged."""
    if text.lstrip().startswith("{"):
        return read_json(path, text)
    import yaml  # noqa: PLC0415 (few runs have mocks)

    try:
        if any(isinstance(event, yaml.AliasEvent) for event in yaml.parse(text, yaml.BaseLoader)):
            raise RefusedError(f"{path}: aliases (*) are not supported; write the value again")
        return yaml.load(text, yaml.BaseLoader) or {}  # noqa: S506 (it only makes strings, lists and dicts)
    except (yaml.YAMLError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        where = f"{path}:{mark.line + 1}" if mark else path
        raise RefusedError(f"{where}: not YAML: {getattr(error, 'problem', None) or error}") from None
