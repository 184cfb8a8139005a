"""Give a draft its inputs and outputs: placeholders become variables, and late values are asked for."""

from collections.abc import Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from compiler.frontends.rundown.check.shell import read_commands
from compiler.importers import placeholders
from compiler.importers.commands import is_known
from compiler.importers.draft import Item, Mark
from compiler.importers.placeholders import Found
from compiler.ir.program import Input
from compiler.text.regex import Regex

MOST = 100  # the most inputs and outputs of a runbook
_MOST_ASKED = 2  # the most questions for one value

_REFERENCE = Regex(r"\{\{([A-Za-z_]\w*)\}\}")
_OWNER = Regex(r"^(?:my|your|the|some)_")
_MOVES = Regex(r"(?m)^[ \t]*(?:cd|pushd)[ \t]+\S")
_ANOTHER = Regex(r"(?i)\b(?:to|into|on) (?:another|(?:the|a) (?:other|new|second|target|destination))\b")
_KEEPS = Regex(r"(?m)^[ \t]*(?:source|\.|alias|export|conda activate|nvm use)[ \t]+\S")


class Values(Struct, frozen=True):
    """The steps of a draft with variables, its inputs, its outputs, and the names by the words of the page."""

    steps: tuple[tuple[Item, ...], ...]
    inputs: tuple[Input, ...]
    outputs: tuple[str, ...]
    names: Mapping[str, str]


def find_values(steps: Sequence[Sequence[Item]], words: Sequence[str], *, asks: bool = True) -> Values:
    """Return the steps, each with its items, with variables for placeholders; with `asks` false, only show such blocks.

    `words` are placeholders that look like ordinary words.
    """
    flat = [(number, item) for number, items in enumerate(steps) for item in items]
    found = [placeholders.find(item.code, words) if item.is_command else Found({}, (), ()) for _, item in flat]
    flat = [(number, _if_known(item, one)) for (number, item), one in zip(flat, found, strict=True)]
    set_by = _set_by(flat, found)
    if not asks:
        shown = [(number, _only_shown(item, one, set_by)) for (number, item), one in zip(flat, found, strict=True)]
        return Values(_grouped(shown, len(steps)), (), (), {})
    names = {written: name for one in found for written, name in one.names.items()}
    most = frozenset(list(dict.fromkeys(names.values()))[:MOST])
    names = {written: name for written, name in names.items() if name in most}
    every = [(place, name) for place, one in enumerate(found) for name in one.reads]
    handed = dict.fromkeys((place, name) for place, name in every if set_by.get(name, place) < place)
    reads = (name for place, name in every if (place, name) not in handed)
    inputs = list(dict.fromkeys([*names.values(), *reads]))[:MOST]
    outputs = tuple(dict.fromkeys(name for _, name in handed if name not in inputs))[:MOST]
    pairs = zip(flat, found, strict=True)
    written = [(number, _written(item, names, inputs, outputs, one)) for (number, item), one in pairs]
    return _with_questions(_with_marks(written, inputs), inputs, outputs, names, len(steps))


def _set_by(flat: Sequence[tuple[int, Item]], found: Sequence[Found]) -> dict[str, int]:
    """Return the first command that sets each variable."""
    set_by: dict[str, int] = {}
    for place, ((_, item), one) in enumerate(zip(flat, found, strict=True)):
        for name in one.sets if item.runs else ():
            set_by.setdefault(name, place)
    return set_by


def _if_known(item: Item, found: Found) -> Item:
    """Return an item whose command is only shown if rdc doesn't know it, or doesn't know what a word of it is."""
    if item.runs and not is_known(item.code):
        return item.shown("rdc doesn't know whether the command changes something, or ends by itself")
    word = next(iter(found.kept), "") if item.runs else ""
    return item.shown(f"{word} stays as written: it may be a secret or a literal") if word else item


