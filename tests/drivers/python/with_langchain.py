"""pg_rag with LangChain."""

import asyncio

import pages

pages.create()

# region retriever
from pg_rag import AsyncClient, Client  # noqa: E402
from pg_rag.langchain import ChatPgRag, PgRagEmbeddings, PgRagRetriever  # noqa: E402

client = Client("", pipeline="page")

retriever = PgRagRetriever(client=client, k=2, filter={"lang": "en"})
for document in retriever.invoke("forgotten password"):
    print(document.metadata["title"], document.page_content)
# endregion
assert retriever.invoke("forgotten password")[0].metadata["source_key"] == "1"

# region batch
for documents in retriever.retrieve_batch(["forgotten password", "refund"]):
    print([document.metadata["title"] for document in documents])
near = retriever.invoke("", query_vector=client.embed_query("forgotten password"), k=1)
second = retriever.invoke("password", k=1, offset=1)
# endregion
assert near[0].metadata["source_key"] == "1" and second[0].metadata["rank"] == 2

# region chat
chat = ChatPgRag(client=client)
message = chat.invoke("How long does a refund take?")
print(message.text)
for citation in message.response_metadata["citations"]:
    print(citation["marker"], citation["source_key"], citation["quote"])

for chunk in chat.stream("How long does a refund take?"):
    print(chunk.text, end="", flush=True)
# endregion
assert message.text == "A refund takes five working days. [1]"

# region history
from langchain_core.messages import HumanMessage  # noqa: E402

said = [HumanMessage("When are invoices sent?")]
said += [chat.invoke(said), HumanMessage("And how often are they sent?")]
follow_up = chat.invoke(said)
# endregion
assert follow_up.response_metadata["supported"] and follow_up.response_metadata["conversation"] is None

# region remember
remembering = chat.bind(remember=True)
said = [HumanMessage("When are invoices sent?")]
said += [remembering.invoke(said), HumanMessage("And how often are they sent?")]
follow_up = remembering.invoke(said)
print(follow_up.response_metadata["conversation"])
# endregion
assert follow_up.response_metadata["conversation"] == said[1].response_metadata["conversation"] is not None

# region conversation
chat.bind(conversation=client.conversation(), filter={"lang": "en"}).invoke("When are invoices sent?")
# endregion

# region chain
from langchain_core.output_parsers import StrOutputParser  # noqa: E402
from langchain_core.runnables import RunnableParallel  # noqa: E402

chain = RunnableParallel(answer=chat | StrOutputParser(), documents=retriever)
result = chain.invoke("How long does a refund take?")
# endregion
assert result["answer"] == message.text and len(result["documents"]) == 2

# region embeddings
embeddings = PgRagEmbeddings(client)
vectors = embeddings.embed_documents(["happy", "sad"])
question = embeddings.embed_query("Who is happy?")
# endregion
assert len(vectors) == 2 and len(question) == len(vectors[0])


# region asynchronous
async def main():
    async with AsyncClient("", pipeline="page") as asynchronous:
        chat = ChatPgRag(client=client, async_client=asynchronous)
        return [chunk.text async for chunk in chat.astream("How long does a refund take?")]


# endregion
assert "".join(asyncio.run(main())) == message.text
