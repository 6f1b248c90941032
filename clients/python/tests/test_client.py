"""The clients, in front of a database."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import psycopg
import pytest
from psycopg.rows import tuple_row

import pg_rag
from pg_rag import AsyncClient, Client, RagError

REFUND = "How long does a refund take?"


def test_ask(client: Client) -> None:
    answer = client.ask(REFUND, filter={"lang": "en"}, k=2)
    assert "five working days" in str(answer)
    assert answer.supported and (answer.confidence or 0) > 0.5
    citation = answer.citations[0]
    assert (citation.marker, citation.source_key, citation.pipeline) == (1, "2", "page")
    assert citation.quote == "A refund takes five working days."
    cited = answer.cited(citation)
    assert cited is not None and cited.metadata == {"lang": "en", "year": 2025}
    assert len(answer.context) == 2 and answer.claims[0].verdict == "supported"
    assert answer.usage["llm"] == "extractive"


def test_a_question_without_an_answer_is_no_error(client: Client) -> None:
    answer = client.ask("What is the boiling point of mercury?")
    assert not answer.supported and not answer.citations
    assert client.ask("What is the boiling point of mercury?", options={"answer": {"refusal": "No."}}).text == "No."


def test_retrieve(client: Client) -> None:
    chunks = client.retrieve("Passwort vergessen", filter={"lang": ["de", "fr"]}, k=1, mode="dense")
    assert [(it.rank, it.source_key, it.lexical_rank) for it in chunks] == [(1, "3", None)]
    assert client.retrieve("password", filter={"year": {"gt": 2030}}) == []
    assert {it.pipeline for it in client.retrieve("printer", pipeline=["page", "ticket"])} == {"page", "ticket"}


def test_pages_of_what_is_found(client: Client) -> None:
    both = [it.source_key for it in client.retrieve("password", k=2)]
    pages = [client.retrieve("password", k=1, offset=offset)[0] for offset in (0, 1)]
    assert [it.source_key for it in pages] == both and [it.rank for it in pages] == [1, 2]
    kept = {"retrieve": {"threshold": 0.0}}
    assert client.retrieve("password", k=1, offset=1, options=kept)[0].source_key == both[1]
    assert kept == {"retrieve": {"threshold": 0.0}}
    with pytest.raises(pg_rag.InvalidArgumentError, match="offset"):
        client.retrieve("password", offset=-1)


def test_a_vector_of_ones_own(client: Client) -> None:
    vector = client.embed_query(REFUND)
    for question in (None, "", REFUND):
        for given in (vector, tuple(vector), (it for it in vector)):
            assert client.retrieve(question, query_vector=given, k=1)[0].source_key == "2"
    with pytest.raises(RagError) as failed:
        client.retrieve(None, query_vector=[1.0, 2.0])
    assert failed.value.sqlstate == "22000"
    with pytest.raises(TypeError, match="is no str"):
        client.retrieve(None, query_vector="[1,2]")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="NoneType"):
        client.retrieve(None)


async def test_a_strangers_function_does_not_take_a_vector(conninfo: str) -> None:
    """It takes texts, which PostgreSQL prefers for values without a type; pgvector may be in a schema of any name."""
    with psycopg.connect(conninfo) as connection:
        connection.execute('CREATE SCHEMA "of vectors"; ALTER EXTENSION vector SET SCHEMA "of vectors"')
        connection.execute(
            "CREATE FUNCTION rag_retrieve(question text, query_vector text, k integer, pipeline text)"
            " RETURNS TABLE (rank integer) LANGUAGE sql AS 'SELECT 41'"
        )
    try:
        with Client(conninfo, pipeline="page") as client:
            vector = client.embed_query(REFUND)
            assert client.retrieve(None, query_vector=vector, k=1)[0].source_key == "2"
        async with AsyncClient(conninfo, pipeline="page") as asked:
            assert (await asked.retrieve(None, query_vector=vector, k=1))[0].source_key == "2"
    finally:
        with psycopg.connect(conninfo) as connection:
            connection.execute("DROP FUNCTION rag_retrieve(text, text, integer, text)")
            connection.execute('ALTER EXTENSION vector SET SCHEMA public; DROP SCHEMA "of vectors"')


def test_a_vector_where_nothing_is_installed(conninfo: str) -> None:
    with Client(conninfo + " dbname=template1") as client, pytest.raises(pg_rag.NotInstalledError, match="vector"):
        client.retrieve(None, query_vector=[1.0])


def test_many_questions_at_once(client: Client) -> None:
    found = client.retrieve_batch([REFUND, None, "Passwort vergessen"], k=1)
    assert [[it.source_key for it in chunks] for chunks in found] == [["2"], [], ["3"]]
    assert found[0] == client.retrieve(REFUND, k=1)
    assert client.retrieve_batch([]) == []
    assert client.retrieve_batch(["password"] * 3, filter={"year": {"gt": 2030}}) == [[], [], []]
    second = client.retrieve_batch(["password"], k=1, offset=1, pipeline="page")
    assert second[0][0].rank == 2
    with pytest.raises(TypeError, match="a list of questions"):
        client.retrieve_batch(REFUND)


async def test_asynchronous_searches(client: Client, async_client: AsyncClient) -> None:
    vector = client.embed_query(REFUND)
    assert (await async_client.retrieve(None, query_vector=vector, k=1))[0].source_key == "2"
    assert (await async_client.retrieve("password", k=1, offset=1))[0].rank == 2
    questions = [REFUND, "password"]
    assert await async_client.retrieve_batch(questions, k=2) == client.retrieve_batch(questions, k=2)


def test_stream(client: Client) -> None:
    with client.stream(REFUND) as stream:
        pieces = list(stream)
        assert list(stream) == []
    assert "".join(pieces) == stream.answer.text
    assert stream.answer.citations[0].source_key == "2"


FOLLOW_UP = "And how long does it take?"


async def test_a_question_is_understood_by_its_history_and_nothing_is_kept(conninfo: str) -> None:
    history = [(REFUND, "Five working days.")]
    traced = {"options": "-c rag.trace=full", "autocommit": True}
    with psycopg.connect(conninfo, **traced) as connection:  # type: ignore[arg-type]

        def count() -> Any:
            return connection.execute("SELECT count(*) FROM rag.conversation").fetchone()

        before = count()
        client = Client(connection, pipeline="page")
        answers = [client.ask(FOLLOW_UP, history=history), client.ask(FOLLOW_UP, history=history, remember=False)]
        with client.stream(FOLLOW_UP, history=history, options={"retrieve": {"candidates": 30}}) as stream:
            answers.append(stream.answer)
        async with await psycopg.AsyncConnection.connect(conninfo, **traced) as own:  # type: ignore[arg-type]
            answers.append(await AsyncClient(own, pipeline="page").ask(FOLLOW_UP, history=history))
        for answer in answers:
            assert answer.conversation is None and answer.supported
            row = connection.execute("SELECT question FROM rag.trace_log WHERE id = %s", [answer.trace_id]).fetchone()
            assert row is not None and "refund" in row[0]
        assert count() == before


async def test_a_history_that_is_remembered_leads_to_its_conversation(
    client: Client, async_client: AsyncClient
) -> None:
    first = client.ask(REFUND, remember=True)
    assert first.conversation is not None
    history = [(f" {REFUND}\n", f"{first.text}\n")]
    options = {"retrieve": {"candidates": 30}}
    second = client.ask(FOLLOW_UP, history=history, remember=True, options=options)
    assert second.conversation == first.conversation and "five working days" in str(second)
    history.append((FOLLOW_UP, str(second)))
    with client.stream("And when are invoices sent?", history=history, remember=True) as stream:
        third = stream.answer
    assert third.conversation == first.conversation
    assert third.details()["conversation"] == str(first.conversation)
    # Just the last of what was said is enough, but no less than all of a conversation.
    history = [("Who?", "Nobody."), *history, ("And when are invoices sent?", str(third))]
    fourth = await async_client.ask("Why?", history=history, remember=True)
    assert fourth.conversation == first.conversation
    assert client.ask("Why?", history=history[2:], remember=True).conversation not in (None, first.conversation)
    assert client.ask("Why?", history=history).conversation is None


def test_a_conversation_that_is_named_is_gone_on_with(client: Client) -> None:
    conversation = client.conversation()
    named = client.ask(REFUND, conversation=conversation, history=[("Who?", "Nobody.")])
    assert named.conversation == conversation
    options = {"answer": {"conversation": str(conversation)}}
    assert client.ask(REFUND, options=options, history=[], remember=True).conversation == conversation
    with client.stream("And how long does it take?", conversation=conversation) as stream:
        assert "five working days" in str(stream.answer) and stream.answer.conversation == conversation


async def test_a_named_conversation_is_that_of_the_answer_asynchronously(async_client: AsyncClient) -> None:
    conversation = await async_client.conversation()
    assert (await async_client.ask(REFUND, conversation=conversation)).conversation == conversation
    async with async_client.stream(REFUND, conversation=conversation) as stream:
        assert (await stream.answer()).conversation == conversation


def test_an_answer_that_was_none_is_part_of_a_history(client: Client, conninfo: str) -> None:
    with psycopg.connect(conninfo, autocommit=True) as connection:
        begun = client.conversation(REFUND)
        # As a refused answer as JSON is kept, for which a language model would be needed.
        connection.execute(
            "INSERT INTO rag.conversation_turn (conversation, question, standalone, answer)"
            " VALUES (%s, %s, %s, 'I don''t know: the sources do not say.')",
            [begun, REFUND, REFUND],
        )
    assert client.ask("Why?", history=[(REFUND, None)], remember=True).conversation == begun


def test_a_failed_question_begins_no_conversation(client: Client, conninfo: str) -> None:
    with psycopg.connect(conninfo, autocommit=True) as connection:
        before = connection.execute("SELECT count(*) FROM rag.conversation").fetchone()
        with pytest.raises(pg_rag.UnknownObjectError):
            client.ask(REFUND, remember=True, filter={"nothing": 1})
        assert connection.execute("SELECT count(*) FROM rag.conversation").fetchone() == before


def test_where_nothing_can_be_written_nothing_is_kept(conninfo: str) -> None:
    with psycopg.connect(conninfo, autocommit=True) as connection:
        connection.execute("SET default_transaction_read_only = on")
        client = Client(connection, pipeline="page")
        answer = client.ask(FOLLOW_UP, history=[(REFUND, "Five working days.")], remember=True)
        assert answer.supported and answer.conversation is None
        with client.stream(REFUND, remember=True) as stream:
            assert stream.answer.supported and stream.answer.conversation is None


def test_a_history_of_something_else_is_refused(client: Client) -> None:
    with pytest.raises(TypeError, match="no int"):
        client.ask(REFUND, history=[("When?", 9)])  # type: ignore[list-item]
    with pytest.raises(TypeError, match="no int"):
        client.stream(REFUND, history=[("When?", 9)], remember=True)  # type: ignore[list-item]
    with pytest.raises(TypeError, match="history"):
        client.retrieve(REFUND, history=[])  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="remember"):
        client.retrieve(REFUND, remember=True)  # type: ignore[call-arg]


def test_a_history_has_one_place(client: Client, conninfo: str) -> None:
    told = {"answer": {"history": [{"role": "user", "content": "When?"}, {"role": "assistant", "content": "At nine."}]}}
    with psycopg.connect(conninfo, autocommit=True) as connection:
        connection.execute("SET default_transaction_read_only = on")
        # Where nothing can be written it is refused as well.
        for asked in (client, Client(connection, pipeline="page")):
            with pytest.raises(ValueError, match="remember=True excludes"):
                asked.ask(REFUND, remember=True, options=told)
            with pytest.raises(ValueError, match="is an object, such as a dict, and not str"):
                asked.ask(REFUND, options={"answer": "wrong"}, remember=True)
            with pytest.raises(ValueError, match="is an object, such as a dict, and not str"):
                asked.ask(REFUND, options={"answer": "wrong"}, history=[("When?", "At nine.")])


def test_a_stream_that_is_not_read_to_its_end(client: Client) -> None:
    with client.stream(REFUND) as stream:
        next(stream)
    with pytest.raises(ValueError, match="ended before the answer did"):
        _ = stream.answer
    assert client.ask(REFUND).supported


def test_embed(client: Client) -> None:
    vectors = client.embed(["happy", "sad", "happy"])
    assert len(vectors) == 3 and vectors[0] == vectors[2] != vectors[1]
    assert all(isinstance(it, float) for it in vectors[0])
    assert client.embed([]) == []
    assert len(client.embed_query("happy")) == len(vectors[0])
    assert client.embed_query("happy") != vectors[0]
    assert client.embed(["happy"], kind="query")[0] == pytest.approx(client.embed_query("happy"), abs=1e-3)


def test_wait(client: Client) -> None:
    assert client.wait()
    assert client.wait("ticket", timeout=timedelta(seconds=5))


def test_a_conversation(client: Client) -> None:
    conversation = client.conversation("Billing")
    assert client.ask(REFUND, conversation=conversation).supported
    assert client.ask("When are invoices sent?", conversation=conversation).supported


def test_threads_share_a_client(client: Client) -> None:
    with ThreadPoolExecutor(4) as threads:
        answers = list(threads.map(client.ask, [REFUND] * 8))
    assert all(answer.supported for answer in answers)


def test_a_connection_that_the_server_has_closed_is_replaced(client: Client, conninfo: str) -> None:
    client.retrieve("refund")
    with psycopg.connect(conninfo, autocommit=True) as other:
        other.execute(
            "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'"
        )
    assert client.retrieve("refund")


def test_a_connection_of_the_callers_keeps_its_transaction(conninfo: str) -> None:
    with psycopg.connect(conninfo, row_factory=tuple_row) as connection:
        client = Client(connection, pipeline="page")
        connection.execute("INSERT INTO page VALUES (9, 'The museum opens at ten.', 'en', 2026)")
        connection.execute("SET LOCAL rag.min_confidence = 0")
        assert client.ask("When does the museum open?").citations[0].source_key == "9"
        with client.stream("When does the museum open?") as stream:
            assert "ten" in next(stream)
        connection.rollback()
        assert not client.retrieve("museum", filter={"id": 9})
        client.close()
        assert not connection.closed


class OnePool:
    """A pool as `psycopg_pool` has them."""

    def __init__(self, conninfo: str) -> None:
        self.conninfo = conninfo

    def connection(self) -> Any:
        return psycopg.connect(self.conninfo)


def test_a_pool(conninfo: str) -> None:
    client = Client(OnePool(conninfo), pipeline="page")
    assert client.ask(REFUND).supported
    assert "".join(client.stream(REFUND)) == client.ask(REFUND).text


def raised(call: Any, *arguments: Any, **named: Any) -> RagError:
    with pytest.raises(RagError) as caught:
        call(*arguments, **named)
    return caught.value


def test_errors_keep_sqlstate_and_hint(client: Client) -> None:
    error = raised(client.retrieve, "q", filter={"nope": 1})
    assert isinstance(error, pg_rag.UnknownObjectError)
    hint = "Columns that a filter can name: lang, year, id; rag_alter_pipeline(metadata => ...) sets the list."
    assert (error.sqlstate, error.hint) == ("42704", hint)
    assert str(error).endswith(f"(hint: {hint})")
    error = raised(client.retrieve, "q", k=0)
    assert isinstance(error, pg_rag.InvalidArgumentError) and error.sqlstate == "22023"
    error = raised(client.ask, "q", options={"answer": {"max_sentence": 1}})
    assert isinstance(error, pg_rag.InvalidArgumentError) and "max_sentence" in error.message
    assert raised(client.ask, "").sqlstate == "22023"
    for text in ("a\0b", "a\ud800b"):
        assert isinstance(raised(client.ask, text), pg_rag.InvalidArgumentError)
        assert isinstance(raised(list, client.stream(text)), pg_rag.InvalidArgumentError)
    error = raised(client.ask, "q", strategy="refine")
    assert isinstance(error, pg_rag.NotSupportedError)
    assert isinstance(raised(client.embed, ["a"], model="nope"), pg_rag.UnknownObjectError)


def test_errors_of_a_provider(client: Client) -> None:
    assert raised(client.ask, REFUND, llm="nobody").sqlstate in ("38000", "53000")
    stream = client.stream(REFUND, llm="nobody")
    assert raised(list, stream).sqlstate in ("38000", "53000")
    with pytest.raises(ValueError, match="ended before the answer did"):
        _ = stream.answer
    assert client.ask(REFUND).supported


def test_errors_of_roles_and_databases(conninfo: str) -> None:
    assert isinstance(raised(Client(conninfo).ask, "q"), pg_rag.AmbiguousPipelineError)
    elsewhere = psycopg.conninfo.make_conninfo(conninfo, dbname="template1")
    assert isinstance(raised(Client(elsewhere).ask, "q"), pg_rag.NotInstalledError)
    assert isinstance(raised(Client(conninfo, schema="nowhere").ask, "q"), pg_rag.NotInstalledError)
    with psycopg.connect(conninfo) as connection:
        connection.execute("CREATE ROLE rag_python_nobody")
        connection.execute("SET LOCAL ROLE rag_python_nobody")
        error = raised(Client(connection, pipeline="page").ask, "q")
        assert isinstance(error, (pg_rag.NotPermittedError, pg_rag.UnknownObjectError))
        connection.rollback()


def test_rows_that_a_role_may_not_see_are_not_found(conninfo: str) -> None:
    with psycopg.connect(conninfo) as connection:
        connection.execute("""
            CREATE ROLE rag_python_reader;
            GRANT SELECT ON page, page_rag, page_rag_chunks TO rag_python_reader;
            ALTER TABLE page ENABLE ROW LEVEL SECURITY;
            CREATE POLICY german ON page FOR SELECT TO rag_python_reader USING (lang = 'de');
            SET LOCAL ROLE rag_python_reader;
        """)
        client = Client(connection, pipeline="page")
        assert {it.source_key for it in client.retrieve("refund or password", k=10)} == {"3"}
        assert not any(it.source_key == "2" for it in client.ask(REFUND).citations)
        connection.rollback()


def test_texts_of_any_language_and_length(client: Client) -> None:
    assert client.retrieve("退款需要多久？🤔 ' \\ \" {} %s", k=1)
    assert client.retrieve("refund " * 20_000, k=1)
    assert len(client.embed(["", "日本語", "long " * 10_000])) == 3


def test_a_timeout_is_cancelled(conninfo: str) -> None:
    with psycopg.connect(conninfo) as connection:
        connection.execute("SET LOCAL statement_timeout = '1ms'")
        error = raised(Client(connection, pipeline="page").embed, ["long " * 400] * 50)
        assert isinstance(error, pg_rag.CancelledError) and error.sqlstate == "57014"


async def test_asynchronously(async_client: AsyncClient, conninfo: str) -> None:
    answer = await async_client.ask(REFUND, filter={"lang": "en"})
    assert answer.supported
    assert (await async_client.retrieve("refund", k=1))[0].source_key == "2"
    async with async_client.stream(REFUND) as stream:
        pieces = [piece async for piece in stream]
    assert "".join(pieces) == (await stream.answer()).text == answer.text
    async with async_client.stream(REFUND) as stream:
        await anext(stream)
    with pytest.raises(ValueError, match="ended before the answer did"):
        await stream.answer()
    assert await async_client.embed(["happy"]) == Client(conninfo).embed(["happy"])
    assert len(await async_client.embed_query("happy")) > 100
    assert await async_client.wait()
    assert (await async_client.ask(REFUND, conversation=await async_client.conversation())).supported
    with pytest.raises(pg_rag.UnknownObjectError, match="nope"):
        await async_client.ask("q", pipeline="nope")
    async with await psycopg.AsyncConnection.connect(conninfo) as connection:
        assert (await AsyncClient(connection, pipeline="page").ask(REFUND)).supported


def test_feedback(client: Client, conninfo: str) -> None:
    with psycopg.connect(conninfo, options="-c rag.trace=full", autocommit=True) as connection:
        traced = Client(connection, pipeline="page")
        trace = traced.ask(REFUND).trace_id
        assert trace is not None
        traced.feedback(trace, 1.0, "good")
        row = connection.execute("SELECT score, comment FROM rag.feedback WHERE trace = %s", [trace]).fetchone()
        assert row == (1.0, "good")
