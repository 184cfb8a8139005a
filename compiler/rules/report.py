"""Report rules that are broken or not proven, with the path in the document's words (P-14, P-19)."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType

from compiler.diagnostics.issues import on_one_line
from compiler.diagnostics.model import Diagnostic, Related, shortened
from compiler.ir.answers import spoken
from compiler.ir.paths import Visit, usual_limit
from compiler.ir.program import Node, Program
from compiler.ir.rules import Event, Rule
from compiler.rules.model import Proof, RuleResult, Status
from compiler.rules.watch import ends_by_waiting
from compiler.scenarios.outcomes import write_outcomes
from compiler.text.source import Source

BROKEN, NOT_PROVEN = "RD420", "RD421"

MOST_SHOWN = 10
"""The most steps to show of the start, and of the end, of a path."""

LONGEST_COMMAND = 2_000  # in characters


def diagnostics(
    program: Program, results: Sequence[RuleResult], sources: Mapping[str, Source] = MappingProxyType({})
) -> Iterator[Diagnostic]:
    """Yield an error for each rule that is broken or not proven, or a warning if the rule is only tried.

    `sources` are by name in the program.
    """
    nodes = program.index()
    for one in results:
        flow: tuple[Related, ...] = ()
        if one.rule and one.proof.status is Status.BROKEN:
            code, problem = BROKEN, f"a run can break it: {shown_path(nodes, one.rule, one.proof)}"
            remedy, flow = _replayed(program, one.proof, sources), places(nodes, one.rule, one.proof, sources)
        elif one.proof.status is Status.NOT_PROVEN:
            code, problem = NOT_PROVEN, f"rdc can't prove it: {one.proof.reason}"
            remedy = "use fewer loops, counters and tested strings between the steps of the rule"
        else:
            continue
        place, message = one.declared.place, on_one_line(f"rule `{one.declared.name}`: {problem}")
        is_tried = one.declared.is_tried
        yield Diagnostic(code, place.path, place.span, message, on_one_line(remedy), flow=flow, is_tried=is_tried)


def shown_path(nodes: Mapping[str, Node], rule: Rule, proof: Proof) -> str:
    """Return a path to a breach: `1 PASS, 2 FAIL → GOTO 4, then 4 starts without "3 YES"`."""
    steps = [_shown(nodes[made.step], made) for made in proof.visits]
    left_out = len(steps) - 2 * MOST_SHOWN
    if left_out > 1:
        steps[MOST_SHOWN:-MOST_SHOWN] = [f"… {left_out} more steps …"]
    given = f"with {', '.join(f'{name}={value}' for name, value in proof.inputs)}: " if proof.inputs else ""
    return f"{given}{', '.join(steps)}{', then ' if steps else ''}{_breach(nodes, rule, proof)}"


def places(
    nodes: Mapping[str, Node], rule: Rule, proof: Proof, sources: Mapping[str, Source] = MappingProxyType({})
) -> tuple[Related, ...]:
    """Return the places of a path: each step with its outcome, and the breach. A long path has no middle."""
    shown = [(nodes[made.step], _shown(nodes[made.step], made)) for made in proof.visits]
    last = nodes.get(proof.event.step if proof.event else "") or (shown[-1][0] if shown else None)
    if last:
        shown.append((last, _breach(nodes, rule, proof)))
    flow = (Related(_path(sources, node.origin.path), node.origin.span, on_one_line(text)) for node, text in shown)
    return shortened(tuple(flow))


def _shown(node: Node, made: Visit) -> str:
    """Return a visit: `2 FAIL → GOTO 4`. Transitions that the author didn't write, and CONTINUE, are left out."""
    actions = (part.action for edge in made.edges if edge.origins for part in edge.written)
    shown = [action for action in actions if action not in ("", "CONTINUE")]
    return " → ".join([f"{made.step} {spoken(node.task, made.outcome.word)}", *shown[:1]])


def _breach(nodes: Mapping[str, Node], rule: Rule, proof: Proof) -> str:
    event = proof.event or Event("")
    if rule.most is not None:
        return f"{event.step} starts, and the most is {rule.most} time{'s' * (rule.most != 1)}"
    quote = "`" if '"' in rule.needs else '"'
    without = f" without {quote}{rule.needs}{quote}" if rule.needs else ""
    if not event.word:
        return f"{event.step} starts{without}"
    cause = "" if event.step else _cause(nodes, proof)
    return f"{event.step or 'the run'} ends with {event.word.upper()}{cause}{without}"


def _cause(nodes: Mapping[str, Node], proof: Proof) -> str:
    """Return why a run stops where the path ends at a step: its limit of steps, or a person who waits too long."""
    target = proof.visits[-1].edges[-1].target if proof.visits else ""
    if target not in nodes or nodes[target].is_end:
        return ""
    return f" when {target} expires" if ends_by_waiting(nodes[target]) else f" at the limit of steps before {target}"


def _path(sources: Mapping[str, Source], name: str) -> str:
    """Return the path of a document as the user wrote it; it is missing if the program's document is elsewhere."""
    return sources[name].path if name in sources else name


def _replayed(program: Program, proof: Proof, sources: Mapping[str, Source]) -> str:
    document, outcomes = program.sources[0], write_outcomes(proof.visits, program)
    words = ["rdc", "trace", *document.read_by, _path(sources, document.path)]
    words += ["--outcomes", outcomes] if outcomes else []
    words += [word for name, value in proof.inputs for word in ("--input", f"{name}={value}")]
    words += ["--visits", str(len(proof.visits))] if len(proof.visits) > usual_limit(program) else []
    command = shlex.join(words)
    if len(command) > LONGEST_COMMAND or not command.isprintable():
        return "change the transitions on this path, or the rule"
    return f"to see this run, use: {command}"
