"""pg_rag from psycopg 3."""

# region connect
import json

import psycopg
from psycopg.rows import dict_row
from psycopg.types.json import Jsonb

# Without a connection string, PGHOST, PGDATABASE and the other variables of libpq say where to connect.
connection = psycopg.connect(autocommit=True, row_factory=dict_row)
# endregion

# region pipeline
connection.execute("CREATE EXTENSION IF NOT EXISTS pg_rag CASCADE")
connection.execute(
    "CREATE TABLE page (id integer PRIMARY KEY, title text NOT NULL, body text NOT NULL, lang text NOT NULL)"
)
connection.execute("SELECT rag_create_pipeline('page', 'body', metadata => ARRAY['title', 'lang'])")
# endregion

# region insert
pages = [
    (1, "Passwords", 'To reset a password, open the sign-in page and choose "Forgot password".', "en"),
    (2, "Invoices", "Invoices are sent on the first day of each month. A refund takes five working days.", "en"),
    (3, "Passwörter", 'Um ein Passwort zurückzusetzen, wählen Sie "Passwort vergessen".', "de"),
]
with connection.cursor() as cursor:
    cursor.executemany("INSERT INTO page VALUES (%s, %s, %s, %s)", pages)

# Chunks are made after the commit; this waits for them.
found_by_now = connection.execute("SELECT rag_wait('page') AS ok").fetchone()["ok"]
# endregion
assert found_by_now is True

# region retrieve
chunks = connection.execute(
    "SELECT rank, source_key, content, metadata FROM rag_retrieve(%s, k => %s, filter => %s)",
    ["forgotten password", 2, Jsonb({"lang": "en"})],
).fetchall()
for chunk in chunks:
    print(chunk["rank"], chunk["source_key"], chunk["metadata"]["title"], chunk["content"])
# endregion
assert chunks[0]["source_key"] == "1" and all(it["metadata"]["lang"] == "en" for it in chunks)

# region answer
answer = connection.execute(
    "SELECT answer, supported, citations FROM rag_answer_details(%s, filter => %s)",
    ["How long does a refund take?", Jsonb({"lang": "en"})],
).fetchone()
print(answer["answer"])
if answer["supported"]:
    for citation in answer["citations"]:
        print(citation["marker"], citation["source_key"], citation["quote"])
# endregion
assert answer["answer"] == "A refund takes five working days. [1]"
assert answer["citations"][0]["source_key"] == "2"

# region embed
texts = ["happy", "sad"]
rows = connection.execute(
    "SELECT embedding::real[] AS embedding FROM unnest(rag_embed_batch(%s)) AS embedding", [texts]
)
vectors = [row["embedding"] for row in rows]
# endregion
assert len(vectors) == 2 and len(vectors[0]) > 100 and isinstance(vectors[0][0], float)

# region stream
pieces = []
with connection.transaction(), connection.cursor("answer") as cursor:
    cursor.itersize = 1
    cursor.execute("SELECT rag_answer_stream(%s) AS piece", ["How long does a refund take?"])
    for row in cursor:
        pieces.append(row["piece"])
        # Show the piece here. The last row is JSON: citations, confidence and the rest.
details = json.loads(pieces.pop())
text = "".join(pieces)
# endregion
assert text == "A refund takes five working days. [1]" and details["citations"][0]["source_key"] == "2"

# region errors
try:
    connection.execute("SELECT * FROM rag_retrieve(%s, filter => %s)", ["refund", Jsonb({"langg": "en"})])
except psycopg.errors.UndefinedObject as error:
    message = f"{error.sqlstate}: {error.diag.message_primary} ({error.diag.message_hint})"
# endregion
assert message == (
    '42704: filter names an unknown column "langg" (Columns that a filter can name: title, lang, id; rag_alter_pipeline(metadata => ...) sets the list.)'
), message

# region types
# rag_embed embeds a single text: a list becomes the text '{happy,sad}'.
one = connection.execute("SELECT rag_embed(%s)::text AS e", [["happy", "sad"]]).fetchone()
same = connection.execute("SELECT rag_embed('{happy,sad}')::text AS e").fetchone()
assert one == same

# A list of pipelines can be given as it is, and None is what a call without the argument means.
connection.execute("SELECT * FROM rag_retrieve(%s, %s, %s, filter => %s)", ["refund", ["page"], None, None])
# endregion

# region settings
with connection.transaction():
    connection.execute("SET LOCAL rag.min_confidence = 0.9")
    connection.execute("SELECT rag_answer(%s)", ["How long does a refund take?"])
# endregion
