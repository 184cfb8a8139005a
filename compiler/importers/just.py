"""Import a recipe of a justfile from its dump, so that nothing of the justfile runs.

The commands of a recipe and its dependencies become steps, in the order of `just`. An import runs the
same commands as `just`, or it is refused.
"""

import re
import shlex
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from msgspec.structs import replace

from compiler.importers.draft import Draft, Item, one_line
from compiler.importers.just_dump import Justfile, Parameter, Recipe, RefusedError, read_dump
from compiler.importers.pasting import Piece, UnwritableError, Value, double_quoted, paste
from compiler.ir.program import Input
from compiler.ir.texts import is_identifier, is_reserved, is_unsettable
from compiler.text.regex import Regex

MOST_RECIPES, LONGEST = 300, 100_000

_ENVIRONMENT = frozenset({"env", "env_var", "env_var_or_default"})
_FOLDER = Value("justfile_directory", "justfile_directory", is_word=True)
_WORD, _WORDS = Regex(r"[\w./:@%+=,-]+"), Regex(r"[\w./:@%+=, -]*")
"""Values that a shell reads as one word, or as words, so pasted text and a variable are the same."""

_NAME, _NAMES = Regex(r"[\w./:@%,][\w./:@%+,-]*"), Regex(r"(?:[\w./:@%, ][\w./:@%+, -]*)?")
"""The same in the name of a command."""

_SIGILS = Regex(r"@-|-@|@|-")
_UNSAFE = Regex(r"[^\w.,:;?!()/@%+=' -]")
_SPOKEN = Regex(r"[\w./@:=-]*[A-Za-z][\w./@:=-]*")
_CONTROL = Regex("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029]")

Pieces = tuple[Piece, ...]


class _PartError(Exception):
    """A part of an expression that isn't imported: its name, and a text that its line has."""

    def __init__(self, words: str, needle: str = "") -> None:
        super().__init__(words)
        self.words, self.needle = words, needle


def recipe_names(dump: bytes) -> list[str]:
    """Return the names of the recipes that `just --list` shows; raise `RefusedError`."""
    every = read_dump(dump).recipes.values()
    return [one.name for one in every if not one.name.startswith("_") and "private" not in one.attribute_names]


def import_recipe(dump: bytes, source: str, name: str) -> Draft:
    """Return the draft for a recipe, from the dump of its justfile and the text; raise `RefusedError`."""
    try:
        return _Importer(Justfile(read_dump(dump), source)).draft(name)
    except RecursionError as error:
        raise RefusedError("expressions that are too deep") from error


