"""The path of an agent workflow by its rules, W6 to W15; nothing of the compiler stands behind it."""

import json
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from compiler.ir.serialize import to_json
from tests.differential.case import Call, Case, Json, Question, Trace, Visit, compiled
from tests.differential.generate.agent_workflow import TASK_DONE, Drawn, Flow, Report, Step, document, keywords_of
from tests.differential.oracles.answers import FAILING, answer_of, joined, word_of
from tests.differential.oracles.program import PLACE

ANYTHING: Json = {"exit": 0, "answer": "said"}
PARAGRAPH = "\n\n"
LONGEST = 60
"""In visits: longer paths are of no use to anybody."""

MESSAGES = {
    ("failed", False): "the agent gave no answer",
    ("failed", True): "one of the agents gave no answer",
    ("invalid", False): "the agent gave an answer that does not match the validation pattern",
    ("invalid", True): "one of the agents gave an answer that does not match the validation pattern",
    ("ambiguous", False): "the verdict is ambiguous",
    ("ambiguous", True): "the agents gave no clear common verdict",
}
NO_WAY = "no condition matches the answer, and there is no `next` or `end`"


def closing(step: Step, prompt: str) -> str:
    """The sentence that asks for a verdict, as a line that the pattern accepts (W6)."""
    lines = []
    for word in keywords_of(step):
        if word == TASK_DONE:
            continue
        report, edge = step.report or Report("", ""), r"(?:\b|(?!\w))"
        around = re.compile(rf"(?<!\w){re.escape(word)}(?!\w)", re.IGNORECASE)
        tried = [word, *filter(around.search, report.phrases or ()), f"Verdict: {word}"]
        pattern = re.compile(f"{edge}(?:{report.validation or ''}){edge}", re.IGNORECASE)
        lines.append(next(filter(pattern.search, tried), word))
    if lines and TASK_DONE in prompt:
        lines.append(TASK_DONE)
    choices = " or ".join([", ".join(lines[:-1])] * (len(lines) > 1) + lines[-1:])
    return f"{PARAGRAPH}End your answer with a line that has nothing but {choices}." if lines else ""


