"""Import a page or a skill: sections become the steps, questions and sections of a draft."""

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import takewhile
from operator import itemgetter

from msgspec import Struct, field
from msgspec.structs import replace

from compiler.frontends.rundown import MOST_HEADINGS
from compiler.importers import markup, words
from compiler.importers import sections as kinds
from compiler.importers.blocks import programs_of
from compiler.importers.draft import (
    Draft,
    Item,
    Mark,
    Prose,
    guard,
    joined,
    machine_question,
    one_line,
    print_draft,
    task_question,
)
from compiler.importers.items import UNSURE, Items, Machine
from compiler.importers.markdown import Page, Section, read_page
from compiler.importers.placeholders import in_text
from compiler.importers.report import Refusal, Report, losses_of, report_of
from compiler.importers.values import Values, find_values
from compiler.text.regex import Regex
from compiler.text.source import Source, without_ending


class Options(Struct, frozen=True):
    """The options of an import: words that are placeholders too, and whether placeholders become inputs at all."""

    words: tuple[str, ...] = ()
    inputs: bool = True


class Imported(Struct, frozen=True):
    """A draft as text, with its report, and the name of a skill or ""."""

    text: str
    report: Report
    name: str = ""


class Step(Struct):
    """A step in the making: its items aren't final, and neither is its place."""

    title: str
    line: int
    text: list[str] = field(default_factory=list)
    items: list[Item] = field(default_factory=list)
    name: str = ""
    has_children: bool = False
    above: str = ""  # the heading above it

    @property
    def count(self) -> int:
        """The number of commands and instructions, without the questions that guard them."""
        return sum(not item.replies for item in self.items)


Part = Step | Prose

FEW = 4  # the fewest commands of one program that make a page without an order a reference
MOST_LATER = 200  # the most headings below a list that may be its overview
MANY = 5  # the fewest sections of text that make a page with few commands and instructions a reference


def import_page(source: Source, origin: str, options: Options) -> Imported | Refusal:
    """Return the draft of a page, or the reason why it has none. `origin` is the page's path from the draft.

    Raises:
        LostCodeError: The draft would lack a code line: a defect.
    """
    page = read_page(source)
    builder = _Builder(one_line(page.metadata.get("title", "")))
    parts = builder.parts_of(page.root)
    if problem := builder.problem(page.root, parts):
        return Refusal(source.path, "no-procedure", f"the page has no procedure: {problem}")
    values = find_values([step.items for step in _steps(parts)], options.words, asks=options.inputs)
    draft = _draft(page, builder, parts, values)
    stem = one_line(without_ending(source.name.rpartition("/")[2], (".md", ".markdown"))) or "Imported page"
    draft = replace(draft, title=draft.title or stem, origin=origin, sha256=source.sha256)
    printed = print_draft(draft)
    losses = tuple(losses_of(page, values.names, printed.text))
    return Imported(printed.text, report_of(source.path, draft, printed, losses, page), draft.name)


