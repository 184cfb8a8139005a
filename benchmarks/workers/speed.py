def speed(at):
    yield from ()
