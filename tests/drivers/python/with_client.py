"""pg_rag with the package pg-rag."""

import asyncio

import pages

pages.create()

# region connect
from pg_rag import Client  # noqa: E402

# A connection string, a connection of psycopg, or a pool. Without one, PGHOST and so on say where to connect.
rag = Client("", pipeline="page")
# endregion

# region ask
answer = rag.ask("How long does a refund take?", filter={"lang": "en"})
print(answer.text)
if answer.supported:
    for citation in answer.citations:
        print(citation.marker, citation.source_key, citation.quote)
        print(answer.cited(citation).metadata["title"])
# endregion
assert answer.text == "A refund takes five working days. [1]" and answer.citations[0].source_key == "2"

# region retrieve
for chunk in rag.retrieve("forgotten password", k=2, filter={"lang": ["en", "fr"]}):
    print(chunk.rank, chunk.source_key, chunk.metadata["title"], chunk.content)
# endregion
assert chunk.rank == 2

# region page
second = rag.retrieve("password", k=1, offset=1)
# endregion
assert second[0].rank == 2

# region batch
for chunks in rag.retrieve_batch(["How long does a refund take?", "forgotten password"], k=1):
    print([chunk.source_key for chunk in chunks])
# endregion
assert chunks[0].source_key == "1"

# region vector
vector = rag.embed_query("forgotten password")
near = rag.retrieve(None, query_vector=vector, k=1)
# endregion
assert near[0].source_key == "1"

# region stream
with rag.stream("How long does a refund take?") as stream:
    for piece in stream:
        print(piece, end="", flush=True)
print(stream.answer.confidence)
# endregion
assert stream.answer.text == answer.text

# region embed
vectors = rag.embed(["happy", "sad"])
question = rag.embed_query("Who is happy?")
# endregion
assert len(vectors) == 2 and len(question) == len(vectors[0])

# region conversation
conversation = rag.conversation("Billing")
rag.ask("When are invoices sent?", conversation=conversation)
rag.ask("And how long does a refund take?", conversation=conversation)
# endregion

# region history
history = []
for asked in ["When are invoices sent?", "And how long does a refund take?"]:
    reply = rag.ask(asked, history=history)
    history.append((asked, reply.text))
# endregion
assert reply.supported and reply.conversation is None

# region remember
remembered = []
for asked in ["When are invoices sent?", "And how long does a refund take?"]:
    reply = rag.ask(asked, history=remembered, remember=True)
    remembered.append((asked, reply.text))
print(reply.conversation)
# endregion
assert reply.conversation not in (None, conversation)

# region wait
import psycopg  # noqa: E402

with psycopg.connect(autocommit=True) as connection:
    connection.execute("INSERT INTO page VALUES (4, 'Museum', 'The museum opens at ten.', 'en')")
assert rag.wait("page", timeout=30)
# endregion

# region transaction
# On a connection of your own, calls are part of its transaction.
with psycopg.connect() as connection:
    connection.execute("SET LOCAL rag.min_confidence = 0.9")
    Client(connection).ask("When does the museum open?")
# endregion

# region errors
from pg_rag import RagError, UnknownObjectError  # noqa: E402

try:
    rag.retrieve("refund", filter={"langg": "en"})
except UnknownObjectError as error:
    print(error.sqlstate, error.message, error.hint)
except RagError:
    ...  # all others
# endregion
else:
    raise AssertionError("a filter by no column is an error")


# region asynchronous
from pg_rag import AsyncClient  # noqa: E402


async def main():
    async with AsyncClient("", pipeline="page") as rag:
        answer = await rag.ask("How long does a refund take?")
        async with rag.stream("How long does a refund take?") as stream:
            pieces = [piece async for piece in stream]
        return answer.text, "".join(pieces)


# endregion
assert asyncio.run(main()) == (answer.text, answer.text)
rag.close()