class _Builder:
    """Builds the steps of one page."""

    def __init__(self, title: str) -> None:
        self.machine = Machine()
        self.title = title
        self.text: list[str] = []
        self.instructions = 0
        self.has_items = False
        self.headings: list[tuple[int, frozenset[str]]] = []  # the line and the stems of each
        self.choices: set[int] = set()  # the lines of headings of one choice or cause of several
        self.routes: frozenset[str] = frozenset()  # the numbers of steps to which a result leads
        self.ruled_out: set[int] = set()  # the lines of headings of what is forbidden or old, and of those below
        self.cases: set[int] = set()  # the lines of headings of cases or checks, whose texts have what to do
        self.ordered: set[int] = set()  # the lines of headings that have a place in an order
        self.manual: set[int] = set()  # the lines of commands below a heading such as Commands
        self.unordered: set[int] = set()  # and of those in tasks side by side, or choices
        self.tasks: set[int] = set()  # and of those in tasks side by side, except cases

    def problem(self, root: Section, parts: Sequence[Part]) -> str:
        """Return why a page is no procedure, or ""."""
        count = len(_commands(parts))
        programs = Counter(name for one in _items(parts) if one.is_command for name in programs_of(one.code))
        if not count and self.instructions <= 1:
            return "it needs a command, or two instructions"
        is_list = len(self.manual) * 2 > count
        is_tool = max(programs.values(), default=0) * 4 > programs.total() * 3
        is_list |= is_tool and count >= FEW and len(self.unordered) * 4 >= count * 3 and not kinds.has_order(root)
        is_list |= count >= FEW and len(self.tasks) * 4 >= count * 3 and self.instructions < 2 and not self.ordered
        if is_list and not (words.names_procedure(self.title) and not self.manual):
            return "it lists commands for reference; number the headings that are steps"
        if kinds.is_diary(self.title, root):
            return "it is a report of the past"
        if not count and self._are_facts(parts):
            return "its lists are facts, not instructions"
        if self._is_mostly_text(root, parts):
            return "most of its sections are text; number the headings that are steps"
        return "its commands are examples; number the headings that are steps" if kinds.are_samples(root) else ""

    def _are_facts(self, parts: Sequence[Part]) -> bool:
        """Return whether half of the instructions may be facts, and no heading announces or asks for something."""
        unsure = sum(note.kind == "fact" for one in _items(parts) for note in one.notes)
        titles = [step.title for step in _steps(parts)]
        asked = any(words.names_steps(one) or words.imperative(one, purposes=False) for one in titles)
        return unsure * 2 >= self.instructions and not asked

    def _is_mostly_text(self, root: Section, parts: Sequence[Part]) -> bool:
        """Return whether a page has few commands and instructions among its sections, in no order."""
        steps = _steps(parts)
        if words.is_appendix(self.title) and not any(_runs(one) or words.is_check(one.title) for one in parts):
            return True
        placed = self.ordered | {section.line for section in kinds.every(root) if section.is_numbered}
        if any(step.line in placed or words.names_steps(step.title) for step in steps):
            return False
        verbs = sum(words.is_order(step.title, is_numbered=False) for step in steps)
        prose = len(parts) - len(steps)
        if sum(step.count for step in steps) < 2 and not verbs and not words.names_procedure(self.title):
            return prose > 1
        return prose >= MANY and verbs < 2 and sum(step.count for step in steps) * 2 < prose

    def parts_of(self, root: Section) -> list[Part]:
        """Return the steps and sections of a page, and take its title."""
        stems = ((section.line, kinds.stems(section.title)) for section in kinds.every(root))
        self.headings = [one for one in stems if one[1]]
        self.routes = kinds.routes(root)
        for one in (one for one in kinds.every(root) if kinds.rules_out(heading=one.title)):
            self.ruled_out |= {below.line for below in ([one] if kinds.forbids_thing(one.title) else kinds.every(one))}
        first, *rest = root.children or (Section(0, "", root.line),)
        outer = [root]
        children = root.children
        if first.level == 1 and all(section.level > 1 for section in rest):
            self.title = first.title
            outer, children = [root, first], first.children
        parts: list[Part] = []
        for whole in outer:
            intro = [*takewhile(lambda one: one.kind == "text", whole.pieces)][:-1]
            self.text += [markup.safe(one.text) for one in intro]
            section = replace(whole, pieces=whole.pieces[len(intro) :])
            found = self._items(section)
            is_intro = children and not any(one.has_code or one.kind == "list" for one in section.pieces)
            self.text += [_prose(section).text] if is_intro else [*_links(section), *found.own]
            if found.items and not is_intro:
                parts.append(Step(self.title or "Start", section.line, [], found.items))
        parts += [part for result in self._sections(children, outer[-1], is_page=True) for part in result]
        return self._with_rollback(parts)

    def _with_rollback(self, parts: list[Part]) -> list[Part]:
        steps = _steps(parts)
        for step in steps if all(step.name for step in steps) else ():
            step.name = ""
        names = [step for step in steps if step.name]
        for number, part in enumerate(names[1:], 2):
            part.name = f"{part.name}_{number}"
        last = max((at for at, part in enumerate(parts) if part in steps and part not in names), default=0)
        above = [part for part in parts[: last + 1] if part not in names]  # the order has its steps before a rollback
        return [*above, *(part for part in parts[: last + 1] if part in names), *parts[last + 1 :]]

    def _items(self, section: Section) -> Items:
        start = bisect_right(self.headings, section.line, key=itemgetter(0))
        later = [stems for _, stems in self.headings[start : start + MOST_LATER]]
        found = Items(section.title, self.machine, later)
        found.is_ruled_out = section.line in self.ruled_out
        found.read(section.pieces)
        self.instructions += found.instructions
        self.has_items |= bool(found.items)
        return found

    def _is_text(self, section: Section) -> bool:
        """Return whether a section and all below it is text to look up."""
        if (words.forbids(section.title) or section.line in self.ruled_out) and not section.children:
            return not any(piece.has_code for piece in section.pieces)
        has_steps = words.is_ordered(section.title) or any(words.names_steps(one.title) for one in section.children)
        has_steps |= bool(words.imperative(section.title)) and any(one.info == "1" for one in section.pieces)
        if has_steps or section.line in self.choices | self.cases or words.is_of_program(section.title):
            return words.is_of_program(section.title)
        return words.explains(section.title) or (self.has_items and words.is_appendix(section.title))

    def _sections(
        self, sections: Sequence[Section], above: Section, *, in_rollback: bool = False, is_page: bool = False
    ) -> list[list[Part]]:
        title = self.title if is_page else above.title
        one_of = kinds.choices(above, sections)
        self._note(title, sections, one_of, is_page=is_page)
        found = [self._section(section, title * (not is_page), in_rollback=in_rollback) for section in sections]
        having = [one for one, parts in zip(sections, found, strict=True) if any(map(_runs, parts))]
        is_unordered = kinds.are_unordered(title, having)
        with_commands = [one for one, parts in zip(sections, found, strict=True) if _commands(parts)]
        is_list = kinds.are_unordered(title, with_commands)
        tasks = [one for one, parts in zip(sections, found, strict=True) if _steps(parts) or kinds.asks(one)]
        apart = kinds.tasks_apart(title, tasks, is_page=is_page, is_choice=len(one_of) > 1)
        for section, parts in zip(sections, found, strict=True):
            is_case = words.is_case(section.title)
            is_manual = words.is_manual(section.title) and not words.is_variant(section.title)
            is_manual &= section.line not in self.ordered
            if is_manual or (is_list and words.is_manual(title)):
                self.manual |= _commands(parts)
            is_task = is_unordered and not (words.is_ordered(section.title) or words.is_stage(section.title))
            if is_task or section.line in one_of:
                self.unordered |= _commands(parts)
            if is_task and not is_case:
                self.tasks |= _commands(parts)
            runs = any(map(_runs, parts))
            number = re.split(r"\W", section.title.lower().removeprefix("step "), maxsplit=1)[0]
            asked = self.ordered if words.is_rollback(section.title) else apart
            is_sure = section.line in one_of or (is_case and not words.is_variant(section.title))
            is_own = kinds.is_looked_up(section.title) and not section.children and len(sections) > 1
            is_aside = is_own or kinds.is_looked_up(title)
            if _steps(parts) if is_sure else ((is_case or is_manual or is_aside) and runs):
                _guard(guard(section.title, "", section.line), parts)
            elif _steps(parts) and (section.line in asked or number in self.routes):
                _guard(task_question(section.title, section.line), parts)
            if runs and words.names_machine(section.title):
                _guard(machine_question(section.line, f"The section: {section.title}"), parts)
        return found

    def _note(self, title: str, sections: Sequence[Section], one_of: set[int], *, is_page: bool) -> None:
        self.ordered |= kinds.in_order(title, sections)
        self.choices |= one_of
        chosen = [section for section in sections if section.line in one_of]
        is_sure = words.offers_cases(title) and any(map(kinds.asks, chosen))
        if is_sure or any(piece.has_code or piece.info == "1" for section in chosen for piece in section.pieces):
            self.cases |= {section.line for section in chosen}
        if words.is_check(title) and not is_page:
            self.cases |= {one.line for one in sections if any(piece.kind == "list" for piece in one.pieces)}

    def _section(self, section: Section, above: str, *, in_rollback: bool) -> list[Part]:
        if self._is_text(section):
            return [_prose(one) for one in kinds.every(section)]
        shell = self.machine.shell
        is_placed = in_rollback or section.line in self.ordered | self.choices
        is_rollback = words.is_rollback(section.title) and not is_placed
        found = self._items(section)
        own = Step(section.title, section.line, [*_links(section), *found.own], found.items, above=above)
        results = self._sections(section.children, section, in_rollback=in_rollback or is_rollback)
        if not shell:
            self.machine.earlier, self.machine.shell = self.machine.shell or self.machine.earlier, 0
        parts = self._assembled(section, own, results, is_flat=is_rollback)
        if words.is_incident(section.title) and _steps(parts):
            self.instructions += 2  # Diagnosis or Mitigation is enough for a procedure
        if is_rollback:
            for step in _steps(parts):
                step.name = "Rollback"
        return parts

    def _assembled(self, section: Section, own: Step, results: Sequence[list[Part]], *, is_flat: bool) -> list[Part]:
        below: list[Part] = []
        for result in results:
            single = result[0] if len(result) == 1 else None
            if isinstance(single, Step) and not single.name and not below and (single.count < 2 or is_flat):
                own.items += _lifted(single)
                own.has_children = True
            else:
                below += result
        if own.items:
            return [own, *below]
        if own.text:
            return [self._text_part(section, own, has_children=bool(below)), *below]
        if not below:
            return [Prose(section.title, "", section.line)] if section.title else []
        _add_above(below, f"**{_escaped(section.title)}**" if section.title else "")
        return below

    def _text_part(self, section: Section, own: Step, *, has_children: bool) -> Part:
        plain = " ".join(piece.plain for piece in section.pieces[:1])
        is_step = words.is_procedure(section.title) or words.is_order(section.title, is_numbered=section.is_numbered)
        is_step = (is_step or words.is_check(section.title)) and not has_children
        is_step |= section.line in self.ordered and kinds.asks(section)
        is_step |= section.line in self.cases and not has_children
        is_instruction = words.demands((words.sentences(plain) or [""])[0]) or kinds.is_by_hand(section)
        is_other = words.is_reference(section.title) and section.line not in self.cases
        if is_other or not (is_step or is_instruction or kinds.has_instructions(section)):
            return Prose(section.title or "Text", "\n\n".join(own.text), section.line)
        self.instructions += is_step or kinds.has_instructions(section)
        is_sure = is_step or words.demands(section.title) or is_instruction
        notes = () if is_sure else (Mark("fact", UNSURE, section.line),)
        own.items = [Item(section.title or "Text", "\n\n".join(own.text), notes=notes, line=section.line)]
        own.text = []
        return own


