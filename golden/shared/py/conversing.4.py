# --- Texts that are given to processes, and what these say to them (I11).
PROMPTS, ANSWERS = "prompts", "answers"
# By which a process tells the runner of GitHub something, or acts as the job.
OF_RUNNER = re.compile(rb"GITHUB_(TOKEN|OUTPUT|ENV|PATH|STEP_SUMMARY|STATE)|ACTIONS_.*")
LONGEST_NAME = 200  # characters of a file's name

def for_others(environment):  # Return an environment without what is between a job and the runner of GitHub.
    return {name: value for name, value in environment.items() if not OF_RUNNER.fullmatch(name)}

class Conversing(Calling):  # Gives texts to commands, and takes their answers.
    seconds = 0  # the time limit where the program says none (I21)
    def environment(self, node, **more):  # Return the environment of an agent, a tool or an executor.
        return for_others(super().environment(node, **more))
    def keep(self, folder, name, text, number=0):
        """Keep a text, whole or not at all, as STEP.K for the K-th call, and return K."""
        store = self.session.store
        directory, stem = Path(store.folder, folder), quote(name, safe="{} ")[:LONGEST_NAME]
        while not number or (folder == PROMPTS and os.path.lexists(directory / f"{stem}.{number}")):
            number += 1
        try:
            store.within.put(f"{folder}/{stem}.{number}", masked(text).encode("utf-8", "replace"))
        except OSError as error:  # the journal is what counts
            self.session.display.line(f"    {clean(str(error.filename))}: not kept: {error.strerror}")
        return number

KEPT.extend((PROMPTS, ANSWERS))

