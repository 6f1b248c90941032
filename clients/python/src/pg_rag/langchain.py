"""Retriever, embeddings and chat model for LangChain. Needs the extra `langchain`."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, cast
from uuid import UUID

from langchain_core.callbacks import (
    AsyncCallbackManagerForLLMRun,
    AsyncCallbackManagerForRetrieverRun,
    CallbackManagerForLLMRun,
    CallbackManagerForRetrieverRun,
)
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, HumanMessage
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import run_in_executor
from pydantic import Field
from typing_extensions import Unpack

from ._async_client import AsyncClient
from ._client import Client
from ._results import Answer, Chunk
from ._statements import AskOptions, RetrieveOptions, SearchOptions

__all__ = ["ChatPgRag", "PgRagEmbeddings", "PgRagRetriever"]


class PgRagRetriever(BaseRetriever):
    """Finds the chunks of a pipeline that speak of a question.

    A document's `metadata` has the metadata columns of the chunk, and beside them `source_key`, `pipeline`, `chunk_id`,
    `chunk_no`, `start_char`, `end_char`, `heading`, `score` and `rank`. What a field leaves at None is left to the
    pipeline. The fields may also be given to a call, as `query_vector` is, a vector that is looked up in the place of
    the question's. Without `async_client`, the asynchronous methods call `client` in a thread.
    """

    client: Client = Field(exclude=True)
    async_client: AsyncClient | None = Field(default=None, exclude=True)
    pipeline: str | list[str] | None = None
    k: int | None = None
    offset: int | None = None
    mode: str | None = None
    filter: dict[str, Any] | None = None
    rewrite: str | None = None
    rerank: str | None = None
    options: dict[str, Any] | None = None

    def retrieve_batch(self, queries: Sequence[str], **how: Unpack[SearchOptions]) -> list[list[Document]]:
        """Find the documents of each of many questions in one call, without callbacks; `batch` makes many calls."""
        found = self.client.retrieve_batch(queries, **cast(SearchOptions, self._how(how)))
        return [[_document(chunk) for chunk in chunks] for chunks in found]

    async def aretrieve_batch(self, queries: Sequence[str], **how: Unpack[SearchOptions]) -> list[list[Document]]:
        """Find the documents of each of many questions in one call, without callbacks."""
        if self.async_client is None:
            return await run_in_executor(None, partial(self.retrieve_batch, queries, **how))
        found = await self.async_client.retrieve_batch(queries, **cast(SearchOptions, self._how(how)))
        return [[_document(chunk) for chunk in chunks] for chunks in found]

    def _how(self, how: Mapping[str, Any]) -> RetrieveOptions:
        own = {name: getattr(self, name) for name in SearchOptions.__annotations__}
        return cast(RetrieveOptions, {**own, **how})

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun, **how: Any
    ) -> list[Document]:
        return [_document(chunk) for chunk in self.client.retrieve(query, **self._how(how))]

    async def _aget_relevant_documents(
        self, query: str, *, run_manager: AsyncCallbackManagerForRetrieverRun, **how: Any
    ) -> list[Document]:
        if self.async_client is None:
            chunks = await run_in_executor(None, self.client.retrieve, query, **self._how(how))
        else:
            chunks = await self.async_client.retrieve(query, **self._how(how))
        return [_document(chunk) for chunk in chunks]


class PgRagEmbeddings(Embeddings):
    """Embeds with a model of the database; `model` is a name from `rag.model`, None that of `rag.embedding_model`.

    Without `async_client`, the asynchronous methods call `client` in a thread.
    """

    def __init__(self, client: Client, *, async_client: AsyncClient | None = None, model: str | None = None) -> None:
        """Keep which model embeds, and where."""
        self.client = client
        self.async_client = async_client
        self.model = model

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """Embed passages, in one batch."""
        return self.client.embed(texts, model=self.model)

    def embed_query(self, text: str) -> list[float]:
        """Embed a question that looks for passages."""
        return self.client.embed_query(text, model=self.model)

    async def aembed_documents(self, texts: list[str]) -> list[list[float]]:
        """Embed passages, in one batch."""
        if self.async_client is None:
            return await super().aembed_documents(texts)
        return await self.async_client.embed(texts, model=self.model)

    async def aembed_query(self, text: str) -> list[float]:
        """Embed a question that looks for passages."""
        if self.async_client is None:
            return await super().aembed_query(text)
        return await self.async_client.embed_query(text, model=self.model)


class ChatPgRag(BaseChatModel):
    """Answers the last message of a person from the documents of a pipeline, with citations.

    The message's `response_metadata` has `citations`, `supported`, `confidence`, `context`, `claims`, `usage`,
    `trace_id`, `pipeline` and what else an `Answer` has. What was asked and answered before is the history of the
    question, so it may refer to that. Other messages, such as instructions and calls of tools, are not read. Nothing is
    kept in the database, unless `remember` is true: then the question goes on with the conversation of the database in
    which just that was said, or begins one, and the database keeps it with its answer until `rag_conversation_delete`
    deletes them. With `conversation`, the ID that `Client.conversation()` returns, the question goes on with that one,
    and earlier messages are not read. The fields may also be given to a call, or with `bind`.
    """

    client: Client = Field(exclude=True)
    async_client: AsyncClient | None = Field(default=None, exclude=True)
    pipeline: str | list[str] | None = None
    strategy: str | None = None
    k: int | None = None
    mode: str | None = None
    filter: dict[str, Any] | None = None
    llm: str | None = None
    conversation: UUID | str | None = None
    remember: bool = False
    options: dict[str, Any] | None = None

    @property
    def _llm_type(self) -> str:
        return "pg_rag"

    def _asked(self, messages: Sequence[BaseMessage], how: Mapping[str, Any]) -> tuple[str, AskOptions]:
        question, history = _said(messages)
        own = {name: getattr(self, name) for name in AskOptions.__annotations__ if name != "history"}
        asked = {**own, **{name: it for name, it in how.items() if name in own}, "history": history}
        return question, cast(AskOptions, asked)

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        question, how = self._asked(messages, kwargs)
        return _result(self.client.ask(question, **how))

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        question, how = self._asked(messages, kwargs)
        if self.async_client is None:
            return _result(await run_in_executor(None, self.client.ask, question, **how))
        return _result(await self.async_client.ask(question, **how))

    def _stream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> Iterator[ChatGenerationChunk]:
        question, how = self._asked(messages, kwargs)
        with self.client.stream(question, **how) as stream:
            for text in stream:
                piece = ChatGenerationChunk(message=AIMessageChunk(content=text))
                if run_manager:
                    run_manager.on_llm_new_token(text, chunk=piece)
                yield piece
            yield _last(stream.answer)

    async def _astream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> AsyncIterator[ChatGenerationChunk]:
        if self.async_client is None:
            async for piece in super()._astream(messages, stop, run_manager, **kwargs):
                yield piece
            return
        question, how = self._asked(messages, kwargs)
        async with self.async_client.stream(question, **how) as stream:
            async for text in stream:
                piece = ChatGenerationChunk(message=AIMessageChunk(content=text))
                if run_manager:
                    await run_manager.on_llm_new_token(text, chunk=piece)
                yield piece
            yield _last(await stream.answer())


def _document(chunk: Chunk) -> Document:
    own = {
        name: getattr(chunk, name)
        for name in (
            "source_key",
            "pipeline",
            "chunk_id",
            "chunk_no",
            "start_char",
            "end_char",
            "heading",
            "score",
            "rank",
        )
    }
    return Document(
        id=f"{chunk.pipeline}/{chunk.chunk_id}", page_content=chunk.content, metadata={**chunk.metadata, **own}
    )


def _said(messages: Sequence[BaseMessage]) -> tuple[str, list[tuple[str, str | None]]]:
    """Return what a person has said last, and the questions and answers before it, oldest first.

    An answer without a text is None, as a refused answer as JSON is.
    """
    places = [place for place, message in enumerate(messages) if isinstance(message, HumanMessage)]
    if not places:
        raise ValueError("there is no message of a person among the messages")
    history: list[tuple[str, str | None]] = []
    asked: str | None = None
    for message in messages[: places[-1]]:
        if isinstance(message, HumanMessage):
            asked = str(message.text)
        elif isinstance(message, AIMessage) and not message.tool_calls and asked is not None:
            history.append((asked, str(message.text) or None))
            asked = None
    return str(messages[places[-1]].text), history


def _metadata(answer: Answer) -> dict[str, Any]:
    return {"model_provider": "pg_rag", "model_name": str(answer.usage.get("llm", "pg_rag")), **answer.details()}


def _result(answer: Answer) -> ChatResult:
    message = AIMessage(content=str(answer), response_metadata=_metadata(answer))
    return ChatResult(generations=[ChatGeneration(message=message)])


def _last(answer: Answer) -> ChatGenerationChunk:
    return ChatGenerationChunk(
        message=AIMessageChunk(content="", response_metadata=_metadata(answer), chunk_position="last")
    )
