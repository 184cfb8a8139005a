# --- Placeholders of a specification (B3): `--var` gives a value as `--input` does.
def as_inputs(_program, options):  # Take the values of both options as one list.
    options.input = [*options.input, *options.var]

CHECKS.append(as_inputs)
OPTIONS.append(("run", "--var", "NAME=VALUE...", "the same as --input"))

