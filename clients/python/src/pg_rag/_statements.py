"""The statements that clients send, and how their values go in."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from itertools import count
from typing import TYPE_CHECKING, Any, TypedDict
from uuid import UUID

from psycopg import sql
from psycopg.types.json import Jsonb

from ._errors import InvalidArgumentError

if TYPE_CHECKING:
    from typing import TypeAlias

Statement: TypeAlias = "tuple[sql.Composed, list[Any]]"


class SearchOptions(TypedDict, total=False):
    """What may be said with `retrieve_batch`. What is left out, or None, is left to the pipeline.

    `pipeline` is a name, a list of names, `"auto"` or `"*"`. `k` is how many chunks are wanted, and `offset` how many
    are passed over before them. `mode` is `"hybrid"`, `"dense"` or `"lexical"`. `filter` are conditions over metadata.
    `rewrite` and `rerank` are those of `rag_retrieve`.
    `options` is the object of options of a question, in groups such as `{"retrieve": {"threshold": 0.3}}`.
    """

    pipeline: str | Sequence[str] | None
    k: int | None
    offset: int | None
    mode: str | None
    filter: Mapping[str, Any] | None
    rewrite: str | None
    rerank: str | None
    options: Mapping[str, Any] | None


class RetrieveOptions(SearchOptions, total=False):
    """What may be said with `retrieve`: what `retrieve_batch` takes, and a vector of one's own.

    `query_vector` is looked up in the place of the question's vector, as a list of numbers, an array of NumPy or
    anything else that yields numbers; the question may then be None or empty.
    """

    query_vector: Iterable[float] | None


class AskOptions(TypedDict, total=False):
    """What may be said with `ask` and `stream`. What is left out, or None, is left to the pipeline.

    `pipeline`, `mode`, `filter` and `options` are as those of `retrieve`. `k` is how many chunks are read, `strategy`
    in how many calls a language model answers, and `llm` the foreign server of that model, or `"extractive"`.
    `conversation` is the ID that `conversation()` returned, for questions that follow others. A program that keeps what
    was said itself gives it as `history` instead: pairs of a question and its answer, oldest first; the answer is None
    where `Answer.text` was. Nothing is kept of it, unless `remember` is true: then the question goes on with the
    conversation in which just these were asked and answered last, or where there is none, as for the empty history,
    begins one. `Answer.conversation` is its ID. Where nothing can be written, as on a standby, nothing is kept in any
    case. With a `conversation`, neither `history` nor `remember` is looked at.
    """

    pipeline: str | Sequence[str] | None
    strategy: str | None
    k: int | None
    mode: str | None
    filter: Mapping[str, Any] | None
    llm: str | None
    conversation: UUID | str | None
    history: Sequence[tuple[str, str | None]] | None
    remember: bool | None
    options: Mapping[str, Any] | None


# Values have their types written beside them: most drivers, psycopg among them, send texts without one, and functions
# with named arguments are found by type. For a value without a type, PostgreSQL would prefer a function of somebody
# else's that takes a text. The type of a vector is in whatever schema pgvector is, which is looked up.
_VECTOR = "vector"
_TYPES = {
    "comment": "text",
    "filter": "jsonb",
    "input": "text",
    "k": "integer",
    "kind": "text",
    "llm": "text",
    "mode": "text",
    "model": "text",
    "options": "jsonb",
    "pipeline": "text",
    "query_vector": _VECTOR,
    "question": "text",
    "questions": "text[]",
    "rerank": "text",
    "rewrite": "text",
    "score": "real",
    "strategy": "text",
    "timeout": "interval",
    "texts": "text[]",
    "title": "text",
    "trace_id": "uuid",
}

_streams = count()

# An argument whose name stands for two types in SQL.
_NAMES = {"texts": "input"}

# The conversation in which what was said before was said last, or a new one. Where nothing can be written there is
# none, and what was said before goes with the question.
_PLACED = "WITH placed AS MATERIALIZED (SELECT {}(%s::pg_catalog.text, %s::pg_catalog.jsonb) AS conversation)"
_IN_PLACE = (
    "options => pg_catalog.jsonb_set(%s::pg_catalog.jsonb, CASE WHEN p.conversation IS NULL"
    " THEN ARRAY['answer', 'history'] ELSE ARRAY['answer', 'conversation'] END,"
    " COALESCE(pg_catalog.to_jsonb(p.conversation), %s::pg_catalog.jsonb))"
)
# What is said of earlier questions, for which no function has an argument.
_OF_HISTORY = ("history", "remember")
# What the database says as the answer where there is none, as it can be of answers as JSON.
_NO_ANSWER = "I don't know: the sources do not say."


def call(schema: str | None, function: str, arguments: Mapping[str, Any], vectors: str | None = None) -> Statement:
    """Return the call of a function with its named arguments; those that are None are left out.

    `vectors` is the schema of pgvector, which only the call with a vector needs.
    """
    named, values = _named(arguments, vectors)
    return sql.SQL("{}({})").format(_name(schema, function), sql.SQL(", ").join(named)), values


def _named(arguments: Mapping[str, Any], vectors: str | None) -> tuple[list[sql.Composed], list[Any]]:
    given = {name: value for name, value in arguments.items() if value is not None}
    unknown = given.keys() - _TYPES.keys()
    if unknown:
        raise TypeError(f"unknown argument {min(unknown)!r}")
    return [_argument(name, vectors) for name in given], [_value(it) for it in given.values()]


def rows_of(schema: str | None, function: str, arguments: Mapping[str, Any], vectors: str | None = None) -> Statement:
    """Return the statement for a function that returns a table."""
    called, values = call(schema, function, arguments, vectors)
    return sql.SQL("SELECT * FROM {}").format(called), values


def value_of(schema: str | None, function: str, arguments: Mapping[str, Any]) -> Statement:
    """Return the statement for a function that stands in the list of SELECT, under the name `value`."""
    called, values = call(schema, function, arguments)
    return sql.SQL("SELECT {} AS value").format(called), values


def answer(schema: str | None, asked: Mapping[str, Any]) -> Statement:
    """Return the statement that answers a question in one row, with its `conversation` where it is remembered."""
    if not asked.get("remember"):
        return rows_of(schema, "rag_answer_details", _told(asked))
    placed, called, values = _in_place(schema, "rag_answer_details", asked)
    statement = sql.SQL("{} SELECT a.*, p.conversation FROM placed AS p CROSS JOIN LATERAL {} AS a")
    return statement.format(placed, called), values


def pieces(schema: str | None, asked: Mapping[str, Any]) -> Statement:
    """Return the statement that tells an answer, each `value` a piece, with its `conversation` if it is remembered."""
    if not asked.get("remember"):
        return value_of(schema, "rag_answer_stream", _told(asked))
    placed, called, values = _in_place(schema, "rag_answer_stream", asked)
    return sql.SQL("{} SELECT {} AS value, p.conversation FROM placed AS p").format(placed, called), values


def _told(asked: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of a question that is not remembered: what was said before is an option of it."""
    arguments = {name: it for name, it in asked.items() if name not in _OF_HISTORY}
    messages = _messages(asked.get("history"))
    if messages:
        _add_option(arguments, "answer", "history", messages)
    return arguments


