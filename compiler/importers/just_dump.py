"""Read the output of `just --dump --dump-format json`, and refuse constructs that no runbook has, by name."""

import re
from typing import Any

import msgspec
from msgspec import Struct

from compiler.text.regex import Regex


class RefusedError(Exception):
    """A construct that isn't imported: its name, and its line, or 0 if another file has it."""

    def __init__(self, words: str, line: int = 0) -> None:
        super().__init__(words)
        self.words, self.line = words, line


class Parameter(Struct):
    """A parameter of a recipe; `default` is an expression."""

    name: str
    kind: str
    default: Any = None
    export: bool = False
    flag: bool = False
    multiple: bool = False
    help: str | None = None
    pattern: Any = None
    value: Any = None


class Dependency(Struct):
    """A recipe that runs before another or after it, with expressions as arguments."""

    recipe: str
    arguments: list[Any] = []
    star: Any = None


class Recipe(Struct):
    """A recipe. A line of its body has strings, and lists with one expression.

    The first `priors` dependencies run before the body, and the others after it.
    """

    name: str
    body: list[list[Any]]
    parameters: list[Parameter]
    dependencies: list[Dependency]
    attributes: list[str | dict[str, Any]]
    priors: int
    shebang: bool
    doc: str | None = None

    @property
    def attribute_names(self) -> list[str]:
        """The names of the attributes in order."""
        return [name for one in self.attributes for name in ([one] if isinstance(one, str) else one)]


class Assignment(Struct):
    """A variable of the justfile; `value` is an expression."""

    value: Any
    export: bool = False


class Alias(Struct):
    """Another name of a recipe."""

    target: str


class Dump(Struct):
    """A justfile with the files that it imports."""

    recipes: dict[str, Recipe]
    assignments: dict[str, Assignment]
    settings: dict[str, Any]
    aliases: dict[str, Alias] = {}
    unexports: list[str] = []


class Shell(Struct, frozen=True):
    """The tag of a recipe's blocks, and the first line that sets the shell's options; `strict` needs no line."""

    tag: str
    options: str
    is_strict: bool


def read_dump(text: bytes) -> Dump:
    """Return the justfile of a dump; raise `RefusedError`."""
    try:
        return msgspec.json.decode(text, type=Dump)
    except (msgspec.MsgspecError, RecursionError) as error:
        raise RefusedError(f"the dump of this version of just: {error}") from error


_FINE_SETTINGS = frozenset(
    {"allow_duplicate_recipes", "allow_duplicate_variables", "default_list", "export", "fallback", "ignore_comments"}
    | {"indentation", "lazy", "minimum_version", "no_exit_message", "quiet", "shell", "tempdir", "unstable"}
    | {"windows_powershell", "windows_shell"}
)
_FINE_ATTRIBUTES = frozenset(
    {"arg", "confirm", "default", "doc", "exit-message", "group", "metadata", "no-exit-message", "no-quiet", "private"}
)


class Justfile:
    """A dump beside the text of its justfile, which has the lines."""

    def __init__(self, dump: Dump, source: str) -> None:
        self.dump, self.source = dump, source
        self.lines = source.split("\n")

    def line(self, pattern: str) -> int:
        """Return the first line that starts with a match, or 0."""
        found = re.compile(pattern)
        return next((number for number, line in enumerate(self.lines, 1) if found.match(line)), 0)

    def refusal(self, recipe: str, words: str, needle: str = "") -> RefusedError:
        """Return the refusal of a part of a recipe, with the first line from its name on that has the needle."""
        head = self.line(rf"@?{re.escape(recipe)}(?![\w-])(?!.*:=)")
        below = range(head - 1, len(self.lines)) if head and needle else ()
        line = next((at + 1 for at in below if needle in self.lines[at]), head)
        return RefusedError(f"recipe `{recipe}`: {words}", line)

    def check_settings(self) -> None:
        """Refuse settings that change the commands of a recipe."""
        for name in (name for name, value in self.dump.settings.items() if value and name not in _FINE_SETTINGS):
            written = name.replace("_", "-")
            raise RefusedError(f"the setting `{written}`", self.line(rf"set\s+{re.escape(written)}\b"))
        if self.dump.unexports:
            raise RefusedError("`unexport`", self.line(r"unexport\b"))

    def check(self, recipe: Recipe) -> None:
        """Refuse a recipe with attributes, parameters or dependencies that no runbook expresses."""
        for name in (name for name in recipe.attribute_names if name not in _FINE_ATTRIBUTES):
            found = self.line(rf"\[.*\b{re.escape(name)}\b")
            raise RefusedError(f"recipe `{recipe.name}`: the attribute `[{name}]`", found)
        if recipe.shebang:
            raise self.refusal(recipe.name, "a shebang", "#!")
        if len(recipe.dependencies) > recipe.priors:
            raise self.refusal(recipe.name, "dependencies after `&&`")
        for one in recipe.parameters:
            if one.kind != "singular" or one.multiple:
                raise self.refusal(recipe.name, f"the variadic parameter `{one.name}`")
            if one.flag or one.value is not None or one.pattern:
                raise self.refusal(recipe.name, f"the parameter `{one.name}` with a pattern or a fixed value")

    def shell(self) -> Shell:
        """Return the shell that runs the lines; refuse others than sh and bash."""
        given = self.dump.settings.get("shell") or {"command": "sh", "arguments": ["-cu"]}
        words = [word for word in (given["command"], *given["arguments"]) if word != "/usr/bin/env"]
        found = _SHELL.fullmatch(" ".join(words))
        flags = "".join(sorted(set("".join(words[1:]).replace("pipefail", "")) - set("-co"))) if found else ""
        if not found or ("pipefail" in words and found["tag"] == "sh"):
            raise RefusedError(f"the shell `{' '.join(words)}`", self.line(r"set\s+shell\b"))
        pipefail = ["-o pipefail"] if "pipefail" in words else []
        options = " ".join(["set", *([f"-{flags}"] if flags else []), *pipefail])
        is_strict = options == "set -eu -o pipefail"
        return Shell(found["tag"], "" if is_strict or options == "set" else options, is_strict)


_SHELL = Regex(r"(?:\S*/)?(?P<tag>sh|bash)(?: -[euxv]+| -[euxv]*o pipefail)* -[euxv]*c[euxv]*")
