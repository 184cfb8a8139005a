# --- Texts that are given to processes, and what these say to them (I11).
PROMPTS, ANSWERS = "prompts", "answers"
LONGEST_NAME = 200  # characters of a file's name

class Conversing(Calling):  # Gives texts to commands, and takes their answers.
    seconds = 0  # the time limit where the program says none (I21)
    def keep(self, folder, name, text, number=0):
        """Keep a text, whole or not at all, as STEP.K for the K-th call, and return K."""
        directory = Path(self.session.store.folder, folder)
        stem = quote(name, safe="{} ")[:LONGEST_NAME]
        while not number or (folder == PROMPTS and (directory / f"{stem}.{number}").exists()):
            number += 1
        draft = directory / f".{stem}.new"
        try:
            directory.mkdir(exist_ok=True)
            draft.write_bytes(masked(text).encode("utf-8", "replace"))
            draft.replace(directory / f"{stem}.{number}")
        except OSError as error:  # the journal is what counts
            self.session.display.line(f"    {clean(str(error.filename))}: not kept: {error.strerror}")
        return number

KEPT.extend((PROMPTS, ANSWERS))

