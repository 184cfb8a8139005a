"""What the values of options are: texts that may stand in a workflow, and none that GitHub or a shell would run."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from backends.github.scalar import OPEN, Expression
from backends.options.fields import Check
from compiler.regex import Regex

_OWN_VARIABLES = Regex(r"(?i)(GITHUB|RUNNER|ACTIONS|RDC|COMMAND|MESSAGE|PROMPT)_.*|CI|PATH|HOME|BASH_ENV|ENV|IFS")

# Contexts that make fine data. Whoever names a branch chooses `github.ref`, so none of them may stand in code.
_ALLOWED = Regex(
    r"\$\{\{ *(github\.(actor|event_name|ref|ref_name|repository|run_attempt|run_id|run_number|sha|workflow|workspace)"
    r"|runner\.(arch|os|temp)) *\}\}"
)

# How the names of variables and of inputs end whose values are run as code, or as a part of a command.
_CODE = Regex(
    r"(?i).*(args|arguments|commands?|editor|entrypoint|flags|options|opts|pager|preload|scripts?|shell|startup)"
    r"|(.*[\W_])?(cmds?|eval|exec|opt|ps4|run)|(perl5|ruby)opt"
)


def _literal(value: object) -> object:
    """A value without expressions and control characters: secrets are given by name, and nothing else needs one."""
    if isinstance(value, str):
        return _line(value)
    if isinstance(value, list):
        return [_literal(item) for item in value]
    if isinstance(value, dict):
        return {_line(key): _literal(item) for key, item in value.items()}
    return value


def _line(text: str) -> str:
    if OPEN in text:
        raise ValueError("an expression `${{ … }}` is not allowed here; secrets are named by the option `secrets`")
    if not text.isprintable():
        raise ValueError("it has to be one line, without tabs and other characters that do not print")
    return text


def not_empty(text: str) -> str:
    """A text that says something."""
    if not text.strip():
        raise ValueError("this string is empty")
    return text


def _harmless(value: str) -> str:
    """A text whose expressions, if any, are trusted contexts."""
    rest = _ALLOWED.sub("", value)
    if OPEN in rest:
        raise ValueError(
            "only trusted contexts such as `github.ref` may be used here; name secrets in the option `secrets`"
        )
    return Expression(value) if rest != value else value


def _script(text: str) -> str:
    """A script or a command. GitHub would paste the value of an expression into it, and run what it says."""
    if OPEN in text:
        raise ValueError(
            "a script may not hold an expression `${{ … }}`, since GitHub would run its value as code; "
            'put the expression under `env` and use the variable, such as "$NAME"'
        )
    return text


Mixed = Annotated[str, Check(_harmless)]
Plain = Mixed | int | float | bool


def _data(values: dict[str, Plain]) -> dict[str, Plain]:
    """Variables or inputs, of which those that are code hold no expression."""
    for name, value in values.items():
        if isinstance(value, Expression) and _CODE.fullmatch(name):
            raise ValueError(
                f"`{name}` may be run as code, so it may not hold an expression `${{{{ … }}}}`; "
                "put the expression into a variable of its own under `env`"
            )
    return values


def _variable(name: str) -> str:
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name):
        raise ValueError("a variable has letters, digits and `_` in its name, and no digit first")
    return name


def _is_of_others(name: str) -> bool:
    """Whether a variable belongs to GitHub, to the shell or to rdc."""
    return _OWN_VARIABLES.fullmatch(name) is not None


def _free_variable(name: str) -> str:
    if _is_of_others(_variable(name)):
        raise ValueError(f"the variable {name} belongs to GitHub, to the shell or to rdc; take another name")
    return name


def action_name(uses: str) -> str:
    """An action of a repository, of a folder or of an image."""
    if not re.fullmatch(r"\./\S*|docker://\S+|[\w.-]+/[\w.-]+(/[^@\s]*)?@\S+", uses):
        raise ValueError("an action is named as `owner/name@commit`, `./folder` or `docker://image`")
    return uses


def absolute_path(path: str) -> str:
    """The path of an interpreter, which needs no quotes."""
    if not re.fullmatch(r"/[A-Za-z0-9_./+-]+", path):
        raise ValueError("Python is named by an absolute path of letters, digits, `_`, `-`, `+`, `.` and `/`")
    return path


def program_path(path: str) -> str:
    """The path of a program, from the folder of the workflow."""
    if not re.fullmatch(r"(\.\./)?[A-Za-z0-9_./-]+\.py", path) or path.startswith("../../"):
        raise ValueError(
            "a program of the repository is named by letters, digits, `_`, `-`, `.` and `/`: `../rdc/x.py`"
        )
    return path


def repository_path(path: str) -> str:
    """A file of the repository, below its root and not among those that steer Git or GitHub."""
    parts = path.split("/")
    if not re.fullmatch(r"[A-Za-z0-9_.\- /]+", path) or any(part.strip(" .") == "" for part in parts):
        raise ValueError("a file is named by its path from the root of the repository, such as `docs/triage.md`")
    if parts[0].lower() in {".git", ".github"}:
        raise ValueError(f"a file below `{parts[0]}` steers the repository, so no run may touch it")
    return path


def in_seconds(value: str | int) -> str | int:
    """A time in seconds, which may be given in minutes or hours."""
    found = re.fullmatch(r"([1-9][0-9]{0,5})([smh]?)", str(value))
    if not found:
        raise ValueError("a time is written as 90s, 30m or 2h")
    return int(found[1]) * {"": 1, "s": 1, "m": 60, "h": 3600}[found[2]]


def listed_once(value: str | list[str]) -> list[str]:
    """One or several, each once."""
    return [value] if isinstance(value, str) else list(dict.fromkeys(value))


def _input(name: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_.-]*", name):
        raise ValueError("an input has letters, digits, `_`, `-` and `.` in its name")
    return name


Text = Annotated[str, Check(_line), Check(not_empty)]
Script = Annotated[str, Check(_script), Check(not_empty)]
Identifier = Annotated[str, Check(_variable)]
VariableName = Annotated[str, Check(_free_variable)]
InputName = Annotated[str, Check(_input)]
Variables = Annotated[dict[VariableName, Plain], Check(_data)]
Inputs = Annotated[dict[InputName, Plain], Check(_data)]
Name = Annotated[str, Check(_line)]
Json = Annotated[Any, Check(_literal)]
Access = Literal["read", "write", "none"]
Publication = Literal["summary", "artifact", "comment", "pull-request"]
Scope = Literal[
    "actions", "artifact-metadata", "attestations", "checks", "contents", "deployments", "discussions", "id-token",
    "issues", "models", "packages", "pages", "pull-requests", "repository-projects", "security-events", "statuses",
]  # fmt: skip
