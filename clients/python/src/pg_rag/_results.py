"""What questions return."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any, TypeVar
from uuid import UUID

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunk:
    """A piece of a document, as `rag_retrieve` returns it.

    `rank` counts from 1, and a greater `score` is better. `source_key` is the key of the row as text, or a JSON object
    where the key has several columns. `start_char` and `end_char` are its place in the document, from 0, the end being
    one past the last character. `dense_rank` and `lexical_rank` are None where a side has not found the chunk,
    `rerank_score` (0 to 1) where no reranker has read it, and `via` where no walk over entities led to it.
    """

    rank: int
    score: float
    source_key: str
    chunk_id: int
    chunk_no: int
    content: str
    start_char: int
    end_char: int
    heading: str | None
    metadata: Mapping[str, Any]
    dense_rank: int | None
    lexical_rank: int | None
    rerank_score: float | None
    pipeline: str
    via: Sequence[str] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextChunk:
    """A chunk that was read for an answer. Markers such as [1] cite it by `number`.

    The other fields are those of `Chunk`; `similarity` is the cosine similarity to the question, from -1 to 1. What the
    server did not say is None: chunks that come with a summary or from a walk have no rank of a search, for instance.
    """

    number: int
    pipeline: str
    source_key: str
    content: str
    chunk_id: int | None = None
    chunk_no: int | None = None
    start_char: int | None = None
    end_char: int | None = None
    heading: str | None = None
    metadata: Mapping[str, Any] | None = None
    rank: int | None = None
    score: float | None = None
    dense_rank: int | None = None
    lexical_rank: int | None = None
    rerank_score: float | None = None
    similarity: float | None = None
    via: Sequence[str] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Citation:
    """What a marker of an answer cites: characters of a document, from 0, the end being one past the last."""

    marker: int
    pipeline: str
    source_key: str
    chunk_id: int | None = None
    chunk_no: int | None = None
    start_char: int | None = None
    end_char: int | None = None
    quote: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class UnresolvedMarker:
    """A marker that a language model wrote and that points to no chunk, with the place where it would stand."""

    marker: int
    position: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """A sentence of an answer, and what the documents say of it.

    `verdict` is `supported`, `contradicted`, `unsupported` or `parametric`; `score` is from 0 to 1. `cited` are the
    numbers of the chunks that the sentence cites, and `number`, `source_key` and the span its evidence, if any.
    """

    claim_no: int
    claim: str
    verdict: str
    score: float | None = None
    cited: Sequence[int] = ()
    number: int | None = None
    pipeline: str | None = None
    source_key: str | None = None
    start_char: int | None = None
    end_char: int | None = None
    removed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """An answer with what is behind it, as `rag_answer_details` returns it.

    `text` is None only where the documents hold no answer and `answer.schema` asks for JSON. `supported` is whether the
    documents hold the answer, and `confidence` (0 to 1) how sure that is. `context` are the chunks that were read,
    cited ones first. `faithfulness` is the score of the weakest claim, and `needs_review` true of a doubtful answer.
    `conversation` is the ID of the conversation that the question is part of, named or found by its history, or None.
    """

    text: str | None
    supported: bool
    confidence: float | None
    citations: Sequence[Citation]
    unresolved: Sequence[UnresolvedMarker]
    context: Sequence[ContextChunk]
    claims: Sequence[Claim]
    usage: Mapping[str, Any]
    trace_id: UUID | None
    faithfulness: float | None
    needs_review: bool
    pipeline: str | None
    conversation: UUID | None = None

    def __str__(self) -> str:
        """Return the text, empty where there is none."""
        return self.text or ""

    def cited(self, citation: Citation) -> ContextChunk | None:
        """Return the chunk that a citation points to, if it is in the context."""
        return next((chunk for chunk in self.context if chunk.number == citation.marker), None)

    def details(self) -> dict[str, Any]:
        """Return what is behind the text as dictionaries, lists and values that JSON has a form for."""
        details = asdict(self)
        del details["text"]
        for name in ("trace_id", "conversation"):
            details[name] = None if details[name] is None else str(details[name])
        return details


def build(kind: type[T], values: Mapping[str, Any]) -> T:
    """Make a result of the members that it knows, so that a newer server may say more."""
    known = {field.name for field in fields(kind)}  # type: ignore[arg-type]
    return kind(**{name: value for name, value in values.items() if name in known})


def by_question(rows: Iterable[Mapping[str, Any]], count: int) -> list[list[Chunk]]:
    """Make a list of chunks for each of `count` questions, of the rows of `rag_retrieve_batch`."""
    lists: list[list[Chunk]] = [[] for _ in range(count)]
    for row in rows:
        lists[row["question_no"] - 1].append(build(Chunk, row))
    return lists


def answer_of(text: str | None, details: Mapping[str, Any]) -> Answer:
    """Make an answer of a row of `rag_answer_details`, or of the last row of `rag_answer_stream`."""
    citations: Sequence[Mapping[str, Any]] = details.get("citations") or ()
    trace = details.get("trace_id")
    return Answer(
        text=text,
        supported=bool(details.get("supported")),
        confidence=details.get("confidence"),
        citations=tuple(build(Citation, it) for it in citations if not it.get("unresolved")),
        unresolved=tuple(build(UnresolvedMarker, it) for it in citations if it.get("unresolved")),
        context=tuple(build(ContextChunk, it) for it in details.get("context") or ()),
        claims=tuple(build(Claim, it) for it in details.get("claims") or ()),
        usage=details.get("usage") or {},
        trace_id=UUID(trace) if isinstance(trace, str) else trace,
        faithfulness=details.get("faithfulness"),
        needs_review=bool(details.get("needs_review")),
        pipeline=details.get("pipeline"),
        conversation=details.get("conversation"),
    )
