# --- Answers of a file: which step each is for.
LARGEST_INPUT = 1 << 20  # bytes of a file with inputs
LARGEST = 16 * 1024 * 1024  # of answers; a pipe may have no end

Answer = collections.namedtuple("Answer", "line step reply")
def read_lines(text, nodes):
    for number, line in enumerate(text.split("\n"), start=1):
        *step, reply = re.sub(r"(^|\s)#.*", "", line).strip().rsplit(None, 1) or [""]
        if reply.lower() not in ("", *MEANINGS):
            yield number, "expected pass, fail, yes or no, alone or after a step"
        elif step and nodes.get(step[0], {}).get("task") != "ask":
            yield number, f"{step[0]} is not a step that asks"
        elif reply:
            yield Answer(number, step[0] if step else None, reply)
def read_text(path, largest=LARGEST_INPUT):
    with open(path, "rb") as file:
        content = file.read(largest + 1)
    if len(content) > largest:
        raise RefusedError(f"{path}: larger than {largest:,} bytes")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise RefusedError(f"{path}: not UTF-8") from None
def read_answers(path, text, nodes, read=read_lines):
    found = list(read(text, nodes))
    if wrong := [f"{path}:{item[0]}: {item[1]}" for item in found if not isinstance(item, Answer)]:
        raise RefusedError(*wrong)
    return found
def take_answer(left, step, is_asking=True):
    owners = (step, None)[: 1 + is_asking]
    found = next((answer for owner in owners for answer in left if answer.step == owner), None)
    if found is not None:
        left.remove(found)
    return found

