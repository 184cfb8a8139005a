# --- Values of a command that was not run: the operator gives them with the answer (E2).
def with_values(session, done):  # Return an answer with the values that were given beside it.
    if not session.options.value:
        return done
    values = values_given(session, session.state.node)
    if done is None:
        raise RefusedError(f"--value: {session.state.node} is not answered as a whole")
    return done._replace(verbs=keeping("", values))

GIVEN.append(with_values)
OPTIONS.append(("answer", "--value", "NAME=VALUE...", "a value of the command that was done by hand"))

