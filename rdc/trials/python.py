"""Trials of the Python target."""

from __future__ import annotations

import json
import os
import sys

from backends.python import PythonBackend
from compiler.ir.tasks import Verdict
from rdc.trials.process import execute
from rdc.trials.run import Run, Setting, Step


def run(setting: Setting) -> Run:
    """Run the generated Python file; its events say what it does."""
    script = setting.lay("program.py", PythonBackend().emit(setting.program, {}))
    events = setting.scratch / "events"
    state = setting.scratch / "state"
    words = ["run", "--state-dir", str(state), "--answers", str(setting.write_answers()), "--events", str(events)]
    words += [f"--input={name}={value}" for name, value in setting.inputs.items()]
    done = execute([sys.executable, str(script), *words], setting.workspace, os.environ, setting.timeout)
    lines = events.read_text(encoding="utf-8").splitlines() if events.exists() else []
    happened = [json.loads(line) for line in lines]
    steps = tuple(
        Step(event["unit"], event["attempt"], Verdict(event["outcome"]))
        for event in happened
        if event["event"] == "unit_finished"
    )
    if happened and happened[-1]["event"] == "run_finished":
        return Run(steps, happened[-1]["result"].upper(), " ".join(happened[-1]["message"].split()))
    return Run.told(steps, done.err, done.code)
