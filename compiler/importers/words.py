"""The words of procedures in English: instructions, conditions, facts, and headings with a usual meaning."""

import re
from collections.abc import Callable
from functools import partial

from compiler.importers.markup import VERBS
from compiler.text.regex import Regex

MOST_OF_VARIANT = 8  # the most words of a text that only names a way


def _test(method: str, pattern: str) -> Callable[[str], bool]:
    regex = Regex(pattern, re.IGNORECASE)
    return lambda text: getattr(regex, method)(text) is not None


_has, _opens, _fits = (partial(_test, method) for method in ("search", "match", "fullmatch"))
"""Each returns a function that returns whether plain text has, starts with or is a pattern, in lower or upper case."""

_BEFORE = Regex(
    r"(?i)(?:(?:please|then|now|next|first|second|third|finally|lastly|afterwards|also|and|again|instead|just|simply"
    r"|actually|to start|manually|step \d+|\d+|let's|(?:you|we)['’]ll|(?:you|we) (?:can|should|must|may|need to|have to"
    r"|will need to|will|could|want to)(?: now| then| also)?|(?:use|run|execute|issue|type|try)"
    r" (?:the|this|these) (?:following |same )?(?:commands?|scripts?)(?: below)? to)[,:.)]?\s+)+"
)
_WORD = Regex(r"[A-Za-z]+(?![\w(])")
forbids = _opens(r"\W*(?:please )?(?:do(?: not|n['’]t)|never)\b")
_PURPOSE = Regex(
    r"(?i)(?:in order )?to (?>(?:(?:actually|just|simply) )?)"
    r"(?P<what>(?!\w+ (?:this|so|that|it)\b|(?:the|an?|th[aeio]\w+|your|our|each|all|any)\b)[a-z].*?)"
    r"(?:,|:|\.|$|\s(?:(?:you|we)\b|run\b|use\b|execute\b|type\b|do\b|with\b)).*"
)
_VAGUE = Regex(r"(?:in order )?to \w+ (?:this|so|that|it),\s+(?:first,?\s+)?", re.IGNORECASE)
_TAIL = Regex(
    r"(?i),?\s+(?:by (?:running|executing|using|issuing)|with|using|by|as|via|like|in|below)?"
    r"(?: ?(?:the|this) (?:following )?commands?|the following)?\W*$"
)
is_vague = _fits(
    r"\W*(?:actually|change|check|do|execute|fix|install|make sure|re-?use|run|set|start|try|type|use|write)?"
    r"(?: (?:so|it|this|that|them|these|now|(?:the|this|these) (?:following|above|next|same)(?: \w+){0,2}"
    r"|(?:the|this|these|following) (?:commands?|scripts?|code|lines?|snippet|below)))?"
    r"(?: (?:again|to a new|to|in|(?:in|from) (?:the|your|an?) [\w -]+))?\W*",
)
"""Whether a title doesn't say what to do, such as Run this."""
_CLAUSE = Regex(r",\s+(?:so|then|and then)\s+|;\s+|\s+[–—]\s+")
_SYSTEMS = (
    r"(?:linux|mac ?os(?: x)?|mac|windows|wsl|ubuntu|debian|fedora|rhel|centos|red hat|suse|alpine|arch|free ?bsd|aws"
    r"|gcp|azure|eks|gke|aks|openshift|minikube|homebrew|conda|pip|docker|podman|helm)"
)
_VARIANT = Regex(
    rf"(?is)(?:(?:(?:using|with|without|via|by)(?! default)|examples?|(?:option|method|variant|approach) (?:\w\b|\d))\b"
    rf"|(?:on|for|from) (?:non-)?(?:sources?\b|{_SYSTEMS}\b)|\("
    rf"|{_SYSTEMS}(?:(?:,? and|,? or|,| /) {_SYSTEMS})*\W*(?:\(.*\)\W*)?$"
    r"|(?:major|minor|patch|hot-?fix)(?:\W+(?:and |or )?(?:major|minor|patch))* (?:release|version)s?\W*$).*"
    rf"|.*\([^)]{{0,200}}\b(?:{_SYSTEMS}|fallback|last resort)\b[^)]{{0,200}}\)"
)
"""Matches a heading, or a short text above a block, for one of several ways."""