def _in_place(
    schema: str | None, function: str, asked: Mapping[str, Any]
) -> tuple[sql.Composed, sql.Composed, list[Any]]:
    """Return what finds or begins a conversation, the call of a function as part of it, and the values of both."""
    messages = Jsonb(_messages(asked.get("history")))
    options = asked.get("options") or {}
    # A member that is to be set has to be in an object that is there.
    options = {**options, "answer": _group(options, "answer")}
    if options["answer"].get("history") is not None:
        message = 'remember=True excludes options["answer"]["history"]: say what was said before as history=[...]'
        raise ValueError(message)
    arguments = {name: it for name, it in asked.items() if name not in (*_OF_HISTORY, "options")}
    named, values = _named(arguments, None)
    listed = sql.SQL(", ").join([*named, sql.SQL(_IN_PLACE)])
    called = sql.SQL("{}({})").format(_name(schema, function), listed)
    placed = sql.SQL(_PLACED).format(_name(schema, "rag_conversation_continue"))
    return placed, called, [asked["question"], messages, *values, _value(options), messages]


def _messages(history: Iterable[tuple[str, str | None]] | None) -> list[dict[str, str]]:
    """Return questions and answers as messages, of which the option `answer.history` is a list."""
    return [
        {"role": role, "content": _text(said)}
        for asked, answered in history or ()
        for role, said in (("user", asked), ("assistant", _NO_ANSWER if answered is None else answered))
    ]


def _text(said: str) -> str:
    if not isinstance(said, str):
        raise TypeError(f"a history has pairs of a question and an answer, which are str, and no {type(said).__name__}")
    return said


def schema_of_vectors() -> Statement:
    """Return the statement that looks up in which schema pgvector is; it has no row where there is none."""
    statement = (
        "SELECT n.nspname AS value FROM pg_catalog.pg_extension AS e"
        " JOIN pg_catalog.pg_namespace AS n ON n.oid OPERATOR(pg_catalog.=) e.extnamespace"
        " WHERE e.extname OPERATOR(pg_catalog.=) 'vector'"
    )
    return sql.Composed([sql.SQL(statement)]), []


