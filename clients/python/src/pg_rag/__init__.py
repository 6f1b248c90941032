"""Client of the PostgreSQL extension pg_rag.

`Client` and `AsyncClient` call the functions of the extension and return typed results. `pg_rag.langchain` and
`pg_rag.llamaindex` hold the classes that these frameworks expect; each needs the extra of its name.
"""

from ._async_client import AsyncAnswerStream, AsyncClient
from ._client import AnswerStream, Client
from ._connections import AsyncSource, Source
from ._errors import (
    AmbiguousPipelineError,
    BudgetExceededError,
    CancelledError,
    InvalidArgumentError,
    LimitExceededError,
    NotInstalledError,
    NotPermittedError,
    NotSupportedError,
    ProviderError,
    ProviderTimeoutError,
    RagError,
    UnavailableError,
    UnknownObjectError,
)
from ._results import Answer, Chunk, Citation, Claim, ContextChunk, UnresolvedMarker
from ._statements import AskOptions, RetrieveOptions, SearchOptions

__all__ = [
    "AmbiguousPipelineError",
    "Answer",
    "AnswerStream",
    "AskOptions",
    "AsyncAnswerStream",
    "AsyncClient",
    "AsyncSource",
    "BudgetExceededError",
    "CancelledError",
    "Chunk",
    "Citation",
    "Claim",
    "Client",
    "ContextChunk",
    "InvalidArgumentError",
    "LimitExceededError",
    "NotInstalledError",
    "NotPermittedError",
    "NotSupportedError",
    "ProviderError",
    "ProviderTimeoutError",
    "RagError",
    "RetrieveOptions",
    "SearchOptions",
    "Source",
    "UnavailableError",
    "UnknownObjectError",
    "UnresolvedMarker",
]