def _links(section: Section) -> list[str]:
    return [markup.safe("See " + ", ".join(section.links))] if section.links else []


def _prose(section: Section) -> Prose:
    own = (markup.shown(one.text, one.info) if one.kind == "code" else markup.safe(one.text) for one in section.pieces)
    return Prose(section.title, "\n\n".join([*_links(section), *own]), section.line)


def _commands(parts: Sequence[Part]) -> set[int]:
    return {item.line for item in _items(parts) if item.is_command}


def _items(parts: Sequence[Part]) -> list[Item]:
    return [item for step in _steps(parts) for item in step.items]


def _steps(parts: Sequence[Part]) -> list[Step]:
    return [part for part in parts if isinstance(part, Step)]


def _runs(part: Part) -> bool:
    return isinstance(part, Step) and any(item.runs for item in part.items)


def _guard(question: Item, parts: Sequence[Part]) -> None:
    """Put one question before everything below a heading, unless the first one there is enough."""
    first = _steps(parts)[0]
    steps = [step for step in _steps(parts) if step.name == first.name]
    count, items = sum(len(step.items) for step in steps), first.items
    is_whole = items[0].replies == "skip" and items[0].skips >= count - 1
    if is_whole and any(note.kind == "harm" for note in items[0].notes) and not items[0].marks:
        items[0] = joined(replace(question, skips=items[0].skips), items[0])
    elif not question.marks:
        asks = all(one.items[0].replies == "skip" and one.items[0].skips >= len(one.items) - 1 for one in steps)
        items[:0] = [] if asks else [replace(question, skips=count)]  # each step asks before everything else
    elif not is_whole or [mark.kind for mark in items[0].marks] != [mark.kind for mark in question.marks]:
        items.insert(0, replace(question, skips=count))


