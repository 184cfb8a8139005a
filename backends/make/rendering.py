"""The templates in `templates/` as functions. `make golden` makes them: change a template, not this file."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from backends.make.texts import comment
from backends.templating import joined


@joined
def calling_mk(
    *,
    clause: Any,
    command: Any,
    included: Any,
    mark: Any,
    p: Any,
    program: Any,
    scope: Any,
    sha256: Any,
    source: Any,
    start: Any,
    state: Any,
    state_dir: Any,
    steps: Any,
    title: Any,
    verbs: Any,
    version: Any,
) -> Iterator[str]:
    """Fill in `calling.mk.jinja`."""
    yield head_mk(command=command, included=included, mark=mark, source=source, title=title, version=version)
    yield f"# Needs GNU make 3.81 or newer, a POSIX shell, and Python 3.9 or newer. {program} runs the steps\n"
    yield f"# because {clause}. `make{' ' + p + 'run' if p else ''}{start}` starts a run. `make {p}resume` continues it.\n"
    yield f"# `make {p}help` lists the other targets. make exits with 0 only after COMPLETE.\n"
    yield f"# The state directory is {state} in the current folder.\n"
    yield "\n"
    yield f"override {p}RDC_PROGRAM := $(dir $(lastword $(MAKEFILE_LIST))){program}\n"
    yield f"override {p}RDC_SHA256 := {sha256}\n"
    if p:
        yield f"{p}RDC_GOAL := $(.DEFAULT_GOAL)\n"
    else:
        yield "PYTHON ?= python3\n"
        yield "SHELL = /bin/sh\n"
        yield ".SUFFIXES:\n"
        yield ".NOTPARALLEL:\n"
    yield "\n"
    yield f"{p}run {p}resume: ; $(call {p}RDC_CALL,$(@:{p}%=%),,$({p}RDC_ONCE))\n"
    yield f"{verbs}: ; $(call {p}RDC_CALL,$(@:{p}%=%))\n"
    yield f"{p}clean: ; $(call {p}RDC_CALL,reset)\n"
    yield "\n"
    yield "# --- The steps --------------------------------------------------------------------------------------------------------\n"
    yield f"# `make{' ' + p + 'run' if p else ''}` runs them in the document's order. The target of a step runs it only when it is the next one.\n"
    for step in steps:
        yield "\n"
        for line in step.remarks:
            yield f"{line}\n"
        if step.target:
            yield f"{p}{step.target}: ; $(call {p}RDC_CALL,step,{step.places}"
            if step.is_gated:
                yield f",$({p}RDC_ONCE)"
            yield ")\n"
    yield "\n"
    yield "# --- The call of the program: the same in every Makefile that has one -------------------------------------------------\n"
    yield "\n"
    yield f"override {p}RDC_TARGETS := {p}run {p}resume {verbs} {p}clean"
    for step in steps:
        if step.target:
            yield f" {p}{step.target}"
    yield "\n"
    yield f".PHONY: $({p}RDC_TARGETS)\n"
    if p:
        yield f".DEFAULT_GOAL := $({p}RDC_GOAL)\n"
    yield "\n"
    yield "# A NAME=VALUE on make's command line is a plain string. make passes it to the program and expands nothing in it.\n"
    yield f"override {p}RDC_QUOTED = '$(subst ','\\'',$(1))'\n"
    yield f"override {p}RDC_IS_GIVEN = $(filter command,$(firstword $(origin $(RDC_NAME))))\n"
    yield f"override {p}RDC_TEXT = $(eval override $(RDC_NAME) := $$(value $(RDC_NAME)))$(eval unexport $(RDC_NAME))\n"
    yield f"override {p}RDC_NAMES := $(foreach RDC_NAME,$(.VARIABLES),$(if $({p}RDC_IS_GIVEN),$(RDC_NAME)))\n"
    if p:
        yield f"override {p}RDC_NAMES := $(if $(filter $({p}RDC_TARGETS),$(MAKECMDGOALS)),$({p}RDC_NAMES))\n"
    else:
        yield "MAKEOVERRIDES =\n"
    yield f"$(foreach RDC_NAME,$({p}RDC_NAMES),$({p}RDC_TEXT))\n"
    yield f"override {p}RDC_OURS := PYTHON SHELL MAKE% MFLAGS GNUMAKEFLAGS RDC_GIVEN RDC_MAKE RDC_SCRIPT RDC_PLACE RDC_OPENS\n"
    yield f"override {p}RDC_WORD = $(call {p}RDC_QUOTED,$(RDC_NAME)=$(value $(RDC_NAME)))\n"
    yield f"{scope}RDC_GIVEN = $(foreach RDC_NAME,$(filter-out $({p}RDC_OURS),$({p}RDC_NAMES)),$({p}RDC_WORD))\n"
    yield "\n"
    yield "# How to call make again, for the commands that the program prints: with -C and -f if this call had them.\n"
    yield f"override {p}RDC_FLAGS = $(filter-out --%,$(firstword -$(MAKEFLAGS)))\n"
    yield f"override {p}RDC_SILENT = $(findstring s,$({p}RDC_FLAGS))$(filter --no-print-directory,$(MAKEFLAGS))\n"
    yield f"override {p}RDC_IN = $(if $(findstring w,$({p}RDC_FLAGS))$({p}RDC_SILENT),-C $(call {p}RDC_QUOTED,$(CURDIR)))\n"
    yield f"override {p}RDC_USUAL := $(firstword $(wildcard GNUmakefile makefile Makefile))\n"
    yield f"override {p}RDC_TOP := $(filter-out $({p}RDC_USUAL),$(firstword $(MAKEFILE_LIST)))\n"
    yield f"{scope}RDC_MAKE = $({p}RDC_IN) $(if $({p}RDC_TOP),-f $(call {p}RDC_QUOTED,$({p}RDC_TOP))) '{p}'\n"
    yield "\n"
    yield "# `make -n` prints the call. One call of make approves one gate.\n"
    yield f"override {p}RDC_ONCE = $(if $({p}RDC_OPENED),,RDC_OPENS=1$(eval override {p}RDC_OPENED := yes))\n"
    yield f"override {p}RDC_OPENED :=\n"
    yield f"override {p}RDC_PYTHON = $(or $(if $(filter file,$(origin PYTHON)),$(PYTHON),$(value PYTHON)),python3)\n"
    yield f"override {p}RDC_SHOWN = $(info $(strip $({p}RDC_PYTHON) $({p}RDC_PROGRAM) $(1) $(2)))\n"
    yield f"override {p}RDC_FILES = $(call {p}RDC_QUOTED,$({p}RDC_PYTHON)) $(call {p}RDC_QUOTED,$({p}RDC_PROGRAM))\n"
    yield f"override {p}RDC_RUN = RDC_PLACE='$(2)' $(3) exec {'sh' if p else '$(SHELL)'} -c \"$$RDC_SCRIPT\" rdc $({p}RDC_FILES) $(1){state_dir}\n"
    yield f"override {p}RDC_CALL = $(if $(findstring n,$({p}RDC_FLAGS)),$({p}RDC_SHOWN),@$({p}RDC_RUN))\n"
    yield f"{scope}RDC_SCRIPT = sha256=$({p}RDC_SHA256)$(value {p}RDC_CHECKED)\n"
    if not p:
        yield "export RDC_GIVEN RDC_MAKE RDC_SCRIPT\n"
    yield f"override define {p}RDC_CHECKED\n"
    yield "\n"
    yield "fail() { printf 'rdc: error: %s\\n' \"$1\"; exit 2; }\n"
    yield 'command -v "$1" > /dev/null || fail "cannot find $1; set PYTHON= to Python 3.9 or newer"\n'
    yield '[ -r "$2" ] || fail "cannot read $2, which this Makefile needs"\n'
    yield 'found=$({ sha256sum || shasum -a 256; } 2> /dev/null < "$2")\n'
    yield '[ -n "$found" ] || fail "cannot check $2: install sha256sum or shasum"\n'
    yield '[ "${found%% *}" = "$sha256" ] ||\n'
    yield '  fail "$2 is not the program that belongs to this Makefile; restore it, or compile the document again"\n'
    yield "unset RDC_SCRIPT MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES MAKE_TERMOUT MAKE_TERMERR\n"
    yield 'exec "$@"\n'
    yield "endef\n"


@joined
def head_mk(*, command: Any, included: Any, mark: Any, source: Any, title: Any, version: Any) -> Iterator[str]:
    """Fill in `head.mk.jinja`."""
    yield f"# {title}\n"
    yield "#\n"
    yield f"# {mark} {version} from {comment(source.path)}\n"
    yield f"# (sha256 {source.sha256}){',' if included else '.'}\n"
    for other_index, other in enumerate(included):
        yield f"# with {comment(other.path)}\n"
        yield f"# (sha256 {other.sha256}){'.' if other_index == len(included) - 1 else ','}\n"
    yield "# Do not edit this file: change the document and run the command below. To check the file, run `rdc verify FILE`.\n"
    yield f"#   {command}\n"
    yield "#\n"


@joined
def makefile_mk(
    *,
    asks: Any,
    command: Any,
    counters: Any,
    explained: Any,
    has_prompts: Any,
    included: Any,
    mark: Any,
    needs: Any,
    p: Any,
    source: Any,
    state: Any,
    steps: Any,
    targets: Any,
    texts: Any,
    title: Any,
    version: Any,
) -> Iterator[str]:
    """Fill in `makefile.mk.jinja`."""
    yield head_mk(command=command, included=included, mark=mark, source=source, title=title, version=version)
    yield f"# Needs {needs}.\n"
    yield f"# `make{' ' + p + 'run' if p else ''}` starts a run. `make {p}resume` continues one that waits or was interrupted.\n"
    yield f"# `make {p}help` lists the other targets. The state directory is {state} in the current folder.\n"
    yield "# make exits with 0 only after COMPLETE. The last line of its output shows the result of the run.\n"
    yield "\n"
    yield "# --- The steps --------------------------------------------------------------------------------------------------------\n"
    yield f"# `do_X` is the command of step X{', `ask_X` is its question' if asks else ''}{', `prompt_X` is its prompt' if has_prompts else ''}. `step_X` has its title and transitions:\n"
    yield "# `CONTINUE`, `GOTO`, `COMPLETE` and `STOP` as the document has them, and otherwise `go` to a step, `stop` or `finish`.\n"
    yield f"# A string after a message is the document's own wording; `make {p}status` shows it.\n"
    for line in explained:
        yield f"# {line}\n"
    for step in steps:
        yield "\n"
        yield f"{step}\n"
    if counters:
        yield "\n"
        yield "# The counters, with their values at the start of a run.\n"
        for line in counters:
            yield f"{line}\n"
    if texts:
        yield "\n"
        for line in texts:
            yield f"{line}\n"
    else:
        yield "\n"
    yield f"{targets}"


@joined
def plain_mk(
    *,
    command: Any,
    has_blocks: Any,
    has_retries: Any,
    last: Any,
    mark: Any,
    message: Any,
    names: Any,
    needs: Any,
    other: Any,
    others: Any,
    p: Any,
    rules: Any,
    scope: Any,
    shell: Any,
    source: Any,
    state: Any,
    steps: Any,
    title: Any,
    version: Any,
) -> Iterator[str]:
    """Fill in `plain.mk.jinja`."""
    yield f"# {title}\n"
    yield f"# {mark} {version} from {comment(source.path)}\n"
    yield f"# (sha256 {source.sha256}).\n"
    yield "# Do not edit this file: change the document and run the command below. To check the file, run `rdc verify FILE`.\n"
    yield f"#   {command}\n"
    yield f"# Needs {needs}. `make{' ' + p + 'run' if p else ''}` runs the steps that have no stamp file, including an interrupted one.\n"
    yield f"# `make {p}clean {p}run` runs all of them: use it after you change the document. Do not run two makes at once.\n"
    if p:
        yield f"{p}RDC_GOAL := $(.DEFAULT_GOAL)\n"
    yield f"{p}RDC_DONE := {state}\n"
    yield f"{p}RDC_STAMPS := $(addprefix $({p}RDC_DONE)/,{steps})\n"
    yield f".PHONY: {p}run {p}clean\n"
    if not p:
        yield ".NOTPARALLEL:\n"
    yield f"{p}run: | $({p}RDC_DONE)/{last} ; @"
    if message:
        yield f"printf '%s\\n' {message}"
    else:
        yield ":"
    yield "\n"
    yield f"{p}clean: ; rm -f $({p}RDC_STAMPS)\n"
    yield f"$({p}RDC_DONE): ; mkdir -p $@ && echo '*' > $@/.gitignore\n"
    yield f"$({p}RDC_STAMPS): SHELL = {shell}\n"
    if others:
        yield f"$(addprefix $({p}RDC_DONE)/,{others}): SHELL = {other}\n"
    yield f"{scope}export RDC_ATTEMPT = 1\n"
    yield f"{scope}export RDC_STEP = $(@F)\n"
    if has_blocks:
        yield f"{scope}export RDC_COMMAND = $({p}do_$(@F))\n"
        yield f'{p}RDC_DO = $(info $(RDC_COMMAND))@$(SHELL) -c "$$RDC_COMMAND"\n'
    if has_retries:
        yield f'{p}RDC_TRY = $(info $(RDC_COMMAND))@for n in $(1); do RDC_ATTEMPT=$$n $(SHELL) -c "$$RDC_COMMAND" && exit; done; false\n'
    for line_index, line in enumerate(names):
        yield f"{p}RDC_OURS {':=' if line_index == 0 else '+='} {line}\n"
    yield f"override {p}RDC_KNOWN = $(if $(filter {p}RDC_% {p}do_% $({p}RDC_OURS),$(1)),$(error rdc: do not set $(1) for this Makefile))\n"
    yield f"override {p}RDC_TEXT = $({p}RDC_KNOWN)$(eval override $(1) := $$(value $(1)))$(eval export $(1))\n"
    if p:
        yield f"{p}RDC_NAMES = $(if $(filter {p}run {p}clean,$(MAKECMDGOALS)),$(filter $({p}RDC_OURS),$(.VARIABLES)))\n"
        yield f"$(foreach RDC_NAME,$({p}RDC_NAMES),$(if $(filter command%,$(origin $(RDC_NAME))),$(call {p}RDC_TEXT,$(RDC_NAME))))\n"
    else:
        yield "$(foreach RDC_NAME,$(.VARIABLES),$(if $(filter command%,$(origin $(RDC_NAME))),$(call RDC_TEXT,$(RDC_NAME))))\n"
        yield "$(foreach F,i t,$(if $(findstring $F,$(filter-out --%,$(firstword -$(MAKEFLAGS)))),$(error rdc: -$F would skip steps)))\n"
    for rule in rules:
        yield "\n"
        for line in rule:
            yield f"{line}\n"
    if p:
        yield "\n"
        yield f".DEFAULT_GOAL := $({p}RDC_GOAL)\n"


@joined
def targets_mk(
    *,
    alone: Any,
    driver: Any,
    identity: Any,
    names: Any,
    p: Any,
    scope: Any,
    sha256: Any,
    shared: Any,
    state: Any,
    verbs: Any,
    version: Any,
) -> Iterator[str]:
    """Fill in `targets.mk.jinja`."""
    yield "# --- The targets ------------------------------------------------------------------------------------------------------\n"
    if p:
        yield f"{p}RDC_GOAL := $(.DEFAULT_GOAL)\n"
    else:
        yield "SHELL = /bin/sh\n"
        yield ".SUFFIXES:\n"
        yield ".NOTPARALLEL:\n"
    yield f"$(foreach N,$(filter {p}RDC_% {p}do_% {p}ask_% {p}prompt_% {p}step_%,$(.VARIABLES)),$(if $(filter comm%,$(origin $N)),$(error rdc: do not set $N)))\n"
    yield f"{p}RDC_PROGRAM := {identity}\n"
    yield f"{p}RDC_STATE := {state}\n"
    yield f"{p}RDC_FILE := $(lastword $(MAKEFILE_LIST))\n"
    yield f"{p}RDC_STEPS := {alone}\n"
    yield f"{p}RDC_TARGETS := {verbs} $({p}RDC_STEPS:%={p}step-%)\n"
    yield f".PHONY: $({p}RDC_TARGETS)\n"
    yield f"$({p}RDC_TARGETS): ; $({p}RDC_CALL)\n"
    if p:
        yield f".DEFAULT_GOAL := $({p}RDC_GOAL)\n"
    yield "\n"
    yield "# A NAME=VALUE on make's command line is a plain string. make expands nothing in it.\n"
    for line_index, line in enumerate(names):
        yield f"{p}RDC_TAKES {':=' if line_index == 0 else '+='} {line}\n"
    yield "override RDC_TEXT = $(eval override $(1) := $$(value $(1)))$(eval export $(1))\n"
    yield f"override {p}RDC_IS_GIVEN = $(filter command override,$(firstword $(origin $(RDC_NAME))))\n"
    yield f"override {p}RDC_GIVEN = $(foreach RDC_NAME,$(filter $({p}RDC_TAKES),$(.VARIABLES)),$(if $({p}RDC_IS_GIVEN),$(RDC_NAME)))\n"
    if p:
        yield f"$(if $(filter $({p}RDC_TARGETS),$(MAKECMDGOALS)),$(foreach RDC_NAME,$({p}RDC_GIVEN),$(call RDC_TEXT,$(RDC_NAME))))\n"
    else:
        yield "$(foreach RDC_NAME,$(.VARIABLES),$(if $(filter command%,$(origin $(RDC_NAME))),$(call RDC_TEXT,$(RDC_NAME))))\n"
    yield "# Where make was called, so that you can paste the commands that the driver prints.\n"
    yield f"{p}RDC_FLAGS = $(filter-out --%,$(firstword -$(MAKEFLAGS)))\n"
    yield f"{p}RDC_IN = $(findstring w,$({p}RDC_FLAGS))$(findstring s,$({p}RDC_FLAGS))$(filter --no-print-directory,$(MAKEFLAGS))\n"
    yield f"{scope}export RDC_FOLDER = $(if $({p}RDC_IN),$(CURDIR))\n"
    yield f"{scope}export RDC_TOP = $(filter-out $(firstword $(wildcard GNUmakefile makefile Makefile)),$(firstword $(MAKEFILE_LIST)))\n"
    if p:
        yield f"{scope}export RDC_FILE = $({p}RDC_FILE)\n"
        yield f"{scope}export RDC_GIVEN = $({p}RDC_GIVEN)\n"
    else:
        yield "export RDC_FILE RDC_GIVEN\n"
    yield f"{scope}export RDC_DRIVER = $(value RDC_DRIVER_TEXT)\n"
    yield "# `make -n` prints the commands.\n"
    yield f"{p}RDC_HASH := \\#\n"
    yield f"{p}RDC_ABOUT = $(if $(filter {p}run {p}resume,$@),$({p}RDC_STEPS),$(patsubst {p}step-%,%,$(filter {p}step-%,$@)))\n"
    yield f"{p}RDC_SHOW = $(info $({p}RDC_HASH) {p}step-$(step))$(info $(value {p}do_$(step))$(value {p}escaped_do_$(step))$(value {p}ask_$(step)))\n"
    yield f"{p}RDC_RUN = @exec {'sh' if p else '$(SHELL)'} -c 'eval \"$$RDC_DRIVER\"' rdc $(@:{p}%=%) $({p}RDC_STATE) $({p}RDC_PROGRAM){' ' + p if p else ''}\n"
    yield f"{p}RDC_CALL = $(if $(findstring n,$({p}RDC_FLAGS)),$(foreach step,$({p}RDC_ABOUT),$({p}RDC_SHOW)),$({p}RDC_RUN))\n"
    yield "\n"
    yield f"# --- The driver: the same text in all Makefiles of rdc {version} ----------------------------------------------------------\n"
    if shared:
        yield f"{p}RDC_DRIVER_FILE := $(dir $({p}RDC_FILE)){shared}\n"
        yield f"{p}RDC_DRIVER_SUM := $(shell {{ sha256sum || shasum -a 256; }} < '$(subst ','\\'',$({p}RDC_DRIVER_FILE))' 2> /dev/null)\n"
        yield f"ifneq ($(firstword $({p}RDC_DRIVER_SUM)),{sha256})\n"
        yield f"$(error rdc: $({p}RDC_DRIVER_FILE) is not the driver that belongs to this Makefile; compile the document again)\n"
        yield "endif\n"
        yield f"include $({p}RDC_DRIVER_FILE)\n"
    else:
        yield f"{driver}"
