"""How prompts are answered in a workflow: one way for each choice of the option `prompts`."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from backends.github.flow import ANSWER, APPROVAL, OUTCOME, Verdicts
from backends.github.options import GithubOptions
from backends.github.question import question, verdict_words
from backends.github.scalar import Expression, comment
from backends.github.step import PLAIN_SHELL, Step, escaped, noting
from backends.github.templating import render
from backends.github.triggers import INPUTS
from compiler.ir.program import Node
from compiler.ir.tasks import Ask

TOKEN = Expression("${{ github.token }}")
"""For steps of rdc alone: no command of a document and no agent gets it."""


@dataclass(frozen=True)
class Prompts:
    """Prompts of a workflow that has none, and what the ways of answering share.

    `waits` says whether a run may have to wait for an answer, and be continued by another one; `in_loop` is the name of
    the template with the function `ask` of a loop, `last_line` says whether the last line of an answer is what counts,
    `answerer` who answers, `summary` whether it is noted what has run.
    """

    waits: ClassVar[bool] = False
    verdicts: ClassVar[Verdicts] = OUTCOME
    in_loop: ClassVar[str] = ""
    last_line: ClassVar[bool] = False
    answerer: ClassVar[str] = "a person"

    summary: bool = False

    @property
    def inputs(self) -> tuple[str, ...]:
        """The inputs that a workflow has for them."""
        return INPUTS if self.waits else ()

    @property
    def shell_says(self) -> str:
        """What the shell of a job does, in a comment; "" where it says that itself."""
        return "Runs a script without -e and pipefail, and notes how it went for the summary." if self.summary else ""

    def shell(self, interpreter: str, before: str = "") -> str:
        """The shell template for a script in the language of an interpreter: without `-e` and `pipefail` (M2).

        `before` are words that go before it.
        """
        if self.summary:
            return noting(escaped(before) + interpreter)
        return f'bash -c "{escaped(before)}{interpreter} \\"$0\\"" {{0}}' if before else f"{interpreter} {{0}}"

    def own_shell(self) -> str:
        """The shell template for a bash script that notes itself how its node went."""
        return PLAIN_SHELL

    def loop_shell(self) -> str:
        """The shell template for the script of a loop."""
        return PLAIN_SHELL

    def fitted(self, step: Step, node: Node) -> Step:
        """The step of a prompt outside of loops."""
        raise NotImplementedError


_BY_PEOPLE = "by the input `answers` or in a run that goes on with this one."
BY_PEOPLE = f"A person answers, {_BY_PEOPLE}"


def by_people(node: Node) -> str:
    """Who answers a node, and what may be said where a text is not free."""
    if not isinstance(node.task, Ask) or node.task.question not in {"confirm", "select"}:
        return BY_PEOPLE
    if node.task.question == "confirm":
        return f"A person says yes or no, {_BY_PEOPLE}"
    options = ", ".join(f'"{option}"' for option in node.task.options)
    return f"A person chooses one of {comment(options)}, {_BY_PEOPLE}"


class Answers(Prompts):
    """An input of the workflow has the answers; without one the run waits, to be continued by another run."""

    waits = True
    verdicts = ANSWER
    in_loop = "ask-answers.sh.jinja"

    @property
    def shell_says(self) -> str:
        """What the shell of a job does."""
        return "Runs a script without -e and pipefail, unless that was done before the run had to wait."

    def shell(self, interpreter: str, before: str = "") -> str:
        """Runs a script by way of `rdc/run`, which remembers what was finished before the run had to wait."""
        return f'bash -c "\\"$RUNNER_TEMP/rdc/run\\" {escaped(before)}{interpreter} \\"$0\\"" {{0}}'

    def own_shell(self) -> str:
        """The same, since `rdc/run` notes only what has not noted itself."""
        return self.shell("bash")

    def loop_shell(self) -> str:
        """Runs a script by way of `rdc/watched`, which remembers what its commands mask."""
        return 'bash -c "\\"$RUNNER_TEMP/rdc/watched\\" bash \\"$0\\"" {0}'

    def fitted(self, step: Step, node: Node) -> Step:
        """Looks for an answer."""
        env = {**step.env, "STEP": node.id, "PROMPT": question(node)}
        run = f'"$RUNNER_TEMP/rdc/answer" {" ".join(verdict_words(node))}'
        step = replace(step, comments=(*step.comments, BY_PEOPLE))
        return replace(step, tolerated=True, shell=self.shell("bash"), env=env, run=run)


class Agents(Prompts):
    """A configured command gets each prompt and says PASS or FAIL."""

    in_loop = "ask-agent.sh.jinja"
    last_line = True
    answerer = "the agent"

    def fitted(self, step: Step, node: Node) -> Step:
        """Asks the agent."""
        env = {**step.env, "RDC_STEP": node.id, "RDC_PROMPT": question(node, last_line=self.last_line)}
        run = render("agent.sh.jinja", hands_on=False, withheld=False, no=verdict_words(node)[1])
        return replace(step, shell=self.shell("bash"), env=env, run=run)


_SHOW = """printf '%s\\n' "$PROMPT" | sed 's/^/> /' >> "$GITHUB_STEP_SUMMARY"\n"""


class Approvals(Prompts):
    """People decide by approving or rejecting the deployment of a job behind a protected environment."""

    verdicts = APPROVAL

    def fitted(self, step: Step, node: Node) -> Step:
        """Puts the question on the page of the run, for those who decide."""
        env = {"PROMPT": question(node)}
        return replace(step, name=f"Ask: {step.name}", tolerated=False, shell=PLAIN_SHELL, env=env, run=_SHOW)


@dataclass(frozen=True)
class Decision:
    """What people decide in between two parts.

    `step` has put the question, `ended` and `before` are expressions for how the approval has ended, and for the
    reviews before; `attempts` says how often people were asked at most.
    """

    step: str
    ended: Expression
    before: Expression
    attempts: int = 1


def prompts_of(options: GithubOptions) -> Prompts:
    """The way of answering that the option `prompts` names."""
    match options.prompts:
        case "answers":
            return Answers(options.summary)
        case "agent":
            return Agents(options.summary)
        case "environment":
            return Approvals(options.summary)
