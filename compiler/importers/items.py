"""Turn the text, the lists and the code blocks below one heading into the items of a step."""

from collections.abc import Sequence
from itertools import takewhile, zip_longest

from msgspec import Struct
from msgspec.structs import replace

from compiler.importers import markup, sections, words
from compiler.importers.blocks import Block, is_command_span, is_typed, read_block, summary_of
from compiler.importers.draft import BARE, Item, Mark, guard, harm_question, joined, machine_question, task_question
from compiler.importers.markdown import Piece
from compiler.text.regex import Regex

_LEADS = Regex(r"(?i)(?:see|(?:go|skip|jump|move|proceed) (?:on )?to|continue (?:with|at)) \w")  # to another step
_LIST = Regex(r"(?m)^\s*(?:[-*+]|\d+[.)])\s")
_REACHES = Regex(r"\b(?:kubectl|oc|podman|nerdctl|docker(?:[ -]compose)?)\b[^\n]{0,200} exec ")

AFTER = "After the command:"
EXPECTED = "Expected output:"
UNSURE = "it may be a fact, not an instruction"

_IN_SENTENCE = "the command is in a sentence"
_SHORT, _FEW = 8, 3
_CONDITIONAL = Regex(r"(?i)\W*(?:if|when(?! \w+ing\b)|unless|in case|alternatively|otherwise|optional(?:ly)?)\b")
_STEP = Regex(r"(?i)\*\*(?:(?:step|phase|stage|part) \w+\b|\d+[.)])|\*\*[^*\n]+\*\*(?: \([^()\n]*\))?:?$")
_GOES_ON = Regex(r"\s*(?:[2-9]|\d{2,})[.)]\s")  # a list with items above it
_TAB = Regex(r"(?m)(?:^[ \t]*===[!+]? *\"|<summary>\s*(?:<\w+>)?)([^\"<\n]+)")


class Machine(Struct):
    """Where commands run: the line that opened a shell in this section, and the line of an earlier section."""

    shell: int = 0
    earlier: int = 0


class Text(Struct, frozen=True):
    """A text that waits for a block: its Markdown, its words without markup, and its line."""

    markdown: str
    plain: str
    line: int