class _Importer:
    def __init__(self, justfile: Justfile) -> None:
        self.justfile, self.dump = justfile, justfile.dump
        self.inputs: dict[str, Input] = {}
        self.heads: set[str] = set()
        self.assigned: dict[str, Pieces] = {}
        self.ran: dict[str, list[tuple[Pieces, ...]]] = {}
        self.steps: list[Item] = []

    def draft(self, name: str) -> Draft:
        target = self.dump.aliases[name].target if name in self.dump.aliases else name
        recipe = self.dump.recipes.get(target)
        if recipe is None:
            raise RefusedError(f"no recipe `{one_line(name)}`")
        self.justfile.check_settings()
        self.shell = self.justfile.shell()
        exports = [key for key, one in self.dump.assignments.items() if one.export or self.dump.settings.get("export")]
        self.exports = {key: self._assigned(key) for key in exports}
        self.justfile.check(recipe)
        self._run(recipe, tuple(self._input(recipe, one) for one in recipe.parameters))
        if not any(step.code or step.items for step in self.steps):
            raise self.justfile.refusal(recipe.name, "no command")
        return Draft(
            title=_plain(recipe.doc or "") or recipe.name,
            parts=tuple(self.steps),
            text="Start the run in the folder of the justfile.",
            inputs=tuple(self._for_command(one, recipe.name) for one in self.inputs.values()),
            recipe=recipe.name,
            shell="strict" if self.shell.is_strict else "plain",
        )

    # --- Values ---------------------------------------------------------------------------------------------------

    def _value(self, expression: object, scope: Mapping[str, Pieces]) -> Pieces:
        """Return the value of an expression, with its strings joined; raise `_PartError`."""
        match expression:
            case str():
                return (expression,)
            case ["variable", str(name)] if name in scope or name in self.dump.assignments:
                return scope[name] if name in scope else self._assigned(name)
            case ["concatenate" | "format", *parts]:
                return _joined(self._value(part, scope) for part in parts)
            case ["join", left, right]:
                return _joined(self._value(part, scope) for part in ("" if left is None else left, "/", right))
            case ["if", ["==" | "!=" as operator, left, right], then, otherwise]:
                one, other = _constant(self._value(left, scope)), _constant(self._value(right, scope))
                if one is None or other is None:
                    raise _PartError("a condition on a value of the run", "if ")
                return self._value(then if (one == other) is (operator == "==") else otherwise, scope)
            case ["call", str(function), *arguments]:
                return (self._call(function, arguments, scope),)
        raise _named(expression)

    def _call(self, function: str, arguments: list[object], scope: Mapping[str, Pieces]) -> Value:
        match arguments:
            case [] if function == _FOLDER.name:
                return _FOLDER
            case [str(name), *default] if function in _ENVIRONMENT and is_identifier(name):
                return self._variable(name, default, scope)
        raise _PartError(f"the function `{function}`", f"{function}(")

    def _variable(self, name: str, default: list[object], scope: Mapping[str, Pieces]) -> Value:
        if not default:
            return Value(name, f"{name}?", is_word=False)
        text = _constant(self._value(default[0], scope))
        if text is None or not _WORDS.fullmatch(text):
            raise _PartError(f"the default of the environment variable `{name}`", name)
        return Value(name, f"{name}-{text}", is_word=False)

    def _assigned(self, name: str) -> Pieces:
        if name not in self.assigned:
            try:
                self.assigned[name] = self._value(self.dump.assignments[name].value, {})
            except _PartError as error:
                found = self.justfile.line(rf"(?:export\s+)?{name}\s*:=")
                raise RefusedError(f"variable `{name}`: {error.words}", found) from error
        return self.assigned[name]

    def _input(self, recipe: Recipe, parameter: Parameter) -> Pieces:
        """Return the variable for a parameter, which becomes an input."""
        try:
            value = () if parameter.default is None else self._value(parameter.default, {})
        except _PartError as error:
            raise self.justfile.refusal(recipe.name, f"the default of `{parameter.name}`: {error.words}") from error
        default = None if parameter.default is None else _constant(value)
        is_word = parameter.default is None or (default is not None and bool(_WORD.fullmatch(default)))
        if not is_word and (default is None or not _WORDS.fullmatch(default)):
            raise self.justfile.refusal(recipe.name, f"the default of `{parameter.name}`, which a shell would read")
        name = parameter.name.replace("-", "_")
        is_seen = self._is_exported(parameter) and not recipe.dependencies
        is_read = re.search(rf"\$\{{?{name}\b|env\w*\(\s*['\"]{name}['\"]", self.justfile.source)
        if is_reserved(name) or (is_read and not is_seen):
            name = f"{name}_VALUE"
        if name in self.inputs or name == _FOLDER.name or not is_identifier(name):
            raise self.justfile.refusal(recipe.name, f"the name of the parameter `{parameter.name}`")
        pattern = (_WORD if is_word else _WORDS).pattern
        self.inputs[name] = Input(name, description=one_line(parameter.help or ""), default=default, pattern=pattern)
        return (Value(name, name, is_word),)

    def _is_exported(self, parameter: Parameter) -> bool:
        return parameter.export or bool(self.dump.settings.get("export"))

    def _for_command(self, given: Input, recipe: str) -> Input:
        """Return an input that, if it is in the name of a command, has no `=` and doesn't start with `-` or `+`."""
        if given.name not in self.heads:
            return given
        pattern = _NAME if given.pattern == _WORD.pattern else _NAMES
        if given.default is not None and not pattern.fullmatch(given.default):
            raise self.justfile.refusal(recipe, f"the default of `{given.name}`, which a shell would read")
        return replace(given, pattern=pattern.pattern)

    # --- Recipes in order -----------------------------------------------------------------------------------------

    def _run(self, recipe: Recipe, values: tuple[Pieces, ...]) -> None:
        """Add the steps of a recipe, as `just` runs it: the question, each dependency once, the lines."""
        runs = self.ran.setdefault(recipe.name, [])
        if values in runs:
            return
        if runs and any(_constant(value) is None for run in (*runs, values) for value in run):
            raise self.justfile.refusal(recipe.name, "runs with arguments that may be the same")
        runs.append(values)
        if sum(map(len, self.ran.values())) > MOST_RECIPES:
            raise self.justfile.refusal(recipe.name, f"more than {MOST_RECIPES} dependencies")
        scope = {one.name: value for one, value in zip(recipe.parameters, values, strict=True)}
        try:
            self._confirm(recipe, scope)
            for dependency in recipe.dependencies:
                self._depend(dependency.recipe, [self._value(one, scope) for one in dependency.arguments], recipe)
            lines = self._lines(recipe, scope)
        except _PartError as error:
            raise self.justfile.refusal(recipe.name, error.words, error.needle) from error
        title = _plain(recipe.doc or "") or " ".join([recipe.name, *map(_shown, values)]).strip()
        if len(lines) == 1:
            self.steps.append(replace(lines[0], title=title))
        elif lines:
            self.steps.append(Item(title, items=tuple(lines)))

    def _confirm(self, recipe: Recipe, scope: Mapping[str, Pieces]) -> None:
        for attribute in recipe.attributes:
            if attribute == "confirm" or (isinstance(attribute, dict) and "confirm" in attribute):
                words = None if isinstance(attribute, str) else attribute["confirm"]
                asked = "" if words is None else _shown(self._value(words, scope))
                title = asked or f"Run recipe {recipe.name}?"
                self.steps.append(Item(title if title.endswith("?") else f"{title} Continue?", replies="stop"))

    def _depend(self, name: str, given: list[Pieces], parent: Recipe) -> None:
        recipe = self.dump.recipes.get(name)
        if recipe is None or len(given) > len(recipe.parameters):
            raise self.justfile.refusal(parent.name, f"the dependency `{one_line(name)}` in a module")
        self.justfile.check(recipe)
        scope: dict[str, Pieces] = {}
        for place, one in enumerate(recipe.parameters):
            scope[one.name] = given[place] if place < len(given) else self._value(one.default, scope)
        self._run(recipe, tuple(scope.values()))

    # --- Lines ----------------------------------------------------------------------------------------------------

    def _lines(self, recipe: Recipe, scope: Mapping[str, Pieces]) -> list[Item]:
        """Return a substep for each command; a comment goes into the block of the next command, or the last."""
        found: list[Item] = []
        comments: list[str] = []
        start = [line for line in (self.shell.options, *self._exported(recipe, scope)) if line]
        for pieces in self._joined_lines(recipe, scope):
            text = self._pasted(pieces)
            if text.lstrip().startswith("#") and "\n" not in text:
                comments.append(text.strip())
            elif text.strip():
                head = [f"{_FOLDER.name}=$PWD"] if any(_FOLDER.shown in line for line in (*start, text)) else []
                code = "\n".join((*head, *start, *comments, text))
                found.append(Item(_title(text, recipe.name), code=code, tag=self.shell.tag))
                comments = []
        if comments and found:
            found[-1] = replace(found[-1], code="\n".join((found[-1].code, *comments)))
        return found

    def _pasted(self, pieces: list[Piece]) -> str:
        try:
            pasted = paste(pieces)
        except UnwritableError as error:
            raise _PartError(f"the value `{error}` beside syntax of the shell", "{{") from error
        if _CONTROL.search(pasted.text) or len(pasted.text) > LONGEST:
            raise _PartError("a control character, or a line that is too long")
        self._check_reads(pieces)
        self.heads |= pasted.heads
        return pasted.text

    def _joined_lines(self, recipe: Recipe, scope: Mapping[str, Pieces]) -> Iterator[list[Piece]]:
        """Yield the lines for the shell without `@`; a line that ends with a backslash continues."""
        body = iter(recipe.body)
        for line in body:
            first = line[0] if line and isinstance(line[0], str) else ""
            sigils = _SIGILS.match(first)
            if sigils and "-" in sigils[0]:
                raise _PartError("a line with `-`, whose failure counts for nothing", first)
            pieces = self._pieces(line, scope)
            if self.dump.settings.get("ignore_comments") and first.startswith("#"):
                continue
            while line and isinstance(line[-1], str) and line[-1].endswith("\\"):
                pieces[-1] = str(pieces[-1])[:-1]
                line = next(body, [])  # noqa: PLW2901 (the line continues)
                following = self._pieces(line, scope)
                if following and isinstance(following[0], str) and isinstance(line[0], str):
                    following[0] = following[0].lstrip()
                pieces = list(_joined((pieces, following)))
            if sigils:
                pieces[0] = str(pieces[0])[len(sigils[0]) :]
            yield pieces

    def _pieces(self, line: list[Any], scope: Mapping[str, Pieces]) -> list[Piece]:
        parts = ((one.replace("{{{{", "{{"),) if isinstance(one, str) else self._value(one[0], scope) for one in line)
        return list(_joined(parts))

    def _exported(self, recipe: Recipe, scope: Mapping[str, Pieces]) -> Iterator[str]:
        """Yield the lines that export variables; an input is exported already."""
        given = {one.name: scope[one.name] for one in recipe.parameters if self._is_exported(one)}
        for name, value in {**self.exports, **given}.items():
            self._check_reads(value, name)
            text = _constant(value)
            if not is_identifier(name) or (is_unsettable(name) and name not in {"PATH", "HOME"}):
                raise _PartError(f"the exported variable `{name}`", name)
            if value != (Value(name, name, is_word=True),) and value != (Value(name, name, is_word=False),):
                yield f"export {name}={double_quoted(value) if text is None else shlex.quote(text)}"

    def _check_reads(self, pieces: Iterable[Piece], name: str = "") -> None:
        """Refuse `env` of a variable that the justfile exports; it would read the new value."""
        for piece in pieces:
            if isinstance(piece, Value) and piece.shown != piece.name and piece.name in self.exports.keys() - {name}:
                raise _PartError(f"the environment variable `{piece.name}`, which the justfile exports")


