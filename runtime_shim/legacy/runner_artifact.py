"""The file that a good run leaves on GitHub (I28): written for the step that uploads it."""

import os
from pathlib import Path

from runtime_shim.legacy.program import EXIT_COMPLETE, Table
from runtime_shim.legacy.runner_calls import STEPS, in_bytes, masked
from runtime_shim.legacy.runner_says import output
from runtime_shim.legacy.runner_state import read_state
from runtime_shim.legacy.suffixes import OTHER, SUFFIXES
from runtime_shim.legacy.walk import filled


def write_artifact(program: Table, folder: Path, _others: list[str]) -> int:
    """Write the file, and say its name, if this job has come to the good end."""
    run, artifact = read_state(program, folder / "state"), program["artifact"]
    text = run.registers[artifact["slot"]]
    if run.end != "COMPLETE" or text is None:
        return EXIT_COMPLETE
    suffix = SUFFIXES.get(filled(artifact, artifact["type"], run.registers), OTHER)
    name = f"{artifact['name']}.{suffix}"
    path = folder.with_name("rdc-artifact")
    path.mkdir(exist_ok=True)
    draft = folder / "artifact.new"
    draft.write_bytes(in_bytes(masked(text)))
    os.replace(draft, path / name)
    output("name", name)
    return EXIT_COMPLETE


STEPS["artifact"] = write_artifact