_LABEL = Regex(r"([^:—–]*?)\s*(?::|[—–])\s")
_NAMED = Regex(r"(?P<label>[^:—–.]{3,60}?)\s*(?P<mark>[—–]|[:.](?=\s|$)|$)")
_STAGE_END = Regex(r"(?i).*\b(?:note|example|step|check|test|verification|backup|result|output|gate|report)s?")
_OLDER = Regex(r"(?i)\bprior to\b(?! \w+ing\b)[^.:,]{,80}?\bversions?\b(?: v?\d(?:[\w.]*\w)?)?")  # versions

_PLACES = r"(?:servers?|nodes?|hosts?|machines?|vms?|instances?|bastion|controllers?|workers?|masters?|containers?|box)"
names_machine = _has(
    r"\b(?:log(?:ging)? ?in|ssh(?:ing)?|connect(?:ing)?|rsh|exec) ?(?:in)?(?:to|as)\b|\bssh \S+@"
    r"|\bruns? (?:\w+ )?on (?:the )?(?:receiver|sender|other|source|target|remote|their)\b|(?:^|[.:;] )on [a-z]{3,}\d"
    rf"|(?:^|[.:;]\s)on (?:[\w-]+ ){{0,2}}(?:hosts|machines|nodes|servers)\b"
    rf"|\b(?:on|inside|within|from) (?:the|a|each|every|all|any|both|one of the)(?: [\w-]+){{0,3}} (?:{_PLACES}|pod)\b"
    r"|\b(?:run|execute|enter)\b.{0,200}\bin (?:the|a|each|every|all)(?: [\w-]+){0,3} (?:containers?|pods?)\b",
)
"""Whether plain text is about commands on another machine, or in a container."""
enters_machine = _has(
    rf"\bssh(?:ing)? (?:(?:in)?to\b|\S+@)|\bexec ?into\b|\blog ?in as\b"
    rf"|\b(?:log ?in|log ?on|connect) ?(?:in)?to\b[^.]{{0,80}}\b(?:{_PLACES}|pods?|ssh)\b",
)
"""Whether plain text asks to open a shell on another machine."""
_EXAMPLE = Regex(
    r"(?i)\b(?:examples?|fall-?back|alternative)\b|^for (?!each|every|all\b)|\bonly(?: (?:after|once)\b|\W*$)"
    r"|^(?:or|option \w)\b|\bthen(?: [^.]*)?:$|\bthen$|\bin (?:another|the (?:other|source|target)) \w"
    r"|^run (?:only|specific|a single)\b|\b(?:a|with) (?:custom|specific)\b|^(?:custom|default)\b"
)
_KIND = (
    r"(?:python|(?:java|type)script|node(?:\.?js)?|go|rust|java|ruby|npm|yarn|pnpm|bun|uv|poetry|bash|zsh|\w+-?repo)"
)
_KINDS = Regex(rf"{_KIND}(?:(?:,? (?:and|or)|,|/| /) ?{_KIND})*\b(?: \w+)?\W*(?:\(.*\)\W*)?", re.IGNORECASE)
_FOR = Regex(
    r"(?is)for (?!(?:th[ai][ts]|th[eo]se|now|it|each|every|all|both|the following|more|further)\b)"
    r"[^,.:]+(?:, (?:use|run|try)\b.*)?:"
    r"|(?:for|from|in|inside) an? (?![^,:]*\b(?:terminal|shell|window|tab|browser|director\w+|folder|editor)\b)"
    r"[^,.:]+(?::|,.+)|in (?:[\w-]+ ){1,2}mode[,:].*|for (?!each|every|all\b)[^.:]+, also .*|or\b.*"
    r"|for (?!each|every|all\b)[^,.:]*\b(?:that|which|whose|with(?:out)?)\b[^,.:]*, .+"
)
"""Matches a text that only names a case, such as `For a new cluster:`."""
opens_with_condition = _opens(r"(?:if|when(?! \w+ing\b)|unless|in case)\b")
"""Whether plain text starts with a condition."""
is_other_case = _opens(r"(?:or )?(?:otherwise|else|if not)\b")
"""Whether plain text is about the case that a condition above it leaves out."""
routes_no = _has(r"(?:^|[\n.?!:])\W*(?:no\W*[:,→—–=-]|(?:or )?(?:otherwise|if not|else)\b)")
"""Whether Markdown says what to do if the answer to its question is no, which would stop a run."""
is_way = _fits(
    r"[^:]*\b(?:ways?|modes?|procedures?|work ?flows?|approach|methods?|paths?|install|builds?|restart|roll ?backs?"
    r"|restores?|recovery|backups?|deployments?)\W*"
)
"""Whether a heading ends with a word for a way, which is one of several if another heading beside it does so, too."""
_INDIRECT = Regex(
    r"(?i)\b(?:check\w*|see|verif\w+|determine|know|test|find out|ask|confirm|decide|sure|validate|shows?|indicates?"
    r"|identify|even|as)\s+(?:\w+\s+)?(?:if|when|whether)\b|\bsomething else\b|\bwhat to do if\b"
    r"|\bif\b[^.]{0,200}\bor not\W*$"
)
"""Matches words like a condition that no command depends on, such as `check if`."""

