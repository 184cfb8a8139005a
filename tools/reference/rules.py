"""The pages of the rules that code and tests cite by number, with the diagnostics about each rule.

Rules of programs, I1 to I32, are in `docs/reference/program-rules.md`.
"""

from __future__ import annotations

from collections.abc import Mapping

from compiler.diagnostics.model import CODES
from tools.reference.markdown import page, table

OF_RUNBOOKS = {
    "D1": "A document is UTF-8 without NUL, and has at most 8 MiB.",
    "D2": "rdc reads CommonMark blocks. Code, quotes and HTML contain no steps, transitions or runbooks.",
    "D3": "The frontmatter is YAML. Under `rdc`, an unknown key that looks like a safeguard is an error.",
    "D4": "The first H1 is the title. It isn't a step.",
    "D5": "The text between the title and the first step is the description.",
    "D6": "An H2 starts a step, and an H3 a substep of the step above it. A deeper heading is an error.",
    "G1": "A heading starts with the step's number or name. The rest is its title.",
    "G2": "A list item with an outcome and a colon is a transition. rdc classifies each item of a list separately.",
    "G3": "`RETRY` means `RETRY 1 STOP`. A RETRY has one other action, which isn't a RETRY.",
    "G4": "A bare `NEXT` means `GOTO NEXT`, with a warning.",
    "G5": 'In a quoted message, `\\"` and `\\\\` are escapes.',
    "V1": "A runbook has at least one step.",
    "V2": "Steps, and the substeps of each step, have the numbers 1, 2, 3 in document order.",
    "V3": "The steps are numbered, or one of them is `{N}`. Named steps can be beside either.",
    "V4": "The substeps of a step are numbered or named, or the only one is `{n}`.",
    "V5": "A substep's prefix is the identifier of its step. No two steps have the same identifier.",
    "V6": "A step has one kind of body, with at most one code block.",
    "V7": "The transitions are below the body in all steps, or directly below the heading in all steps.",
    "V8": "The transitions of a step are above its first substep. Below the last one, those with ALL or ANY are.",
    "V9": "Each outcome has one transition. `PASS ALL` goes with `FAIL ANY`, and `PASS ANY` with `FAIL ALL`.",
    "V10": "The target of a GOTO exists. Only a dynamic step can go to itself, or be the target of NEXT.",
    "V11": "A nested runbook is a file of the project. No runbook includes itself.",
    "V12": "A step without a path to it or to an end gets a warning, and so does a transition that never fires.",
    "M1": "A run starts at the first numbered step, or at `{N}`.",
    "M2": "A block runs with `bash -c` or `sh -c`. Exit code 0 is PASS, everything else is FAIL.",
    "M3": "A step without a command asks a question. YES and NO mean PASS and FAIL.",
    "M4": "A command sees the run's id, the number of its attempt, and the instances of dynamic steps around it.",
    "M5": "The instance's number replaces `{N}` and `{n}`, except after a `$`.",
    "M6": "The default transitions are `PASS: CONTINUE` and `FAIL: STOP`.",
    "M7": "CONTINUE goes to the next substep or numbered step. After the last step, the runbook completes.",
    "M8": "COMPLETE and STOP end a runbook with a message. For the step that includes it, they mean PASS and FAIL.",
    "M9": "PASS and FAIL share one count of retries. Leaving the step resets it.",
    "M10": "A jump to a step restarts it at its first substep. A jump between its substeps keeps their outcomes.",
    "M11": "The latest outcomes of its substeps decide a step. If it has no transition, handled outcomes don't count.",
    "M12": "NEXT adds 1 to an instance's number and enters that instance. The first one is 1.",
    "M13": "A run records an outcome, chooses the transition, changes counters, and then enters the target.",
    "E1": "The values of inputs are valid before a run starts. Commands get them as variables, never as code.",
    "E2": "A command writes declared outputs to `$RDC_OUTPUT`. Later steps have them as variables.",
    "E3": "Settings belong to a step or, under `*`, to all steps. The most specific one wins.",
    "E9": "A runbook and the one that includes it share the inputs and outputs that both declare.",
    "E10": "Secrets are set when a run starts. rdc masks their values.",
    "E13": "With a strict shell, `bash` blocks start with `set -euo pipefail`, and `sh` blocks are errors.",
    "E14": "A question with `asks` passes only with a valid value, which becomes an output. FAIL gives none.",
    "E15": "With `by: agent`, each attempt at a step starts with an agent, which follows its text. Its command checks "
    "the work. If the agent gives no answer, the step fails.",
}