def _lifted(step: Step) -> Iterator[Item]:
    """Yield the items of a child; the only command or instruction, or the first item, has its heading and text."""
    first, *later = step.items
    if step.count != 1:
        text = "\n\n".join(filter(None, [f"**{_escaped(step.title)}**", *step.text, first.text]))
        yield from (replace(first, text=text), *later)
        return
    for item in step.items:
        if item.replies:
            yield item
            continue
        lead = "" if item.title == step.title or _has(item.text, item.title) else f"{item.title}."
        text = "\n\n".join(filter(None, [*step.text, markup.safe(lead), item.text]))
        yield replace(item, title=step.title, text=text)


def _add_above(parts: list[Part], text: str) -> None:
    first = parts[0]
    if isinstance(first, Step):
        first.text.insert(0, text)
    else:
        parts[0] = Prose(first.title, "\n\n".join(filter(None, [text, first.text])), first.line)


def _escaped(text: str) -> str:
    return re.sub(r"([\\`*_\[\]<>])", r"\\\1", text)


# --- The draft --------------------------------------------------------------------------------------------------------


def _draft(page: Page, builder: _Builder, parts: Sequence[Part], values: Values) -> Draft:
    final: list[Item | Prose] = []
    items = iter(values.steps)
    once = Counter(one.title for one in parts)
    for step in _steps(parts):
        step.title = f"{step.above}: {step.title}" if step.above and once[step.title] > 1 else step.title
    titles = [one.title for one in (*parts, *_items(parts))]
    named = frozenset(match[1] for title in titles if (match := _STEP.match(title)))
    for part in _few_sections(parts):
        if isinstance(part, Prose):
            final.append(Prose(part.title, in_text(part.text, values.names), part.line))
        else:
            final.append(_final(part, next(items), values, named))
    name = page.metadata.get("name", "") if "description" in page.metadata else ""
    title, description = one_line(builder.title) or name, page.metadata.get("description", "")
    text = in_text("\n\n".join(builder.text), values.names)
    return Draft(title, tuple(final), name, description, text, values.inputs, values.outputs)


