"""Every query of the Grafana dashboard, as Grafana sends it, with what its panel shows."""

import json
import sys
from decimal import Decimal
from pathlib import Path

import psycopg
from psycopg import sql

DASHBOARD = json.loads(Path(sys.argv[1]).read_text())

SOURCES = """
    CREATE TABLE page (id integer PRIMARY KEY, body text NOT NULL);
    INSERT INTO page SELECT n, 'Page ' || n || ' is about refunds.' FROM generate_series(1, 20) AS n;
    CREATE TABLE event (id integer PRIMARY KEY, payload text NOT NULL);
    SELECT rag_create_pipeline('page', 'body');
    SELECT rag_create_pipeline('event', $$payload::jsonb ->> 'text'$$);
    INSERT INTO event VALUES (1, '{"text": "The pump was replaced."}'), (2, 'this is not JSON');
"""


def quoted(name):
    """Write a value of a variable as Grafana does."""
    return "'" + name.replace("'", "''") + "'"


def queries():
    """Yield each panel with each of its queries."""
    for panel in DASHBOARD["panels"]:
        for inner in [panel, *panel.get("panels", [])]:
            for target in inner.get("targets", []):
                yield inner, target["rawSql"]


def prepare(connection):
    """Make pipelines, one with a row that fails and a new generation that waits, so that each panel has something to show."""
    connection.execute(SOURCES)
    while not connection.execute("SELECT count(*) FROM rag.queue WHERE attempts > 0").fetchone()[0]:
        connection.execute("SELECT pg_sleep(0.1)")
    connection.execute("SELECT rag_wait('page')")
    connection.execute("SELECT rag_pause('page')")
    connection.execute("SELECT rag_alter_pipeline('page', chunking => '{\"max_tokens\": 32}')")
    # What would take minutes of failing attempts.
    connection.execute("""
        INSERT INTO rag.dead_letter (pipeline, key, attempts, sqlstate, message, queued_at, failed_at)
        SELECT id, '{3}', 5, '22P02', 'invalid input syntax for type json', now(), now()
        FROM rag.pipeline WHERE name = 'event'
    """)


def check(connection, panel, statement, pipelines, *, is_owner):
    """Run a query and hold its result against what the panel expects."""
    title = panel["title"]
    cursor = connection.execute(statement.replace("$pipeline", ",".join(map(quoted, pipelines))))
    columns = [column.name for column in cursor.description]
    rows = cursor.fetchall()
    assert rows or not is_owner, f"{title}: no rows"
    for override in panel["fieldConfig"]["overrides"]:
        if override["matcher"]["id"] == "byName":
            assert override["matcher"]["options"] in columns, f"{title}: {override['matcher']} is not in {columns}"
    if panel["type"] in ("stat", "gauge", "bargauge"):
        for value in (row[-1] for row in rows):
            assert value is None or isinstance(value, (int, float, Decimal)), f"{title}: {value!r} is no number"
    return len(rows)


with psycopg.connect(autocommit=True) as connection:
    prepare(connection)
    variable = next(it for it in DASHBOARD["templating"]["list"] if it["name"] == "pipeline")
    names = [row[0] for row in connection.execute(variable["query"])]
    assert names == ["event", "page"], names
    shown = [check(connection, panel, statement, names, is_owner=True) for panel, statement in queries()]
    assert len(shown) >= 15, f"only {len(shown)} queries"

    # As the role that the manual creates for it, and with no pipeline chosen.
    role = sql.Identifier("rag_dashboard_test")
    connection.execute(sql.SQL("CREATE ROLE {}").format(role))
    connection.execute(sql.SQL("GRANT SELECT (id) ON page, event TO {}").format(role))
    connection.execute(sql.SQL("GRANT pg_read_all_stats TO {}").format(role))
    connection.execute(sql.SQL("SET ROLE {}").format(role))
    for panel, statement in queries():
        check(connection, panel, statement, names, is_owner=False)
        check(connection, panel, statement, ["nobody's"], is_owner=False)
    connection.execute("RESET ROLE")
    connection.execute(sql.SQL("DROP OWNED BY {}").format(role))
    connection.execute(sql.SQL("DROP ROLE {}").format(role))
print(f"{len(shown)} queries of the dashboard show {sum(shown)} rows")