class Items:
    """Collects the items of one heading; `own` is its text above the first item, `later` are stems of next headings."""

    def __init__(self, heading: str, machine: Machine, later: Sequence[frozenset[str]] = ()) -> None:
        self.heading = heading
        self.is_ruled_out = False  # a heading forbids the commands below it
        self.later = later
        self.machine = machine
        self.items: list[Item] = []
        self.own: list[str] = []
        self.lead: list[Text] = []
        self.hint = ""  # the instruction of a conditional item, for the title of the command in it
        self.instructions = 0
        self.open = -1  # the question of a condition that holds for the next commands, too
        self.opens_section = False
        self.reached = 0  # the line of a command that ran in a container
        self.choices: set[str] = set()  # the leads that name one choice of several
        self.first = 0  # the first item of the list item at hand: its text isn't about the items above

    def read(self, pieces: Sequence[Piece]) -> None:
        """Read the content of a heading."""
        self.choices = sections.alternatives([*sections.short_leads(pieces)])
        labels = sections.labels_of_cases(pieces)
        start, case = 0, Text("", "", 0)
        for piece, below in zip_longest(pieces, pieces[1:]):
            label = labels.get(piece.line)
            if label or (label is not None and (len(self.items) > start or _asks_any(self.lead))):
                self._end_case(start, case)
                start, case = len(self.items), Text(piece.text, label, piece.line)
            if piece.kind == "text" and self.items and _STEP.match(piece.text):
                self._flush()  # the lead so far is about the step above
            if piece.kind == "text" and piece.plain.endswith(":") and below and sections.is_command(below):
                self.lead.append(Text(piece.text, piece.plain, piece.line))
            else:
                self._piece(piece)
        self._end_case(start, case)

    def _end_case(self, start: int, case: Text) -> None:
        """Put a question before the items from `start` on, which are below the label of a case, if there is one."""
        if case.plain and len(self.items) == start and _asks_any(self.lead):
            self._question(self.lead[-1].plain, self._taken(), case.line, markup.cut(case.plain))
            return
        self._flush()
        self.open, self.opens_section = -1, False
        added = self.items[start:]
        if case.plain and added and not (added[0].replies and added[0].skips >= len(added) - 1):
            question = guard(case.plain, "", case.line, len(added))
            is_asked = added[0].title == question.title
            one = replace(added[0] if is_asked else question, skips=len(added) - is_asked)
            self.items[start : start + is_asked] = [one]

    def _piece(self, piece: Piece) -> None:
        if piece.kind == "code":
            self._code(piece)
        elif piece.kind == "list":
            self._list(piece)
        elif not self._span(piece):
            self._show_above(piece.plain)
            self.lead.append(Text(piece.text, piece.plain, piece.line))

    def _show_above(self, plain: str) -> None:
        """Show the command directly above a text that limits it, or that is about a server."""
        last = self.items[-1] if self.items and not self.lead else None
        if last and last.runs and (why := sections.why_limited(plain, last.code)):
            self.items[-1] = last.shown(why)

    def _code(self, piece: Piece) -> None:
        block = read_block(piece.info, piece.text)
        last = self.lead[-1].plain if self.lead else ""
        sentence = (words.sentences(last or ("" if self.items else self.heading)) or [""])[-1]
        is_sample = words.is_automatic(sentence)
        is_output = words.announces_output(sentence) and block.code == piece.text and "```" not in block.code
        if is_sample or is_output:
            block, last = Block("sample" if is_sample else "output", block.code, tag=block.tag), ""
        is_about = not last or words.follows(last) or "output" in last.lower()
        if block.kind == "output" and is_about and self.items and (is_output or self.items[-1].is_command):
            self._expect(self._taken(), block.code, block.tag)
            return
        block = self._placed(block, last, piece.line)
        if block.kind in {"output", "sample"}:
            self._sample(piece, block, last)
            return
        self._split_lead()
        self._command(block, piece.line)
        if block.output:
            self._expect("", block.output, "")

    def _placed(self, block: Block, last: str, line: int) -> Block:
        """Return a block, only shown if a shell or a container is open; `last` is the text above it."""
        shell, rest = self.machine.shell, _REACHES.split(block.code)[-1]
        self.reached = line if rest != block.code else self.reached
        above = (*sections.COMMENT.findall(rest), last * (rest == block.code))
        is_there = any(map(words.names_machine, above)) or words.enters_machine(last)
        enters = block.kind in {"run", "show"} and "login" not in block.code
        enters &= any(words.enters_machine(text.plain) for text in self.lead[-2:])
        if block.opens or enters or (self.reached and not shell and is_there):
            self.machine.shell = line if block.opens or enters else self.reached
        opened = shell or self.machine.shell
        why = f"the command in line {opened} opened a shell or a container"
        why = "the text above it enters another machine" if opened == line else why
        return replace(block, kind="show", why=why) if opened and block.kind == "run" else block

    def _sample(self, piece: Piece, block: Block, last: str) -> None:
        is_note = piece.info.startswith("{") and not piece.info.startswith("{.")  # a directive of MyST
        is_note |= last.lower().startswith("example")
        is_next = words.is_in_series(last) or (self.machine.shell and words.instruction(last))
        is_command = bool(last.endswith(":") and block.kind == "output" and is_next)
        is_line = is_typed(block) and bool(words.instruction(last)) and not words.announces_output(last)
        if last and (words.puts(last) or is_command or is_line) and not is_note:
            self._split_lead()
            self.instructions += is_command or bool(words.imperative(_asking(last), purposes=False))
            near = words.sentences(last)[-1] if is_command else last
            title = self._title(near, "") or self._title(last, markup.cut(_asking(last)))
            if not words.puts(last) and last.endswith(("next:", "then:", "now:")):  # a dialogue, in its order
                self.lead.append(Text(markup.shown(piece.text, block.tag), "", piece.line))
                self.items.append(Item(title, self._taken(), line=piece.line))
                return
            self.items.append(Item(title, self._taken(), piece.text, markup.tag(block.tag), line=piece.line))
        else:
            self.lead.append(Text(markup.shown(piece.text, block.tag), "", piece.line))
            has_task = _asks_any(self.lead) or any(words.condition(one.plain) for one in self.lead)
            if len(self.items) > self.first and not has_task:
                self._flush()

    def _command(self, block: Block, line: int) -> None:
        by_hand = self._by_hand() if block.why != _IN_SENTENCE else []
        above_it = [_purpose_at_end(text.plain) for text in self.lead if text.plain] or by_hand
        near = above_it[-1:] if len("".join(above_it[-1:]).split()) > _SHORT else above_it[-2:]  # it may be only `Run:`
        opening = [one for one in above_it[:1] if not self.items and words.opens_with_condition(one)]
        forbidden = " ".join(near) * sections.rules_out(*near, code=block.code)
        is_out = self.is_ruled_out or forbidden or sections.rules_out(*near, code=block.code, heading=self.heading)
        case = "" if self.hint or is_out else self._case([*reversed(near), *opening])
        goes_on = not above_it or words.goes_on(above_it[0])
        goes_on = not case and (goes_on or (self.opens_section and not words.moves_on(above_it[0])))
        self.opens_section = bool(opening) or (self.opens_section and goes_on)
        question = self.open if goes_on else -1
        asking = [one for one in self.lead if one.markdown[:1] != ">" and not sections.NOTICE.match(one.plain)]
        own = [_purpose_at_end(one.plain) for one in asking if one.plain] or by_hand
        title = self._named(own[:-3:-1], block.code, forbidden)
        above = self._taken()
        block = sections.limited(block, near, is_ruled_out=bool(is_out))
        notes = (Mark("shown", block.why, line),) if block.why else ()
        item = Item(title, above, block.code, "bash prompt", notes=notes, line=line)
        if block.kind == "run":
            self._ask_machine(line)
            harm = _harm(block, above_it[-1] if above_it else self.heading * (not self.items))
            is_elsewhere = any(map(words.names_machine, (*near, *sections.COMMENT.findall(block.code))))
            questions = [guard(case, above, line, subject=title)] if case else []
            questions += [machine_question(line, "" if case else above)] if is_elsewhere else []
            start = block.code.find(block.harm[0]) if block.harm else 0
            about = summary_of(block.code[start:]) if title == summary_of(block.code) else title
            harms = [harm_question(about, harm, line, "" if questions else above)] if harm else []
            questions = [joined(questions[0], harms[0])] if harms and len(questions) == 1 else questions + harms
            holds = not BARE.fullmatch(case) if case else harm and not block.harm
            question = len(self.items) if holds else question
            self.items += [replace(one, skips=len(questions) - at) for at, one in enumerate(questions)]
            item = replace(item, text="" if questions else above, tag="bash")
        elif case and any(map(_CONDITIONAL.match, near)):
            self.items.append(guard(case, above, line, subject=title))
            item, question = replace(item, text=""), len(self.items) - 1
        self.items.append(item)
        self.open = question
        if question >= 0:
            self.items[question] = replace(self.items[question], skips=len(self.items) - 1 - question)

    def _named(self, above: Sequence[str], code: str, forbidden: str) -> str:
        """Return the title of a command: from its text, the heading, its only comment, or the command itself."""
        if forbidden:
            self.hint = ""
            return summary_of(code) if sections.ENDS_OPEN.search(forbidden) else markup.cut(forbidden)
        comments = sections.COMMENT.findall(code) if code[:1] == "#" else []
        own = [self.hint or self._title(above[0] if above else "", "")]
        own += [self._title(one, "") for one in above[1:] if words.is_vague(above[0]) and not words.condition(one)]
        own += [markup.cut(self.heading) if not self.items else ""]
        own += [self._title(comments[0], "")] if len(comments) == 1 else []
        self.hint = ""
        return next((one for one in own if one and not words.is_vague(one)), summary_of(code))

    def _by_hand(self) -> list[str]:
        """Add a step for a task of a person before a command; return the last sentence of its text."""
        for at, text in reversed([*enumerate(self.lead, 1)]):
            sentences = words.sentences(text.plain)
            found = next(filter(words.is_by_hand, sentences[: -1 if at == len(self.lead) else None]), "")
            if found and not words.condition(text.plain) and not _LIST.search(text.markdown):
                below, self.lead = self.lead[at:], self.lead[:at]
                self._question(found, self._taken(), text.line)
                self.lead = below
                return sentences[-1:]
        return []

    def _case(self, texts: Sequence[str]) -> str:
        """Return the condition of the first text with one, or the case that a bold text above the command names."""
        found = (words.condition(one) or (one if one in self.choices else "") for one in texts)
        labels = (words.case_of_label(one.plain, is_label=one.markdown.startswith("**")) for one in self.lead)
        in_tab = takewhile(lambda one: one.plain or "<summary" in one.markdown, reversed(self.lead))
        in_tab = takewhile(lambda one: not words.moves_on(one.plain), in_tab)
        tabs = (tab for one in in_tab for tab in reversed(_TAB.findall(one.markdown)))
        return next(filter(None, (*found, *labels, *tabs)), "")

    def _ask_machine(self, line: int) -> None:
        if self.machine.earlier:
            words_of_mark = f"line {self.machine.earlier} opened a shell; this command runs on this machine"
            marks = (Mark("machine", words_of_mark, line),)
            text = "An earlier step opened a shell on another machine or in another program."
            title = "Do the next commands run on this machine?"
            self.items.append(Item(title, text, replies="stop", marks=marks, line=line))
            self.machine.earlier = 0

    def _expect(self, above: str, output: str, tag: str) -> None:
        self._show_above(output)
        item, block = self.items[-1], markup.shown(output, tag)
        parts = [item.text, above, *([] if EXPECTED in item.text and not above else [EXPECTED]), block]
        self.items[-1] = replace(item, text="\n\n".join(filter(None, parts)))

    def _split_lead(self) -> None:
        """Give each text about the command above to its item, except a condition, which may be for the next command."""
        while len(self.items) > self.first and self.lead:
            plain, is_last = self.lead[0].plain, len(self.lead) == 1
            is_above = not plain or (words.follows(plain) and not words.condition(plain) and not plain.endswith(":"))
            if not is_above or (is_last and not plain):
                break
            self._after(self.lead.pop(0))

    def _taken(self) -> str:
        taken = "\n\n".join(markup.safe(text.markdown) for text in self.lead)
        self.lead = []
        return taken

    def _flush(self) -> None:
        for text in self.lead:
            if self.items:
                self._after(text)
            else:
                self.own.append(markup.safe(text.markdown))
                if any(words.imperative(one) and words.enters_machine(one) for one in words.sentences(text.plain)):
                    self.machine.shell = self.machine.shell or text.line
        self.lead = []

    def _after(self, text: Text) -> None:
        """Add a text below a command: as a question, or to the text of the command."""
        asks = words.asks(text.plain) and bool(words.imperative(text.plain) or words.condition(text.plain))
        first = (words.sentences(text.plain) or [""])[0]
        asks |= words.is_other_case(text.plain)
        asks = asks or (first.endswith(":") and (words.is_remedy(first) or words.is_procedure(first)))
        if text.plain and (asks or (words.is_by_hand(first) and not _LIST.search(text.markdown))):
            self._question(text.plain, markup.safe(text.markdown), text.line)
            return
        item = self.items[-1]
        label = [AFTER] if item.code and AFTER not in item.text else []
        self.items[-1] = replace(item, text="\n\n".join(filter(None, [item.text, *label, markup.safe(text.markdown)])))

    def _question(self, plain: str, markdown: str, line: int, title: str = "", *, is_task: bool = False) -> None:
        self.instructions += 1
        if words.enters_machine(plain):
            self.machine.earlier = line
        sentence, *more = words.sentences(plain) or ["Do this"]
        first, whole = markup.cut(sentence), markup.cut(" ".join([sentence, *more[: sentence[-1] == ":"]]))
        is_case = words.opens_with_condition(plain) and len(whole.split()) > _FEW
        is_case &= sentence[-1] != ":" or markdown[:2] != "**"
        title = title or (whole if is_case else self._title(plain, first))
        title = title if " " in title else first
        is_sure = is_task or words.acts(plain) or words.asks(plain)
        case, rest = words.case_of(sentence)
        if is_case and rest != sentence and not (words.is_gate(plain) or _LEADS.match(rest)):
            note = Mark("condition", "the instruction has a condition", line)
            self.items.append(replace(guard(case, "", line), marks=(), notes=(note,)))
            title = self._title(rest, markup.capital(markup.cut(rest)))
        title = f"{title[:-1]}: done?" if title[-1:] == "?" and words.routes_no(markdown) else title
        self.items.append(Item(title, markdown, notes=() if is_sure else (Mark("fact", UNSURE, line),), line=line))

    def _title(self, plain: str, otherwise: str) -> str:
        return markup.capital(markup.cut(words.instruction(plain))) or otherwise

    def _list(self, piece: Piece) -> None:
        items = piece.pieces
        if self.items and _GOES_ON.match(piece.text):
            self._flush()  # the lead so far is about the item above
        self.open, self.opens_section = -1, False
        is_plain = piece.info == "-" and not any(item.info == "[ ]" for item in items)
        last = next((text.plain for text in reversed(self.lead) if text.markdown[:1] != ">"), "")
        sentence = (words.sentences(last) or [""])[-1]
        is_text = is_plain or (piece.info == "1" and self._are_facts(items))
        is_text = (is_text and not any(map(sections.runs_span, items))) or words.explains(self.heading)
        is_text = not piece.has_code and (is_text or sections.is_overview(items, self.later))
        is_out = last[-1:] == ":" and any(map(sections.rules_out, (last, sentence)))
        above = sentence or self.heading
        is_remedy = piece.info == "-" and words.is_remedy(above) and not above.lower().startswith("fix")
        is_remedy &= sum(words.changes(one.plain) or (one.has_code and "**" in one.text[:4]) for one in items) > 1
        if (is_text and not is_remedy) or words.is_automatic(sentence) or is_out:
            self._show_above(piece.plain)
            label = self.lead.pop() if last.endswith(":") and self.lead[-1].plain == last else Text("", "", piece.line)
            text = f"{label.markdown}\n\n{piece.text}" if label.plain else piece.text
            self.lead.append(Text(text, f"{label.plain} {piece.plain}".strip(), label.line))
            if label.plain and self.items and (words.is_remedy(last) or words.is_procedure(last)):
                self._flush()
            return
        is_choice = words.offers_ways(sentence) or words.offers_cases(sentence or self.heading)
        if is_choice and not piece.has_code:
            text = "\n\n".join([self._taken(), markup.safe(piece.text)])
            self._question(sentence, text, piece.line, markup.cut((sentence or self.heading).rstrip(":. ")))
            return
        self._items(piece, last, sentence, is_remedy=is_remedy)

    def _items(self, piece: Piece, last: str, sentence: str, *, is_remedy: bool) -> None:
        """Add the items of a list; `last` is the text above it, and `sentence` is its end."""
        leads = (one.plain for one in self.lead if one.plain.endswith(":"))
        opening = next(filter(words.opens_with_condition, leads), "")
        first = next(iter(words.sentences(opening)), "")
        case = words.condition(last if last.endswith(":") else sentence) or words.condition(first)
        is_case = words.opens_with_condition(sentence) or sentence.startswith(("For ", "When "))
        is_case = bool(opening) or (is_case and sentence.endswith(":"))
        if case:
            self._split_lead()
        elif not self.items:
            self._flush()
        start, above = len(self.items), self._taken() if case else ""
        for item in piece.pieces:
            at = len(self.items)
            self.open = self.open if words.goes_on(item.plain) else -1
            self._item(item)
            added = self.items[at:]
            if is_remedy and added and not added[0].replies:
                is_span = added[0].code and not item.has_code
                title = added[0].title if is_span else (item.pieces or (item,))[0].plain
                question = task_question(title, item.line, len(added))
                is_text = len(added) == 1 and not added[0].code
                self.items[at:] = [replace(question, skips=0, text=added[0].text)] if is_text else [question, *added]
        self.open = -1
        self._guard(start, case, above, piece.line, is_case=is_case)

    def _are_facts(self, items: Sequence[Piece]) -> bool:
        """Return whether the items of an ordered list without code are only text."""
        if words.is_check(self.heading) or (words.imperative(self.heading) and not self.lead):
            return False
        asked = any(words.demands(words.case_of((words.sentences(item.plain) or [""])[0])[1]) for item in items)
        facts = sum(words.is_fact(item.plain) for item in items)
        above = words.sentences(self.lead[-1].plain)[-1:] if self.lead else []
        if (facts * 3 >= len(items) * 2 and not asked) or any(map(sections.EXPLAINED.fullmatch, above)):
            return True
        count = sum(words.acts(item.plain) or item.info == "[ ]" for item in items)
        return count * 3 < len(items) and not words.is_sequence(self.heading)

    def _item(self, item: Piece) -> None:
        first, *rest = item.pieces or (item,)
        if first.kind != "text":
            for piece in item.pieces:
                self._piece(piece)
            return
        if not item.has_code:
            self._instruction(item, first)
            return
        self._split_lead()
        choice = first.plain if first.plain in self.choices else ""
        case = words.condition(first.plain) or choice or words.case_of_label(first.plain, is_label=True)
        is_other = words.announces_output(first.plain) or sections.rules_out(first.plain, code=item.text)
        case = case if any(map(sections.is_command, item.all())) and not is_other else ""
        start, above = len(self.items), ""
        self.first = start
        if case:
            above = "\n\n".join(filter(None, [self._taken(), markup.safe(first.text)]))
            self.hint = self._title(first.plain, "")
        else:
            self.lead.append(Text(first.text, first.plain, first.line))
        end = sections.next_case(first.plain, rest, self.choices) if case else len(rest)
        for piece in rest[:end]:
            self._piece(piece)
        if len(self.items) == start and self.lead and item.info != "-":
            self._question(first.plain, self._taken(), item.line, is_task=item.info == "[ ]")
        self._flush()
        self.hint = ""
        self._guard(start, case, above, item.line)
        for piece in rest[end:]:
            self._piece(piece)
        self._flush()

    def _instruction(self, item: Piece, first: Piece) -> None:
        if len(item.pieces) == 1 and self._span(first):
            return
        body = "\n\n".join(piece.text for piece in item.pieces)
        is_limit = words.forbids(first.plain) and not words.is_gate(first.plain)
        asks = not words.is_statement(first.plain) or words.obliges(first.plain) or len(item.pieces) > 1
        asks = asks or any(map(words.imperative, (first.plain, first.plain.partition(": ")[2])))
        is_question = item.info != "-" and (asks or item.info != "1")
        if not is_limit and (is_question or (item.info == "-" and words.instruction(first.plain))):
            self._split_lead()
            text = "\n\n".join(filter(None, [self._taken(), markup.safe(body)]))
            self._question(first.plain, text, item.line, sections.label_of(first.text), is_task=item.info == "[ ]")
        elif (item.info == "1" or is_limit) and self.items:
            self._flush()  # a fact is about the item above
            self._after(Text(body, first.plain, item.line))
        else:
            self.lead.append(Text(item.text, item.plain, item.line))

    def _span(self, piece: Piece) -> bool:
        """Add a command in a sentence, which is shown; return whether the sentence asks to run one."""
        if not sections.runs_span(piece) or words.explains(self.heading):
            return False
        self._split_lead()
        [code] = [code for code in sections.CODE_SPAN.findall(piece.text) if is_command_span(code)]
        self.lead.append(Text(piece.text, piece.plain, piece.line))
        first = words.sentences(piece.plain)[0]
        is_named = first.endswith(":") and len(first.split()) > 2 and not words.condition(first)
        is_named &= not (words.instruction(piece.plain) or words.is_statement(first) or "output" in first.lower())
        self.hint = markup.cut(first.rstrip(":")) if is_named else ""
        if read_block("", code).opens:
            self.machine.shell = piece.line
        self._command(Block("show", f"{code}\n", why=_IN_SENTENCE), piece.line)
        return True

    def _guard(self, start: int, case: str, above: str, line: int, *, is_case: bool = False) -> None:
        """Put a question before the items from `start` on, if they have a condition, and a command or `is_case`."""
        if not case:
            return
        added = self.items[start:]
        if any(item.runs for item in added) or (is_case and len(added) > 1):
            is_asked = len(added) == 2 and added[0].replies == "skip"  # one question is enough for one command
            subject = next((item.title for item in added if item.is_command), "")
            question = guard(case, above, line, len(added) - is_asked, subject)
            self.items[start:] = [joined(question, added[0]) if is_asked else question, *added[is_asked:]]
        elif added:
            self.items[start] = replace(added[0], text="\n\n".join(filter(None, [above, added[0].text])))
        else:
            self.lead.insert(0, Text(above, case, line))
            self._flush()


def _asks_any(lead: Sequence[Text]) -> bool:
    return any(words.instruction(one.plain) for one in lead)


def _asking(text: str) -> str:
    """Return the last sentence that asks to use a block."""
    return next((one for one in reversed([text, *words.sentences(text)]) if words.puts(one)), text)


def _harm(block: Block, text: str) -> Sequence[str]:
    """Return the lines of a command that do harm, or all lines if the text above it or a comment asks for harm."""
    asked = map(words.instruction, (text, *sections.COMMENT.findall(block.code)))
    lines = [one for one in sections.COMMENT.sub("", block.code).split("\n") if one.strip()]
    return block.harm or (lines if any(map(words.does_harm, asked)) else ())


def _purpose_at_end(text: str) -> str:
    """Return the last sentence of plain text if it is like `To remove it:`, and the whole text otherwise."""
    last = words.sentences(text)[-1:]
    return last[0] if last and last[0].startswith("To ") and last[0].endswith(":") else text
