# --- Text files that the operator names.
LARGEST_INPUT = 1 << 20  # bytes

def read_text(path):
    with Path(path).open("rb") as file:
        content = file.read(LARGEST_INPUT + 1)
    if len(content) > LARGEST_INPUT:
        raise RefusedError(f"{path}: larger than {LARGEST_INPUT:,} bytes")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise RefusedError(f"{path}: not UTF-8") from None

