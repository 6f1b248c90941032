"""pg_rag with LlamaIndex."""

import asyncio

import pages

pages.create()

# region retriever
from pg_rag import AsyncClient, Client  # noqa: E402
from pg_rag.llamaindex import PgRagEmbedding, PgRagQueryEngine, PgRagRetriever  # noqa: E402

client = Client("", pipeline="page")

retriever = PgRagRetriever(client, k=2, filter={"lang": "en"})
for found in retriever.retrieve("forgotten password"):
    print(found.score, found.node.metadata["title"], found.text)
# endregion
assert retriever.retrieve("forgotten password")[0].node.metadata["source_key"] == "1"

# region batch
from llama_index.core.schema import QueryBundle  # noqa: E402

for nodes in retriever.retrieve_batch(["forgotten password", "refund"]):
    print([found.node.metadata["title"] for found in nodes])
near = retriever.retrieve(QueryBundle("", embedding=client.embed_query("forgotten password")))
second = PgRagRetriever(client, k=1, offset=1).retrieve("password")
# endregion
assert near[0].node.metadata["source_key"] == "1" and len(second) == 1

# region engine
engine = PgRagQueryEngine(client, filter={"lang": "en"})
response = engine.query("How long does a refund take?")
print(response)
for citation in response.metadata["citations"]:
    print(citation["marker"], citation["source_key"], citation["quote"])
print(response.get_formatted_sources())
# endregion
assert str(response) == "A refund takes five working days. [1]"

# region stream
streaming = PgRagQueryEngine(client, streaming=True).query("How long does a refund take?")
for piece in streaming.response_gen:
    print(piece, end="", flush=True)
print(streaming.metadata["confidence"], streaming.source_nodes)
# endregion
assert streaming.metadata["supported"]

# region embedding
embedding = PgRagEmbedding(client)
vectors = embedding.get_text_embedding_batch(["happy", "sad"])
question = embedding.get_query_embedding("Who is happy?")
# endregion
assert len(vectors) == 2 and len(question) == len(vectors[0])


# region asynchronous
async def main():
    async with AsyncClient("", pipeline="page") as asynchronous:
        engine = PgRagQueryEngine(client, async_client=asynchronous)
        return await engine.aquery("How long does a refund take?")


# endregion
assert str(asyncio.run(main())) == str(response)
