# --- The life of a run, as the parts of a runtime see it: what does a step, and what happens around the steps.
Host = collections.namedtuple("Host", "prog parse edition", defaults=('', None, '',))

Done = collections.namedtuple("Done", "outcome how note verbs", defaults=(None, VERBS,))

class Waiting(BaseException):
    pass

class Part:
    def __init__(self, session):
        self.session = session

class Performer(Part):
    recovers = True  # whether a step can be interrupted half done, so that somebody must decide
    def preview(self, _name, _node):
        return Done("pass", "assumed")
    @staticmethod
    def replies(_node):
        return []
    @staticmethod
    def names(name, _node):
        return [name]
    def is_named(self, said, name, node):
        return said in self.names(name, node)
    def given(self, name, reply, _how):
        raise RefusedError(f"{name} takes no answer such as {one_line(reply)}")

class Extension(Part):
    commands = {}  # subcommands: what each is for, and what does it
    options = ()  # the subcommands that have an option, its name, what it takes, what it is for
    performers = {}  # what does the steps, by the kind of their task
    builder = None  # what makes the table of a document that has only its words
    reopens = False  # whether a run that has failed goes on at the step that did
    mode = ""  # a mode of runs that only this part can go on with
    @staticmethod
    def suits(_program):
        return True
    @staticmethod
    def complete(table):
        pass

