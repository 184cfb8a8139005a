"""Checks of option values: what may appear in a workflow without GitHub or a shell running it."""

import json
import re
from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import AfterValidator, BeforeValidator, JsonValue

from backends.github.yaml.scalar import OPEN, Expression
from compiler.diagnostics.issues import InvalidError
from compiler.diagnostics.model import Issue
from compiler.text.regex import Regex

_OWN_VARIABLES = Regex(r"(?i)(GITHUB|RUNNER|ACTIONS|RDC|COMMAND|MESSAGE|PROMPT)_.*|CI|PATH|HOME|BASH_ENV|ENV|IFS")

# Contexts that are safe as data. The author of a branch chooses `github.ref`, so none may appear in code.
_ALLOWED = Regex(
    r"\$\{\{ *(github\.(actor|event_name|ref|ref_name|repository|run_attempt|run_id|run_number|sha|workflow|workspace)"
    r"|runner\.(arch|os|temp)) *\}\}"
)

# How names of variables and inputs end whose values run as code, or as part of a command.
_CODE = Regex(
    r"(?i).*(args|arguments|commands?|editor|entrypoint|flags|options|opts|pager|preload|scripts?|shell|startup)"
    r"|(.*[\W_])?(cmds?|eval|exec|opt|ps4|run)|(perl5|ruby)opt"
)


def _literal(value: object) -> object:
    """Return a value without expressions and control characters: secrets have their own option."""
    if isinstance(value, str):
        return _line(value)
    if isinstance(value, list):
        return [_literal(item) for item in value]
    if isinstance(value, dict):
        return {_line(key): _literal(item) for key, item in value.items()}
    return value


def _line(text: str) -> str:
    if OPEN in text:
        raise ValueError("an expression `${{ … }}` is not allowed here; name secrets in the option `secrets`")
    if not text.isprintable():
        raise ValueError("this string must be one line, without tabs and other control characters")
    return text


def _matching(pattern: str, problem: str) -> AfterValidator:

    def ask(text: str) -> str:
        if not re.fullmatch(pattern, text):
            raise ValueError(problem)
        return text

    return AfterValidator(ask)


def not_empty(text: str) -> str:
    """Return the string; raises `ValueError` if it is empty."""
    if not text.strip():
        raise ValueError("this string is empty")
    return text


def _harmless(value: str) -> str:
    """Return the string; raises `ValueError` if it has an expression other than a trusted context."""
    rest = _ALLOWED.sub("", value)
    if OPEN in rest:
        raise ValueError(
            "only trusted contexts such as `github.ref` are allowed here; name secrets in the option `secrets`"
        )
    return Expression(value) if rest != value else value


def _script(text: str) -> str:
    """Return a script or command. An expression in it would become part of the code."""
    if OPEN in text:
        raise ValueError(
            "a script must not contain an expression `${{ … }}`: GitHub would run its value as code; "
            'set a variable to the expression under `env`, and use it as "$NAME"'
        )
    return text


def _written(value: object) -> object:
    """Return a number or boolean as a string, because it is one in the command of a header, too."""
    return json.dumps(value) if isinstance(value, (int, float)) else value


PLAIN = BeforeValidator(_written, json_schema_input_type=str | int | float | bool)
Mixed = Annotated[str, AfterValidator(_harmless)]


def _data(values: dict[str, str]) -> dict[str, str]:
    """Return variables or inputs; raises `ValueError` if one that is code has an expression."""
    for name, value in values.items():
        if isinstance(value, Expression) and _CODE.fullmatch(name):
            raise ValueError(
                f"`{name}` may run as code, so it must not contain an expression `${{{{ … }}}}`; "
                "set another variable to the expression under `env`"
            )
    return values


def _free(name: str) -> str:
    if _OWN_VARIABLES.fullmatch(name):
        raise ValueError(f"the variable {name} is reserved for GitHub, the shell or rdc; choose another name")
    return name


