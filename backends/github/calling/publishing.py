"""The option `publish`: a job without agents and secrets publishes the run's output."""

from collections.abc import Collection, Iterator, Sequence

from msgspec import Struct

from backends.base import about_option
from backends.github.calling.artifacts import TOKEN, taken_artifact
from backends.github.calling.program import Calling, plain_name
from backends.github.options.model import GithubOptions
from backends.github.workflow.document import all_of
from backends.github.yaml.model import Job, Step
from backends.github.yaml.scalar import Expression, evaluated, label
from compiler.diagnostics.model import Diagnostic
from compiler.ir.program import Program
from compiler.ir.tasks import Agent, Parallel

ABOUT_ISSUES = frozenset({"issues", "issue_comment"})
"""The events of an issue."""

_PULLS = frozenset({"pull_request", "pull_request_review", "pull_request_review_comment"})
_ABOUT_PULLS = _PULLS | {"issue_comment"}
_PLACES = frozenset({"artifact", "pull-request"})
_MINUTES = 10


class _Kind(Struct, frozen=True):
    title: str
    permissions: tuple[tuple[str, str, str], ...]
    takes: str = "Load the last output"
    says: str = "Publishes an agent's answer"


_READS = ("contents", "read", "check out the repository")
_OPENS = ("pull-requests", "write", "open the pull request")
_FILE = _Kind("Pull request", (("contents", "write", "push a branch with the file"), _OPENS))
_CHANGES = _Kind(
    "Pull request",
    (("contents", "write", "push a branch with the changes"), _OPENS),
    "Load the changes",
    "Proposes the agents' changes",
)


def proposes_changes(program: Program, options: GithubOptions) -> bool:
    """Return whether `publish` publishes the agents' changes in the workspace, because the document keeps no output."""
    calls = any(isinstance(node.task, Agent | Parallel) for node in program.nodes)
    return bool(options.publish) and program.artifact is None and calls and set(options.publish) <= _PLACES


def unfit_publications(program: Program, options: GithubOptions) -> Iterator[Diagnostic]:
    """Report publications of nothing, and comments on nothing."""
    for problem, remedy in _unfit(program, options):
        yield about_option(program, ("publish",), "RD013", problem, remedy)


def unasked(program: Program) -> Diagnostic:
    """Return the error for the option `notify-issue` without a question that the program asks."""
    problem = "`notify-issue` needs a question that people answer with `gh`, but this workflow has none"
    return about_option(program, ("notify-issue",), "RD013", problem, "remove it, or set `prompts: answers`")


def notified(calling: Calling, first: Step, parts: Sequence[str], events: Collection[str]) -> Job:
    """Return the last job: it opens the issue of a run that waits, and closes that of the run that it continues."""
    waiting, resumed = " || ".join(f"needs.{part}.outputs.issue" for part in parts), f"needs.{parts[0]}.outputs.resumed"
    env = {"TOKEN": TOKEN, "ISSUE": evaluated(waiting), "RESUMED": evaluated(f"{resumed} && inputs.resume")}
    return Job(
        id="notify_issue",
        name=f"Issue of {plain_name(calling.program.name)}",
        steps=(first, Step("Issue", env=env, run=calling.publish_loader("issue"))),
        condition=all_of("!cancelled()", f"{waiting} || ({resumed} && inputs.resume)", *_of_no_fork(frozenset(events))),
        needs=tuple(parts),
        permissions=(*(() if calling.is_inline else (_READS,)), ("issues", "write", "open and close the issue")),
        timeout=_MINUTES,
        comments=("Shows the question in an issue, in a job without agents and secrets.",),
    )


def _unfit(program: Program, options: GithubOptions) -> Iterator[tuple[str, str]]:
    if proposes_changes(program, options):
        if not options.checkout:
            yield "`publish` needs the repository, but `checkout` is false", "remove one of them"
    elif options.publish and program.artifact is None:
        problem = "`publish` publishes the last output, but the document keeps none"
        remedy = "keep one (in a playbook, by `## ARTIFACTS` with a line `type: markdown`), or remove `publish`"
        yield problem, f"{remedy}; to publish agents' changes in the workspace, use `publish: pull-request`"
    elif "comment" in options.publish and not (ABOUT_ISSUES | _PULLS) & set(options.triggers()):
        problem = "`publish: comment` needs an issue or a pull request, but no event in `on` has one"
        yield problem, "add `issues` or `pull_request` to `on`, or use `publish: summary`"
    if options.publish_file and ("pull-request" not in options.publish or program.artifact is None):
        problem = "`publish-file` works only with `publish: pull-request` and a last output"
        yield problem, "add it, or remove `publish-file`"


def publications(
    calling: Calling, first: Step, completing: Sequence[str], needs: Sequence[str], events: Collection[str]
) -> Iterator[Job]:
    """Yield the publishing jobs. They start when the run is complete, which may be in any `completing` job."""
    program, options, name = calling.program, calling.options, plain_name(calling.program.name)
    left = " || ".join(f"needs.{job}.outputs.artifact" for job in completing)
    is_changes = proposes_changes(program, options)
    for kind in options.publish:
        if kind == "artifact":  # each run uploads its output anyway
            continue
        about = _CHANGES if is_changes else _about(kind, frozenset(events))
        run = calling.publish_loader("changes" if is_changes else kind)
        step = _step(kind, about, options, label(program.title), run)
        yield Job(
            id=f"publish_{kind.replace('-', '_')}",
            name=f"{about.title} of {name}",
            steps=(first, taken_artifact(left, about.takes), step),
            condition=all_of("!cancelled()", left, *_when(kind, frozenset(events))),
            needs=tuple(needs),
            permissions=tuple(each for each in about.permissions if each is not _READS or not calling.is_inline),
            timeout=_MINUTES,
            comments=(f"{about.says} in a job without agents and secrets.",),
        )


def _about(kind: str, events: frozenset[str]) -> _Kind:
    if kind == "comment":
        issues = [("issues", "write", "comment on the issue")] if events & ABOUT_ISSUES else []
        pulls = [("pull-requests", "write", "comment on the pull request")] if events & _ABOUT_PULLS else []
        return _Kind("Comment", (_READS, *issues, *pulls))
    return _FILE if kind == "pull-request" else _Kind("Summary", (_READS,))


def _when(kind: str, events: frozenset[str]) -> Iterator[str]:
    """Yield conditions: a comment needs its subject, and the token of a fork's pull request may not comment."""
    if kind != "comment":
        return
    yield _number(events)
    yield from _of_no_fork(events)


def _of_no_fork(events: frozenset[str]) -> Iterator[str]:
    """Yield the condition that a pull request is not from a fork, whose token may not write."""
    if events & _PULLS:
        pull = "github.event.pull_request"
        yield f"!{pull} || {pull}.head.repo.full_name == github.repository"


def _number(events: frozenset[str]) -> str:
    subjects = (("issue", ABOUT_ISSUES), ("pull_request", _PULLS))
    return " || ".join(f"github.event.{name}.number" for name, having in subjects if events & having)


def _step(kind: str, about: _Kind, options: GithubOptions, title: str, run: str) -> Step:
    env: dict[str, str] = {} if kind == "summary" else {"TOKEN": TOKEN}
    if kind == "comment":
        env["NUMBER"] = Expression(f"${{{{ {_number(frozenset(options.triggers()))} }}}}")
    if kind == "pull-request" and options.publish_file:
        env["FILE"] = options.publish_file
    if about is _CHANGES:
        env["TITLE"] = title
    return Step(about.title, env=env, run=run)
