"""What is told of a run and taken out of it: its timeline, and the outputs of its steps."""

import os
from contextlib import suppress
from typing import Optional

from runtime_shim.contract.run_files import RunFiles, records_of
from runtime_shim.contract.safe_paths import UnsafeError, inside
from runtime_shim.contract.timeline import in_masked, timeline_lines
from runtime_shim.engine.lifecycle import Extension
from runtime_shim.engine.program import EXIT_COMPLETE, RefusedError, Table
from runtime_shim.engine.session import Session


def records_told(session: Session) -> RunFiles:
    """Return the files of the run as its journal has them now, without writing any."""
    state = session.read()
    if state is None:
        raise RefusedError(f"no run has begun here ({session.store.directory})")
    session.state = state
    return RunFiles(session, records_of(session))


def show_timeline(session: Session) -> int:
    """Print the timeline."""
    entries: list[Table] = in_masked(session.mask, records_told(session).records.files()["timeline"]["entries"])
    return session.display.say(timeline_lines(entries, bool(session.options.markdown)))


def outputs(session: Session) -> int:
    """Copy the outputs of completed steps to a folder, or bring back those that are not there."""
    options = session.options
    if bool(options.to) == bool(getattr(options, "from")):
        raise RefusedError("outputs needs --to DIR or --from DIR")
    found, root = records_told(session), session.state.begin["cwd"]
    folder = os.path.abspath(options.to or getattr(options, "from"))
    troubles = []
    for artifact in {one["path"]: one for one in found.records.files()["artifacts"]}.values():  # the last one counts
        pair = [place_of_output(root, artifact["path"]), os.path.join(folder, os.path.normpath(artifact["path"]))]
        source, target = pair if options.to else reversed(pair)
        if options.to or digest_of(target) is None:
            troubles += copy(source, target, artifact)
    if troubles:
        raise RefusedError(*troubles, f"{len(troubles)} of the outputs could not be copied")
    return EXIT_COMPLETE


def place_of_output(root: str, path: str) -> str:
    """Return where an output lies: links within the project are followed, those that lead out of it are not."""
    try:
        return os.path.join(os.path.realpath(root), *inside(root, path))
    except UnsafeError as error:
        raise RefusedError(f"output {error}") from None


def digest_of(path: str) -> Optional[str]:
    """Return the SHA-256 of a regular file; None if there is none."""
    import hashlib

    with suppress(OSError):
        if os.path.isfile(path) and not os.path.islink(path):
            with open(path, "rb") as file:
                return hashlib.sha256(file.read()).hexdigest()
    return None


def copy(source: str, target: str, artifact: Table) -> list[str]:
    """Copy an output that is as it was indexed, whole or not at all; returns what is wrong."""
    import shutil

    found = digest_of(source)
    if found != artifact["sha256"]:
        how = "is not there" if found is None else "was changed since it was indexed"
        return [f"{source} {how}: the output of step {artifact['step_id']}"]
    os.makedirs(os.path.dirname(target), exist_ok=True)
    draft = f"{target}.{os.getpid()}.new"
    try:
        shutil.copyfile(source, draft)
        os.replace(draft, target)
    finally:
        with suppress(FileNotFoundError):
            os.unlink(draft)
    return []


class RunReports(Extension):
    """The subcommands `timeline` and `outputs`."""

    commands = {
        "timeline": ("tell what happened, and when", show_timeline),
        "outputs": ("copy the outputs of completed steps", outputs),
    }
    options = (
        ("timeline", "--markdown", "", "as a table in Markdown"),
        ("outputs", "--to", "DIR", "the folder to copy to"),
        ("outputs", "--from", "DIR", "the folder to bring back from what is not there"),
    )

    @staticmethod
    def suits(program: Table) -> bool:
        """Tell whether the program has a contract."""
        return "contract" in program
