# --- Strings that a person types at the terminal: asked for until they fit.
def more_comes():
    return bool(select.select([sys.stdin], [], [], 0.1)[0])
def forget_pasted():
    for _ in range(100):
        if not more_comes():
            break
        forget_typed()
def kept(reply):
    if problem := unkept(reply):
        raise RefusedError(f"the reply {problem}")
    return reply
def asked(session, prompt, read, goes_on=lambda _line: False):
    while True:
        lines = [typed(session.display, session.signals, prompt)]
        while lines[-1].endswith("\n") and goes_on(lines[-1]):
            lines.append(typed(session.display, session.signals, ""))
        if not lines[-1].endswith("\n"):
            session.display.line()
        if lines == [""]:
            return None
        try:
            return read(kept("".join(lines).removesuffix("\n")))
        except RefusedError as error:
            session.display.line(str(error))

