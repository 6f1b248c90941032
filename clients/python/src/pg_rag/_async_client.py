"""The client for asyncio."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from datetime import timedelta
from types import TracebackType
from typing import TYPE_CHECKING, Any
from uuid import UUID

from psycopg.rows import dict_row

from . import _statements as statements
from ._connections import AsyncConnections, AsyncSource, async_pool_of
from ._errors import NotInstalledError, translated
from ._results import Answer, Chunk, answer_of, build, by_question
from ._statements import AskOptions, RetrieveOptions, SearchOptions, Statement
from ._stream import Pieces, Told

if TYPE_CHECKING:
    from typing_extensions import Self, Unpack


class AsyncClient:
    """Asks pipelines of a database, as the role of its connections, in one event loop.

    `source` is a connection string (the empty one means the environment variables of libpq), an asynchronous
    connection of psycopg, or a pool such as `psycopg_pool.AsyncConnectionPool`. With a string, connections are
    opened when needed, and tasks of one event loop may share the client. On a connection of your own, calls are part of
    its transaction, and settings made with `SET LOCAL` hold.

    `pipeline` is asked where a call names none. `schema` is where the functions of pg_rag are, where that is not on the
    search path.

    Every method raises `RagError` or one of its kinds, and `TypeError` for an argument of a wrong type.
    """

    def __init__(
        self,
        source: AsyncSource = "",
        *,
        pipeline: str | Sequence[str] | None = None,
        schema: str | None = None,
    ) -> None:
        """Keep where to ask; nothing is connected before the first call."""
        self._pool = async_pool_of(source)
        self._pipeline = pipeline
        self._schema = schema
        self._vectors: str | None = None

    async def __aenter__(self) -> Self:
        """Begin a block that closes the client's own connections at its end."""
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the client's own connections."""
        await self.close()

    async def close(self) -> None:
        """Close connections that the client has opened; a connection or pool of the caller's stays open."""
        if isinstance(self._pool, AsyncConnections):
            await self._pool.close()

    async def ask(self, question: str, **how: Unpack[AskOptions]) -> Answer:
        """Answer a question, with citations. That the documents hold no answer is no error: see `supported`."""
        asked = self._asked(question, how)
        rows = await self._rows(statements.answer(self._schema, asked))
        return answer_of(rows[0]["answer"], {"conversation": statements.named_conversation(asked), **rows[0]})

    async def retrieve(self, question: str | None, **how: Unpack[RetrieveOptions]) -> list[Chunk]:
        """Find the chunks that speak of a question, or are near a vector, best first."""
        asked = self._asked(question, how)
        vectors = await self._schema_of_vectors() if "query_vector" in asked else None
        rows = await self._rows(statements.rows_of(self._schema, "rag_retrieve", asked, vectors))
        return [build(Chunk, row) for row in rows]

    async def retrieve_batch(self, questions: Sequence[str | None], **how: Unpack[SearchOptions]) -> list[list[Chunk]]:
        """Find the chunks that speak of each of many questions, which are embedded in batches, in one call.

        The lists are in the order of the questions; that of a question that is None is empty.
        """
        asked = statements.questions(questions, self._with_pipeline(how))
        rows = await self._rows(statements.rows_of(self._schema, "rag_retrieve_batch", asked))
        return by_question(rows, len(questions))

    def stream(self, question: str, **how: Unpack[AskOptions]) -> AsyncAnswerStream:
        """Answer a question in pieces, each as soon as it is written."""
        asked = self._asked(question, how)
        told = self._told(statements.pieces(self._schema, asked), statements.named_conversation(asked))
        return AsyncAnswerStream(told)

    async def embed(
        self, texts: Sequence[str], *, model: str | None = None, kind: str | None = None
    ) -> list[list[float]]:
        """Embed texts, in one batch. `kind` is `passage`, the default, or `query`."""
        rows = await self._rows(statements.embeddings(self._schema, texts, model, kind))
        return [row["value"] for row in rows]

    async def embed_query(self, text: str, *, model: str | None = None) -> list[float]:
        """Embed a question that looks for passages."""
        return await self._value(statements.query_embedding(self._schema, text, model))  # type: ignore[no-any-return]

    async def wait(self, pipeline: str | None = None, *, timeout: float | timedelta = 60) -> bool:
        """Wait until what was committed before can be found; False if that takes longer than `timeout` (seconds)."""
        arguments = {"pipeline": pipeline or self._single(), "timeout": statements.timeout(timeout)}
        return bool(await self._value(statements.value_of(self._schema, "rag_wait", arguments)))

    async def conversation(self, title: str | None = None) -> UUID:
        """Begin a conversation, and return the ID by which `ask` and `stream` go on with it."""
        arguments = {"title": title}
        return await self._value(statements.value_of(self._schema, "rag_conversation", arguments))  # type: ignore[no-any-return]

    async def feedback(self, trace_id: UUID, score: float, comment: str | None = None) -> None:
        """Rate an answer that has a `trace_id`."""
        arguments = {"trace_id": trace_id, "score": score, "comment": comment}
        await self._value(statements.value_of(self._schema, "rag_feedback", arguments))

    async def _schema_of_vectors(self) -> str:
        if self._vectors is None:
            rows = await self._rows(statements.schema_of_vectors())
            if not rows:
                raise NotInstalledError(
                    "the database has no extension vector", hint="CREATE EXTENSION pg_rag CASCADE creates both."
                )
            self._vectors = rows[0]["value"]
        return self._vectors

    def _single(self) -> str | None:
        return self._pipeline if isinstance(self._pipeline, str) else None

    def _asked(self, question: str | None, how: Any) -> dict[str, Any]:
        return statements.question(question, self._with_pipeline(how))

    def _with_pipeline(self, how: Any) -> dict[str, Any]:
        return {**how, "pipeline": self._pipeline} if how.get("pipeline") is None else how

    async def _rows(self, statement: Statement) -> list[dict[str, Any]]:
        with translated():
            async with (
                self._pool.connection() as connection,
                connection.cursor(row_factory=dict_row) as cursor,
            ):
                return await (await cursor.execute(*statement)).fetchall()

    async def _value(self, statement: Statement) -> Any:
        return (await self._rows(statement))[0]["value"]

    async def _told(self, statement: Statement, conversation: UUID | None) -> AsyncGenerator[Told, None]:
        """Read row by row with a cursor on the server, which needs a transaction.

        `conversation` is that of the question where a row names none.
        """
        with translated():
            async with (
                self._pool.connection() as connection,
                connection.transaction(),
                connection.cursor(statements.cursor_name(), row_factory=dict_row) as cursor,
            ):
                cursor.itersize = 1
                try:
                    async for row in await cursor.execute(*statement):
                        yield row["value"], row.get("conversation", conversation)
                except GeneratorExit:
                    # Who stops reading ends the call, and what was told of the answer is committed.
                    return


