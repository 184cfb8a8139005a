"""The steps that keep and fetch artifacts: the run for others, what agents were asked, what a run leaves."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from msgspec.structs import replace

from backends.github.options import GithubOptions
from backends.github.pins import pins
from backends.github.scalar import Expression
from backends.github.step import Step

TOKEN = Expression("${{ github.token }}")
"""For steps of rdc alone: no command of a document and no agent gets it."""

STATE = "rdc-state"
"""The artifact in which a run is kept."""

_KEPT = "rdc-kept"


def _folder(name: str) -> Expression:
    return Expression(f"${{{{ runner.temp }}}}/{name}")


def uploaded(name: str, condition: str, artifact: str, folder: str, options: GithubOptions) -> Step:
    """The step that keeps a folder of the job as an artifact."""
    pin = pins()["upload-artifact"]
    what = {
        "name": artifact,
        "path": _folder(folder),
        "overwrite": Expression("true"),
        **({"retention-days": Expression(str(options.retention_days))} if options.retention_days else {}),
    }
    return Step(name, condition=condition, uses=pin.reference, version=pin.version, inputs=what)


def downloaded(name: str, condition: str, artifact: str, folder: str, more: Mapping[str, str]) -> Step:
    """The step that fetches an artifact, without `more` inputs one of this run."""
    pin = pins()["download-artifact"]
    where = {"name": artifact, "path": _folder(folder), **more}
    return Step(name, condition=condition, uses=pin.reference, version=pin.version, inputs=where)


def of_another_run() -> Step:
    """Fetches what the run that waited has kept, if this one continues it."""
    another = {"run-id": Expression("${{ inputs.resume }}"), "github-token": TOKEN}
    name = Expression("${{ steps.check.outputs.artifact }}")
    return downloaded("Take over the run that waited, with its workspace", "inputs.resume", name, _KEPT, another)


def of_earlier(earlier: Sequence[str]) -> Step:
    """Fetches what the last of the earlier jobs has handed on."""
    first, *later = earlier
    ran = "".join(f"needs.{part}.result == 'success' && '{STATE}-{part}' || " for part in reversed(later))
    name = Expression(f"${{{{ {ran}'{STATE}-{first}' }}}}") if later else f"{STATE}-{first}"
    return downloaded("Take over the run and its workspace", "", name, _KEPT, {})


def kept_run(options: GithubOptions) -> Step:
    """Keeps the run for the next job, under the name of the part that ends here, or for a run that continues it."""
    name = Expression("${{ steps.close.outputs.kept }}")
    return uploaded("Keep the run and its workspace", _closed("kept"), name, "rdc-kept", options)


def transcript(part: str, options: GithubOptions) -> Step:
    """Keeps what agents and tools were given and have answered, for people."""
    name = f"rdc-transcript{part}"
    return uploaded("Keep prompts and answers", _closed("transcript"), name, "rdc-transcript", options)


def _closed(name: str) -> str:
    return f"${{{{ !cancelled() && steps.close.outputs.{name} }}}}"


def last_output(name: str, says: str, options: GithubOptions) -> Step:
    """Keeps the file which a run leaves, under the name that it has by its type (I28)."""
    called = Expression("${{ steps.close.outputs.artifact }}")
    return replace(uploaded(name, "steps.close.outputs.artifact", called, "rdc-artifact", options), comments=(says,))


def outputs(options: GithubOptions) -> Step:
    """Keeps the declared outputs of a specification."""
    return uploaded("Keep the outputs", "steps.close.outputs.next == 'COMPLETE'", "outputs", "rdc-outputs", options)


def taken_artifact(name: str, called: str) -> Step:
    """Fetches the file which a run has left; `name` is an expression for what the artifact is called."""
    return downloaded(called, "", Expression(f"${{{{ {name} }}}}"), "rdc-artifact", {})


# --- The entries of a matrix ---


def entry_kept(job: str, step: str, options: GithubOptions) -> Step:
    """Keeps what an entry has come to, if `step` has done it in this attempt.

    To replace an artifact is to delete it first, so one that was kept before is left alone: it must not be lost.
    """
    says = ("The answer is all that is kept: what the agent has changed in the workspace is dropped.",)
    name = Expression(f"rdc-{job}-${{{{ matrix.entry }}}}")
    return replace(
        uploaded("Keep what this entry says", f"steps.{step}.outputs.kept", name, "rdc-entry", options), comments=says
    )


def entry_again(job: str) -> Step:
    """Fetches what the entry has kept in an earlier attempt, if that got so far: it is not done twice.

    A pattern may match nothing, and only that lets the entry be done: if GitHub cannot be asked, the step fails.
    """
    name = Expression(f"rdc-{job}-${{{{ matrix.entry }}}}")
    step = downloaded("Take over what this entry has said before", "github.run_attempt != '1'", name, "rdc-entry", {})
    inputs = {"pattern": name, "path": step.inputs["path"], "merge-multiple": Expression("true")}
    says = ("In a re-run; where the pattern finds nothing, the agent is called.",)
    return replace(step, inputs=inputs, comments=says)


def entries_taken(job: str, place: str, count: int) -> Iterator[Step]:
    """Fetches what the entries have kept; what is not there is found out when they are joined."""
    for index in range(count):
        where = f"rdc-entries/{index}"
        step = downloaded(
            f"Take over what {place} {index} says", f"needs.{job}.result != 'skipped'", f"rdc-{job}-{index}", where, {}
        )
        yield replace(step, tolerated=True)
