"""Match paths with patterns, as `[[build]]` and `[[rule]]` have them."""

import re
from collections.abc import Iterator, Sequence

LONGEST_PATTERN = 200  # in characters

_STAR = "\0"


def matcher(pattern: str) -> re.Pattern[str]:
    """Return the expression for a pattern: `*` and `?` match within a name, `**` matches any folders."""
    return re.compile("".join(_parts(pattern)))


def _parts(pattern: str) -> Iterator[str]:
    """Yield the parts of an expression. Only its last `**` and the last star of a name can backtrack."""
    *folders, last = pattern.split("/")
    groups: list[list[str]] = [[]]
    for part in folders:
        if part != "**":
            groups[-1].append(f"{_name(part)}/")
        elif groups[-1] or len(groups) == 1:
            groups.append([])  # two after each other mean the same, but slow
    first, *others = ("".join(group) for group in groups)
    yield first
    yield from (f"(?>(?:[^/]+/)*?{group})" for group in others[:-1])
    yield from (f"(?:[^/]+/)*{group}" for group in others[-1:])
    yield ".*" if last == "**" else _name(last)


def _name(part: str) -> str:
    """Return the expression for a name. The text after a star matches at its first place, except at the end."""
    found = re.split(r"(\*+|\?|\[!?\]?[^\]]*\])", part)
    pieces = [_wild(word) if number % 2 else re.escape(word) for number, word in enumerate(found)]
    first, *others = "".join(pieces).split(_STAR)
    inner = "".join(f"(?>[^/]*?{piece})" for piece in others[:-1])
    return "".join([first, inner, *(f"[^/]*{piece}" for piece in others[-1:])])


def _wild(word: str) -> str:
    if word[0] != "[":
        return _STAR if word[0] == "*" else "[^/]"
    inner = word[1:-1].replace("\\", "\\\\").replace("[", "\\[")
    return f"(?!/)[^{inner[1:]}]" if inner[:1] == "!" else f"(?!/)[{inner}]"


def is_pattern(value: object) -> bool:
    """Return whether a value is a pattern of paths from a project's root, perhaps with `!`."""
    plain = value.removeprefix("!") if isinstance(value, str) else ""
    is_path = not plain.startswith("/") and ".." not in plain.split("/") and "\\" not in plain
    if not (0 < len(plain) <= LONGEST_PATTERN and plain.isprintable() and is_path):
        return False
    try:
        return bool(matcher(plain))
    except re.error:  # for example `[z-a]`
        return False


def is_matched(path: str, patterns: Sequence[str]) -> bool:
    """Return whether patterns match a path; the last one that matches decides, and one with `!` excludes."""
    for pattern in reversed(patterns):
        if matcher(pattern.removeprefix("!")).fullmatch(path):
            return not pattern.startswith("!")
    return False