def _few_sections(parts: Sequence[Part]) -> Iterator[Part]:
    """Yield the parts with at most as many sections as a runbook can have; the others become text of a section."""
    found: list[Part] = []
    count = 0
    for part in parts:
        above = found[-1] if found else None
        if isinstance(part, Prose) and above and count >= MOST_HEADINGS:
            text = "\n\n".join(filter(None, [f"**{_escaped(part.title)}**", part.text]))
            if isinstance(above, Prose):
                found[-1] = Prose(above.title, f"{above.text}\n\n{text}".strip(), above.line)
            else:
                above.text.append(text)
            continue
        count += isinstance(part, Prose)
        found.append(part)
    yield from found


def _final(step: Step, items: Sequence[Item], values: Values, named: frozenset[str]) -> Item:
    text = in_text("\n\n".join(filter(None, step.text)), values.names)
    title = in_text(one_line(step.title), values.names) or "Step"
    marks: tuple[Mark, ...] = ()
    if step.name:
        marks = (Mark("rollback", "no step leads here yet", step.line),)
        items = [*items[:-1], replace(items[-1], replies="end")]
        title = "" if title == step.name else title
    items = [_referring(_asking_first(_without_title(item), title), named) for item in items]
    if len(items) == 1 and not step.has_children:
        item = items[0]
        is_same = item.title.startswith((title or step.title, step.title)) or _has(item.text, item.title)
        lead = "" if is_same else f"{item.title}."
        whole = "\n\n".join(filter(None, [text, lead, item.text]))
        return _asking(replace(item, title=title, text=whole, name=step.name, marks=(*marks, *item.marks)))
    return Item(title, text, name=step.name, marks=marks, line=step.line, items=tuple(map(_asking, items)))


def _asking_first(item: Item, title: str) -> Item:
    """Return an item that stops the run if the answer to its gate is no, and with a mark if it is for each thing."""
    plain = _MARKUP.sub("", item.text)
    if words.is_loop(plain if item.replies == "skip" else f"{title}. {item.title}. {plain}"):
        item = replace(item, marks=(*item.marks, Mark("loop", "this is for each of several things", item.line)))
    last = words.sentences(plain)[-1:]
    whole = [f"{item.title}, {one}" for one in last if words.opens_with_condition(item.title)]
    if item.code or item.replies or not any(map(words.is_gate, (item.title, *last, *whole))):
        return item
    return replace(item, title=item.title if item.title[-1:] == "?" else f"{item.title}: continue?", replies="stop")


def _referring(item: Item, named: frozenset[str]) -> Item:
    """Return an item with a mark if its text names the number of a step that no title has."""
    lost = next((number for number in _STEP.findall(f"{item.title}\n{item.text}") if number not in named), "")
    mark = Mark("reference", f"step {lost} may have another number in this draft", item.line)
    return replace(item, marks=(*item.marks, mark)) if lost else item


def _without_title(item: Item) -> Item:
    """Return an item without the first paragraph of its text if that is its title."""
    first, _, rest = item.text.partition("\n\n")
    is_title = _plain(first).rstrip(".:;, ") == _plain(item.title).removeprefix("do this now: ").rstrip("?")
    return replace(item, text=rest) if is_title and "](" not in first else item


def _has(text: str, title: str) -> bool:
    """Return whether a text has the words of a title, which may be shortened."""
    return _plain(title).rstrip("…") in _plain(text)


def _plain(text: str) -> str:
    return " ".join(_MARKUP.sub("", text).split()).lower()


_MARKUP = Regex(r"[`*]|^- ")
_STEP = Regex(r"\bsteps? (\d+)", re.IGNORECASE)


def _asking(item: Item) -> Item:
    """Return an item that has a text, a command, or a title that asks."""
    if item.code or item.text.strip() or item.title.endswith("?"):
        return item
    return replace(item, title=f"{item.title}: done?")