def question(text: str | None, how: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of a question: several pipelines as one value, a page and a conversation as options."""
    arguments = _asked(how)
    vector = arguments.pop("query_vector", None)
    if vector is not None:
        arguments["query_vector"] = _vector(vector)
        text = "" if text is None else text
    if not isinstance(text, str):
        raise TypeError(f"a question is a str, not {type(text).__name__}")
    return {"question": text, **arguments}


def questions(texts: Sequence[str | None], how: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of several questions."""
    if isinstance(texts, str):
        raise TypeError("retrieve_batch() takes a list of questions: retrieve() takes a single one")
    return {"questions": list(texts), **_asked(how)}


def query_embedding(schema: str | None, text: str, model: str | None) -> Statement:
    """Return the statement that embeds a question."""
    if not isinstance(text, str):
        raise TypeError(f"a text is a str, not {type(text).__name__}: embed() takes several")
    called, values = call(schema, "rag_embed", {"input": text, "model": model})
    return sql.SQL("SELECT {}::real[] AS value").format(called), values


def embeddings(schema: str | None, texts: Sequence[str], model: str | None, kind: str | None) -> Statement:
    """Return the statement that embeds texts, one row a text in their order."""
    if isinstance(texts, str):
        raise TypeError("embed() takes a list of texts: embed_query() embeds a single one")
    arguments = {"texts": list(texts), "model": model, "kind": kind}
    called, values = call(schema, "rag_embed_batch", arguments)
    statement = sql.SQL(
        "SELECT embedding::real[] AS value FROM pg_catalog.unnest({}) WITH ORDINALITY AS e (embedding, n) ORDER BY n"
    ).format(called)
    return statement, values


def cursor_name() -> str:
    """Return the name of a cursor that no other stream of the session has."""
    return f"rag_answer_stream_{next(_streams)}"


def timeout(seconds: float | timedelta | None) -> timedelta | None:
    """Return a time to wait as PostgreSQL takes it."""
    if not isinstance(seconds, (int, float)):
        return seconds
    try:
        return timedelta(seconds=seconds)
    except (OverflowError, ValueError) as error:
        message = f"timeout must be a number of seconds up to 86399999999999, not {seconds}"
        raise InvalidArgumentError(message) from error


def _asked(how: Mapping[str, Any]) -> dict[str, Any]:
    arguments = dict(how)
    pipeline = arguments.get("pipeline")
    if pipeline is not None and not isinstance(pipeline, str):
        arguments["pipeline"] = _array(pipeline)
    offset, conversation = arguments.pop("offset", None), arguments.pop("conversation", None)
    if offset is not None:
        _add_option(arguments, "retrieve", "offset", offset)
    if conversation is not None:
        _add_option(arguments, "answer", "conversation", str(conversation))
    # What is None is not said, and a conversation knows what was said in it.
    has_conversation = _conversation(arguments) is not None
    for name in _OF_HISTORY:
        if has_conversation or arguments.get(name) is None:
            arguments.pop(name, None)
    return arguments


def _conversation(arguments: Mapping[str, Any]) -> Any:
    group = (arguments.get("options") or {}).get("answer")
    return group.get("conversation") if isinstance(group, Mapping) else None


def named_conversation(asked: Mapping[str, Any]) -> UUID | None:
    """Return the conversation that a question names; None without one, and for what no conversation can have as ID."""
    try:
        return UUID(str(_conversation(asked)).strip())
    except ValueError:
        return None


def _add_option(arguments: dict[str, Any], group: str, name: str, value: Any) -> None:
    options = dict(arguments.get("options") or {})
    options[group] = {**_group(options, group), name: value}
    arguments["options"] = options


def _group(options: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """Return a group of options, which is empty where it is not said."""
    group = options.get(name)
    if group is not None and not isinstance(group, Mapping):
        raise ValueError(f'options["{name}"] is an object, such as a dict, and not {type(group).__name__}')
    return group or {}


def _vector(values: Iterable[float]) -> str:
    if isinstance(values, (str, bytes)):
        raise TypeError(f"a query_vector has numbers, and is no {type(values).__name__}")
    return "[" + ",".join(repr(float(value)) for value in values) + "]"


def _argument(name: str, vectors: str | None) -> sql.Composed:
    kind = _TYPES[name]
    cast = sql.Identifier(vectors, kind) if vectors is not None and kind == _VECTOR else sql.SQL(kind)
    return sql.SQL("{} => %s::{}").format(sql.Identifier(_NAMES.get(name, name)), cast)


def _name(schema: str | None, function: str) -> sql.Identifier:
    return sql.Identifier(function) if schema is None else sql.Identifier(schema, function)


def _array(names: Sequence[str]) -> str:
    escaped = (name.replace("\\", "\\\\").replace('"', '\\"') for name in names)
    return "{" + ",".join(f'"{name}"' for name in escaped) + "}"


def _value(value: Any) -> Any:
    return Jsonb(value, dumps=_dumps) if isinstance(value, Mapping) else value


def _dumps(value: Any) -> str:
    return json.dumps(value, default=_as_json)


def _as_json(value: Any) -> Any:
    """Filters hold dates and keys, which JSON has no form of its own for."""
    if isinstance(value, (date, datetime, time)):
        return value.isoformat()
    if isinstance(value, (UUID, Decimal)):
        return str(value)
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, (set, frozenset, tuple)):
        return list(value)
    raise TypeError(f"a filter or option cannot hold a {type(value).__name__}")
