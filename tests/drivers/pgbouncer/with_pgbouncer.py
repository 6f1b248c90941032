"""pg_rag behind pgbouncer in transaction mode."""

from concurrent.futures import ThreadPoolExecutor

import psycopg

# region connect
# Statements that psycopg prepares would belong to a session that is another client's by then.
connection = psycopg.connect(autocommit=True, prepare_threshold=None)
# endregion

connection.execute("CREATE TABLE page (id integer PRIMARY KEY, body text NOT NULL)")
connection.execute("INSERT INTO page VALUES (1, 'A refund takes five working days.'), (2, 'The museum opens at ten.')")
connection.execute("SELECT rag_create_pipeline('page', 'body')")
connection.execute("""
    CREATE SERVER nobody FOREIGN DATA WRAPPER rag_llm
        OPTIONS (api 'openai', base_url 'http://127.0.0.1:9/v1', model 'none', max_retries '0')
""")
QUESTION = "How long does a refund take?"
ANSWER = "A refund takes five working days. [1]"


def answer(connection):
    """Ask with the settings that the session has."""
    return connection.execute("SELECT rag_answer(%s)", [QUESTION]).fetchone()[0]


# region settings
# SET LOCAL ends with its transaction. A SET without LOCAL would stay with a session that others are given, too.
with connection.transaction():
    connection.execute("SET LOCAL rag.llm = 'extractive'")
    connection.execute("SET LOCAL rag.min_confidence = 0.9")
    told = connection.execute("SELECT rag_answer(%s)", [QUESTION]).fetchone()[0]

# Arguments and options need no transaction.
told = connection.execute(
    """SELECT rag_answer(%s, llm => 'extractive', options => '{"answer": {"min_confidence": 0.9}}')""",
    [QUESTION],
).fetchone()[0]
# endregion
assert told == ANSWER


def fails(connection, *call):
    """Return the SQLSTATE of a call that fails."""
    try:
        connection.execute(*call)
    except psycopg.Error as error:
        return error.sqlstate
    return None


# A model that is named for one call, or for one transaction, answers no other: neither on this session nor for others.
for _ in range(4):
    assert fails(connection, "SELECT rag_answer(%s, llm => 'nobody')", [QUESTION]) in ("38000", "53000")
    assert answer(connection) == ANSWER
    try:
        with connection.transaction():
            connection.execute("SET LOCAL rag.llm = 'nobody'")
            connection.execute("SELECT rag_answer(%s)", [QUESTION])
        raise AssertionError("a model was asked that is not there")
    except psycopg.Error as error:
        assert error.sqlstate in ("38000", "53000"), error
    assert answer(connection) == ANSWER

# What SET without LOCAL does, which the manual warns of: some other client gets the setting.
others = [psycopg.connect(autocommit=True, prepare_threshold=None) for _ in range(2)]
others[0].execute("SET rag.min_confidence = 0.77")
seen = {other.execute("SHOW rag.min_confidence").fetchone()[0] for other in [connection, others[1]] * 3}
assert "0.77" in seen, seen
others[0].execute("RESET rag.min_confidence")


def work(number):
    """Ask, search, change rows and stream, as one of many clients."""
    with psycopg.connect(autocommit=True, prepare_threshold=None) as client:
        for turn in range(3):
            assert answer(client) == ANSWER
            client.execute("INSERT INTO page VALUES (%s, 'More of page %s.')", [100 * number + turn, number])
            with client.transaction(), client.cursor("told") as cursor:
                cursor.itersize = 1
                cursor.execute("SELECT rag_answer_stream(%s)", [QUESTION])
                assert [row[0] for row in cursor][0] == ANSWER
            assert client.execute("SELECT count(*) FROM rag_retrieve('museum', k => 2)").fetchone() == (2,)
    return True


with ThreadPoolExecutor(8) as clients:
    assert all(clients.map(work, range(1, 9)))
assert connection.execute("SELECT rag_wait('page')").fetchone() == (True,)
assert connection.execute("SELECT count(*) FROM page_rag").fetchone() == (26,)
connection.execute("CALL rag_run('page')")

# Two sessions have served all of them.
(sessions,) = connection.execute(
    "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND backend_type = 'client backend'"
).fetchone()
assert sessions <= 2, sessions