def _only_shown(item: Item, found: Found, set_by: Mapping[str, int]) -> Item:
    is_open = bool(found.names) or any(name not in set_by for name in found.reads)
    return item.shown("the command has a placeholder") if item.runs and is_open else item


def _written(item: Item, names: Mapping[str, str], inputs: Sequence[str], outputs: Sequence[str], found: Found) -> Item:
    sets = [name for name in found.sets if name in outputs]
    known = {written: name for written, name in found.names.items() if written in names}
    code = placeholders.in_command(item.code, known) if item.runs else None
    if code is not None and sets and "<<" not in code.rstrip("\n").rpartition("\n")[2]:
        lines = "".join(f'echo "{name}=${name}" >> "$RDC_OUTPUT"\n' for name in sets)
        code = f"{code.rstrip(chr(10))}\n{lines}"
    if item.code and code is None:
        read = [name for name in inputs if name not in found.sets]
        code = placeholders.reads_in_text(placeholders.in_text(item.code, names), read)
    title, text = (placeholders.in_text(one, names) for one in (item.title, item.text))
    made = replace(item, title=title, text=text, code=code or "")
    if item.runs and code is not None and placeholders.in_command(item.code, known) is None:
        made = made.shown("a placeholder is in a quoted here-document")
    is_unread = item.runs and not sets and placeholders.only_sets(item.code)
    return made.shown("no later command reads its variables") if is_unread else made


def _uses(item: Item) -> frozenset[str]:
    """Return the values that an item shows, or that its command reads."""
    shown = _REFERENCE.findall(f"{item.title}\n{item.text}\n{item.code}")
    return frozenset([*shown, *(name for name, _ in (read_commands(item.code).reads if item.runs else ()))])


def _with_marks(flat: Sequence[tuple[int, Item]], inputs: Sequence[str]) -> list[tuple[int, Item]]:
    """Mark the second step that uses a value, and commands whose folder or variables the next command doesn't see."""
    marked = list(flat)
    last = max((place for place, (_, item) in enumerate(flat) if item.runs), default=-1)
    for place, (number, item) in enumerate(flat):
        if item.runs and place < last:
            if _MOVES.search(item.code):
                mark = Mark("folder", "the next commands run in the folder of the run again", item.line)
                marked[place] = (number, replace(item, marks=(*item.marks, mark)))
            elif _KEEPS.search(item.code) and "RDC_OUTPUT" not in item.code:
                mark = Mark("state", "the next commands don't see the variables and functions of this shell", item.line)
                marked[place] = (number, replace(item, marks=(*item.marks, mark)))
    by_name: dict[str, list[int]] = {name: [] for name in inputs}
    for place, (_, item) in enumerate(flat):
        for name in _uses(item) & by_name.keys() if item.code else ():
            by_name[name].append(place)
    for name, places in by_name.items():
        around = {place: f"{flat[place][1].title}\n{flat[place][1].text}" for place in places}
        later = (one for one in places[1:] if flat[one][0] != flat[places[0]][0] or _ANOTHER.search(around[one]))
        for place in [*later][:1]:
            number, item = marked[place]
            mark = Mark("shared", f"{name} has the same value here as in an earlier step", item.line)
            marked[place] = (number, replace(item, marks=(*item.marks, mark)))
    return marked


