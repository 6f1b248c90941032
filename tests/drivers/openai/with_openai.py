"""pg_rag from OpenAI's client for Python, by way of rag-server."""

import asyncio

# region connect
from openai import OpenAI

# OPENAI_BASE_URL is the address of rag-server with the path /v1, and OPENAI_API_KEY a token. Both can be arguments.
client = OpenAI()
# endregion

# region models
for model in client.models.list():
    print(model.id, model.description, model.filters)
page = client.models.retrieve("page")
# endregion
assert (page.id, page.object, page.owned_by) == ("page", "model", "pg_rag") and page.created > 0
assert page.description == "help for customers" and page.filters == ["title", "lang"]

# region answer
completion = client.chat.completions.create(
    model="page",
    messages=[{"role": "user", "content": "How long does a refund take?"}],
    extra_body={"filter": {"lang": "en"}, "k": 2},
)
print(completion.choices[0].message.content)
if completion.rag["supported"]:
    for citation in completion.citations:
        print(citation["marker"], citation["source_key"], citation["quote"])
# endregion
text = completion.choices[0].message.content
assert text == "A refund takes five working days. [1]", text
assert completion.citations[0]["source_key"] == "2"
assert completion.object == "chat.completion" and completion.model == "page" and completion.id and completion.created
assert completion.choices[0].finish_reason == "stop" and completion.usage.total_tokens == 0

# region conversation
messages = []
for question in ["When are invoices sent?", "And how long does a refund take?"]:
    messages.append({"role": "user", "content": question})
    completion = client.chat.completions.create(model="page", messages=messages)
    messages.append(completion.choices[0].message)
# endregion
assert completion.rag["supported"] and "conversation" not in completion.rag, completion.rag

# region store
messages = [{"role": "user", "content": "When are invoices sent?"}]
completion = client.chat.completions.create(model="page", messages=messages, store=True)
print(completion.rag["conversation"])
# endregion
messages += [completion.choices[0].message, {"role": "user", "content": "Why?"}]
again = client.chat.completions.create(model="page", messages=messages, store=True)
assert again.rag["conversation"] == completion.rag["conversation"], again.rag

# region stream
question = [{"role": "user", "content": "How long does a refund take?"}]
for chunk in client.chat.completions.create(model="page", messages=question, stream=True):
    print(chunk.choices[0].delta.content or "", end="", flush=True)
print(chunk.citations, chunk.rag["confidence"])  # of the last chunk
# endregion
assert chunk.choices[0].finish_reason == "stop" and chunk.citations[0]["source_key"] == "2"
usage = {"include_usage": True}
with client.chat.completions.stream(model="page", messages=question, stream_options=usage) as stream:
    pieces = [event.delta for event in stream if event.type == "content.delta"]
    whole = stream.get_final_completion()
assert "".join(pieces) == whole.choices[0].message.content == text and whole.usage.total_tokens == 0

# region embed
response = client.embeddings.create(model="multilingual-e5-small", input=["happy", "sad"])
vectors = [item.embedding for item in response.data]

asked = client.embeddings.create(model="multilingual-e5-small", input="Who is happy?", extra_body={"kind": "query"})
# endregion
assert len(vectors) == 2 and len(asked.data[0].embedding) == len(vectors[0]) > 100
# The client has asked for base64 and decoded it.
numbers = client.embeddings.create(model="multilingual-e5-small", input="happy", encoding_format="float")
assert all(abs(a - b) < 1e-6 for a, b in zip(numbers.data[0].embedding, vectors[0], strict=True))

# region errors
from openai import APIStatusError, NotFoundError  # noqa: E402

try:
    client.chat.completions.create(model="pages", messages=question)
except NotFoundError as error:
    message = f"{error.body['sqlstate']}: {error.body['message']} ({error.body['hint']})"
except APIStatusError as error:  # all others
    message = f"{error.status_code} {error.code}: {error.message}"
# endregion
assert message == '42704: pipeline "pages" does not exist (Known pipelines: page.)', message


def refused(call, **arguments):
    """Return the status, the code and the parameter of the error of a call."""
    try:
        call(**arguments)
    except APIStatusError as error:
        assert error.type and error.body["message"], error
        return error.status_code, error.code, error.param
    raise AssertionError(f"no error of {arguments}")


ask, embed = client.chat.completions.create, client.embeddings.create
assert refused(client.models.retrieve, model="pages") == (404, "model_not_found", "model")
assert refused(ask, model="page", messages=question, n=2) == (400, "invalid_request", "n")
assert refused(embed, model="multilingual-e5-small", input=[1, 2]) == (400, "invalid_request", "input")
assert refused(embed, model="multilingual-e5-small", input="a", dimensions=3) == (400, "invalid_request", "dimensions")
# The built-in answerer writes no arguments; that the function is known, and what it takes, is checked before.
tool = {"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}
call = {"model": "page", "messages": question, "tools": [tool]}
named = {"type": "function", "function": {"name": "f"}}
unknown = {"type": "function", "function": {"name": "g"}}
assert refused(ask, **call, tool_choice=named)[0] == 400
assert refused(ask, **call, tool_choice=unknown) == (400, "invalid_request", "tool_choice")
schema = {"options": {"answer": {"schema": {"type": "object"}}}}
assert refused(ask, **call, tool_choice=named, extra_body=schema) == (400, "invalid_request", "options")
unnamed = {**call, "tools": [{"type": "function", "function": {}}]}
assert refused(ask, **unnamed, tool_choice="required") == (400, "invalid_request", "tools")
result = [*question, {"role": "tool", "tool_call_id": "c", "content": "42"}]
assert refused(ask, model="page", messages=result) == (400, "invalid_request", "messages")

# What else clients send that changes nothing here.
parts = [{"type": "text", "text": "How long does"}, {"type": "text", "text": "a refund take?"}]
unchanged = ask(
    model="page",
    messages=[
        {"role": "developer", "content": "Be brief."},
        {"role": "user", "content": parts, "name": "somebody"},
        {"role": "system", "content": [{"type": "text", "text": "Be kind."}]},
    ],
    n=1,
    seed=1,
    stop=["END"],
    temperature=0.2,
    top_p=1,
    max_completion_tokens=100,
    frequency_penalty=0,
    presence_penalty=0,
    logprobs=False,
    user="somebody",
    tools=[tool],
    tool_choice="auto",
    parallel_tool_calls=True,
    store=False,
    response_format={"type": "text"},
)
assert unchanged.choices[0].message.content == text and unchanged.choices[0].message.tool_calls is None

# region asynchronous
from openai import AsyncOpenAI  # noqa: E402


async def main():
    async with AsyncOpenAI() as client:
        stream = await client.chat.completions.create(model="page", messages=question, stream=True)
        return "".join([chunk.choices[0].delta.content or "" async for chunk in stream])


# endregion
assert asyncio.run(main()) == text
