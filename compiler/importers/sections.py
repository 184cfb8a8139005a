"""The kinds of sections of a page: steps, tasks side by side, or text around samples."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import takewhile, zip_longest
from operator import eq

from msgspec.structs import replace

from compiler.importers import markup, words
from compiler.importers.blocks import Block, is_command_span, read_block
from compiler.importers.markdown import Piece, Section
from compiler.importers.placeholders import find
from compiler.text.regex import Regex

_SEQUEL = Regex(r"(?i)(?:(?:step|phase|stage) \w+|first|second|third|then|next|finally|lastly|after (?:that|this))\b")
_MEANING = Regex(r"(?!(?:the|and|for|with|from|your)\b)\b[a-z]{3,}")
_OFFERS = Regex(
    r"\b(?:for (?:instance|example)|e\.g\.|(?:here['’]s|here is|here are|as) (?:an? |some )?(?:\w+ ){0,2}examples?"
    r"|you can)(?:\W|$)|(?:^|[.:] )or\b",
    re.IGNORECASE,
)
"""Matches a text that announces an example, or one of several ways."""

_SERIES = r"(?:steps?|work ?flow|process|procedure|protocol|phases|sequence|plan)"
_STEPS = Regex(rf"(?i)^\W*(?:diagnos\w+|investigat\w+|instructions?|{_SERIES})\b|\b{_SERIES}\W*$")
_ROUTE = Regex(r"(?i)(?:\b(?:(?:go|skip|jump) to|see)|→|[-=]>|\|) *(?:step|section|phase) (\d+[a-z]?)\b(?! *\| *\w)")
_ASIDE = Regex(
    r"(?i)\W*(?:abort|cancel(?:l?ing)?|emergency|fall-?back|failure|hot-?fix|break-?glass"
    r"|(?:on|after|in case of) (?:failure|error|a failed)s?)\b(?!.*\b(?:contacts?|numbers)\b)"
)
_OPPOSED = (("backup", "restore"), ("install", "uninstall"), ("failover", "failback"), ("enable", "disable"))
_USUAL = Regex(r"(?i)\W*(?:normal|planned|regular|routine|scheduled|standard)\b")
_BOLD = Regex(r"\*\*([^*\n]+)\*\*:?[ \t]*(?:\n|$)")
NOTICE = Regex(r"(?i:\W*(?:warning|important|caution|tip|info|danger|attention)s?\b(?!\s\w))|.*Note")
_LABEL = Regex(r"\*\*(?P<label>[^*\n]*\w[^*\n]*)\*\*")
EXPLAINED = Regex(r"(?i)(?!.*\b(?:you|we|i)\b).*\b(?:will|does|advantages|benefits|differences|reasons)\b[^.:]{0,30}:")
_LABEL_MARKUP = Regex(r"[`\[\]]|\]\([^)]*\)")
_DIGIT = Regex(r"\W*(?:\d|[A-Za-z][.)])")
_DATED = Regex(r"\W*\d{4}-\d\d-\d\d\b")
_PAST = Regex(
    r"(?:\W*(?i:so|then|and|finally|after that|at \d[\d:.]*\w*),? )?(?:I|[Ww]e|@\w+)(?: \w+ly| then| also)? "
    r"(?:\w+ed|was|were|had|did|saw|found|got|went|ran|took|lost|made|put)\b"
)
_USE_WHEN = Regex(
    r"(?i)(?:use|choose|pick|run|applies|for use)(?: this(?: \w+)?| it)? (?:only )?(?:when|if)\b|when to use\b"
)
_LOOKED_UP = Regex(
    r"(?i)\W*(?:(?:(?:common|known|possible|frequent|typical) )*(?:problems|errors|issues)|troubleshooting|gotchas"
    r"|(?:additional )?notes|caveats|faq|hints|tips)(?: (?:and|&) \w+)?(?:\s*\(.*\))?\W*"
)
_SEVERAL = Regex(r"(?i)^(?:manag|us|troubleshoot|work|handl|maintain|access|administ|operat)\w*\b|\band\b|[&/]")
_LOOKS = Regex(
    r"(?i)\W*(?:immediate|initial|check|verif|test|confirm|validation|validate|pre\b|post\b|monitor|step|diagnos|investigat|review)"
)
_PART = Regex(
    r"(?i)\W*(?:(?:pre|post|before|after|initial|immediate|final|set(?:ting)?[ -]?up|setup|quick|root cause|smoke)\b"
    r"|(?:prereq|precond|preflight|prepare|preparation|install|configure|configuration|build|test|deploy|release|publish"
    r"|validate|validation|verif|confirm|check|diagnos|investigat|triage|assess|detect|identif|mitigat|contain|remediat"
    r"|resol|recover|escalat|communicat|notif|announc|clean|tear|monitor|tag(?:s|ging)?\b|commit|push|merge|follow|wrap|close"
    r"|closing|report|document|summary|output|deliver|plan|implement|review|analy[sz]|gather|collect|research"
    r"|understand)\w*\b)"
)
_LAST_PART = Regex(
    rf"(?i)\b(?:{_SERIES}|set-?up|preparation|installation|configuration|deployment|validation|verification|checks?"
    r"|checklist|test(?:s|ing)?|clean-?up|escalation|investigation|diagnosis|mitigation|resolution|review|analysis"
    r"|communication|monitoring|actions?|instructions?|response|triage|assessment)\W*$"
)
"""Match a heading for a usual part of a procedure or of a page about an incident, by its first or last word."""
_WORDS = Regex(r"[a-z]+")

_NEAR = 3  # the most places between the titles of two choices
_FEWEST = 3  # the fewest items of a list that are the next headings


def are_unordered(title: str, sections: Sequence[Section]) -> bool:
    """Return whether sections with commands are tasks side by side, not a sequence; `title` is the heading above."""
    if any(section.is_numbered for section in sections):
        return False
    if words.is_procedure(title) or words.is_sequence(title):
        return False
    verbs = [section.title.partition(" ")[0].lower() for section in sections]
    once = Counter(verbs)
    steps = sum(words.is_step(one.title) and once[verb] == 1 for one, verb in zip(sections, verbs, strict=True))
    texts = (text for one in sections for text in (one.title, *(piece.plain for piece in one.pieces[:1])))
    order = steps + 2 * sum(map(words.is_ordered, texts))  # a case may be part of a sequence
    count = len(sections) - (sum(words.is_case(section.title) for section in sections) + 1) // 2
    return count > 1 and (words.is_manual(title) or order * 2 < count)


def tasks_apart(title: str, sections: Sequence[Section], *, is_page: bool, is_choice: bool) -> set[int]:
    """Return the lines of headings side by side that show no order: no number, and no usual part of a procedure.

    `title` is the heading above them, which may announce steps, unless it is the title of a page, or some are choices.
    """
    is_one = _is_one_task(title) if is_page else _STEPS.search(title)
    announces = _STEPS.fullmatch(title) or (words.is_check(title) and not is_page) or is_one
    aside = {one.line for one in sections if _ASIDE.match(one.title)}
    aside |= {one.line for one in sections if aside and _USUAL.match(one.title)}
    verbs = {
        one.line: _WORDS.findall(one.title.lower().replace("-", ""))[:1] for one in sections if not one.is_numbered
    }
    pairs = [pair for pair in _OPPOSED if all([verb] in verbs.values() for verb in pair)]
    aside |= {line for line, verb in verbs.items() if any({*verb} & {*pair} for pair in pairs)}
    if not is_choice and (announces or title.lower().endswith("checklist")):
        return aside
    ends = Counter(end for one in sections for end in {*_ends(one.title)})
    free = {one.line for one in sections if not _has_place(one, ends)}
    symptoms = [one for one in sections if _asks_itself(one.title) and not words.condition(one.title)]
    return aside | free if len(free) > 1 or symptoms else aside


def _is_one_task(title: str) -> bool:
    """Return whether the title of a page is one instruction, such as `Deploy the Shop`, not `Back up and Restore`."""
    return bool(words.imperative(title, purposes=False)) and _SEVERAL.search(title) is None


def _has_place(section: Section, ends: Counter[str]) -> bool:
    """Return whether a heading has a number or a condition, or is the only part of a procedure with its name."""
    title, below = section.title, section.pieces[0].plain if section.pieces else ""
    if section.is_numbered or words.is_ordered(title) or words.is_reference(title) or words.is_rollback(title):
        return True
    if (_SEQUEL.match(below) and not below.lower().startswith("first")) or _asks_itself(title):
        return True
    return is_part(title) and (bool(_LOOKS.match(title)) or max(ends[one] for one in _ends(title)) < 2)


def is_part(title: str) -> bool:
    """Return whether a heading is a usual part of a procedure, such as Verification."""
    named = _PART.match(title) or _LAST_PART.search(title)
    return named is not None or words.is_procedure(title) or words.is_check(title)


def routes(root: Section) -> frozenset[str]:
    """Return the numbers of steps to which a result leads, such as `2b`: a text or table with several, or a letter."""
    found = [{*map(str.lower, _ROUTE.findall(piece.plain))} for one in every(root) for piece in one.pieces]
    return frozenset(number for one in found for number in one if len(one) > 1 or not number.isdecimal())


def labels_of_cases(pieces: Sequence[Piece]) -> dict[int, str]:
    """Return the bold labels of cases side by side by line, and "" for each text that moves on below the last one."""
    found = {one.line: match[1] for one in pieces if one.kind == "text" and (match := _BOLD.match(one.text))}
    cases = {line: label.rstrip(":. ") for line, label in found.items() if _is_case_label(label.rstrip(":. "))}
    if len(cases) < 2 or len(cases) * 2 <= len(found):
        return {}
    below = [one for one in pieces if one.kind == "text" and one.line > min(cases) and one.line not in cases]
    ends = [one.line for one in below if words.moves_on(one.plain) or one.text.startswith("**")]
    return cases if not ends or ends[0] < max(cases) else cases | dict.fromkeys(ends, "")


def _is_case_label(label: str) -> bool:
    if words.is_ordered(label) or is_part(label) or words.is_reference(label) or _DIGIT.match(label):
        return False
    return not (words.acts(label) or words.announces_output(label) or words.is_fact(label) or NOTICE.match(label))


def _asks_itself(title: str) -> bool:
    return words.is_case(title) and not words.is_variant(title)


def _ends(title: str) -> tuple[str, str]:
    """Return the starts of the first and last word of a title."""
    found = _WORDS.findall(title.lower()) or [""]
    return found[0][:5], found[-1][:6]


def choices(above: Section, sections: Sequence[Section]) -> set[int]:
    """Return the lines of headings for one of several choices or causes, below the heading `above`."""
    is_cases = words.offers_cases(above.title)
    free = [one for one in sections if not (words.is_ordered(one.title) or (one.is_numbered and not is_cases))]
    with_code = {one.line for one in free if is_cases and any(piece.has_code for piece in one.pieces)}
    free = [one for one in free if one.is_numbered or one.line in with_code or not words.is_reference(one.title)]
    causes = [one for one in free if not words.acts(one.title)]
    is_choice = any(words.offers_ways(piece.plain) for piece in above.pieces[-1:] if piece.kind == "text")
    is_choice |= is_cases or (len(causes) * 2 > len(free) and words.is_remedy(above.title))
    is_choice |= sum(any(_USE_WHEN.match(piece.plain) for piece in one.pieces[:1]) for one in free) * 2 > len(free)
    if len(free) > 1 and is_choice:
        return {one.line for one in free if not words.names_steps(one.title)}
    parallel = alternatives([one.title for one in free])
    procedures = [one for one in causes if not (words.names_steps(one.title) or words.is_reference(one.title))]
    procedures = [one for one in procedures if not (words.is_stage(one.title) or _PART.match(one.title))]
    listed = sum(map(_has_steps, procedures))
    others = sum(not (words.is_reference(one.title) or words.names_steps(one.title)) for one in sections)
    if listed > 1 and listed * 2 > others:
        return {one.line for one in procedures}
    return {one.line for one in free if one.title in parallel}


def _has_steps(section: Section) -> bool:
    """Return whether a section has a numbered list of instructions."""
    lists = (piece.pieces for piece in section.pieces if piece.kind == "list" and piece.info == "1")
    return sum(words.acts(item.plain) for items in lists for item in items) > 1


def alternatives(titles: Sequence[str]) -> set[str]:
    """Return the titles side by side that differ in one part, such as `Local mode` and `Remote mode`."""
    near = ((title, titles[max(at - _NEAR, 0) : at + _NEAR + 1]) for at, title in enumerate(titles))
    return {title for title, others in near if any(_are_parallel(title, other) for other in others)}


def _are_parallel(title: str, other: str) -> bool:
    """Return whether two titles name two choices, such as `With pip` beside `From source`, or `Cause: full disk`."""
    one, two = title.lower().split(), other.lower().split()
    shared = sum(takewhile(bool, map(eq, one, two)))
    if not one or not two or shared in (len(one), len(two)):
        return False
    if one[-1] == two[-1] and words.is_way(title) and not any(map(words.acts, (title, other))):
        return True
    if shared and one[shared - 1][-1] in ":—–":
        return not any(words.acts(" ".join(rest[shared:])) for rest in (title.split(), other.split()))
    starts = {shared, shared if words.is_step(title) else max(shared - 1, 0), max(shared - 1, 1)}
    return any(all(words.is_variant(" ".join(rest[at:])) for rest in (one, two)) for at in starts)


def asks(section: Section) -> bool:
    """Return whether a text or an item of a section has an instruction, also behind a condition."""
    found = (inner.plain for piece in section.pieces for inner in piece.all() if inner.kind == "text")
    asked = (words.case_of(one)[1] for text in found for one in words.sentences(text))
    return any(words.demands(one) and not one.startswith("See ") for one in asked)


def is_by_hand(section: Section) -> bool:
    """Return whether the text of a section asks for several tasks of a person, such as to click something."""
    return sum(map(words.is_by_hand, (one for piece in section.pieces for one in words.sentences(piece.plain)))) > 1


def is_overview(items: Sequence[Piece], headings: Sequence[frozenset[str]]) -> bool:
    """Return whether half of the items of a list are the next headings, given as their `stems`, in their order."""
    if len(items) < _FEWEST:
        return False
    count = start = 0
    for item in items:
        own = stems((words.sentences(item.plain) or [""])[0])
        least = min(len(own), 6)
        same = (at for at, one in enumerate(headings[start:], start) if len(one & own) * 3 >= max(len(one) * 2, least))
        if (at := next(same, None)) is not None:
            count, start = count + 1, at + 1
    return count >= _FEWEST and count * 2 >= len(items)


def stems(title: str) -> frozenset[str]:
    """Return the starts of the words of a title that have a meaning."""
    return frozenset(word[:5] for word in _MEANING.findall(_SEQUEL.sub("", title).lower()))


def has_instructions(section: Section) -> bool:
    """Return whether most items of the lists of a section are instructions, or half if one has a list inside."""
    items = [item for piece in section.pieces if piece.kind == "list" for item in piece.pieces]
    items = [item for item in items if not words.forbids(item.plain)]
    opening = [(words.sentences(item.plain) or [""])[0] for item in items]
    count = sum(bool(words.instruction(one)) and not words.is_fact(one) for one in opening)
    is_nested = any(inner.kind == "list" for item in items for inner in item.pieces)
    return count > 1 and count * 4 >= len(items) * (2 if is_nested else 3)


def are_samples(root: Section) -> bool:
    """Return whether most blocks of a page are examples, and nothing joins them to a procedure."""
    leads = [lead for section in every(root) for lead in _leads(section.pieces)]
    count = sum(_OFFERS.search(lead) is not None for lead in leads)
    is_sure = count > 1 or not any(map(words.instruction, leads))
    return is_sure and count * 2 > len(leads) and not has_order(root)


def is_diary(title: str, root: Section) -> bool:
    """Return whether a page is a report of the past: a date in the title, or mostly sentences such as `We tried it`."""
    if _DATED.match(title):
        return not any(map(_has_steps, every(root)))
    pieces = (inner for section in every(root) for piece in section.pieces for inner in piece.all())
    found = [one for piece in pieces for one in words.sentences(piece.plain)]
    count = sum(_PAST.match(one) is not None for one in found)
    tasks = [item for one in every(root) for piece in one.pieces for item in piece.pieces if item.info == "[ ]"]
    if len(tasks) > _FEWEST and sum("[x]" in item.text[:8].lower() for item in tasks) * 2 > len(tasks):
        return True
    return count > 3 and count > sum(words.demands(one) for one in found)


def has_order(root: Section) -> bool:
    """Return whether a section of a page has an order."""
    return any(map(_has_order, every(root)))


def every(section: Section) -> Iterator[Section]:
    """Yield a section and all below it."""
    yield section
    for child in section.children:
        yield from every(child)


def in_order(title: str, sections: Sequence[Section]) -> set[int]:
    """Return the lines of the headings side by side that are steps: `Step 1`, or a number among instructions."""
    numbered = [section for section in sections if section.is_numbered]
    count = sum(words.is_order(section.title, is_numbered=True) for section in numbered)
    is_sequence = words.is_sequence(title) or count * 2 >= len(numbered)
    steps = sections if words.is_incident(title) else numbered if is_sequence else []
    return {one.line for one in steps} | {one.line for one in sections if words.is_ordered(one.title)}


def is_looked_up(title: str) -> bool:
    """Return whether a heading is above text for some readers, such as Known issues and gotchas."""
    return _LOOKED_UP.fullmatch(title) is not None


def _leads(pieces: Sequence[Piece], above: str = "") -> Iterator[str]:
    """Yield the text above each block, or "" if another block is directly above it."""
    for piece in pieces:
        if piece.kind == "code":
            yield above
            above = ""
        elif piece.pieces:
            yield from _leads(piece.pieces, above)
            above = ""
        else:
            above = piece.plain or above


def _has_order(section: Section) -> bool:
    """Return whether a section is numbered, announces steps, has an ordered list, or a word such as `Then`."""
    if section.is_numbered or words.is_procedure(section.title) or words.is_ordered(section.title):
        return True
    pieces = [inner for piece in section.pieces for inner in piece.all()]
    listed = (piece.pieces for piece in pieces if piece.kind == "list" and piece.info == "1")
    is_listed = not all(words.is_fact(item.plain) for items in listed for item in items)
    plain = (piece.plain for piece in pieces if piece.kind == "text")
    return is_listed or any(_SEQUEL.match(one) for text in plain for one in words.sentences(text))


def label_of(text: str) -> str:
    """Return the bold text at the start of an item, which is its title unless it is a condition, or ""."""
    found = _LABEL.match(text)
    label = markup.cut(_LABEL_MARKUP.sub("", found["label"])) if found and found["label"][0] != "`" else ""
    label = f"{label[:-1]}: done?" if label.endswith("?") else label  # the answer NO would stop the run
    return markup.capital(label) if " " in label and not words.condition(label) else ""


def short_leads(pieces: Sequence[Piece]) -> Iterator[str]:
    """Yield each short text directly above a command, also in list items."""
    for piece, below in zip_longest(pieces, pieces[1:]):
        if piece.kind == "text" and below and is_command(below) and len(piece.plain.split()) <= words.MOST_OF_VARIANT:
            yield piece.plain
        yield from short_leads(piece.pieces)


def is_command(piece: Piece) -> bool:
    """Return whether a piece is a block with a command, to run or to show."""
    return piece.kind == "code" and read_block(piece.info, piece.text).kind in {"run", "show"}


# --- The limits of a command, and a command in a sentence ------------------------------------------------------------

CODE_SPAN = Regex(r"(?<!`)`([^`\n]+)`(?!`)")
_ASKS_TO_RUN = Regex(r"(?i)\b(?:run|running|execute|type|enter|use|issue|invoke|start|call)\b")
_BY_MEANS = Regex(r"(?i)\b(?:using|with|via|by):?\s+`")
_LAST_SPAN = Regex(r"(?:^\*\*[^*\n]+\*\*|:)\s+`[^`\n]+`\.?(?=\s*(?:\n|$|[→—–]|[-=]>))")
_ONLY = Regex(r"(?:\W*\w+(?: \w+){0,2}\W*:\W*)?`[^`\n]+`\.?")
_FORBIDS_SPAN = Regex(r"(?i)\b(?:never|avoid|instead of|rather than|(?:do|must|should)(?: not|n['’]t))\b[^.;:]{0,80}`")
_EXPLAINED_SPAN = Regex(r"`[^`\n]+` (?:also )?[a-z]+s\b")
COMMENT = Regex(r"(?m)(?:^[ \t]*#+[ \t]*|(?<=[ \t])#+[ \t]+)([^\n]+)")
_BRANCHES = Regex(r"(?m)^[ \t]*(?:if|for|while|until|case|select)[ \t]")


ENDS_OPEN = Regex(r"(?i)\b(?:instead of|rather than|and not)\W*$")  # it needs the command below it
_RULED_OUT = Regex(
    r"(?i)^\W*(?:please )?(?:do(?: not|n['’]t)|never|avoid (?:doing|running|using))\b"
    r"(?! (?:forget|hesitate|panic|worry)\b)|\((?:deprecated|obsolete|outdated)\)\W*$"
    r"|^\W*(?:you|we|these|this(?: (?:commands?|scripts?))?|the (?:(?:following|next|above) )?(?:commands?|scripts?))"
    r"(?: below)? (?:must|should|may)(?: not| never|n['’]t) (?:be )?(?:do|done|executed?|run|used?)\b"
    r"|^\W*(?:it|the|this|these|here)\b[^.,]{0,60} (?:must|should|may) (?:not|never) be (?:executed|run|used)\W*$"
    r"|^\W*(?:the|this|these)\b[^.,]{0,60} (?:is|are) (?:now )?(?:wrong|deprecated|obsolete)\b[^,;:]*\W*$"
    r"|^previously(?: (?:we|you|it|this|the)\b|\W*(?:[,:]|$))"
    r"|^\W*(?:wrong|bad|deprecated|obsolete|outdated)(?: way| example)?\W*?(?:[:\])]|$)"
)
"""Matches a sentence or a heading that forbids something, or is about a wrong or an old way."""
_NOT_TO = r"(?i)(?:\b(?:not|never)|n['’]t) (?:\w+ )?"
_USES = Regex(rf"{_NOT_TO}(?:do|execute|run|use)\b")
_FORBIDS = Regex(rf"{_NOT_TO}(?:do|execute|run|use (?:it|th(?:is|[eo]se|at|em)|the following))\b|\b(?:this|these):\W*$")


def rules_out(*plain: str, code: str = "", heading: str = "") -> bool:
    """Return whether the last sentence of plain text that asks for something forbids it, or is about a wrong way.

    In the heading above them, or behind an instruction, a sentence may forbid something else than `code`.
    """
    # a text behind a colon is in the same sentence, unlike in words.sentences: `Never do these: stop it.`
    found = [one for text in (heading, *plain) for one in re.split(r"(?<=[.!?])\s+", text)]
    for at, one in reversed([*enumerate(found)]):
        earlier = " ".join(found[:at])
        if _RULED_OUT.search(one) or _RULED_OUT.search(words.case_of(one)[1]) or ENDS_OPEN.search(one):
            if _is_about(one, earlier, code) or not (heading or words.instruction(earlier)):
                return not words.is_gate(one)
        elif words.instruction(one):
            return False
    return False


def _is_about(sentence: str, earlier: str, code: str) -> bool:
    """Return whether a sentence that rules something out is about a command: it has words that only `code` has."""
    if not forbids_thing(sentence) or _USES.search(sentence):
        return True
    old = {*re.findall(r"\w{4,}", earlier.lower())}
    own = {*re.findall(r"\w{4,}", sentence.lower())} - {*old, "from", "never", "with"}
    is_old, is_own = (any(one in code.lower() for one in each) for each in (old, own))
    is_harm = words.does_harm(sentence) and not words.does_harm(earlier) and read_block("bash", code).harm
    return bool(is_harm and (sentence[-1:] == ":" or not is_old)) or (is_own and earlier != "")


def forbids_thing(text: str) -> bool:
    """Return whether plain text forbids something else than to run commands, such as `Do not use the root account`."""
    return words.forbids(words.case_of(text)[1]) and not _FORBIDS.search(text)


def next_case(case: str, pieces: Sequence[Piece], choices: set[str]) -> int:
    """Return the place of the first text below a command that is about another case, or the number of pieces."""
    commands = [runs_span(one) or any(map(is_command, one.all())) for one in pieces]
    plain = [one.plain if one.kind == "text" else "" for one in pieces]
    cases = [one in choices or bool(words.condition(one)) for one in plain]
    above, is_apart, is_inside = 0, True, False
    for at, one in enumerate(pieces):  # if a command has no condition, those above it may be inside the case
        above = above if one.kind == "code" else at
        is_apart &= not commands[at] or cases[above] or not any(commands[:above])
    for at, text in enumerate(plain):
        if any(commands[:at]):
            is_case = cases[at] and any(commands[at : at + 2])
            is_other = words.is_other_case(text) and not is_inside
            if is_other or (is_case and (is_apart or text in alternatives([case, text]))):
                return at
            is_inside |= is_case
    return len(pieces)


def limited(block: Block, near: Sequence[str], *, is_ruled_out: bool) -> Block:
    """Return a block, only shown if the text above it or its comments let it not run."""
    if block.kind != "run":
        return block
    comments = COMMENT.findall(block.code)
    if is_ruled_out or any(map(rules_out, comments)):
        return replace(block, kind="show", why="the page rules the command out")
    names_case = not _BRANCHES.search(block.code) and any(map(words.names_case, comments))
    why = next(filter(None, (why_limited(one, block.code) for one in (*near, *comments))), "")
    why = why or ("a comment in it names a case, an example or a task" if names_case else "")
    return replace(block, kind="show", why=why) if why else block


def why_limited(text: str, code: str) -> str:
    """Return why a text beside a command lets it not run, or ""."""
    if words.is_for_others(text):
        return "the text is about another person or machine"
    if words.asks_to_replace(text) and not (found := find(code, ())).names and not found.reads:
        return "the text asks to replace a part of it"
    return "the text limits the command, or expects it to fail" if words.is_limited(text) else ""


def runs_span(piece: Piece) -> bool:
    """Return whether a text or an item asks to run the one command in its sentence."""
    if piece.kind == "item":
        return len(piece.pieces) == 1 and runs_span(piece.pieces[0])
    is_text = piece.kind == "text" and piece.info == "Paragraph" and piece.text[:1] != "|"
    is_other = words.is_automatic(piece.plain) or rules_out(piece.plain) or _EXPLAINED_SPAN.match(piece.text)
    if not is_text or is_other or _FORBIDS_SPAN.search(piece.text):
        return False
    if _ONLY.fullmatch(piece.text) and is_command_span(piece.plain.rpartition(": ")[2]):
        return True
    around = CODE_SPAN.sub("", piece.text)
    is_end = _LAST_SPAN.search(piece.text) is not None and not words.is_fact(piece.plain)
    is_means = words.imperative(piece.plain) and _BY_MEANS.search(piece.text)
    if not (_ASKS_TO_RUN.search(around) or is_end or is_means):
        return False
    return len([code for code in CODE_SPAN.findall(piece.text) if is_command_span(code)]) == 1
