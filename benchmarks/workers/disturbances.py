def disturbances(at):
    yield from ()