_CONDITION = Regex(
    r"(?i)\b(?:if|when|whenever|unless|otherwise(?!,? (?:continue|proceed)\b)|alternatively|as an alternative"
    r"|optionally|could try|optional(?! (?:\w+ )?(?:dependenc|argument|parameter|flag|field|feature|setting|extra)\w*)"
    r"|(?:may|might)(?: also)? (?:try|want|need)|in case|instead(?! of)|either|another (?:way|option|possibility)"
    r"|you can also|only for|(?<!, )(?<!\()for (?:example|instance)|in the event|as a last resort|depending on"
    r"|something like|troubleshoot\w*)\b"
    r"|\b(?:prior to|before|since|until|as of|new in|(?:older|newer|earlier|later) than)(?: [\w.-]+)? versions? v?\d"
    r"|\b(?:to|or) (?:\w+ ){0,4}(?:manually|by hand)\b"
    r"|\bto (?:\w+ ){1,8}(?:further|even more)\b|\bfor (?:example|instance)[^.,]{0,200}:$"
    rf"|\bon {_SYSTEMS}\W*$"
)
is_for_others = _has(
    r"\b(?:they|the users?) (?:should |must |can |then )?runs?\b(?!:? out)|\bon the laptop\b"
    r"|\bon (?:their|his|her) (?:\w+ )?(?:computers?|laptops?|machines?)\b|\b(?:from|via) (?:\w+ ){0,2}bastion\b"
)
"""Whether plain text is about a command that another person runs, or that runs on another machine."""
asks_to_replace = _has(r"\breplace\b.{0,80}\b(?:with|by) (?:your|the|its|each)\b|\breplace with\b")
"""Whether plain text asks to replace a part of a command."""
is_limited = _has(
    r"\b(?:skip|ignore|omit) (?:this|the (?:above|previous|last))\b"
    r"|\b(?:this|the (?:above|previous)) (?:step|command|part)?\s?is (?:only|optional|not (?:needed|required))\b"
    r"|\bonly (?:necessary|needed|required|run (?:this|it)|do this|use this)\b|\bexpected\W+fail"
    r"|\b(?:should|will|must|expected to) (?:now )?fail\b|\bif (?!not\b)[\w-]+(?: [\w-]+){0,2} already exists?\b",
)
"""Whether plain text below a command has a condition for it, or expects it to fail."""
_IF = Regex(
    r"(?is)(?:.*?[.:;]\s+)?(?P<word>if|when|unless|in case|once)\s+(?P<case>(?:\([^()]*\)|[^.(])+?)"
    r"(?:,|\s(?:→|[-=]>))\s+(?:then\s+)?(?P<rest>.+)"
)
_TRAILING = Regex(
    r"(?i)(?P<rest>.+?),?\s+(?:but\s+)?(?:only\s+)?(?P<word>if|when|unless|in case)\s+(?P<case>[^,:;]+?)[.:;]*"
)
_SYMPTOM = Regex(
    r"(?i)\b(?:not \w+|failed to|fails|failing(?= to\b|\W*$)|missing|cannot|can['’]t|won['’]t|is down"
    r"|unable to|refused|^(?:corrupt\w*|lost|failed|broken|expired|stuck|wrong|unavailable))\b"
)
_CASE = Regex(
    r"(?i)^[^→]*(?:→|➜|[-=]>)[^→]*$|\(`?--\w|\bmode\b(?: workflow)?\s*[(:—–]"
    r"|^step \w+: (?!(?:check|choose|detect|determine|select)\b).*\bmode\b"
    r"|^(?:step \w+: )?(?:issue|problem|scenario|(?:use )?case|(?:root )?cause|error|erreur|symptom|procedure(?= \d))\b"
    r"[^:—–-]*[:—–-]"
)
"""Matches a heading for a case, such as `Disk full -> free it`."""

