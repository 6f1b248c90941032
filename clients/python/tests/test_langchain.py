"""The classes for LangChain."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage
from langchain_core.output_parsers import StrOutputParser
from langchain_core.runnables import RunnablePassthrough, RunnableSerializable

from pg_rag import AsyncClient, Client
from pg_rag.langchain import ChatPgRag, PgRagEmbeddings, PgRagRetriever

REFUND = "How long does a refund take?"
# What only the question before it gives a meaning.
FOLLOW_UP = "And how long does it take?"


def looked_up(conninfo: str, message: BaseMessage) -> list[str]:
    """Return what the questions of a message's conversation meant, in their order."""
    with psycopg.connect(conninfo) as connection:
        turns = connection.execute(
            "SELECT standalone FROM rag.conversation_turn WHERE conversation = %s ORDER BY id",
            [message.response_metadata["conversation"]],
        )
        return [standalone for (standalone,) in turns]


def test_a_retriever(client: Client) -> None:
    retriever = PgRagRetriever(client=client, k=1, filter={"lang": "en"})
    document = retriever.invoke(REFUND)[0]
    assert "five working days" in document.page_content
    assert document.metadata["lang"] == "en" and document.metadata["source_key"] == "2"
    assert document.id == f"page/{document.metadata['chunk_id']}"
    assert [len(it) for it in retriever.batch([REFUND, "password"])] == [1, 1]
    assert retriever.invoke("Passwort", k=2, filter={"lang": "de"})[0].metadata["lang"] == "de"


async def test_an_asynchronous_retriever(client: Client, async_client: AsyncClient) -> None:
    for given in (None, async_client):
        retriever = PgRagRetriever(client=client, async_client=given, k=1)
        assert (await retriever.ainvoke(REFUND))[0].metadata["source_key"] == "2"


async def test_retrieving_by_vectors_pages_and_batches(client: Client, async_client: AsyncClient) -> None:
    vector = client.embed_query(REFUND)
    for given in (None, async_client):
        retriever = PgRagRetriever(client=client, async_client=given, k=1)
        assert retriever.invoke("", query_vector=vector)[0].metadata["source_key"] == "2"
        assert (await retriever.ainvoke("", query_vector=vector))[0].metadata["source_key"] == "2"
        found = retriever.retrieve_batch([REFUND, "Passwort"])
        assert [it[0].metadata["source_key"] for it in found] == ["2", "3"]
        assert await retriever.aretrieve_batch([REFUND, "Passwort"]) == found
        assert retriever.retrieve_batch(["Passwort"], filter={"lang": "en"})[0][0].metadata["lang"] == "en"
    second = PgRagRetriever(client=client, k=1, offset=1)
    assert second.invoke("password")[0].metadata["rank"] == 2
    assert second.invoke("password", offset=0)[0].metadata["rank"] == 1


async def test_embeddings(client: Client, async_client: AsyncClient) -> None:
    embeddings = PgRagEmbeddings(client)
    documents, query = embeddings.embed_documents(["a", "b"]), embeddings.embed_query("a")
    assert len(documents) == 2 and len(query) == len(documents[0])
    for given in (embeddings, PgRagEmbeddings(client, async_client=async_client)):
        assert await given.aembed_documents(["a", "b"]) == documents
        assert await given.aembed_query("a") == query


def test_a_chat_model(client: Client) -> None:
    chat = ChatPgRag(client=client)
    message = chat.invoke([SystemMessage("Be brief."), HumanMessage("Hello"), AIMessage("Hi"), HumanMessage(REFUND)])
    assert "five working days" in message.text
    assert message.response_metadata["supported"] is True
    assert message.response_metadata["citations"][0]["source_key"] == "2"
    assert message.response_metadata["model_name"] == "extractive"
    assert not chat.invoke("What is the boiling point of mercury?").response_metadata["supported"]
    with pytest.raises(ValueError, match="no message of a person"):
        chat.invoke([AIMessage("Hi")])


def test_a_chat_model_streams(client: Client) -> None:
    chunks = list(ChatPgRag(client=client).bind(filter={"lang": "en"}).stream(REFUND))
    whole = chunks[0]
    for chunk in chunks[1:]:
        whole = whole + chunk  # type: ignore[assignment]
    assert "five working days" in whole.text
    assert whole.response_metadata["citations"][0]["quote"] == "A refund takes five working days."


async def test_an_asynchronous_chat_model(client: Client, async_client: AsyncClient) -> None:
    for given in (None, async_client):
        chat = ChatPgRag(client=client, async_client=given)
        assert (await chat.ainvoke(REFUND)).response_metadata["supported"]
        texts = [chunk.text async for chunk in chat.astream(REFUND)]
        assert "five working days" in "".join(texts)


def test_a_conversation(client: Client) -> None:
    chat = ChatPgRag(client=client, conversation=client.conversation())
    assert "five" in chat.invoke(REFUND).text
    assert "first day" in chat.invoke("When are invoices sent?").text


