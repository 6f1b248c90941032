"""What can go wrong, by SQLSTATE."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import psycopg


class RagError(Exception):
    """An error that the database has raised, or that kept it from being reached.

    `sqlstate` is its five characters, or None where the server did not say one: the connection failed, or an argument
    cannot be sent.
    `message`, `hint` and `detail` are PostgreSQL's. The error of psycopg is `__cause__`.
    """

    def __init__(
        self, message: str, *, sqlstate: str | None = None, hint: str | None = None, detail: str | None = None
    ) -> None:
        """Keep what PostgreSQL has said."""
        super().__init__(message)
        self.message = message
        self.sqlstate = sqlstate
        self.hint = hint
        self.detail = detail

    def __str__(self) -> str:
        """Tell the message with its hint, since logs show nothing else."""
        return self.message if self.hint is None else f"{self.message} (hint: {self.hint})"


class InvalidArgumentError(RagError):
    """An argument, option or filter is not acceptable or cannot be sent, or is NULL where a value is needed."""


class UnknownObjectError(RagError):
    """There is no such pipeline, model, filter column or server."""


class AmbiguousPipelineError(RagError):
    """There are several pipelines, and none was named."""


class NotPermittedError(RagError):
    """The role may not do this."""


class NotSupportedError(RagError):
    """Something needs a language model, or another version of pg_rag."""


class NotInstalledError(RagError):
    """The database has no pg_rag, it is in a schema that is not on the search path, or it is another version."""


class BudgetExceededError(RagError):
    """The budget of the role does not allow the call."""


class LimitExceededError(RagError):
    """The question exceeds a limit of its own, or one of a setting; repeating it is of no use."""


class ProviderError(RagError):
    """The provider of a language model or of embeddings has failed."""


class ProviderTimeoutError(ProviderError):
    """The provider of a language model or of embeddings did not answer in time."""


class UnavailableError(RagError):
    """The database or a model cannot be reached at the moment, or is out of resources; the call may be repeated."""


class CancelledError(RagError):
    """The statement was cancelled, by a timeout or by somebody."""


_BY_SQLSTATE: dict[str, type[RagError]] = {
    "0A000": NotSupportedError,
    "3F000": NotInstalledError,
    "38000": ProviderError,
    "39000": ProviderTimeoutError,
    "42501": NotPermittedError,
    "42704": UnknownObjectError,
    "42883": NotInstalledError,
    "42P08": AmbiguousPipelineError,
    "53400": LimitExceededError,
    "57014": CancelledError,
    "RG001": BudgetExceededError,
}

# Classes of SQLSTATEs, their first two characters: data exceptions, connections, resources, interventions.
_BY_CLASS: dict[str, type[RagError]] = {
    "08": UnavailableError,
    "22": InvalidArgumentError,
    "53": UnavailableError,
    "57": UnavailableError,
}


def _meaning(sqlstate: str | None) -> type[RagError]:
    """Return the exception for a SQLSTATE; None, of a connection that failed, is the server being away."""
    if sqlstate is None:
        return UnavailableError
    return _BY_SQLSTATE.get(sqlstate) or _BY_CLASS.get(sqlstate[:2], RagError)


def translate(error: psycopg.Error) -> RagError:
    """Return what an error of psycopg means, with its SQLSTATE and hint."""
    diagnostics = error.diag
    sqlstate = error.sqlstate
    if sqlstate is None and isinstance(error, psycopg.DataError):
        return InvalidArgumentError(str(error))
    if sqlstate is None and not isinstance(error, psycopg.OperationalError):
        return RagError(str(error))
    return _meaning(sqlstate)(
        diagnostics.message_primary or str(error),
        sqlstate=sqlstate,
        hint=diagnostics.message_hint,
        detail=diagnostics.message_detail,
    )


@contextmanager
def translated() -> Iterator[None]:
    """Raise errors of psycopg, and of texts that it cannot encode, as those of this package."""
    try:
        yield
    except psycopg.Error as error:
        raise translate(error) from error
    except UnicodeEncodeError as error:
        raise InvalidArgumentError(f"a text cannot be sent: {error}") from error
