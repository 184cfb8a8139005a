# --- Replies that are strings: from files of answers, standard input and the terminal.
OBJECT = r'\s*\{\s*["}]'  # how JSON begins; the name of a step may begin with a brace too
ANY = ["-"]  # the replies of a step that takes any string
def one_of(words):
    return f"expected one of {one_line(', '.join(words))}"

class Script:
    def __init__(self, nodes, kinds):
        self._names = {*nodes}
        self._is_free = any(node["task"] in ("input", "select") for node in nodes.values())  # no line is a comment
        self._askers = {}  # the task of what takes an answer, and its replies
        for name, node in nodes.items():
            task = node["task"]
            if task not in kinds or node.get("stage", "execute") != "execute":
                continue
            replies = [*MEANINGS] if task in ("ask", "stage") else kinds[task].replies(node)
            if replies:
                self._askers.update(dict.fromkeys(kinds[task].names(name, node), (task, replies)))
    def read(self, text):
        for item in self._json(text) if re.match(OBJECT, text) else self._lines(text):
            problem = self._problem(*item[1:]) if isinstance(item, Answer) else ""
            yield (item[0], problem) if problem else item
    @staticmethod
    def _json(text):
        try:
            pairs = json.loads(text, object_pairs_hook=list)
        except (ValueError, RecursionError) as error:
            yield 1, f"not JSON: {error}"
            return
        found = ((name, reply) for name, said in pairs for reply in (said if isinstance(said, list) else [said]))
        yield from (Answer(number, *pair) for number, pair in enumerate(found, start=1))
    def _lines(self, text):
        names = sorted(self._names.union(self._askers), key=len, reverse=True)
        of_step = re.compile(rf"({'|'.join(map(re.escape, names))})(<<|[ \t])(.*)", re.DOTALL)
        lines = enumerate(text.split("\n"), start=1)
        for number, written in lines:
            line = written if self._is_free else written.lstrip()
            if not line.strip() or (not self._is_free and line.startswith("#")):
                continue
            found = of_step.fullmatch(line)
            step, mark, reply = found.groups() if found else (None, "", line)
            if mark == "<<":
                inner = until(reply, lines)
                yield (number, f"{reply} does not follow") if inner is None else Answer(number, step, inner)
                continue
            reply = reply.removesuffix("\r")
            if not self._is_free and self._askers.get(step or "", ("", []))[1] != ANY:
                reply = re.sub(r"(^|\s)#.*", "", reply).strip()
            yield Answer(number, step, reply)
    def _problem(self, step, reply):  # JSON may have any value
        if not isinstance(reply, str):
            return f"{one_line(step or '')}: expected a string, or a list of strings"
        if problem := unkept(reply):
            return f"the reply {problem}"
        if step is None:
            is_known = self._is_free or reply.lower() in (*MEANINGS, "approved", "rejected")
            return "" if is_known else one_of(MEANINGS)
        if step not in self._askers:
            return f"{one_line(step)} is not a step that asks"
        task, replies = self._askers[step]
        if task in ("agent", "parallel") and not reply.strip(SPACES):
            return f"the answer of {step} is empty"
        is_one = replies == ANY or (reply if task == "select" else reply.strip().lower()) in replies
        return "" if is_one else f"{one_of(replies)} for {step}"

class Questions(Asking):
    def shown(self, node):
        options = (f"    {place}. {one_line(option)}" for place, option in self._numbered(node).items())
        return [*super().shown(node), *options]
    def ask_here(self, name, node):
        options, numbered = self._options(node), self._numbered(node)
        choices = {"input": ":", "select": f" [1-{len(options)}]"}.get(node["task"], f" [{'/'.join(options)}]")
        def read(reply):
            return self.given(name, reply if reply in options else numbered.get(reply, reply), "answered here")
        forget_typed()
        return asked(self.session, f"{self.session.label(name)}{choices} ", read)
    def given(self, _name, reply, how):
        node = self.session.program["nodes"][self.session.state.node]
        if node["task"] == "input":
            return self.session.told(Done("pass", how), reply.strip(SPACES))
        options, text = self._options(node), reply if node["task"] == "select" else reply.strip().lower()
        if text not in options:
            raise RefusedError(f"{one_line(reply)}: {one_of(options)}")
        done = Done(words_of(node)[options.index(text)], how)
        return self.session.told(done, "" if node["task"] == "gate" else text)
    def _options(self, node):
        return [filled(node, one, self.session.state.registers) for one in node.get("options", words_of(node))]
    def _numbered(self, node):
        return {str(place): one for place, one in enumerate(self._options(node), 1) if node["task"] == "select"}
    @staticmethod
    def replies(node):
        words = words_of(node)
        is_filled = "options" in node or any(key in word for key in node.get("placeholders", ()) for word in words)
        return ANY if node["task"] == "input" or is_filled else [*words]

class Replies(Extension):
    performers = {"confirm": Questions, "input": Questions, "select": Questions}
    def answers_in(self, text, nodes):
        return Script(nodes, self.session.kinds).read(text)
    def reply(self, reply):
        if reply == "-":
            reply = sys.stdin.buffer.read(LONGEST_TEXT + 2).decode(errors="surrogateescape").removesuffix("\n")
        return kept(reply)