def _with_questions(
    flat: list[tuple[int, Item]], inputs: Sequence[str], outputs: tuple[str, ...], names: Mapping[str, str], count: int
) -> Values:
    """Ask for each value that is first needed below a command, instead of when the run starts."""
    left: list[str] = []
    dropped: set[str] = set()
    words = {name: written for written, name in reversed([*names.items()])}
    single = {name for name in inputs if [*names.values()].count(name) == 1}
    used = [_uses(item) for _, item in flat]
    for name in inputs:
        places = [place for place, names_there in enumerate(used) if name in names_there]
        needed = [place for place in places if not (name in single and _finds(flat[place][1], name))]
        asked = _asked(flat, [place for place in needed if _needs(flat[place][1])])
        if places and (not asked or any(item.code for _, item in flat[: asked[0]])):
            covered = {place for start in asked for place in range(start, _end(flat, start))}
            for place in places if name in single else ():
                if place not in covered:
                    flat[place] = (flat[place][0], _as_written(flat[place][1], name, words[name]))
            for place in reversed(asked):
                number, item = flat[place]
                marks = (mark for mark in item.marks if mark.kind != "shared" or not mark.words.startswith(f"{name} "))
                flat[place] = (number, replace(item, marks=tuple(marks)))
                spoken = _OWNER.sub("", name.lower()).removesuffix("_value").replace("_", " ")
                _insert(flat, place, Item(f"Which {spoken}?", asks=name, line=item.line))
                used.insert(place, frozenset())
            dropped |= set() if asked else {name}
        else:
            left.append(name)
    names = {written: name for written, name in names.items() if name not in dropped}
    firsts = (next((one.strip("<>") for one, other in names.items() if other == name), name) for name in left)
    declared = tuple(Input(name, description=one * (one != name)) for name, one in zip(left, firsts, strict=True))
    return Values(_grouped(flat, count), declared, outputs, names)


def _needs(item: Item) -> bool:
    """Return whether an item is a command, or a question that shows all of it, not whether a condition holds."""
    return bool(item.code) or bool(item.replies and not item.marks and any(note.kind == "harm" for note in item.notes))


def _finds(item: Item, name: str) -> bool:
    """Return whether a value of a block to show may come from an earlier line of the block."""
    lines = [line for line in item.code.replace("\\\n", " ").split("\n") if line.strip() and line.lstrip()[:1] != "#"]
    return bool(lines) and not item.runs and f"{{{{{name}}}}}" not in lines[0]


def _as_written(item: Item, name: str, written: str) -> Item:
    title, text, code = (one.replace(f"{{{{{name}}}}}", written) for one in (item.title, item.text, item.code))
    note = Mark("shown", f"{written} stays as written: a command above it may show it", item.line)
    notes = (*item.notes, note) if code != item.code else item.notes
    return replace(item, title=title, text=text, code=code, notes=notes)


def _asked(flat: Sequence[tuple[int, Item]], needed: Sequence[int]) -> list[int]:
    """Return the places to ask for a value: behind the questions that skip it, or once above many of them."""
    found: list[int] = []
    for place in needed:
        if not found or place >= _end(flat, found[-1]):
            found.append(place)
    return found if len(found) <= _MOST_ASKED else [_outside(flat, needed[0], needed[-1])]


def _end(flat: Sequence[tuple[int, Item]], place: int) -> int:
    """Return the first place that a run may reach without the item at `place`."""
    ends = (at + item.skips + 1 for at, (_, item) in enumerate(flat[:place]) if item.replies == "skip")
    return min((end for end in ends if end > place), default=len(flat))


def _outside(flat: Sequence[tuple[int, Item]], first: int, last: int) -> int:
    """Return the place above all questions that skip the first use of a value, but not its last."""
    skips = ((place, item.skips) for place, (_, item) in enumerate(flat[:first]) if item.replies == "skip")
    return next((place for place, count in skips if first <= place + count < last), first)


def _insert(flat: list[tuple[int, Item]], place: int, question: Item) -> None:
    for above in range(place):
        number, item = flat[above]
        if item.replies == "skip" and above + item.skips >= place:
            flat[above] = (number, replace(item, skips=item.skips + 1))
    flat.insert(place, (flat[place][0], question))


def _grouped(flat: Sequence[tuple[int, Item]], count: int) -> tuple[tuple[Item, ...], ...]:
    found: list[list[Item]] = [[] for _ in range(count)]
    for number, item in flat:
        found[number].append(item)
    return tuple(map(tuple, found))