def test_a_question_is_understood_by_what_was_said_before_and_nothing_is_kept(conninfo: str) -> None:
    with psycopg.connect(conninfo, options="-c rag.trace=full", autocommit=True) as connection:
        before = connection.execute("SELECT count(*) FROM rag.conversation").fetchone()
        chat = ChatPgRag(client=Client(connection, pipeline="page"))
        first = chat.invoke([SystemMessage("Be brief."), HumanMessage(REFUND)])
        second = chat.invoke([SystemMessage("Be brief."), HumanMessage(REFUND), first, HumanMessage(FOLLOW_UP)])
        details = second.response_metadata
        assert "five working days" in second.text and details["conversation"] is None
        meant = connection.execute("SELECT question FROM rag.trace_log WHERE id = %s", [details["trace_id"]]).fetchone()
        assert meant is not None and "refund" in meant[0]
        assert connection.execute("SELECT count(*) FROM rag.conversation").fetchone() == before


def test_what_was_said_is_remembered(client: Client, conninfo: str) -> None:
    chat = ChatPgRag(client=client, remember=True)
    first = chat.invoke([SystemMessage("Be brief."), HumanMessage(REFUND)])
    said = [SystemMessage("Be brief."), HumanMessage(REFUND), first, HumanMessage(FOLLOW_UP)]
    second = chat.invoke(said)
    assert "five working days" in second.text
    assert second.response_metadata["conversation"] == first.response_metadata["conversation"]
    meant = looked_up(conninfo, second)
    assert meant[0] == REFUND and "refund" in meant[1]
    # An answer that was never given is part of no conversation.
    changed = chat.invoke([HumanMessage(REFUND), AIMessage("Never."), HumanMessage(FOLLOW_UP)])
    assert looked_up(conninfo, changed) == [FOLLOW_UP]


def test_a_streamed_answer_is_part_of_what_was_said(client: Client, conninfo: str) -> None:
    chat = ChatPgRag(client=client, remember=True)
    said: list[BaseMessage] = [HumanMessage(REFUND)]
    for question in (FOLLOW_UP, "And for invoices?"):
        whole = None
        for chunk in chat.stream(said):
            whole = chunk if whole is None else whole + chunk
        assert whole is not None
        said += [whole, HumanMessage(question)]
    assert len(looked_up(conninfo, chat.invoke(said))) == 3


async def test_what_was_said_before_is_known_asynchronously(
    client: Client, async_client: AsyncClient, conninfo: str
) -> None:
    for given in (None, async_client):
        chat = ChatPgRag(client=client, async_client=given, remember=True)
        first = await chat.ainvoke(REFUND)
        second = await chat.ainvoke([HumanMessage(REFUND), first, HumanMessage(FOLLOW_UP)])
        assert "refund" in looked_up(conninfo, second)[1]
        texts = [chunk async for chunk in chat.astream([HumanMessage(REFUND), first, HumanMessage("Why?")])]
        assert texts[-1].response_metadata["conversation"] is not None


def test_calls_of_tools_are_no_answers(client: Client) -> None:
    chat = ChatPgRag(client=client, remember=True)
    first = chat.invoke(REFUND)
    call = AIMessage("", tool_calls=[{"name": "f", "args": {}, "id": "1"}])
    second = chat.invoke([HumanMessage(REFUND), call, first, HumanMessage(FOLLOW_UP)])
    assert second.response_metadata["conversation"] == first.response_metadata["conversation"]


def test_an_answer_without_a_text_is_one_that_was_none(client: Client) -> None:
    chat = ChatPgRag(client=client)
    said = [HumanMessage(REFUND), AIMessage(""), HumanMessage(FOLLOW_UP)]
    _, asked = chat._asked(said, {})
    assert asked["history"] == [(REFUND, None)]


def test_nothing_is_kept_unless_it_is_to_be_remembered(client: Client, conninfo: str) -> None:
    count = "SELECT count(*) FROM rag.conversation"
    with psycopg.connect(conninfo, autocommit=True) as connection:
        before = connection.execute(count).fetchone()
        for chat in (ChatPgRag(client=client), ChatPgRag(client=client, remember=True).bind(remember=False)):
            assert chat.invoke(REFUND).response_metadata["conversation"] is None
        assert connection.execute(count).fetchone() == before
        remembered = ChatPgRag(client=client).bind(remember=True).invoke(REFUND)
        assert remembered.response_metadata["conversation"] is not None


def test_a_chain(client: Client) -> None:
    retriever = PgRagRetriever(client=client, k=1)
    chain: RunnableSerializable[str, dict[str, Any]] = {
        "documents": retriever,
        "answer": ChatPgRag(client=client) | StrOutputParser(),
    } | RunnablePassthrough()
    result = chain.invoke(REFUND)
    assert result["documents"][0].page_content and "five working days" in result["answer"]
