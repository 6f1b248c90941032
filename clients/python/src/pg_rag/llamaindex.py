"""Retriever, embedding and query engine for LlamaIndex. Needs the extra `llamaindex`."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, cast

from llama_index.core.base.base_query_engine import BaseQueryEngine
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.base.response.schema import (
    RESPONSE_TYPE,
    AsyncStreamingResponse,
    Response,
    StreamingResponse,
)
from llama_index.core.bridge.pydantic import PrivateAttr
from llama_index.core.callbacks.base import CallbackManager
from llama_index.core.prompts.mixin import PromptMixinType
from llama_index.core.schema import (
    NodeRelationship,
    NodeWithScore,
    QueryBundle,
    RelatedNodeInfo,
    TextNode,
)
from typing_extensions import Unpack

from ._async_client import AsyncAnswerStream, AsyncClient
from ._client import AnswerStream, Client
from ._results import Answer, Chunk, ContextChunk
from ._statements import AskOptions, RetrieveOptions, SearchOptions

__all__ = ["PgRagEmbedding", "PgRagQueryEngine", "PgRagRetriever"]


class PgRagRetriever(BaseRetriever):
    """Finds the chunks of a pipeline that speak of a question.

    A node's metadata has the metadata columns of the chunk, and `source_key`, `pipeline` and `heading`; its source is
    the row of the table. Arguments are those of `Client.retrieve`. A `QueryBundle` with an `embedding` is looked up by
    that. Without `async_client`, the asynchronous methods call `client` in a thread.
    """

    def __init__(
        self,
        client: Client,
        *,
        async_client: AsyncClient | None = None,
        callback_manager: CallbackManager | None = None,
        **how: Unpack[RetrieveOptions],
    ) -> None:
        """Keep where to look, and how."""
        super().__init__(callback_manager=callback_manager)
        self._client = client
        self._async_client = async_client
        self._how = how

    def retrieve_batch(self, queries: Sequence[str]) -> list[list[NodeWithScore]]:
        """Find the nodes of each of many questions in one call, without callbacks."""
        found = self._client.retrieve_batch(queries, **self._of_batch())
        return [[_node(chunk) for chunk in chunks] for chunks in found]

    async def aretrieve_batch(self, queries: Sequence[str]) -> list[list[NodeWithScore]]:
        """Find the nodes of each of many questions in one call, without callbacks."""
        if self._async_client is None:
            return await asyncio.to_thread(self.retrieve_batch, queries)
        found = await self._async_client.retrieve_batch(queries, **self._of_batch())
        return [[_node(chunk) for chunk in chunks] for chunks in found]

    def _of_batch(self) -> SearchOptions:
        if self._how.get("query_vector") is not None:
            raise TypeError("a query_vector is that of one question: leave it out to retrieve a batch")
        return cast(SearchOptions, {name: it for name, it in self._how.items() if name != "query_vector"})

    def _of(self, query_bundle: QueryBundle) -> RetrieveOptions:
        if query_bundle.embedding is None:
            return self._how
        return {**self._how, "query_vector": query_bundle.embedding}

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        found = self._client.retrieve(query_bundle.query_str, **self._of(query_bundle))
        return [_node(chunk) for chunk in found]

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        if self._async_client is None:
            return await asyncio.to_thread(self._retrieve, query_bundle)
        found = await self._async_client.retrieve(query_bundle.query_str, **self._of(query_bundle))
        return [_node(chunk) for chunk in found]


class PgRagEmbedding(BaseEmbedding):
    """Embeds with a model of the database; `model` is a name from `rag.model`, None that of `rag.embedding_model`.

    Without `async_client`, the asynchronous methods call `client` in a thread.
    """

    _client: Client = PrivateAttr()
    _async_client: AsyncClient | None = PrivateAttr(default=None)
    _model: str | None = PrivateAttr(default=None)

    def __init__(
        self,
        client: Client,
        *,
        async_client: AsyncClient | None = None,
        model: str | None = None,
        **fields: Any,
    ) -> None:
        """Keep which model embeds, and where; `fields` are those of `BaseEmbedding`, such as `embed_batch_size`."""
        super().__init__(model_name=model or "rag.embedding_model", **fields)
        self._client = client
        self._async_client = async_client
        self._model = model

    @classmethod
    def class_name(cls) -> str:
        """Return the name that LlamaIndex writes into what it serializes."""
        return "PgRagEmbedding"

    def _get_query_embedding(self, query: str) -> list[float]:
        return self._client.embed_query(query, model=self._model)

    def _get_text_embedding(self, text: str) -> list[float]:
        return self._client.embed([text], model=self._model)[0]

    def _get_text_embeddings(self, texts: list[str]) -> list[list[float]]:
        return self._client.embed(texts, model=self._model)

    async def _aget_query_embedding(self, query: str) -> list[float]:
        if self._async_client is None:
            return await asyncio.to_thread(self._get_query_embedding, query)
        return await self._async_client.embed_query(query, model=self._model)

    async def _aget_text_embedding(self, text: str) -> list[float]:
        return (await self._aget_text_embeddings([text]))[0]

    async def _aget_text_embeddings(self, texts: list[str]) -> list[list[float]]:
        if self._async_client is None:
            return await asyncio.to_thread(self._get_text_embeddings, texts)
        return await self._async_client.embed(texts, model=self._model)


class PgRagQueryEngine(BaseQueryEngine):
    """Answers questions from the documents of a pipeline, with citations.

    `source_nodes` of a response are the chunks that were read, and `metadata` has `citations`, `supported`,
    `confidence`, `claims`, `usage` and what else an `Answer` has. With `streaming`, both are filled when the last piece
    has been read. Arguments are those of `Client.ask`. Without `async_client`, `aquery` calls `client` in a thread.
    """

    def __init__(
        self,
        client: Client,
        *,
        async_client: AsyncClient | None = None,
        streaming: bool = False,
        callback_manager: CallbackManager | None = None,
        **how: Unpack[AskOptions],
    ) -> None:
        """Keep where to ask, and how."""
        super().__init__(callback_manager=callback_manager)
        self._client = client
        self._async_client = async_client
        self._streaming = streaming
        self._how = how

    def _get_prompt_modules(self) -> PromptMixinType:
        return {}

    def _query(self, query_bundle: QueryBundle) -> RESPONSE_TYPE:
        if self._streaming:
            return _Told(self._client.stream(query_bundle.query_str, **self._how)).response
        return _response(self._client.ask(query_bundle.query_str, **self._how))

    async def _aquery(self, query_bundle: QueryBundle) -> RESPONSE_TYPE:
        if self._async_client is None:
            return await asyncio.to_thread(self._query, query_bundle)
        if self._streaming:
            return _AsyncTold(self._async_client.stream(query_bundle.query_str, **self._how)).response
        return _response(await self._async_client.ask(query_bundle.query_str, **self._how))


class _Told:
    """A response whose sources are known when its text has been read."""

    def __init__(self, stream: AnswerStream) -> None:
        self._stream = stream
        self.response = StreamingResponse(response_gen=self._pieces(), metadata={})

    def _pieces(self) -> Any:
        yield from self._stream
        _fill(self.response, self._stream.answer)


class _AsyncTold:
    """An asynchronous response whose sources are known when its text has been read."""

    def __init__(self, stream: AsyncAnswerStream) -> None:
        self._stream = stream
        self.response = AsyncStreamingResponse(response_gen=self._pieces(), metadata={})

    async def _pieces(self) -> Any:
        async for piece in self._stream:
            yield piece
        _fill(self.response, await self._stream.answer())


def _fill(response: StreamingResponse | AsyncStreamingResponse, answer: Answer) -> None:
    response.source_nodes.extend(_node(chunk) for chunk in answer.context)
    cast("dict[str, Any]", response.metadata).update(_metadata(answer))


def _response(answer: Answer) -> Response:
    return Response(
        response=answer.text,
        source_nodes=[_node(chunk) for chunk in answer.context],
        metadata=_metadata(answer),
    )


def _metadata(answer: Answer) -> dict[str, Any]:
    """Return what is behind an answer but its sources, which are nodes."""
    return {name: value for name, value in answer.details().items() if name != "context"}


def _node(chunk: Chunk | ContextChunk) -> NodeWithScore:
    own: Mapping[str, Any] = {
        "source_key": chunk.source_key,
        "pipeline": chunk.pipeline,
        "heading": chunk.heading,
    }
    node = TextNode(
        id_=f"{chunk.pipeline}/{chunk.chunk_id}",
        text=chunk.content,
        metadata={**(chunk.metadata or {}), **own},
        # What a language model or an embedding need not read.
        excluded_llm_metadata_keys=["source_key", "pipeline"],
        excluded_embed_metadata_keys=["source_key", "pipeline"],
        start_char_idx=chunk.start_char,
        end_char_idx=chunk.end_char,
        relationships={NodeRelationship.SOURCE: RelatedNodeInfo(node_id=f"{chunk.pipeline}/{chunk.source_key}")},
    )
    return NodeWithScore(node=node, score=chunk.score)