@dataclass
class _Run:
    drawn: Drawn
    visits: list[Visit] = field(default_factory=list)
    reports: dict[str, list[str]] = field(default_factory=dict)
    numbers: dict[str, int] = field(default_factory=dict)

    @property
    def flow(self) -> Flow:
        return self.drawn.flow

    def reply(self, step: str) -> Json:
        replies = self.drawn.replies.get(step) or [ANYTHING]
        number = self.numbers.get(step, 0)
        self.numbers[step] = number + 1
        return replies[min(number, len(replies) - 1)]

    # --- Prompts (W6, W11) --------------------------------------------------------------------------------------------

    def prompt(self, step: Step, own: str, carried: tuple[str, str] | None) -> str:
        task = self.drawn.task
        if task is None:
            task = (self.flow.description or "").strip() or None
        head = f"Workflow: {self.flow.name}\nStep: {step.name}\nReports are in: {PLACE}\n"
        parts = [head, *([f"Task:\n{task}\n"] if task is not None else [])]
        text = "\n".join(parts) + "\n"
        if carried:
            source, output = carried
            names = [other.name for other in self.flow.steps]
            again = ", and why this step runs again" if names.index(source) >= names.index(step.name) else ""
            text += f"What {source} said{again}:{PARAGRAPH}{output}{PARAGRAPH}"
        text += own
        if step.report:
            text += f"{PARAGRAPH}A report like this is expected:{PARAGRAPH}{step.report.format}"
        return text + closing(step, own)

    # --- Steps --------------------------------------------------------------------------------------------------------

    def gate(self, step: Step) -> bool:
        """Whether a person lets the step start (W13)."""
        node = f"{step.name}/human"
        word = "approved" if self.reply(node).get("reply", True) is not False else "rejected"
        asked = Question(f"Step {step.name} needs approval before it starts.", word)
        self.visits.append(Visit(node, 1, (), asked, word, "", {}, {}, settles=()))
        return word == "approved"

    def do(self, step: Step, carried: tuple[str, str] | None) -> Visit:
        """One run of a step: its calls, what they say, and the verdict (W8, W9, W12)."""
        reply = self.reply(step.name)
        pairs = step.entries or ((step.agent, step.prompt),)
        replies = reply.get("entries", [reply])
        calls = [
            Call(step.name, 1, self.prompt(step, own, carried), callee=agent, entry=index if step.entries else None)
            for index, (agent, own) in enumerate(pairs)
        ]
        answers = [answer_of(one) for one in replies]
        keywords = keywords_of(step) if step.conditions else [TASK_DONE]
        reading: Json = {
            "keywords": keywords,
            "validation": step.report.validation if step.report else None,
            "excused": [TASK_DONE],
            "failing": [word for word in keywords if self.leads_back(step, word)],
        }
        words = [word_of(answer, reading) for answer in answers]
        failing = [word for word in keywords if word.upper() in FAILING or word in reading["failing"]]
        task = {"unanimous": [TASK_DONE], "failing": failing, "check": step.check, "entries": [{"reading": reading}]}
        word = joined(words, task) if step.entries else words[0]
        text = PARAGRAPH.join(answer for answer in answers if answer)
        self.keep(step, answers, text)
        made = Visit(step.name, 1, tuple(calls), None, word, text, {}, {}, settles=())
        self.visits.append(made)
        return made

    def keep(self, step: Step, answers: Sequence[str | None], text: str) -> None:
        """Answers go to reports (W7)."""
        if step.entries:
            for index, answer in enumerate(answers):
                if answer:
                    self.reports.setdefault(f"{step.name}_{index}", []).append(answer)
        if text:
            self.reports.setdefault(step.report.name if step.report else step.name, []).append(text)

    def leads_back(self, step: Step, word: str) -> bool:
        """Whether a keyword leads to this step or an earlier one."""
        names = [other.name for other in self.flow.steps]
        return dict(step.conditions).get(word) in names[: names.index(step.name) + 1]

    def walk(self) -> tuple[str, str] | None:
        """How the run ends (W10); None where it does not in a bearable time."""
        steps = {step.name: step for step in self.flow.steps}
        step, carried, done = self.flow.steps[0], None, 0
        counts: Counter[str] = Counter()
        while len(self.visits) < LONGEST:
            counts[step.name] += 1
            if 0 < step.max_visits < counts[step.name]:
                most = f"{step.max_visits} visit{'s' * (step.max_visits > 1)}"
                return "STOP", step.then or f"step {step.name} reached its limit of {most}"
            if step.human and not self.gate(step):
                return "STOP", f"step {step.name} was rejected"
            if done == self.flow.limit:
                return "STOP", f"{step.name}: the limit of {done} steps was reached"
            done += 1
            made = self.do(step, carried)
            carried = None
            goto = dict(step.conditions)
            if message := MESSAGES.get((made.word, bool(step.entries))):
                return "STOP", f"step {step.name}: {message}"
            if made.word == TASK_DONE:
                return "COMPLETE", ""
            if made.word in goto:
                carried = (step.name, made.text or "")
                step = steps[goto[made.word]]
            elif step.end:
                return "COMPLETE", ""
            elif step.next:
                step = steps[step.next]
            else:
                return "STOP", f"step {step.name}: {NO_WAY}"
        return None


def walk(drawn: Drawn) -> Trace:
    """The path of a workflow by its rules, with the answers in its reports (W7)."""
    run = _Run(drawn)
    end = run.walk()
    return Trace(tuple(run.visits), end, reports=run.reports)


def case_of(drawn: Drawn) -> Case:
    """The program that rdc makes of a workflow, with what is given and replied, and the path by the rules."""
    documents = {"program.workflow.yaml": document(drawn.flow)}
    given = {} if drawn.task is None else {"task": drawn.task}
    replies = {step.name: [ANYTHING] for step in drawn.flow.steps} | {
        node: list(found) for node, found in drawn.replies.items()
    }
    program = json.loads(to_json(compiled(documents)))
    return Case(program, given, replies, walk(drawn), documents=documents)