_LISTS = r"(?:command|option|flag|invocation|example|recipe|tip|use case|how[ -]?to)s|synopsis|reference|cheat ?sheet"
is_manual = _has(rf"\b(?:{_LISTS}|faq)\W*$")
"""Whether a heading is above tasks to look up, which have no order, such as Commands."""
is_stage = _fits(r"\W*(?:(?:\w+ )?workflow|dependencies|pre-?req\w*|install\w*|(?:setting |set-?)up\b.*)")
"""Whether a heading beside tasks names a stage of the page, such as Workflow."""
_STAGE = Regex(r"(?:quick ?start|\w+ation|set-?up|clean-?up|testing|building|before .*|pre-?requisites)", re.IGNORECASE)
_OBJECT = Regex(r"\s(?:the|an?|your|all|each|any|that|in|from|to|into|with|and)\s", re.IGNORECASE)
is_ordered = _opens(
    r"(?:\W*(?:\w+ )?(?:step|phase|stage|part|day|étape|schritt) (?:\d\w*|[a-z]|[ivx]+|one|two|three|four|five)"
    r"|first(?![ -](?:time|deploy\w*|install\w*|run|set-?up|start)\b)|second|third|then|next|now|once|finally|lastly"
    r"|after|before)\b",
)
"""Whether a heading, or a text below it, has a place in an order."""
is_in_series = _has(r"(?:^|[.,:;]\s+)(?:and )?(?:first|second|third|then|next|finally|lastly)\b")
"""Whether plain text asks for one of several things in an order."""

_DESCRIBES = Regex(
    r"(?i)(?:(?P<subject>[\w.-]+) )?(?P<verb>[a-z]+s) "
    r"(?:the|an?|each|every|all|any|its|your|this|that|whether|through|over)\b"
)
_PERSON = Regex(r"(?!(?:The|An?|This|It|Its|Each)\b)[A-Z][\w()/-]*(?: [A-Z][\w()/-]*)* (?P<verb>[a-z]+?)(?:es|s)\b")
is_sequence = _has(
    r"\b(?:steps|work ?flow|proc[eé]dure|process|protocol|phases|sequence|order|plan|(?:run|play) ?book|tutorial"
    r"|getting started|quick ?start)"
)
"""Whether a heading announces steps in an order, even if they are nouns."""
_GERUND = Regex(r"(?!staging \w+\W*$)(?P<stem>[a-z]+)ing\s+\w", re.IGNORECASE)

