# --- Writing to somebody who may not read: a pipe that has stalled holds nothing up once the run was told to end (R5).
TICK = 100  # milliseconds until a writer that waits looks again whether it was told to end

def send(descriptor, data, gives_up):  # Write bytes; where nobody takes them and `gives_up` says so, leave the rest.
    # A pipe that is ready takes this much without waiting. A line in a file is written at once, and so never torn.
    step = len(data) if stat.S_ISREG(os.fstat(descriptor).st_mode) else select.PIPE_BUF
    poll = select.poll()
    poll.register(descriptor, select.POLLOUT)
    while data:
        if poll.poll(TICK):
            data = data[os.write(descriptor, data[:step]) :]
        elif gives_up():
            return

def put(stream, text, gives_up=lambda: False):  # Write a text, past the buffer: that would be waited for.
    send(stream.fileno(), text.encode(stream.encoding, "backslashreplace"), gives_up)

