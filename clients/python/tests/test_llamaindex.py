"""The classes for LlamaIndex."""

from __future__ import annotations

import pytest
from llama_index.core.base.response.schema import AsyncStreamingResponse, Response, StreamingResponse
from llama_index.core.schema import MetadataMode, QueryBundle, TextNode

from pg_rag import AsyncClient, Client
from pg_rag.llamaindex import PgRagEmbedding, PgRagQueryEngine, PgRagRetriever

REFUND = "How long does a refund take?"


def test_a_retriever(client: Client) -> None:
    found = PgRagRetriever(client, k=1, filter={"lang": "en"}).retrieve(REFUND)
    node = found[0].node
    assert isinstance(node, TextNode)
    assert "five working days" in node.text and node.metadata["lang"] == "en"
    assert node.metadata["source_key"] == "2" and found[0].score is not None
    assert node.source_node is not None and node.source_node.node_id == "page/2"
    assert "source_key" not in node.get_content(MetadataMode.LLM)


async def test_an_asynchronous_retriever(client: Client, async_client: AsyncClient) -> None:
    for given in (None, async_client):
        found = await PgRagRetriever(client, async_client=given, k=1).aretrieve(REFUND)
        assert found[0].node.metadata["source_key"] == "2"


async def test_retrieving_by_vectors_pages_and_batches(client: Client, async_client: AsyncClient) -> None:
    vector = client.embed_query(REFUND)
    for given in (None, async_client):
        retriever = PgRagRetriever(client, async_client=given, k=1)
        bundle = QueryBundle("", embedding=vector)
        assert retriever.retrieve(bundle)[0].node.metadata["source_key"] == "2"
        assert (await retriever.aretrieve(bundle))[0].node.metadata["source_key"] == "2"
        found = retriever.retrieve_batch([REFUND, "Passwort"])
        assert [it[0].node.metadata["source_key"] for it in found] == ["2", "3"]
        again = await retriever.aretrieve_batch([REFUND, "Passwort"])
        assert [it[0].node.node_id for it in again] == [it[0].node.node_id for it in found]
    first, second = (PgRagRetriever(client, k=1, offset=offset).retrieve("password")[0] for offset in (0, 1))
    assert first.node.node_id != second.node.node_id
    with pytest.raises(TypeError, match="of one question"):
        PgRagRetriever(client, query_vector=vector).retrieve_batch([REFUND])


async def test_embedding(client: Client, async_client: AsyncClient) -> None:
    embedding = PgRagEmbedding(client, embed_batch_size=2)
    texts = embedding.get_text_embedding_batch(["a", "b", "c"])
    assert len(texts) == 3 and len(embedding.get_query_embedding("a")) == len(texts[0])
    assert embedding.get_text_embedding("a") == texts[0]
    for given in (embedding, PgRagEmbedding(client, async_client=async_client)):
        assert (await given.aget_text_embedding_batch(["a", "b", "c"]))[0] == texts[0]
        assert await given.aget_text_embedding("a") == texts[0]
        assert await given.aget_query_embedding("a") == embedding.get_query_embedding("a")


def test_a_query_engine(client: Client) -> None:
    response = PgRagQueryEngine(client, filter={"lang": "en"}).query(REFUND)
    assert isinstance(response, Response) and "five working days" in str(response)
    assert response.source_nodes[0].node.metadata["source_key"] == "2"
    assert response.metadata is not None and response.metadata["citations"][0]["marker"] == 1
    assert "five working days" in response.get_formatted_sources()


def test_a_query_engine_streams(client: Client) -> None:
    response = PgRagQueryEngine(client, streaming=True).query(REFUND)
    assert isinstance(response, StreamingResponse)
    assert "five working days" in "".join(response.response_gen)
    assert response.source_nodes[0].node.metadata["source_key"] == "2"
    assert response.metadata is not None and response.metadata["supported"]


async def test_an_asynchronous_query_engine(client: Client, async_client: AsyncClient) -> None:
    for given in (None, async_client):
        assert "five working days" in str(await PgRagQueryEngine(client, async_client=given).aquery(REFUND))
    response = await PgRagQueryEngine(client, async_client=async_client, streaming=True).aquery(REFUND)
    assert isinstance(response, AsyncStreamingResponse)
    assert "five working days" in "".join([piece async for piece in response.async_response_gen()])
    assert response.metadata is not None and response.metadata["supported"]