is_statement = _opens(
    r"(?:the|a|an|this|that|these|those|it|its|they|there|you|your|we|our|i|he|she|each|every|some|all|both)\b"
)
"""Whether plain text starts with an article or a pronoun."""
_DEMAND = Regex(r"before [^.,]+, (?P<what>(?P<verb>state|explain|answer|summarize)?.+)", re.IGNORECASE)
_IS = Regex(r"(?i)(?!(?:if|when|once|unless|after|before)\b)(?:[\w.'/-]+ ){1,4}(?:is|are|was|has|have|will be)\b")
obliges = _has(r"\b(?:must|need to|needs to|have to|has to)\b")
"""Whether plain text names a duty."""
_EACH = Regex(r"(?P<verb>[a-z]+) (?:\w+ )?each\b", re.IGNORECASE)
follows = _opens(
    r"(?:this|that|these|it|you (?:should|will|can|may|might)|the (?:output|result|command|response|above)|expected"
    r"|output|result|in this case|example output|if (?:the output|the result|you see|this|it|successful|everything))\b",
)
"""Whether plain text is about the command above it."""
announces_output = _fits(
    r"(?!.*\b(?:run|execute|type|enter|use|using)\b)\W*(?:(?:the|an?|your|and) )*"
    r"(?:(?:expected|sample|example|typical)\b.?(?:\w+ ){0,2})?(?:output|results?|logs?|response)"
    r"(?: (?:is|are|(?<=s )in|of|from|for|looks?|should|will|may|might)\b.*)?\W*"
    r"|(?:.*\W)?(?:you|we) (?:should|will|['’]ll|may|might)(?: \w+)? (?:see|get)\b(?!.*\b(?:run|type|use|using)\b).*",
)
"""Whether a sentence is only about the output of a command, such as `Expected output:` or `You should see`."""
is_automatic = _has(
    r"(?<!not )(?<!n['’]t )\b(?:happens?|runs?|done|executed) automatically(?: (?:when|after|on|at|in)\b[^,]*)?\W*$"
    r"|\b(?:tell|ask|instruct) .{0,40} to (?:run|execute)\b"
    r"|\b(?:tool|script|hook|agent|pipeline|job|workflow|service|bot|program|plugin) (?:\w+ly |then |will )?"
    r"(?:runs?|executes?|calls|invokes)(?: (?:these|this|the following)(?: \w+)?)?\W*$",
)
"""Whether plain text ends with commands that a program or someone else runs."""
moves_on = _opens(r"(?:and )?(?:then|next|after (?:that|this|which)|afterwards|finally|lastly|now)\b")
"""Whether plain text starts with the next thing to do, after a case above it."""
goes_on = _opens(r"(?:and|then|after (?:that|this|which)|afterwards|once|also)\b")
"""Whether plain text continues what the text above it asks to do."""
is_loop = _has(r"(?:^|[.:;,]\s+)(?:\w+ ){0,3}for (?:each|every)\b|\bone (?:at a time|by one)\b|\brepeat\b[^.]*\bfor\b")
"""Whether plain text asks to do something once for each of several things."""
is_gate = _has(
    r"\b(?:do not|don['’]t|never) (?:\w+ )?(?:proceed|continue|merge|deploy)\b[^.]*\b(?:until|unless|without|if)\b"
    r"|\b(?:wait for|ask (?:the )?user (?:to|for)) (?:\w+ ){0,3}(?:approval|confirm(?:ation)?|sign-?off|go-?ahead)\b"
    r"|\b(?:if|when|unless)\b[^.]*\b(?:stop|abort|exit)\b(?! (?:the|code|status)\b)"
    r"|\bconfirm with (?:the )?(?:user|team|owner|on-?call)\b"
)
"""Whether plain text has a condition without which the procedure stops."""
offers_ways = _has(
    r"\b(?:two|three|four|several|different|multiple|following|many)(?: \w+)? (?:approaches|ways|options|methods)\b"
    r"|\b(?:choose|pick|select|use|do) (?:one|either)\b|\bone of the (?:following|below)\b"
)
"""Whether plain text is above several ways, and a person takes one."""
_BY_HAND = Regex(
    r"(?i)(?:edit|open|modify|append|insert|paste|uncomment|click|go to|navigate|visit|press|choose|put|save|fill in"
    r"|restart|log ?in|sign in|download)\b"
    r"|(?:add|adjust|change|create|remove|replace|set|update|write)\b.*(?:\b(?:Gem|Docker|Make)?file\b|\w\.[a-z]{2,5}\b)"
)
_NEXT = Regex(r"(?i)(?:then|next|now|finally|lastly),? (?!(?:run|proceed|continue|see|use|you(?:['’]ll| will))\b)")
_MAY = Regex(r"(?:you|we) (?:can|could|may|might)\b|let's\b", re.IGNORECASE)
_ASKS = Regex(r"(?:check|verify|wait|ensure|confirm|make sure|validate|if)\b", re.IGNORECASE)
_HARM = Regex(
    r"(?i)\b(?:delete|remove|restart|reboot|stop|drain|kill|push|publish|release|deploy|purge|drop|destroy|shut ?down"
    r"|wipe|uninstall|upload|rotate|renew|terminate|revoke|failover|fail over|restore|overwrite)(?![\w./-])"
)
_LOOKS = Regex(
    r"(?i)(?:check|confirm|describe|document|ensure|find|get|identify|inspect|list|look|make sure|monitor|print|read"
    r"|record|review|see|show|test|validate|verify|view|wait)\b"
)
puts = _has(
    r"\b(?:add|adding|apply|append|change|configure|copy|create|edit|enter|execute|insert|modify|paste|put|query"
    r"|replace|run|save|set|type|update|use|write)\b",
)
"""Whether plain text asks to use the block below it."""
_END = Regex(r"(?<=[.!?:])(?<!e\.g\.)(?<!i\.e\.)(?<!etc\.)\s+")

