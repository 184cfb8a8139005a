"""Conformance documents of the Rundown project, as paths that were derived by hand from their text.

The documents are restated in the model, by the name of the file that each comes from; nothing is read here.
"""

from __future__ import annotations

import pytest

from tests.differential.generate.rundown_model import Files, Step, book, step, sub
from tests.differential.oracles.rundown import expect

CONTINUE = ("PASS: CONTINUE", "FAIL: STOP")
FINAL = ("PASS: COMPLETE", "FAIL: STOP")

HANDLED = (
    step("1", "PASS: CONTINUE", "FAIL: GOTO ErrorHandler"),
    step("2", "PASS: COMPLETE", "FAIL: GOTO ErrorHandler"),
)
NAMED_TO_NAMED = (
    *HANDLED,
    step("ErrorHandler", "PASS: GOTO 1", "FAIL: GOTO Fallback"),
    step("Fallback", "PASS: COMPLETE Recovered via fallback", "FAIL: STOP Unrecoverable error"),
)
NAMED_ONLY = (
    step("Initialize", "PASS: CONTINUE", "FAIL: GOTO Cleanup"),
    step("Process", "PASS: GOTO Cleanup", "FAIL: GOTO ErrorHandler"),
    step("ErrorHandler", "PASS: GOTO Cleanup", "FAIL: STOP"),
    step("Cleanup", *FINAL),
)
MIXED_BATCH = (
    step(
        "{N}",
        sub("1", "PASS: CONTINUE", "FAIL: GOTO {N}.Recovery"),
        sub("2", "PASS: GOTO NEXT", "FAIL: GOTO {N}.Recovery"),
        sub("Recovery", "PASS: GOTO NEXT", "FAIL: STOP"),
    ),
)
GLOBAL_ERROR = (
    step(
        "{N}",
        sub("1", "FAIL: GOTO {N}.Recovery", "PASS: GOTO NEXT"),
        sub("Recovery", "PASS: GOTO NEXT", "FAIL: GOTO GlobalError"),
    ),
    step("GlobalError", "PASS: STOP All items failed"),
)
RECOVERY = (
    step("{N}", "PASS: GOTO NEXT", "FAIL: GOTO Recovery"),
    step("Recovery", "PASS: GOTO {N}", "FAIL: STOP Recovery failed"),
)
BATCH = (step("{N}", sub("{n}", *CONTINUE)), step("Cleanup", *FINAL))
GOTO_SUBSTEP = (step("1", sub("1", "PASS: GOTO 1.3", "FAIL: STOP"), sub("2"), sub("3")),)
DYNAMIC_HANDLER = (
    step("1", "FAIL: GOTO ErrorHandler"),
    step("ErrorHandler", sub("{n}", "PASS: COMPLETE", "FAIL: GOTO NEXT")),
)
MIXED_HANDLER = (
    step("1", "PASS: CONTINUE", "FAIL: GOTO ErrorHandler"),
    step("ErrorHandler", sub("1", *CONTINUE), sub("Cleanup", "PASS: GOTO 1", "FAIL: STOP")),
)
AGGREGATION = (
    step("1", "PASS: CONTINUE", "FAIL: STOP Failed"),
    step("2", "PASS: GOTO 4", "FAIL: RETRY 3 STOP"),
    step("3", "PASS: CONTINUE"),
    step("4", "PASS: COMPLETE"),
)
EXHAUSTION = (
    step("1", *CONTINUE),
    step("2", "PASS: CONTINUE", "FAIL: RETRY 3 COMPLETE Max retries reached, completing anyway"),
    step("3", *FINAL),
)
COMPOSITION = (
    step("1", "lint.runbook.md", "types.runbook.md", "tests.runbook.md", "FAIL ANY: STOP Verification failed"),
)
COMPOSED = {f"{name}.runbook.md": book(step("1")) for name in ("lint", "types", "tests")}

