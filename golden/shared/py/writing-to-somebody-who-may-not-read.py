# --- Writing to somebody who may not read: a pipe that has stalled holds nothing up once the run was told to end (R5).
TICK = 100  # milliseconds until a writer that waits looks again whether it was told to end

def send(descriptor, data, gives_up):  # Write bytes; where nobody takes them and `gives_up` says so, leave the rest.
    # A pipe that is ready takes this much without waiting. A line in a file is written at once, and so never torn.
    step = len(data) if stat.S_ISREG(os.fstat(descriptor).st_mode) else select.PIPE_BUF
    poll = select.poll()
    poll.register(descriptor, select.POLLOUT)
    while data:
        while not poll.poll(TICK):
            if gives_up():
                return
        data = data[os.write(descriptor, data[:step]) :]

def put(stream, text, gives_up):
    """Write a text to a stream by its descriptor: what is held in a buffer would be waited for at the exit."""
    try:
        descriptor = stream.fileno()
    except (OSError, ValueError):  # there is none behind it
        stream.write(text)
        stream.flush()
    else:
        send(descriptor, text.encode(stream.encoding, stream.errors or "strict"), gives_up)