is_rollback = _opens(
    r"(?:\d+[.)]?\s+)?(?:how to\s+)?(?:roll(?:ing)?[ -]?back|revert(?:ing)?|undo(?:ing)?|back[ -]?out)\b"
)
"""Whether a heading is for undoing a procedure."""
is_procedure = _opens(
    r"(?:diagnos\w+|mitigations?|steps?|remediation|resolution|procedure|instructions?|actions?"
    r"|(?:phase|stage|\w+ step) \d+)\b",
)
"""Whether a heading announces instructions, such as Mitigation."""
is_check = _fits(
    r"\W*+(?:(?:[\w-]+ )?(?:verification|validation|triage)|(?:re-)?verify(?: [\w-]+){0,3}"
    r"|(?:first|health|initial|immediate|post[\w-]*|pre[\w-]*|quick|sanity|smoke|final) checks"
    r"|(?:[\w-]+ )*checklist)(?: (?:after|before)\b.*)?(?:\s*\(.*\))?\W*"
)
"""Whether a heading is above things to check, even if they are facts, such as Verification."""
is_incident = _fits(r"\W*(?:diagnos\w+|mitigations?|remediation|resolution)(?: (?:steps|and\b).*)?\W*")
"""Whether a heading announces what to do about an alert."""
offers_cases = _fits(
    r"\W*(?:(?!and )[\w-]+ ){0,2}(?:causes|scenarios|options|cases|symptoms|problems|issues|errors|failures|alerts"
    r"|methods|alternatives)(?: (?:and|&) [\w ]+)?(?:\s*\(.*\))?\W*"
)
"""Whether each heading below this one is a case, such as Common causes."""
is_remedy = _fits(r"\W*(?:(?:immediate|possible) )?(?:mitigations?|remediation|resolution|fix(?:es)?|solutions?)\W*")
"""Whether headings below this one are the causes of an alert, and not its steps, if they aren't instructions."""
_EXPLAINS_WORDS = (
    r"meaning|impact|background|blast radius|purpose|scope(?: guard)?|how .* (?:is|are) (?:\w+ed|built|made)|(?:useful"
    r"|common|debug\w*|handy|helpful|monitoring) commands|cheat ?sheet|(?:non-?)?goals?|motivation|what (?:is|are)\b.*"
    r"|why\b.*|use when|when (?:not )?to .*|what .*\b(?:does|can(?:not)? do)\b.*|.* explained|problem statement"
    r"|types of .*|integration with .*|(?:pairs?|works?) with|error (?:handling|scenarios)|(?:\w+ )?(?:failure modes"
    r"|boundaries)|invariants|definitions|metrics|(?:\w+ )?rule|worked example.*|(?:usage )?examples?(?: (?!of\b)\w+)?"
    r"|change ?(?:log|history)|(?:\w+ )?overview|at a glance|mental model|open questions|anti-.*|constants"
    r"|triggers?(?: conditions)?|companion .*|prevention|lessons .*|inputs?|output (?:shape|format|description|contract"
    r"|standards?)|(?:\w+ ){0,2}(?:guard ?rails?|rules|pitfalls|gotchas|(?:safety|security) notes?|(?:best )?practices"
    r"|capabilities|features|responsibilities|criteria|principles|guidelines|constraints|limitations|tips|resources"
    r"|references?)(?: (?:summary|(?:for|on|of|to) .*))?|see also|further reading|related\b.*|glossary|license|credits"
)
_LEAD, _REST = r"\W*+(?:", r")(?:\s*\(.*\))?\W*"
is_of_program = _opens(r"\W*what (?:it|(?:this|the) \w+) does\b")
"""Whether a heading is above the actions of a program, even if they are steps."""
_explains = _fits(_LEAD + _EXPLAINS_WORDS + _REST)
is_appendix = _fits(rf"{_LEAD}(?:common )?(?:troubleshooting|problems|issues|errors)|faq{_REST}")
"""Whether a heading is above text to look up, unless the page has nothing else, such as Troubleshooting."""
is_reference = _fits(
    rf"{_LEAD}{_EXPLAINS_WORDS}|introduction|intro|description|summary|(?:table of )?contents|contact\w*"
    rf"|notes?|about\b.*|pre-?(?:requisites?|conditions?)|(?:\w+ )?requirements?|before you .*|context|severity"
    rf"|symptoms?|links|additional .*|faq|how it works{_REST}",
)
"""Whether a heading announces no instructions, such as Overview."""


