"""A database of the tests' own, with two pipelines."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Iterator

import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import make_conninfo

from pg_rag import AsyncClient, Client

PAGES = """
CREATE EXTENSION pg_rag CASCADE;
CREATE TABLE page (id integer PRIMARY KEY, body text NOT NULL, lang text NOT NULL, year integer NOT NULL);
INSERT INTO page VALUES
    (1, 'To reset a password, open the sign-in page and choose "Forgot password".', 'en', 2024),
    (2, 'Invoices are sent on the first day of each month. A refund takes five working days.', 'en', 2025),
    (3, 'Um ein Passwort zurückzusetzen, wählen Sie "Passwort vergessen".', 'de', 2025);
CREATE TABLE ticket (id integer PRIMARY KEY, body text NOT NULL);
INSERT INTO ticket VALUES (7, 'The printer shows error 41. Replacing the toner fixed it.');
SELECT rag_create_pipeline('page', 'body', metadata => ARRAY['lang', 'year'], refresh => 'sync');
SELECT rag_create_pipeline('ticket', 'body', refresh => 'sync');
CREATE SERVER nobody FOREIGN DATA WRAPPER rag_llm
    OPTIONS (api 'openai', base_url 'http://127.0.0.1:9/v1', model 'none', max_retries '0');
"""


@pytest.fixture(scope="session")
def conninfo() -> Iterator[str]:
    url = os.environ.get("PG_RAG_TEST_DATABASE_URL")
    if url is None:
        pytest.skip("PG_RAG_TEST_DATABASE_URL names no database")
    name = f"pg_rag_python_{os.getpid()}"
    with psycopg.connect(url, autocommit=True) as server:
        server.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
        own = make_conninfo(url, dbname=name)
        try:
            with psycopg.connect(own) as connection:
                connection.execute(PAGES)
            yield own
        finally:
            server.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))


@pytest.fixture
def client(conninfo: str) -> Iterator[Client]:
    with Client(conninfo, pipeline="page") as client:
        yield client


@pytest.fixture
async def async_client(conninfo: str) -> AsyncIterator[AsyncClient]:
    async with AsyncClient(conninfo, pipeline="page") as client:
        yield client
