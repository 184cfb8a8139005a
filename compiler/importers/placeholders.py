"""Find the values that a page leaves open, and write them as variables in commands and as references in text."""

import re
from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

from compiler.frontends.rundown.check.blocks import PLACEHOLDER, shell_text
from compiler.frontends.rundown.check.shell import read_commands
from compiler.ir.texts import is_identifier, reserved_because
from compiler.text.regex import Regex

EMPTY = Regex(r"<\s*(?:none|nil|null|unset|unknown|pending)\s*>", re.IGNORECASE)  # as programs print no value
_YOUR = Regex(r"\bYOUR_[A-Z][A-Z0-9_]*\b")
_CAPITALS = Regex(r"(?<![\w<$./-])[A-Z]{2,}(?:-[A-Z]{2,})+(?![\w>-])")
_COMMENT = Regex(r"(?<!\S)#[^\n]*")
_HERE = Regex(r"<<-?[ \t]*(?P<quote>['\"\\]?)(?P<end>\w+)")
_READ = Regex(r"\$(?:\{(?P<braced>[A-Za-z_]\w*)\}|(?P<name>[A-Za-z_]\w*))")
_SHELL_SETS_WORDS = """
COLUMNS DISPLAY EDITOR EUID GOPATH GOROOT GROUPS HOME HOSTNAME HOSTTYPE IFS JAVA_HOME KUBECONFIG LANG LINENO LINES
LOGNAME MACHTYPE NODE_OPTIONS OLDPWD OPTARG OPTIND OSTYPE PAGER PATH PPID PWD PYTHONPATH RANDOM REPLY SECONDS SHELL
SHLVL TERM TMPDIR UID USER VIRTUAL_ENV XDG_CONFIG_HOME XDG_DATA_HOME XDG_RUNTIME_DIR
"""
_SHELL_SETS = frozenset(_SHELL_SETS_WORDS.split())  # variables that the shell or a login sets


_LITERAL = Regex(
    r"\bs(?P<mark>[/|#,])(?P<token><[^<>\n]+>|YOUR_\w+)(?P=mark)"
    r"|--(?:\w+-)?name[= ](?P<name>[A-Z]{2,}(?:-[A-Z]{2,})+)(?![\w>-])"
)
"""Matches a word that a command looks for in a file, or that may be the name of a thing."""
_SECRET = Regex(r"(?:.*_)?(?:PASSWORD|PASSWD|PASSPHRASE|(?:PRIVATE|API|ACCESS|SECRET)_?KEY|SECRET|TOKEN|PAT)")


_OPEN = Regex(
    r"(?<!<)<\w[^<>\n]*>|(?<![$@}])\{[A-Za-z][\w -]*\}|(?<=\s)\[[^\s\]]+\](?=\s|$)|://[A-Z][A-Z0-9_]+\b|=\.{3}(?=\s|$)"
)
"""Matches a placeholder that no input replaces, such as `{name}`, `[name]`, or `<org:team>` between two words."""
_OPEN_IN_STRING = Regex(
    r"\[[A-Za-z][\w'/-]*(?: [\w'/-]+)+\]|(?<![$%{])\{(?!print|next|exit)[A-Za-z][\w.]*(?:[ -][\w.:,—–-]+)+\}"
    r"|(?<=[\w/\"=.:-])\{(?!print|next|exit)[A-Za-z]\w*\}(?=[\w/\"?&\s.:-]|$)|\b(?i:your)(?:[-.]\w|_(?-i:[a-z]))"
    r"|\b[Yy]our[A-Z]|\bv?X\.?Y\.?Z\b|(?<![A-Za-z_/])v?[xX]\.[yY](?:\.[zZ\d])?\b|\bYYYY\b|\byour(?:domain|host)\b"
    r"|\buser:(?:pw|pass(?:word)?)@|=[\"']<[^<>\"'\n]+>[\"']|\S[ \t]+#[ \t]*(?i:adjust|change|edit|replace)\b"
    r"|(?<![./-])\b(?:x{3,}|X{3,})\b|\.{3}\]|(?<=\w)/\.{3}[\"']|(?<=[\"'])\.{3}|\*{4}|/[A-Z_]{3,}[?]"
    r"|\"(?:\w+_)?(?P<key>[a-z]+)\": ?\"(?=[A-Z_]+\")(?i:(?P=key))|(?<![$\w{])TARGET_[A-Z]+\b(?!=)"
    r"|--(?:[a-z]+-)*(?P<word>[a-z]+)(?:-[a-z]+)*[= ](?:[A-Z]+_)?(?=[A-Z]+\b)(?i:(?P=word))\b"
)
_SAMPLE = Regex(
    r"path[-/_]to[-/_]|(?<![\w./-])/path/|/c/Users/|\bexample\.(?:com|org|net)\b|(?<![\w.-])foo(?:bar)?(?![\w.-])"
    r"|(?<!ersion=)(?<!ersion: )(?<!ersion )(?<!\d)20\d\d-\d\d-\d\d|\bVERSION=[\"']?v?\d|\b(?:Closes|Fixes) #\d"
    r"|\b(?:bump|checkout|deploy|push|release|restore|roll-?back|switch|tag|upgrade)\b[^\n;|&]{0,200}?"
    r"(?<=[\s\"'=:/-])(?:v?\d+\.\d+\.\d+|v\d+\.\d+)(?!\.?\d)|\bgit (?:checkout -b|switch -c) [^\s$<{]*\d"
    r"|(?<![\w./-])(?:data|document|file|input|output|sample|template)\.[a-z]{3,4}\b"
    r"|(?<![\w./-])(?:(?i:my-?(?:app|project|service))|some-[a-z]+)\b|\b[A-Z]+_[XYZ]=|_OLD\b|\b[A-Z]\w*[a-z]Name\b"
    r"|-[0-9a-f]{8,10}-[a-z0-9]{5}\b|(?<=\s)(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{12,64}(?=\s|$)"
)
"""Matches a path, an address, a version, a date, a pod or an identifier that only an example has."""