def sentences(text: str) -> list[str]:
    """Return the sentences of plain text."""
    return [one for one in _END.split(" ".join(text.split())) if one]


def imperative(sentence: str, *, purposes: bool = True) -> str:
    """Return a sentence from its verb on if it is an instruction, or ""; with `purposes`, also `To list them, run:`."""
    opening = _BEFORE.match(sentence)
    rest = sentence[opening.end() :] if opening else sentence
    rest = _VAGUE.sub("", rest) if purposes else rest
    if purposes and (purpose := _PURPOSE.fullmatch(rest)):
        return purpose["what"]
    word = _WORD.match(rest)
    return rest if word and word[0].lower() in VERBS and not forbids(rest) else ""


def instruction(text: str) -> str:
    """Return the first instruction of plain text, or ""."""
    clauses = (clause for one in sentences(text) for clause in (one, *_CLAUSE.split(one)[1:]))
    found = next((found for one in clauses if (found := imperative(case_of(one)[1]))), "").partition(" (")[0]
    found = found if ")" not in found or "(" in found else ""  # a clause inside brackets
    shorter = _TAIL.sub("", found)
    return shorter if " " in shorter else found


def condition(text: str) -> str:
    """Return the condition of plain text, as the end of a question, or ""."""
    found = [one for one in sentences(text) if _CONDITION.search(_INDIRECT.sub(" ", one))]
    found = found[-1:] if found and found[-1].lower().startswith("otherwise") else found
    case = next((case_of(one)[0] or _trailing(one) or one for one in found), "")
    label = _LABEL.match(text)
    named = [one for one in (text, label[1] if label else "") if is_variant(one)]
    variant = next(iter(named + [one for one in sentences(text)[-1:] if _FOR.fullmatch(one)]), "")
    is_whole = case.count("(") == case.count(")") and (" " in case or len(case) == len(text))
    return (case if is_whole else next((one for one in found if case in one), case)) or variant


def case_of_label(text: str, *, is_label: bool) -> str:
    """Return the case that a text above a command names, such as `Blue cups — warm them`, or ""."""
    if older := _OLDER.search(text):
        return older[0]
    found = _NAMED.match(text)
    if not is_label or not found:
        return ""
    label = found["label"]
    count = len(label.split())
    if not 1 < count <= MOST_OF_VARIANT or imperative(label) or is_fact(label) or is_ordered(label):
        return ""
    is_dashed = found["mark"] in {"—", "–"} and not is_step(label) and not _STAGE_END.fullmatch(label)
    return label if is_dashed or " / " in label else ""


def is_variant(title: str) -> bool:
    """Return whether a heading or a short text above a block is about one of several ways, such as `On macOS`."""
    return len(title.split()) <= MOST_OF_VARIANT and _VARIANT.match(title) is not None


def names_steps(title: str) -> bool:
    """Return whether a heading is above steps, such as Workflow or Mitigation, not Process Settings for Servers."""
    ends = (title.partition(" ")[0], title.rpartition(" ")[2])
    return is_procedure(title) or is_ordered(title) or any(map(is_sequence, ends))


def names_procedure(title: str) -> bool:
    """Return whether the title of a page names a procedure, such as Rollback Runbook or Deploy the Shop."""
    is_named = names_steps(title) or is_sequence(title) or title.lower().endswith("checklist")
    return is_named or bool(imperative(title, purposes=False))


def explains(title: str) -> bool:
    """Return whether a heading is above facts, even in a numbered list, such as Why or Examples."""
    return is_automatic(title) or (_explains(title) and not is_order(title, is_numbered=" for " in title))