def _named(expression: object) -> _PartError:
    match expression:
        case ["evaluate", *_]:
            return _PartError("a command in backticks", "`")
        case ["variable", str(name)]:
            return _PartError(f"the variable `{name}`", name)
        case [str(kind), *_]:
            return _PartError(f"the expression `{kind}`")
    return _PartError("an expression")


def _joined(parts: Iterable[Iterable[Piece]]) -> Pieces:
    """Return pieces in a row, with one string where strings meet."""
    found: list[Piece] = []
    for piece in (piece for part in parts for piece in part):
        if isinstance(piece, str) and found and isinstance(found[-1], str):
            found[-1] += piece
        else:
            found.append(piece)
        if len(found) > LONGEST or len(str(found[-1])) > LONGEST:
            raise _PartError("a value that is too long")
    return tuple(found) or ("",)


def _constant(pieces: Pieces) -> str | None:
    return "".join(map(str, pieces)) if all(isinstance(piece, str) for piece in pieces) else None


def _plain(text: str) -> str:
    """Return text without characters of Markdown or of a heading."""
    return one_line(_UNSAFE.sub(" ", text))


def _shown(pieces: Pieces) -> str:
    return "".join(_plain(piece) if isinstance(piece, str) else f"{{{{{piece.name}}}}}" for piece in pieces)


def _title(text: str, recipe: str) -> str:
    """Return a title for a command: its first words, as long as they are words."""
    words = []
    for word in text.split()[:4]:
        if not _SPOKEN.fullmatch(word):
            break
        words.append(word)
    return f"Run {' '.join(words)}" if words else f"Run a command of {recipe}"