class Found(Struct, frozen=True):
    """The placeholders of a block: the names by the text that the page has, such as `POD_NAME` by `<pod-name>`.

    `kept` are placeholders and variables that no input replaces: secrets, and words that may be meant as written.
    """

    names: Mapping[str, str]
    reads: tuple[str, ...]
    sets: tuple[str, ...]
    kept: tuple[str, ...] = ()


def name_of(written: str) -> str:
    """Return the variable for a placeholder, or "" if it has no letters that a name can have."""
    name = "" if EMPTY.fullmatch(written) else re.sub(r"[^A-Za-z0-9]+", "_", written.strip("<>")).strip("_").upper()
    name = f"VALUE_{name}" if name[:1].isdigit() else name
    name = f"{name}_VALUE" if name and reserved_because(name) else name
    return name if is_identifier(name) and not reserved_because(name) else ""


def why_open(code: str) -> str:
    """Return why a command has a part that no input replaces, or ""."""
    if _SAMPLE.search(shell_text(code)):
        return "it has a path, a version, a date or another literal of an example"
    plain = PLACEHOLDER.sub("X", code)
    outer = shell_text(plain, all_words=True)
    if EMPTY.search(shell_text(code, all_words=True)) or _OPEN.search(outer) or _OPEN_IN_STRING.search(plain):
        return "it has a placeholder that no input replaces"
    return ""


def find(code: str, words: Iterable[str]) -> Found:
    """Return the placeholders of a block; `words` are bare words that are placeholders too."""
    plain = _COMMENT.sub("", code)
    written = dict.fromkeys([found[0] for found in PLACEHOLDER.finditer(plain)])
    written |= dict.fromkeys(_YOUR.findall(plain) + _CAPITALS.findall(shell_text(code, all_words=True)))
    written |= {word: None for word in words if re.search(_alone(word), plain)}
    block = read_commands(PLACEHOLDER.sub("X", code))
    reads = dict.fromkeys(name for name, _ in block.reads if name not in _SHELL_SETS and not reserved_because(name))
    sets = dict.fromkeys(name for one in block.commands if not one.inside for name in assigned(one.words))
    inner = dict.fromkeys(name for one in block.commands for name in assigned(one.words))
    names = {one: name for one in written if (name := name_of(one))}
    read = [name for name in reads if name not in inner]
    literal = {found["token"] or found["name"] for found in _LITERAL.finditer(plain)}
    kept = [one for one, name in (*names.items(), *zip(read, read, strict=True)) if _SECRET.fullmatch(name)]
    kept += [one for one in names if one in literal]
    used = {one: name for one, name in names.items() if one not in kept}
    return Found(used, tuple(name for name in read if name not in kept), tuple(sets), tuple(kept))


_ASSIGNMENT = Regex(r"([A-Za-z_]\w*)\+?=")
_DECLARES = frozenset({"export", "declare", "readonly", "local", "typeset"})


def assigned(words: Sequence[str]) -> list[str]:
    """Return the variables that a simple command sets for those below it."""
    if words and words[0] in _DECLARES | {"read"}:
        found = [match[1] for word in words[1:] if (match := _ASSIGNMENT.match(word))]
        return found or ([word for word in words[1:] if is_identifier(word)] if words[0] == "read" else [])
    if words and words[0] in {"for", "select"}:
        return list(words[1:2])
    matches = [_ASSIGNMENT.match(word) for word in words]
    return [match[1] for match in matches if match] if all(matches) else []