def is_step(title: str) -> bool:
    """Return whether a heading may be one of a sequence: an instruction, or one that announces instructions."""
    return bool(imperative(title, purposes=False)) or is_procedure(title) or _STAGE.fullmatch(title) is not None


def is_order(title: str, *, is_numbered: bool) -> bool:
    """Return whether a heading is an instruction, not two nouns such as Review Scoring."""
    return bool(imperative(title, purposes=False)) and (is_numbered or _OBJECT.search(title) is not None)


def names_case(comment: str) -> bool:
    """Return whether a comment in a block is about one case, or about an example."""
    return bool(condition(comment)) or any((_EXAMPLE.search(comment), _KINDS.fullmatch(comment)))


def is_case(title: str) -> bool:
    """Return whether a heading is for one case, such as `If the disk is full` or `Config not found`."""
    if is_manual(title) or title.lower().startswith("troubleshoot"):
        return False
    is_told = acts(title.rpartition(": ")[2]) or forbids(title) or " you " in title
    return bool((_SYMPTOM.search(title) and not is_told) or condition(title) or _CASE.search(title))


def _trailing(sentence: str) -> str:
    found = _TRAILING.fullmatch(sentence)
    return f"{'unless ' if found['word'].lower() == 'unless' else ''}{found['case']}" if found else ""


def case_of(sentence: str) -> tuple[str, str]:
    """Return the condition of a sentence and its rest."""
    found = _IF.fullmatch(sentence)
    if not found:
        return "", sentence
    word = found["word"].lower()
    return (f"unless {found['case']}" if word == "unless" else found["case"]), found["rest"]


def is_by_hand(sentence: str) -> bool:
    """Return whether a sentence asks for a task of a person, such as to edit a file or to open a page."""
    found = imperative(sentence, purposes=False)
    is_next = _NEXT.match(sentence) is not None and " " in found
    return _MAY.match(sentence) is None and (is_next or _BY_HAND.match(found) is not None)


def does_harm(text: str) -> bool:
    """Return whether plain text asks to delete, restart or publish something, not only to look at it."""
    return _HARM.search(text) is not None and _LOOKS.match(text) is None


def changes(text: str) -> bool:
    """Return whether plain text has an instruction that isn't only to look at something."""
    found = instruction(text)
    return bool(found) and _LOOKS.match(found) is None


def is_fact(text: str) -> bool:
    """Return whether plain text starts like a fact: an article, a pronoun, a third person or a gerund, or `Tea is`."""
    rest = case_of(text)[1]
    return (is_statement(rest) and not obliges(rest)) or _describes(rest)


def _describes(text: str) -> bool:
    """Return whether text is about what a program does; a subject such as `Anna` is a person with a task."""
    if (gerund := _GERUND.match(text)) and gerund[0].partition(" ")[0].lower() not in VERBS:
        stem = gerund["stem"].lower()
        return bool({stem, f"{stem}e", stem[:-1]} & VERBS)
    if _IS.match(text) and not imperative(text):
        return True
    found = _DESCRIBES.match(text)
    if not found or (found["subject"] or "a")[0].isupper() or imperative(text) or found["verb"].lower().endswith("ss"):
        return False
    verb = found["verb"].lower()
    return not found["subject"] or bool({verb[:-1], verb[:-2]} & VERBS) or verb in {"is", "has", "does"}


def demands(sentence: str) -> bool:
    """Return whether a sentence asks for something, also as `Before you bake, state the plan` or `Rate each cake`."""
    found = _DEMAND.fullmatch(sentence)
    each = _EACH.match(sentence)
    is_each = each is not None and not is_fact(sentence) and each["verb"][-1:].lower() not in {"s", "g"}
    if is_each or (found and found["verb"]):
        return True
    return bool(imperative(found["what"] if found else sentence, purposes=False))


def acts(text: str) -> bool:
    """Return whether plain text has an instruction, or the task of a person, such as `Anna checks the stock`."""
    person = _PERSON.match(text)
    return bool(instruction(text)) or (person is not None and person["verb"].lower() in VERBS)


def asks(text: str) -> bool:
    """Return whether plain text asks to check something."""
    return _ASKS.match(imperative(text) or text) is not None
