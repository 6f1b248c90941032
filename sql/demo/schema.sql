-- The table that the demo asks: the manual, one row a section.

SET client_min_messages = warning;

CREATE EXTENSION IF NOT EXISTS pg_rag CASCADE;

CREATE TABLE IF NOT EXISTS manual (
    id    bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    file  text NOT NULL,
    title text NOT NULL,
    body  text NOT NULL,
    UNIQUE (file, title)
);