def repository_path(path: str) -> str:
    """Return a path in the repository; raises `ValueError` if it leads outside or to files of Git or GitHub."""
    parts = path.split("/")
    if not re.fullmatch(r"[A-Za-z0-9_.\- /]+", path) or any(part.strip(" .") == "" for part in parts):
        raise ValueError("write the path from the root of the repository, for example `docs/triage.md`")
    if parts[0].lower() in {".git", ".github"}:
        raise ValueError(f"a run must not write files in `{parts[0]}`; choose another folder")
    return path


def _workspace_path(path: str) -> str:
    if path.startswith(("/", "-", "~")) or ".." in path.split("/"):
        raise ValueError("write the path from the root of the workspace, for example `dist`")
    return path


def in_seconds(value: str | int) -> str | int:
    """Return a time such as `90s`, `30m` or `2h` in seconds; raises `ValueError` if it is invalid."""
    found = re.fullmatch(r"([1-9][0-9]{0,5})([smh]?)", str(value))
    if not found:
        raise ValueError("write a time such as 90s, 30m or 2h")
    return int(found[1]) * {"": 1, "s": 1, "m": 60, "h": 3600}[found[2]]


def listed_once(value: str | list[str]) -> list[str]:
    """Return one or several values as a list without duplicates."""
    return [value] if isinstance(value, str) else list(dict.fromkeys(value))


ACTION = _matching(
    r"\./\S*|docker://\S+|[\w.-]+/[\w.-]+(/[^@\s]*)?@\S+",
    "write the action as `owner/name@commit`, `./folder` or `docker://image`",
)
INTERPRETER = _matching(
    "/[A-Za-z0-9_./+-]+", "write an absolute path with only letters, digits, `_`, `-`, `+`, `.` and `/`"
)
"""The path of an interpreter, for which the shell needs no quotes."""

PROGRAM = _matching(
    r"(?!\.\./\.\./)(\.\./)?[A-Za-z0-9_./-]+\.py",
    "write a path with only letters, digits, `_`, `-`, `.` and `/`, for example `../rdc/x.py`",
)
"""The path of a program, relative to the workflow's folder."""

Text = Annotated[str, AfterValidator(_line), AfterValidator(not_empty)]
Carried = list[Annotated[str, AfterValidator(_line), AfterValidator(not_empty), AfterValidator(_workspace_path)]]
Script = Annotated[str, AfterValidator(_script), AfterValidator(not_empty)]
Identifier = Annotated[
    str,
    _matching(
        "[A-Za-z_][A-Za-z0-9_]*", "a variable's name has only letters, digits and `_`, and doesn't start with a digit"
    ),
]
VariableName = Annotated[Identifier, AfterValidator(_free)]
InputName = Annotated[
    str, _matching("[A-Za-z0-9_][A-Za-z0-9_.-]*", "an input's name has only letters, digits, `_`, `-` and `.`")
]
Variables = Annotated[dict[VariableName, Annotated[Mixed, PLAIN]], AfterValidator(_data)]
Inputs = Annotated[dict[InputName, Annotated[Mixed, PLAIN]], AfterValidator(_data)]
Name = Annotated[str, AfterValidator(_line)]
Json = Annotated[JsonValue, AfterValidator(_literal)]
Access = Literal["read", "write", "none"]
Publication = Literal["summary", "artifact", "comment", "pull-request"]
Scope = Literal[
    "actions", "artifact-metadata", "attestations", "checks", "code-quality", "contents", "copilot-requests",
    "deployments", "discussions", "id-token", "issues", "models", "packages", "pages", "pull-requests",
    "repository-projects", "security-events", "statuses", "vulnerability-alerts",
]  # fmt: skip
_ONLY: Mapping[Scope, Access] = {
    "copilot-requests": "write",
    "id-token": "write",
    "models": "read",
    "vulnerability-alerts": "read",
}
"""The only access that a token can have to some scopes."""


def checked_permissions(granted: dict[Scope, Access]) -> dict[Scope, Access]:
    """Return the permissions; raises `InvalidError` if GitHub has no such access to a scope."""
    found = [
        Issue((scope,), f"GitHub knows only `{scope}: {_ONLY[scope]}` and `{scope}: none`")
        for scope, access in granted.items()
        if access not in {"none", _ONLY.get(scope, access)}
    ]
    if found:
        raise InvalidError(*found)
    return granted