def only_sets(code: str) -> bool:
    """Return whether a block has only assignments."""
    outer = [one for one in read_commands(PLACEHOLDER.sub("X", code)).commands if "$(" not in one.inside]
    return bool(outer) and all(assigned(one.words) and one.words[0] != "read" for one in outer)


def in_text(text: str, names: Mapping[str, str]) -> str:
    """Return Markdown or a shown block where placeholders are references such as `{{POD_NAME}}`."""
    for written, name in sorted(names.items(), key=lambda item: -len(item[0])):
        if written.startswith("<"):
            text = text.replace(written, f"{{{{{name}}}}}")
        else:
            text = re.sub(rf"(?<![\w$<{{-]){re.escape(written)}(?![\w>}}-])", f"{{{{{name}}}}}", text)
    return text


def reads_in_text(text: str, inputs: Iterable[str]) -> str:
    """Return a shown block where `$NAME` of an input is a reference."""
    known = frozenset(inputs)

    def shown(match: re.Match[str]) -> str:
        name = match["braced"] or match["name"]
        return f"{{{{{name}}}}}" if name in known else match[0]

    return _READ.sub(shown, text)


def in_command(code: str, names: Mapping[str, str]) -> str | None:
    """Return a command that reads variables instead of placeholders; None if quotes don't allow it."""
    if not names:
        return code
    writer = _Writer(code, names, re.compile("|".join(map(_alone, sorted(names, key=len, reverse=True)))))
    return writer.text() if writer.write() else None


def _alone(written: str) -> str:
    return re.escape(written) if written.startswith("<") else rf"(?<![\w$<{{-]){re.escape(written)}(?![\w>}}-])"


class _Writer:
    """Writes variables into a command; `quotes` are the open constructs, from the outside in."""

    def __init__(self, code: str, names: Mapping[str, str], pattern: re.Pattern[str]) -> None:
        self.code, self.names, self.pattern = code, names, pattern
        self.place = 0
        self.parts: list[str] = []
        self.quotes: list[str] = []
        self.bodies: list[tuple[str, bool]] = []

    def text(self) -> str:
        """Return the command."""
        return "".join(self.parts)

    def write(self) -> bool:
        """Write the whole command; return whether its quotes are closed and allow each variable."""
        while self.place < len(self.code):
            if (found := self.pattern.match(self.code, self.place)) is not None:
                self._variable(found)
            elif self.code[self.place] == "\n" and self.bodies and not self.quotes:
                if not self._body():
                    return False
            else:
                self._character()
        return self.quotes in ([], ["#"]) and not self.bodies

    def _variable(self, found: re.Match[str]) -> None:
        name, quote = self.names[found[0]], self.quotes[-1] if self.quotes else ""
        written = {"'": f"'\"${name}\"'", '"': f"${{{name}}}", "#": found[0]}.get(quote, f'"${name}"')
        self._take(len(found[0]), written)

    def _take(self, length: int, written: str | None = None) -> None:
        self.parts.append(self.code[self.place : self.place + length] if written is None else written)
        self.place += length

    def _character(self) -> None:
        """Write one character, or two that belong together."""
        now, quote = self.code[self.place], self.quotes[-1] if self.quotes else ""
        if quote in {"#", "'"}:
            if now == {"#": "\n", "'": "'"}[quote]:
                self.quotes.pop()
            if quote == "'" or now != "\n":  # the line break after a comment may start a here-document
                self._take(1)
        elif now == "\\":
            self._take(2)
        elif now == quote or (now == ")" and quote == "("):
            self.quotes.pop()
            self._take(1)
        else:
            self._open(now, quote)

    def _open(self, now: str, quote: str) -> None:
        body = _HERE.match(self.code, self.place) if now == "<" and quote != '"' else None
        if self.code.startswith("$(", self.place):
            self.quotes.append("(")
            return self._take(2)
        if now in {"`", '"'} or (now == "'" and quote != '"') or (now == "(" and quote == "("):
            self.quotes.append(now)
        elif now == "#" and quote != '"' and (not self.place or self.code[self.place - 1].isspace()):
            self.quotes.append("#")
        elif body and self.code[self.place - 1 : self.place] != "<":
            self.bodies.append((body["end"], bool(body["quote"])))
            return self._take(len(body[0]))
        return self._take(1)

    def _body(self) -> bool:
        """Write a here-document; return whether it has no placeholder that its quotes keep as written."""
        end, is_quoted = self.bodies.pop(0)
        found = re.compile(rf"\n(?:[^\n]*\n)*?\t*{re.escape(end)}(?=\n|\Z)").match(self.code, self.place)
        if found is None or (is_quoted and self.pattern.search(found[0])):
            return False
        self._take(len(found[0]), self.pattern.sub(lambda one: f"${{{self.names[one[0]]}}}", found[0]))
        return True
