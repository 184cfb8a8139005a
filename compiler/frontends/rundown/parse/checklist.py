"""The items of task lists in a step's text."""

from collections.abc import Iterable, Iterator

from compiler.text.regex import Regex

TASK = Regex(r"\s*(?:[-*+]|\d{1,9}[.)])\s+\[[ xX]\]\s")
"""Matches an item of a task list."""

_ITEM = Regex(r"\s*(?:[-*+]|\d{1,9}[.)])\s")

_FENCES = ("```", "~~~")


def task_items(lines: Iterable[str]) -> Iterator[str]:
    """Yield the items of a task list in order, each as one line; nested items follow theirs."""
    words, is_code = list[str](), False
    for line in (*lines, ""):
        is_fence = line.lstrip().startswith(_FENCES)
        if is_fence or is_code or not line.strip() or _ITEM.match(line):
            if text := " ".join(filter(None, words)):
                yield text
            words = []
        is_code ^= is_fence
        if is_code or is_fence:
            continue
        if mark := TASK.match(line):
            words = [line[mark.end() :].strip()]
        elif words:
            words.append(line.strip())
