# --- Commands by name, as options and files of the operator give them.
def pairs(place, words):
    found = {}
    for word in words:
        key, equals, command = word.partition("=")
        if not equals or not command.strip() or "\0" in command:
            raise RefusedError(f"{place}: {one_line(word)}: expected NAME=COMMAND")
        found[key.strip()] = command
    return found

def read_pairs(place, path):
    lines = read_text(path).splitlines()
    return pairs(place, [line for line in lines if line.strip() and not line.lstrip().startswith("#")])

