"""Where clients get their connections from."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import (
    AbstractAsyncContextManager,
    AbstractContextManager,
    asynccontextmanager,
    contextmanager,
)
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import psycopg
from psycopg.pq import TransactionStatus

if TYPE_CHECKING:
    from typing import TypeAlias

T = TypeVar("T")


class Pool(Protocol):
    """A pool such as `psycopg_pool.ConnectionPool`."""

    def connection(self) -> AbstractContextManager[psycopg.Connection[Any]]:
        """Lend a connection."""


class AsyncPool(Protocol):
    """A pool such as `psycopg_pool.AsyncConnectionPool`."""

    def connection(self) -> AbstractAsyncContextManager[psycopg.AsyncConnection[Any]]:
        """Lend a connection."""


Source: TypeAlias = "str | psycopg.Connection[Any] | Pool"
AsyncSource: TypeAlias = "str | psycopg.AsyncConnection[Any] | AsyncPool"


def _may_be_kept(connection: psycopg.Connection[Any] | psycopg.AsyncConnection[Any]) -> bool:
    return not connection.closed and connection.info.transaction_status is TransactionStatus.IDLE


def _popped(idle: list[T]) -> T | None:
    """Take the last one, in one step, since another thread may take it between a look and a pop."""
    try:
        return idle.pop()
    except IndexError:
        return None


class Connections:
    """Connections to one database, opened when they are needed and kept for the next call.

    There are as many as calls at the same time. Statements are not prepared, so that poolers in transaction mode may
    stand in between.
    """

    def __init__(self, conninfo: str) -> None:
        """Keep how to connect; nothing is opened yet."""
        self._conninfo = conninfo
        # Taking from a list and adding to it are single steps, so threads share it without a lock.
        self._idle: list[psycopg.Connection[Any]] = []

    @contextmanager
    def connection(self) -> Iterator[psycopg.Connection[Any]]:
        """Lend a connection in autocommit mode."""
        connection = self._kept() or psycopg.connect(self._conninfo, autocommit=True, prepare_threshold=None)
        try:
            yield connection
        finally:
            if _may_be_kept(connection):
                self._idle.append(connection)
            else:
                connection.close()

    def close(self) -> None:
        """Close what is idle."""
        while connection := _popped(self._idle):
            connection.close()

    def _kept(self) -> psycopg.Connection[Any] | None:
        while connection := _popped(self._idle):
            try:
                # A server that was restarted has closed it, which nothing tells before it is used.
                connection.execute("")
                return connection
            except psycopg.OperationalError:
                connection.close()
        return None


class AsyncConnections:
    """Connections of one event loop to one database; what holds of `Connections` holds of them."""

    def __init__(self, conninfo: str) -> None:
        """Keep how to connect; nothing is opened yet."""
        self._conninfo = conninfo
        self._idle: list[psycopg.AsyncConnection[Any]] = []

    @asynccontextmanager
    async def connection(self) -> AsyncIterator[psycopg.AsyncConnection[Any]]:
        """Lend a connection in autocommit mode."""
        connection = await self._kept() or await psycopg.AsyncConnection.connect(
            self._conninfo, autocommit=True, prepare_threshold=None
        )
        try:
            yield connection
        finally:
            if _may_be_kept(connection):
                self._idle.append(connection)
            else:
                await connection.close()

    async def close(self) -> None:
        """Close what is idle."""
        while connection := _popped(self._idle):
            await connection.close()

    async def _kept(self) -> psycopg.AsyncConnection[Any] | None:
        while connection := _popped(self._idle):
            try:
                await connection.execute("")
                return connection
            except psycopg.OperationalError:
                await connection.close()
        return None


class Given:
    """The caller's own connection, in whatever transaction it is."""

    def __init__(self, connection: psycopg.Connection[Any]) -> None:
        """Keep it; it stays the caller's to close."""
        self._connection = connection

    @contextmanager
    def connection(self) -> Iterator[psycopg.Connection[Any]]:
        """Lend it."""
        yield self._connection


class AsyncGiven:
    """The caller's own asynchronous connection, in whatever transaction it is."""

    def __init__(self, connection: psycopg.AsyncConnection[Any]) -> None:
        """Keep it; it stays the caller's to close."""
        self._connection = connection

    @asynccontextmanager
    async def connection(self) -> AsyncIterator[psycopg.AsyncConnection[Any]]:
        """Lend it."""
        yield self._connection


def pool_of(source: Source) -> Pool:
    """Return what lends connections for a source."""
    if isinstance(source, str):
        return Connections(source)
    if isinstance(source, psycopg.Connection):
        return Given(source)
    return source


def async_pool_of(source: AsyncSource) -> AsyncPool:
    """Return what lends asynchronous connections for a source."""
    if isinstance(source, str):
        return AsyncConnections(source)
    if isinstance(source, psycopg.AsyncConnection):
        return AsyncGiven(source)
    return source
