"""What needs no database."""

from __future__ import annotations

import json
import math
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import UUID

import psycopg
import pytest
from psycopg.types.json import Jsonb

from pg_rag import (
    BudgetExceededError,
    Client,
    InvalidArgumentError,
    LimitExceededError,
    RagError,
    UnavailableError,
)
from pg_rag._errors import translate, translated
from pg_rag._results import answer_of
from pg_rag._statements import _NO_ANSWER, answer, call, named_conversation, pieces, question
from pg_rag._stream import Pieces

DETAILS: dict[str, Any] = {
    "citations": [
        {"marker": 1, "pipeline": "page", "source_key": "2", "quote": "A refund", "added_by_a_newer_server": 1},
        {"marker": 9, "position": 12, "unresolved": True},
    ],
    "supported": True,
    "confidence": 0.9,
    "context": [{"number": 1, "pipeline": "page", "source_key": "2", "content": "A refund"}],
    "trace_id": "b9d3b0a2-0d3c-4b6e-8a43-5f5d0a2d9c11",
}


def told(rows: list[str]) -> tuple[list[str], Pieces]:
    pieces = Pieces()
    return [piece for piece in map(pieces.take, rows) if piece], pieces


def test_an_answer_has_its_citations_and_markers_of_nothing() -> None:
    answer = answer_of("A refund [1]", DETAILS)
    assert [it.source_key for it in answer.citations] == ["2"]
    assert [(it.marker, it.position) for it in answer.unresolved] == [(9, 12)]
    assert answer.trace_id == UUID(DETAILS["trace_id"])
    assert answer.cited(answer.citations[0]) is answer.context[0]
    assert str(answer) == "A refund [1]"
    assert json.loads(json.dumps(answer.details()))["trace_id"] == DETAILS["trace_id"]


def test_a_piece_is_told_as_soon_as_it_comes() -> None:
    pieces = Pieces()
    assert pieces.take("A refund ") == "A refund "
    assert pieces.take("takes five days.") == "takes five days."
    assert pieces.take(json.dumps(DETAILS)) == ""
    assert pieces.answer().text == "A refund takes five days."


def test_a_piece_that_looks_like_the_last_row_is_a_piece() -> None:
    texts, pieces = told(['{"a": ', "1}", '{"b": 2}', json.dumps(DETAILS)])
    assert "".join(texts) == '{"a": 1}{"b": 2}'
    assert pieces.answer().text == '{"a": 1}{"b": 2}'


def test_steps_of_an_agent_are_no_part_of_the_text() -> None:
    steps = [{"do": "search", "what": "mills"}, {"do": "calculate", "what": "40 * 3"}]
    texts, pieces = told([*(json.dumps({"step": it}) for it in steps), "It opens ", "at six.", json.dumps(DETAILS)])
    assert texts == ["It opens ", "at six."]
    assert pieces.steps == steps
    assert pieces.answer().text == "It opens at six."


@pytest.mark.parametrize(
    "rows", [["A ", '{"step": {}}'], ["{", '"step": {}}'], ['{"step": 1}'], ['{"step": {}, "a": 1}']]
)
def test_what_only_looks_like_a_step_is_a_piece(rows: list[str]) -> None:
    texts, pieces = told([*rows, json.dumps(DETAILS)])
    assert "".join(texts) == pieces.answer().text == "".join(rows)
    assert pieces.steps == []


def test_an_answer_that_took_the_place_of_what_was_told() -> None:
    _, pieces = told(["Perhaps.", json.dumps({**DETAILS, "answer": None})])
    assert pieces.answer().text is None


def test_filters_hold_what_json_has_no_form_for() -> None:
    _, values = call(None, "rag_retrieve", {"filter": {"day": date(2026, 5, 1), "price": Decimal("1.50")}})
    assert values[0].dumps(values[0].obj) == '{"day": "2026-05-01", "price": "1.50"}'
    with pytest.raises(TypeError, match="cannot hold a complex"):
        _, values = call(None, "rag_retrieve", {"filter": {"n": 1j}})
        values[0].dumps(values[0].obj)


def test_arguments_that_are_none_are_left_out() -> None:
    statement, values = call("extensions", "rag_retrieve", {"question": "q", "k": None})
    assert statement.as_string() == '"extensions"."rag_retrieve"("question" => %s::text)'
    assert values == ["q"]


def test_several_pipelines_and_a_conversation() -> None:
    arguments = question("q", {"pipeline": ["a, b", 'c"d'], "conversation": 5, "options": {"answer": {"cache": "off"}}})
    assert arguments["pipeline"] == '{"a, b","c\\"d"}'
    assert arguments["options"] == {"answer": {"cache": "off", "conversation": "5"}}


def test_wrong_types_are_told_before_anything_is_sent() -> None:
    client = Client("host=/nowhere")
    with pytest.raises(TypeError, match="takes a list"):
        client.embed("a")
    with pytest.raises(TypeError, match="a text is a str"):
        client.embed_query(["a"])  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="a question is a str"):
        client.ask(None)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="unknown argument 'top_k'"):
        client.ask("q", top_k=3)  # type: ignore[call-arg]


