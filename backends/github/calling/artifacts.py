"""The steps that upload and download artifacts: the state of the run, transcripts, and the run's output."""

from collections.abc import Iterator, Mapping, Sequence

from msgspec.structs import replace

from backends.github.options.model import GithubOptions
from backends.github.yaml.model import Step
from backends.github.yaml.pins import pins
from backends.github.yaml.scalar import Expression

TOKEN = Expression("${{ github.token }}")
"""Only for rdc's own steps. The document's commands and agents don't get it."""

STATE = "rdc-state"
"""The artifact with the state of a run."""

_KEPT = "rdc-kept"


def _folder(name: str) -> Expression:
    return Expression(f"${{{{ runner.temp }}}}/{name}")


def uploaded(name: str, condition: str, artifact: str, folder: str, options: GithubOptions) -> Step:
    """Return the step that uploads a folder of the job as an artifact."""
    pin = pins()["upload-artifact"]
    what = {
        "name": artifact,
        "path": _folder(folder),
        "overwrite": Expression("true"),
        "retention-days": Expression(str(options.retention_days)),
    }
    return Step(name, condition=condition, uses=pin.reference, version=pin.version, inputs=what)


def downloaded(name: str, condition: str, artifact: str, folder: str, more: Mapping[str, str] = {}) -> Step:
    """Return the step that downloads an artifact of this run, or of another run with `more` inputs."""
    pin = pins()["download-artifact"]
    where = {"name": artifact, "path": _folder(folder), **more}
    return Step(name, condition=condition, uses=pin.reference, version=pin.version, inputs=where)


def of_another_run() -> Step:
    """Return the step that downloads the state of the run that this one continues."""
    another = {"run-id": Expression("${{ inputs.resume }}"), "github-token": TOKEN}
    name = Expression("${{ steps.check.outputs.artifact }}")
    return downloaded("Load the waiting run with its workspace", "inputs.resume", name, _KEPT, another)


def of_earlier(earlier: Sequence[str]) -> Step:
    """Return the step that downloads the state from the last of the earlier jobs that ran."""
    first, *later = earlier
    ran = "".join(map(if_ran, reversed(later)))
    name = Expression(f"${{{{ {ran}'{STATE}-{first}' }}}}") if later else f"{STATE}-{first}"
    return downloaded("Load the run and its workspace", "", name, _KEPT)


def if_ran(part: str) -> str:
    """Return the part of an expression that takes the state of a job if that job ran."""
    return f"needs.{part}.result == 'success' && '{STATE}-{part}' || "


def kept_run(options: GithubOptions) -> Step:
    """Return the step that uploads the state, for the next job or for a run that continues this one."""
    name = Expression("${{ steps.close.outputs.kept }}")
    return uploaded("Save the run and its workspace", _closed("kept"), name, "rdc-kept", options)


def transcript(part: str, options: GithubOptions) -> Step:
    """Return the step that uploads the prompts and answers of agents and tools, for people to read."""
    name = f"rdc-transcript{part}"
    return uploaded("Save prompts and answers", _closed("transcript"), name, "rdc-transcript", options)


def _closed(name: str) -> str:
    return f"${{{{ !cancelled() && steps.close.outputs.{name} }}}}"


def last_output(name: str, text: str, options: GithubOptions) -> Step:
    """Return the step that uploads the file that a run leaves, named by its type (I28)."""
    called = Expression("${{ steps.close.outputs.artifact }}")
    return replace(uploaded(name, "steps.close.outputs.artifact", called, "rdc-artifact", options), comments=(text,))


def outputs(options: GithubOptions) -> Step:
    """Return the step that uploads the declared outputs of a specification."""
    return uploaded("Save the outputs", "steps.close.outputs.next == 'COMPLETE'", "outputs", "rdc-outputs", options)


def taken_artifact(name: str, called: str) -> Step:
    """Return the step that downloads the file that a run has left. `name` is an expression for the artifact's name."""
    return downloaded(called, "", Expression(f"${{{{ {name} }}}}"), "rdc-artifact")


def entry_kept(job: str, step: str, options: GithubOptions) -> Step:
    """Return the step that uploads an entry's answer, if `step` produced it in this attempt.

    GitHub replaces an artifact by deleting it first. So an artifact of an earlier attempt stays: it must not be lost.
    """
    text = ("Saves only the answer. The agent's changes in the workspace are lost.",)
    name = Expression(f"rdc-{job}-${{{{ matrix.entry }}}}")
    return replace(
        uploaded("Save this agent's answer", f"steps.{step}.outputs.kept", name, "rdc-entry", options), comments=text
    )


def entry_again(job: str) -> Step:
    """Return the step that downloads an entry's answer from an earlier attempt, so that the entry does not run twice.

    A pattern may match nothing, and only then does the entry run. If GitHub doesn't respond, the step fails.
    """
    name = Expression(f"rdc-{job}-${{{{ matrix.entry }}}}")
    step = downloaded("Load this agent's earlier answer", "github.run_attempt != '1'", name, "rdc-entry")
    inputs = {"pattern": name, "path": step.inputs["path"], "merge-multiple": Expression("true")}
    text = ("For a re-run. If there is no earlier answer, the agent is called.",)
    return replace(step, inputs=inputs, comments=text)


def entries_taken(job: str, place: str, count: int) -> Iterator[Step]:
    """Yield the steps that download the answers of all entries. Missing answers are reported when they are joined."""
    for index in range(count):
        where = f"rdc-entries/{index}"
        step = downloaded(
            f"Load the answer of {place} {index}", f"needs.{job}.result != 'skipped'", f"rdc-{job}-{index}", where, {}
        )
        yield replace(step, tolerated=True)
