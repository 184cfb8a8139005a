"""Variables in a shell's line: the same words as pasted text, or a refusal."""

import pytest

from compiler.importers.pasting import Piece, UnwritableError, Value, double_quoted, paste

WORD = Value("name", "name", is_word=True)
WORDS = Value("rest", "rest", is_word=False)


@pytest.mark.parametrize(
    ("pieces", "line"),
    [
        (["tag v", WORD, " now"], 'tag v"$name" now'),
        (["run ", WORDS, " end"], "run ${rest} end"),
        (['say "to ', WORD, '"'], 'say "to ${name}"'),
        (["say 'to ", WORD, "'"], """say 'to '"${name}"''"""),
        (["say \"it's ", WORD, '"'], 'say "it\'s ${name}"'),
        (["say \"$(one '", WORD, "')\""], """say "$(one ''"${name}"'')\""""),
        (["say $(one ", WORD, ")"], 'say $(one "$name")'),
        (["say `one ", WORD, "`"], "say `one ${name}`"),
        (["say $((1 + ", WORD, "))"], "say $((1 + ${name}))"),
        (["say ${HOME:-", WORD, "}"], "say ${HOME:-${name}}"),
        (["say # it's ", WORD], "say # it's ${name}"),
        (["say a#'", WORD, "'"], """say a#''"${name}"''"""),
        (["say \\' ", WORD], 'say \\\' "$name"'),
        (["awk '{print $", WORD, "}'"], """awk '{print $'"${name}"'}'"""),
        (["cd ", Value("HOME", "HOME-/srv", is_word=False)], "cd ${HOME-/srv}"),
    ],
)
def test_quotes_around_a_variable_decide_how_it_is_written(pieces: list[Piece], line: str) -> None:
    assert paste(pieces).text == line


@pytest.mark.parametrize(
    "pieces",
    [
        ["say $", WORD],
        ["say ${", WORD, "}"],
        ["say ${A_", WORD, "}"],
        ["say \\", WORD],
        ["cd ~", WORD],
        ["say {a,", WORD, "}"],
        [WORD, "=1 say"],
        ["A=1; ", WORD, "=1 say"],
        ["say ", WORD, ">out"],
        ["A=", WORDS, " say"],
        ["say > ", WORDS],
        ["say >f", WORDS],
        ["say <<< a", WORDS],
        ["say 2>&1", WORD],
    ],
)
def test_places_where_the_shell_would_read_pasted_text_as_syntax_are_refused(pieces: list[Piece]) -> None:
    with pytest.raises(UnwritableError, match=r"name|rest"):
        paste(pieces)


@pytest.mark.parametrize(
    ("pieces", "is_head"),
    [
        ([WORD, " a"], True),
        (["A=1 ", WORD], True),
        (["true && ", WORD], True),
        (["if ", WORD, "; then a; fi"], True),
        (["a `", WORD, "`"], True),
        (["a ", WORD], False),
        (["A=", WORD, " a"], False),
        (["a 'b; ", WORD, "'"], False),
    ],
)
def test_a_variable_in_the_name_of_a_command_is_reported(pieces: list[Piece], *, is_head: bool) -> None:
    assert paste(pieces).heads == (frozenset({"name"}) if is_head else frozenset())


def test_an_exported_value_is_one_word() -> None:
    assert double_quoted(['a "b" $c `d` \\', WORD]) == '"a \\"b\\" \\$c \\`d\\` \\\\${name}"'
