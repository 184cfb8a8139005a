"""The option `publish`: a job without agents and secrets publishes the run's output."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct

from backends.base import about_option
from backends.github.calling.artifacts import TOKEN, taken_artifact
from backends.github.calling.program import Calling, plain_name
from backends.github.calling.surroundings import remark
from backends.github.changes import proposes_changes
from backends.github.job import Job
from backends.github.options import GithubOptions
from backends.github.scalar import Expression, label
from backends.github.step import Step
from backends.github.workflow import all_of
from compiler.diagnostic import Diagnostic
from compiler.ir.program import Program

ABOUT_ISSUES = frozenset({"issues", "issue_comment"})
"""The events of an issue."""

_PULLS = frozenset({"pull_request", "pull_request_review", "pull_request_review_comment"})
_ABOUT_PULLS = _PULLS | {"issue_comment"}


_MINUTES = 10


class _Kind(Struct, frozen=True):
    """A publication's title and permissions, with the reason for each."""

    title: str
    permissions: tuple[tuple[str, str, str], ...] = ()
    takes: str = "Load the last output"
    says: str = "Publishes an agent's answer"


_OPENS = ("pull-requests", "write", "open the pull request")
_CHANGES = _Kind(
    "Pull request",
    (("contents", "write", "push a branch with the changes"), _OPENS),
    "Load the changes",
    "Proposes the agents' changes",
)


def unfit_publications(program: Program, options: GithubOptions) -> Iterator[Diagnostic]:
    """Report publications of nothing, and comments on nothing."""
    if proposes_changes(program, options):
        if not options.checkout:
            yield about_option(
                program,
                ("publish",),
                "RD013",
                "`publish` needs the repository, but `checkout` is false",
                "remove one of them",
            )
    elif options.publish and program.artifact is None:
        problem = "`publish` publishes the last output, but the document keeps none"
        remedy = "keep one (in a playbook, by `## ARTIFACTS` with a line `type: markdown`), or remove `publish`"
        others = "; to publish agents' changes in the workspace, use `publish: pull-request`"
        yield about_option(program, ("publish",), "RD013", problem, f"{remedy}{others}")
    elif "comment" in options.publish and not (ABOUT_ISSUES | _PULLS) & set(options.triggers()):
        problem = "`publish: comment` needs an issue or a pull request, but no event in `on` has one"
        yield about_option(
            program, ("publish",), "RD013", problem, "add `issues` or `pull_request` to `on`, or use `publish: summary`"
        )
    if options.publish_file and ("pull-request" not in options.publish or program.artifact is None):
        remedy = "add it, or remove `publish-file`"
        yield about_option(
            program,
            ("publish",),
            "RD013",
            "`publish-file` works only with `publish: pull-request` and a last output",
            remedy,
        )


def publications(
    calling: Calling, first: Step, completing: Sequence[str], needs: Sequence[str], events: Iterable[str]
) -> Iterator[Job]:
    """Yield the publishing jobs. They start when the run is complete, which may be in any `completing` job."""
    program, options, name = calling.program, calling.options, plain_name(calling.program.name)
    left = [f"needs.{job}.outputs.artifact" for job in completing]
    for kind in _jobs(options):
        is_changes = proposes_changes(program, options)
        about = _CHANGES if is_changes else _about(kind, frozenset(events))
        step = _step(kind, about, options, label(program.title))
        yield Job(
            id=f"publish_{kind.replace('-', '_')}",
            name=f"{about.title} of {name}",
            steps=(first, taken_artifact(" || ".join(left), about.takes), step),
            condition=all_of("!cancelled()", " || ".join(left), *_when(kind, frozenset(events))),
            needs=tuple(needs),
            permissions=_permissions(about.permissions),
            timeout=_MINUTES,
            shell=calling.publish_loader("changes" if is_changes else kind),
            comments=(f"{about.says} in a job without agents and secrets.",),
        )


def _permissions(wanted: tuple[tuple[str, str, str], ...]) -> tuple[tuple[str, str, str], ...]:
    """Return the permissions of a job that checks out the publishing script."""
    if any(scope == "contents" for scope, _, _ in wanted):
        return wanted
    return (("contents", "read", "check out the repository"), *wanted)


def _jobs(options: GithubOptions) -> list[str]:
    return [kind for kind in options.publish if kind != "artifact"]  # each run uploads its output anyway


def _about(kind: str, events: frozenset[str]) -> _Kind:
    if kind == "comment":
        issues = [("issues", "write", "comment on the issue")] if events & ABOUT_ISSUES else []
        pulls = [("pull-requests", "write", "comment on the pull request")] if events & _ABOUT_PULLS else []
        return _Kind("Comment", (*issues, *pulls))
    if kind == "pull-request":
        return _Kind(
            "Pull request",
            (
                ("contents", "write", "push a branch with the file"),
                _OPENS,
            ),
        )
    return _Kind("Summary")


def _when(kind: str, events: frozenset[str]) -> Iterator[str]:
    """Yield conditions: a comment needs its subject, and the token of a fork's pull request may not comment."""
    if kind != "comment":
        return
    yield _number(events)
    if events & _PULLS:
        pull = "github.event.pull_request"
        yield f"!{pull} || {pull}.head.repo.full_name == github.repository"


def _number(events: frozenset[str]) -> str:
    found = [
        *(["github.event.issue.number"] if events & ABOUT_ISSUES else ()),
        *(["github.event.pull_request.number"] if events & _PULLS else ()),
    ]
    return " || ".join(found)


def _step(kind: str, about: _Kind, options: GithubOptions, title: str) -> Step:
    env: dict[str, str] = {} if kind == "summary" else {"TOKEN": TOKEN}
    if kind == "comment":
        env["NUMBER"] = Expression(f"${{{{ {_number(frozenset(options.triggers()))} }}}}")
    if kind == "pull-request" and options.publish_file:
        env["FILE"] = options.publish_file
    if about is _CHANGES:
        env["TITLE"] = title
    says = "Publishes the file that the run has left. The file is read, never executed."
    return Step(about.title, env=env, run=remark(says))
