"""The option `publish`: a job that runs no agent and holds no secret writes what a run has put out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from backends.base import OptionFinding
from backends.github.changes import proposes_changes
from backends.github.continuation import taken_artifact
from backends.github.identifiers import ARTIFACT
from backends.github.job import Job
from backends.github.jobs import all_of
from backends.github.options import GithubOptions
from backends.github.prompts import TOKEN
from backends.github.routes import RoutedParts
from backends.github.runtime import delimiter
from backends.github.scalar import Expression, label
from backends.github.step import PLAIN_SHELL, Step
from backends.github.templating import render
from compiler.diagnostic import Diagnostic
from compiler.ir.program import Program
from runtime_shim.legacy.bundle import reduced

ABOUT_ISSUES = frozenset({"issues", "issue_comment"})
"""The events of an issue."""

_PULLS = frozenset({"pull_request", "pull_request_review", "pull_request_review_comment"})
_ABOUT_PULLS = _PULLS | {"issue_comment"}


_MINUTES = 10


class _Kind(NamedTuple):
    """How a publication is called, the module that does it, and what it may do for which reason."""

    title: str
    module: str
    permissions: tuple[tuple[str, str, str], ...] = ()
    takes: str = "Take over the last output"
    says: str = "What an agent has said is written"


_OPENS = ("pull-requests", "write", "open the pull request")
_CHANGES = _Kind(
    "Pull request",
    "publish.publisher_changes",
    (("contents", "write", "push a branch with the changes"), _OPENS),
    "Take over what was changed",
    "What agents have changed is proposed",
)


def unfit_publications(program: Program, options: GithubOptions) -> Iterator[Diagnostic]:
    """Publications of nothing, and comments on nothing."""
    if proposes_changes(program, options):
        if not options.checkout:
            yield _finding(program, "`publish` needs a repository, and `checkout` is false", "leave one of them out")
    elif options.publish and program.artifact is None:
        problem = "`publish` puts the last output somewhere, and the document keeps none"
        remedy = "keep one (in a playbook by `## ARTIFACTS` with a line `type: markdown`), or leave `publish` out"
        others = "; what agents have changed in the workspace goes out by `publish: pull-request` alone"
        yield _finding(program, problem, f"{remedy}{others}")
    elif "comment" in options.publish and not (ABOUT_ISSUES | _PULLS) & set(options.triggers()):
        problem = "`publish: comment` needs an issue or a pull request, and no event of `on` has one"
        yield _finding(program, problem, "add `issues` or `pull_request` to `on`, or take `publish: summary`")
    if options.publish_file and ("pull-request" not in options.publish or program.artifact is None):
        remedy = "add that, or leave the file out"
        yield _finding(program, "`publish-file` is for `publish: pull-request` of a last output", remedy)


def publications(
    parts: RoutedParts, options: GithubOptions, events: Iterable[str], program: Program, name: str
) -> Iterator[Job]:
    """The jobs, which begin when the run is complete; `name` is what the program is called."""
    completing = parts.completing() if _jobs(options) else []
    left = [parts.handed_on(part.id, ARTIFACT, "outputs.name") for part in completing]
    for kind in _jobs(options):
        about = _CHANGES if proposes_changes(program, options) else _about(kind, frozenset(events))
        yield Job(
            id=f"publish_{kind.replace('-', '_')}",
            name=f"{about.title} of {name}",
            steps=(taken_artifact(" || ".join(left), about.takes), _step(kind, about, options, label(program.title))),
            condition=all_of("!cancelled()", " || ".join(left), *_when(kind, frozenset(events))),
            needs=tuple(part.id for part in parts.parts),
            permissions=about.permissions,
            timeout=_MINUTES,
            comments=(f"{about.says} by a job that runs no agent and holds no secret.",),
        )


def _jobs(options: GithubOptions) -> list[str]:
    return [kind for kind in options.publish if kind != "artifact"]  # each run uploads its output anyway


def _about(kind: str, events: frozenset[str]) -> _Kind:
    if kind == "comment":
        issues = [("issues", "write", "comment on the issue")] if events & ABOUT_ISSUES else []
        pulls = [("pull-requests", "write", "comment on the pull request")] if events & _ABOUT_PULLS else []
        return _Kind("Comment", "publish.publisher_comment", (*issues, *pulls))
    if kind == "pull-request":
        return _Kind(
            "Pull request",
            "publish.publisher_pull",
            (
                ("contents", "write", "push a branch with the file"),
                _OPENS,
            ),
        )
    return _Kind("Summary", "publish.publisher_summary")


def _when(kind: str, events: frozenset[str]) -> Iterator[str]:
    """A comment needs what it is about, and the token of a pull request from a fork may not comment."""
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
    if about.module == "publish.publisher_changes":
        env["TITLE"] = title
    code = f"{reduced(['publish.publisher', about.module], ())}\n\nraise SystemExit(main())\n"
    script = render("modules.sh.jinja", modules=code, delimiter=delimiter(code), into="python3 -I -")
    return Step(about.title, shell=PLAIN_SHELL, env=env, run=script, helper=f"publish-{kind}")


def _finding(program: Program, problem: str, remedy: str) -> Diagnostic:
    return OptionFinding("RD013", program.sources[0].path, None, problem, remedy, option=("publish",))
