"""pg_rag from asyncpg."""

import asyncio

# region connect
import json

import asyncpg


async def connect():
    connection = await asyncpg.connect()
    # jsonb then takes and gives Python objects instead of text.
    await connection.set_type_codec("jsonb", schema="pg_catalog", encoder=json.dumps, decoder=json.loads)
    return connection


# endregion


async def main():
    connection = await connect()

    # region pipeline
    await connection.execute("""
        CREATE TABLE page (id integer PRIMARY KEY, title text NOT NULL, body text NOT NULL, lang text NOT NULL);
        SELECT rag_create_pipeline('page', 'body', metadata => ARRAY['title', 'lang']);
    """)
    await connection.executemany(
        "INSERT INTO page VALUES ($1, $2, $3, $4)",
        [
            (1, "Passwords", 'To reset a password, choose "Forgot password" on the sign-in page.', "en"),
            (2, "Invoices", "Invoices are sent monthly. A refund takes five working days.", "en"),
            (3, "Passwörter", 'Um ein Passwort zurückzusetzen, wählen Sie "Passwort vergessen".', "de"),
        ],
    )
    await connection.fetchval("SELECT rag_wait('page')")
    # endregion

    # region retrieve
    chunks = await connection.fetch(
        "SELECT rank, source_key, content, metadata FROM rag_retrieve($1, k => $2, filter => $3)",
        "forgotten password",
        2,
        {"lang": "en"},
    )
    # endregion
    assert chunks[0]["source_key"] == "1" and chunks[0]["metadata"]["lang"] == "en"

    # region answer
    answer = await connection.fetchrow(
        "SELECT answer, supported, citations FROM rag_answer_details($1, filter => $2)",
        "How long does a refund take?",
        {"lang": "en"},
    )
    for citation in answer["citations"]:
        print(citation["marker"], citation["source_key"], citation["quote"])
    # endregion
    assert answer["supported"] and answer["answer"] == "A refund takes five working days. [1]"

    # region embed
    rows = await connection.fetch(
        "SELECT embedding::real[] FROM unnest(rag_embed_batch($1)) AS embedding", ["happy", "sad"]
    )
    vectors = [row["embedding"] for row in rows]
    # endregion
    assert len(vectors) == 2 and isinstance(vectors[0][0], float)

    # region stream
    pieces = []
    async with connection.transaction():
        query = "SELECT rag_answer_stream($1)"
        async for row in connection.cursor(query, "How long does a refund take?", prefetch=1):
            pieces.append(row[0])
    details = json.loads(pieces.pop())
    # endregion
    assert "".join(pieces) == answer["answer"] and details["supported"]

    # region errors
    try:
        await connection.fetch("SELECT * FROM rag_retrieve($1, 'pages')", "refund")
    except asyncpg.UndefinedObjectError as error:
        message = f"{error.sqlstate}: {error.message} ({error.hint})"
    # endregion
    assert message == '42704: pipeline "pages" does not exist (Known pipelines: page.)', message

    # region types
    # asyncpg asks the server for the types of parameters, so a list for rag_embed is an error.
    try:
        await connection.fetchval("SELECT rag_embed($1)", ["happy", "sad"])
    except asyncpg.DataError as error:
        message = str(error)
    # endregion
    assert "expected str, got list" in message, message
    await connection.close()


asyncio.run(main())