class AsyncAnswerStream(AsyncIterator[str]):
    """An answer while it is written: an asynchronous iterator of its pieces.

    `answer()` is the whole answer, for which the rest of it is read. Reading no further, call `close` or leave the
    block of an `async with`: that ends the statement, and has the language model stop.
    """

    def __init__(self, rows: AsyncGenerator[Told, None]) -> None:
        """Keep the rows of `rag_answer_stream`; the question is asked when the first piece is wanted."""
        self._rows = rows
        self._pieces = Pieces()
        self._answer: Answer | None = None
        self._is_closed = False

    def __aiter__(self) -> Self:
        """Return the stream itself."""
        return self

    async def __anext__(self) -> str:
        """Return the next piece."""
        try:
            async for row, conversation in self._rows:
                self._pieces.conversation = conversation
                piece = self._pieces.take(row)
                if piece:
                    return piece
        except BaseException:
            self._is_closed = True
            raise
        if self._answer is None and not self._is_closed:
            self._answer = self._pieces.answer()
        raise StopAsyncIteration

    async def __aenter__(self) -> Self:
        """Begin a block that ends the statement at its end."""
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End the statement."""
        await self.close()

    async def close(self) -> None:
        """End the statement, whether or not everything was read."""
        self._is_closed = True
        await self._rows.aclose()

    @property
    def steps(self) -> Sequence[Mapping[str, Any]]:
        """What an agent has done so far, from the first step: `do`, `what`, `reason` and `outcome` of each."""
        return tuple(self._pieces.steps)

    async def answer(self) -> Answer:
        """Return the whole answer, for which the rest of it is read."""
        async for _ in self:
            pass
        if self._answer is None:
            raise ValueError("the stream ended before the answer did")
        return self._answer