OF_PLAYBOOKS = {
    "P0": "`*.playbook.md` is a playbook by its name. Other Markdown needs a title and a step.",
    "P1": "A playbook is UTF-8, isn't empty, and has at most 200,000 bytes.",
    "P2": "The frontmatter is at the top, and the title above all sections.",
    "P3": "A section with an unknown heading is skipped, with a note.",
    "P4": "A playbook has at least one step. The numbers are 1, 2, 3.",
    "P5": "The last system prompt counts.",
    "P6": "The format is read line by line. Headings and directives count inside code fences too.",
    "P7": "An input is a list item with a name in backticks and a type in parentheses. Names are unique.",
    "P8": "An input without a default is required. An enum has options and no default.",
    "P9": "Inputs, outputs and defaults replace placeholders in one pass. Without a value, a placeholder stays.",
    "P10": "`@output` stores an answer, or one field of it, under a name. Nothing checks its type.",
    "P11": "`@elicit` asks a person. In a step without text, the reply is the output.",
    "P12": "`@prompt` puts a file, a command's text or a value above the text of the step.",
    "P13": "`@tool` calls a tool with a JSON object instead of the agent.",
    "P14": "The first branch with a true condition runs. Branches contain sub-steps or text, and no other branches.",
    "P15": "ARTIFACTS sets the type of the result.",
    "P16": "Steps run in order. Each is a new call, with the outputs of all earlier steps.",
    "P17": "In a step, the question comes before the prompt and the agent, and branches come last.",
    "P18": "If an agent, a tool or a question fails, the run stops.",
    "P22": "The last output becomes a file.",
}

OF_WORKFLOWS = {
    "W1": "A workflow has a name and steps with unique names, which are also names of files.",
    "W2": "A step has a prompt or parallel entries, not both. Only steps wait for a person.",
    "W3": "A validation pattern compiles and can't take too long. The name of a report is a file name.",
    "W4": "`next` and `goto` name steps. Only a parallel step has `check`. A keyword occurs once in a step.",
    "W5": "Parts that have no effect, and keywords that the pattern excludes, get a warning.",
    "W6": "The workflow, the step, the folder of reports and the task are above each prompt.",
    "W7": "Each answer is appended to the report of its step. No two steps share a file.",
    "W8": "Without an answer, or if the pattern doesn't match it, the run stops.",
    "W9": "The verdict is a keyword on a separate line. A keyword in a sentence stops the run.",
    "W10": "TASK_DONE completes the run. Otherwise the first of these applies: a condition, `end`, `next`, STOP.",
    "W11": "After a condition, the next prompt contains the answer that led there, once.",
    "W12": "With `check: all`, the first failing verdict wins. With `any`, the first passing one does.",
    "W13": "A step with `human: true` waits for an approval.",
    "W14": "By default, a run takes 10 steps, or three times the steps of the file if that is more.",
    "W15": "A run has a task. By default, it is the description.",
}

OF_SPECIFICATIONS = {
    "B1": "A specification is a mapping with `step_specs`, or a list of steps.",
    "B2": "Only a step's id is required. A wrong type, or a safeguard without a value, is an error.",
    "B3": "Every placeholder has a value. Paths stay inside the project.",
    "B4": "The steps form a line. Their gates and attempts are visible on every target.",
    "B5": "An attempt has this order: gates, inputs, context, tools, executor, checks, outputs, evidence.",
    "B6": "A step is pending, running, completed, failed or blocked. A completed step never changes.",
    "B7": "The executor is a command that reads JSON. A time limit covers the whole attempt.",
    "B8": "Policy and step decide before the work whether a gate blocks. A document can't drop a gate of its project.",
    "B9": "An attempt fails if a required tool fails. A tool with high risk or a gate needs an approval.",
    "B10": "Guardrails match whole words, and only configured ones apply.",
    "B11": "Words in `validation` choose the checks. A check without its program is skipped and reported.",
    "B12": "Failures of an attempt use up retries. After a failure, a resume has all of them again.",
    "B13": "A step with a level has evidence. The executor writes it, or rdc derives it.",
    "B14": "A run's records are files, each written as a whole, with the manifest last.",
    "B15": "Each change is an event with its run and its time.",
    "B16": "A resume starts at the first incomplete step. A completed step never runs again.",
    "B17": "Keys that start with `telis_` reach the executor unchanged.",
    "B18": "The journal decides. A resume writes the records from it again.",
}