PATHS: list[tuple[str, tuple[Step, ...], str]] = [
    ("code-blocks", (step("1", *CONTINUE), step("2", *CONTINUE), step("3", *FINAL)), "1+ 2+ 3- => STOP"),
    ("complex-transitions", AGGREGATION, "1+ 2- 2#2- 2#3+ 4+ => COMPLETE"),
    ("complex-transitions", AGGREGATION, "1+ 2- 2#2- 2#3- 2#4- => STOP"),
    ("complex-transitions", AGGREGATION, "1- => STOP Failed"),
    ("dynamic-batch", (step("1", sub("{n}")),), "1.{n}@.1+ => COMPLETE"),
    ("dynamic-batch", (step("1", sub("{n}")),), "1.{n}@.1- => STOP"),
    ("dynamic-step-dynamic-substeps", BATCH, "{N}.{n}@1.1+ => COMPLETE"),
    ("dynamic-step-mixed-substeps", MIXED_BATCH, "{N}.1@1.+ {N}.2@1.- {N}.Recovery@1.+ {N}.1@2.+ => cut off"),
    ("dynamic-step-mixed-substeps", MIXED_BATCH, "{N}.1@1.- {N}.Recovery@1.- => STOP"),
    ("fail-complete-transition", (step("1", "FAIL: COMPLETE Early"), step("2")), "1- => COMPLETE Early"),
    (
        "goto-dynamic-substep",
        (step("{N}", sub("1", "PASS: GOTO {N}.3"), sub("2", *CONTINUE), sub("3", "PASS: GOTO NEXT")),),
        "{N}.1@1.+ {N}.3@1.+ {N}.1@2.+ {N}.3@2.- => STOP",
    ),
    (
        "goto-from-named-step",
        (*HANDLED, step("ErrorHandler", "PASS: GOTO 1")),
        "1- ErrorHandler+ 1+ 2+ => COMPLETE",
    ),
    ("goto-named-to-named", NAMED_TO_NAMED, "1- ErrorHandler- Fallback+ => COMPLETE Recovered via fallback"),
    ("goto-named-to-named", NAMED_TO_NAMED, "1+ 2- ErrorHandler+ 1+ 2+ => COMPLETE"),
    ("goto-named", NAMED_ONLY, "Initialize+ => COMPLETE"),
    ("goto-named", NAMED_ONLY, "Initialize- Cleanup+ => COMPLETE"),
    ("goto-next", (step("{N}", "PASS: GOTO NEXT", "FAIL: COMPLETE"),), "{N}@1.+ {N}@2.- => COMPLETE"),
    ("goto-step", (step("1", "PASS: GOTO 3"), step("2"), step("3", *FINAL)), "1+ 3+ => COMPLETE"),
    ("goto-substep", GOTO_SUBSTEP, "1.1+ 1.3+ => COMPLETE"),
    ("goto-substep", GOTO_SUBSTEP, "1.1+ 1.3- => STOP"),
    (
        "mixed-dynamic-named-recovery",
        RECOVERY,
        "{N}@1.+ {N}@2.- Recovery+ {N}@2.- Recovery- => STOP Recovery failed",
    ),
    (
        "mixed-named-dynamic",
        GLOBAL_ERROR,
        "{N}.1@1.+ {N}.1@2.- {N}.Recovery@2.- GlobalError+ => STOP All items failed",
    ),
    ("mixed-named-dynamic", GLOBAL_ERROR, "{N}.1@1.- {N}.Recovery@1.- GlobalError- => STOP"),
    (
        "named-step-dynamic-substep",
        DYNAMIC_HANDLER,
        "1- ErrorHandler.{n}@.1- ErrorHandler.{n}@.2+ => COMPLETE",
    ),
    ("named-step-mixed-substeps", MIXED_HANDLER, "1- ErrorHandler.1+ ErrorHandler.Cleanup+ 1+ => COMPLETE"),
    ("nested-static-substeps", (step("1", sub("1"), sub("2")),), "1.1+ 1.2+ => COMPLETE"),
    (
        "pass-stop-transition",
        (step("1"), step("2", "PASS: STOP Check passed", "FAIL: CONTINUE"), step("3")),
        "1+ 2+ => STOP Check passed",
    ),
    (
        "retry-counter-reset",
        (step("1", "FAIL: RETRY 1 GOTO 2"), step("2", "PASS: COMPLETE", "FAIL: RETRY 1 STOP")),
        "1- 1#2- 2- 2#2+ => COMPLETE",
    ),
    ("retry-exhaustion-complete", EXHAUSTION, "1+ 2- 2#2- 2#3+ 3+ => COMPLETE"),
    (
        "retry-exhaustion-complete",
        EXHAUSTION,
        "1+ 2- 2#2- 2#3- 2#4- => COMPLETE Max retries reached, completing anyway",
    ),
    (
        "retry-exhaustion-goto",
        (step("1", "FAIL: RETRY 2 GOTO 3"), step("2", "PASS: COMPLETE"), step("3", "PASS: COMPLETE")),
        "1- 1#2- 1#3- 3+ => COMPLETE",
    ),
    ("retry-success", (step("1", "PASS: COMPLETE", "FAIL: RETRY 3 STOP"),), "1- 1#2+ => COMPLETE"),
    (
        "standard-sequential",
        (step("1", *CONTINUE), step("2", "PASS: COMPLETE", "FAIL: RETRY 2 STOP")),
        "1+ 2- 2#2- 2#3+ => COMPLETE",
    ),
    (
        "workflow-composition",
        COMPOSITION,
        "1/lint.runbook.md/1+ 1/types.runbook.md/1+ 1/tests.runbook.md/1+ => COMPLETE",
    ),
    (
        "workflow-composition",
        COMPOSITION,
        "1/lint.runbook.md/1+ 1/types.runbook.md/1- => STOP Verification failed",
    ),
]


@pytest.mark.parametrize(("document", "steps", "trace"), PATHS)
def test_walk_of_a_document(document: str, steps: tuple[Step, ...], trace: str) -> None:
    files: Files = COMPOSED if document == "workflow-composition" else {}
    expect(trace, *steps, files=files)