def test_a_server_that_is_not_there_is_unavailable() -> None:
    with pytest.raises(UnavailableError) as caught:
        Client("host=/nowhere").ask("q")
    assert caught.value.sqlstate is None
    assert isinstance(caught.value.__cause__, psycopg.OperationalError)


def test_texts_that_cannot_be_sent_are_invalid() -> None:
    assert type(translate(psycopg.DataError("text fields cannot contain NUL"))) is InvalidArgumentError
    with pytest.raises(InvalidArgumentError, match="surrogates"), translated():
        "a\ud800b".encode()


@pytest.mark.parametrize("timeout", [math.inf, -math.inf, math.nan, 1e30])
def test_a_timeout_is_a_number_of_seconds(timeout: float) -> None:
    with pytest.raises(InvalidArgumentError, match="timeout must be"):
        Client("host=/nowhere").wait("page", timeout=timeout)


def test_an_error_without_sqlstate_that_is_no_outage() -> None:
    assert type(translate(psycopg.ProgrammingError("a mistake"))) is RagError


@pytest.mark.parametrize(
    ("sqlstate", "kind"),
    [("RG001", BudgetExceededError), ("53400", LimitExceededError), ("53000", UnavailableError), ("RG000", RagError)],
)
def test_a_spent_budget_is_told_apart_from_other_limits(sqlstate: str, kind: type[RagError]) -> None:
    error = psycopg.OperationalError('the budget of role "ann" is spent')
    error.sqlstate = sqlstate
    assert type(translate(error)) is kind


HISTORY = [("When?", "At nine."), ("Who?", None)]
MESSAGES = [
    {"role": "user", "content": "When?"},
    {"role": "assistant", "content": "At nine."},
    {"role": "user", "content": "Who?"},
    {"role": "assistant", "content": "I don't know: the sources do not say."},
]


def sent(values: list[Any]) -> list[Any]:
    """Return values with those of the type jsonb as what they hold."""
    return [it.obj if isinstance(it, Jsonb) else it for it in values]


def test_a_history_is_an_option_of_the_question() -> None:
    options = {"answer": {"cache": "off"}}
    asked = question("Why?", {"history": HISTORY, "options": options})
    for statement, values in (answer(None, asked), pieces(None, asked)):
        assert "rag_conversation" not in statement.as_string()
        assert sent(values) == ["Why?", {"answer": {"cache": "off", "history": MESSAGES}}]
    assert options == {"answer": {"cache": "off"}}
    asked = question("Why?", {"history": [], "remember": False})
    assert answer(None, asked)[1] == ["Why?"]


def test_what_is_to_be_remembered_is_part_of_a_conversation() -> None:
    asked = question("Why?", {"history": HISTORY, "remember": True, "k": 3, "options": {"k": 2}})
    for statement, values in (answer("rag here", asked), pieces("rag here", asked)):
        text = statement.as_string()
        assert '"rag here"."rag_conversation_continue"(' in text and text.count("%s") == len(values)
        assert sent(values) == ["Why?", MESSAGES, "Why?", 3, {"k": 2, "answer": {}}, MESSAGES]
    asked = question("Why?", {"remember": True})
    assert sent(answer(None, asked)[1]) == ["Why?", [], "Why?", {"answer": {}}, []]


# The repository, of which a copy of the package alone has only the package.
REPOSITORY = Path(__file__).parents[3]


def source(path: str) -> str:
    file = REPOSITORY / path
    if not file.exists():
        pytest.skip(f"{path} is not there")
    return file.read_text(encoding="utf-8")


def test_what_is_said_of_an_answer_that_is_none_is_what_the_database_keeps() -> None:
    assert f'pub const NO_ANSWER: &str = "{_NO_ANSWER}";' in source("src/prompt/messages.rs")


@pytest.mark.parametrize(
    ("how", "named"),
    [
        ({}, None),
        ({"options": {"answer": {"conversation": None}}}, None),
        ({"conversation": UUID(int=5)}, UUID(int=5)),
        ({"conversation": f" {UUID(int=5).hex.upper()} "}, UUID(int=5)),
        ({"options": {"answer": {"conversation": str(UUID(int=5))}}}, UUID(int=5)),
        ({"conversation": "mine"}, None),
    ],
)
def test_the_conversation_of_a_question_is_known_by_its_name(how: dict[str, Any], named: UUID | None) -> None:
    assert named_conversation(question("Why?", how)) == named


def test_a_history_gives_way_to_a_conversation() -> None:
    for how in ({"conversation": "a"}, {"options": {"answer": {"conversation": "a"}}}):
        asked = question("Why?", {"history": HISTORY, "remember": True, **how})
        assert asked == {"question": "Why?", "options": {"answer": {"conversation": "a"}}}