OF_RUNS = {
    "R1": "A record is on disk before its effect is visible. A killed run resumes at the step that was running.",
    "R2": "A person decides whether an interrupted step runs again.",
    "R3": "Programs exit with 0, 1, 2, 75 or 130.",
    "R4": "A run's state belongs to one document, known by its path in the project, and to one version of it.",
    "R5": "A command gets a signal once and has ten seconds to end. The run is then interrupted.",
}

OF_OPERATORS = {
    "E4": "A prompted run executes nothing. A person runs each command and replies.",
    "E5": "With `--agent`, an agent answers the questions of a runbook.",
    "E6": "`goto` has the effects of a GOTO from the place where the run is. `retry` runs the last failed step again.",
    "E7": "The journal records who decided, and the note.",
    "E8": "With logs, the output of each command becomes a file, without secrets; a question shows its last 20 lines.",
    "O-9": "A question that expires fails, and a gate that expires is rejected.",
}

OF_TARGETS = {
    "T-1": "make changes nothing in a command or a text.",
    "T-2": "The names of steps contain nothing that make or a shell would expand.",
    "T-3": "One table has the flow, with a row for each outcome of a step.",
    "T-4": "Counters are shell variables. Counters of retries share one if the others are 0 meanwhile.",
    "T-5": "All Makefiles of a version have the same loop.",
    "T-16": "A Makefile of the form `plain` has a stamp file for each step, and no branches.",
    "T-20": "In native steps on GitHub, the reviewers of an environment answer the questions between two jobs.",
    "T-21": "A run stops at once if an environment has no required reviewers.",
    "T-23": "A further attempt on GitHub repeats no completed step.",
    "T-24": "A job keeps its workspace for the next one, and refuses if a secret's value is in it.",
    "T-25": "The name of a job shows the outputs of earlier jobs.",
    "T-26": "GitHub's page for a run shows the question.",
    "T-27": "`compile` names the environments that need reviewers. An answer needs a question that was shown.",
    "T-28": "A workflow has one run at a time. Its companion files have its name, and overwrite no other file.",
    "T-29": "A job has at most 60 minutes, unless an option sets another limit.",
    "T-30": "The message of an end is in the summary of the run.",
    "T-31": "The loader runs only the bytes that it checked.",
}

FORMATS: Mapping[str, Mapping[str, str]] = {
    "[Runbooks](../formats/rundown.md)": OF_RUNBOOKS,
    "[Playbooks](../formats/playbook.md)": OF_PLAYBOOKS,
    "[Agent workflows](../formats/agent_workflow.md)": OF_WORKFLOWS,
    "[Step specifications](../formats/stepspec.md)": OF_SPECIFICATIONS,
}

RUNTIME: Mapping[str, Mapping[str, str]] = {
    "Runs": OF_RUNS,
    "[Operators](../how-to/operate.md)": OF_OPERATORS,
    "[Targets](../targets/index.md)": OF_TARGETS,
}

INTRODUCTION = "Code, tests and `rdc check --format json` cite these rules by their numbers."


def format_rules() -> str:
    """Return the page of the rules of formats, with the diagnostics about each rule."""
    return _page("Rules of formats", FORMATS, ("rule", "meaning", "diagnostics"))


def runtime_rules() -> str:
    """Return the page of the rules of the runtime, its operators and the targets."""
    return _page("Rules of the runtime", RUNTIME, ("rule", "meaning"))


def _page(title: str, sections: Mapping[str, Mapping[str, str]], head: tuple[str, ...]) -> str:
    parts = [part for name, rules in sections.items() for part in (f"## {name}", _table(rules, head))]
    return page(title, INTRODUCTION, *parts)


def _table(rules: Mapping[str, str], head: tuple[str, ...]) -> str:
    rows = ((number, meaning, _diagnostics(number)) for number, meaning in rules.items())
    return table(head, [row[: len(head)] for row in rows])


def _diagnostics(number: str) -> str:
    return ", ".join(code for code, known in CODES.items() if known.rule == number)
