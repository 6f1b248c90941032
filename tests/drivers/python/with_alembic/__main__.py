"""pg_rag with Alembic: migrations run, and autogenerate leaves the tables of pipelines alone."""

import shutil
import sys
import tempfile
from pathlib import Path

from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from sqlalchemy import create_engine, text

here = Path(__file__).parent
sys.path.insert(0, str(here))
from tables import Base  # noqa: E402

with tempfile.TemporaryDirectory() as folder:
    # A copy, since autogenerate writes into it.
    shutil.copytree(here / "migrations", Path(folder) / "migrations")
    config = Config()
    config.set_main_option("script_location", f"{folder}/migrations")
    command.upgrade(config, "head")

    engine = create_engine("postgresql+psycopg://")
    with engine.begin() as connection:
        connection.execute(text('SELECT rag_alter_pipeline(\'page\', options => \'{"graph": {"entities": "rules"}}\')'))
        connection.execute(text("INSERT INTO page VALUES (1, 'Invoices', 'Acme GmbH sends invoices monthly.')"))
    with engine.begin() as connection:
        assert connection.scalar(text("SELECT rag_wait('page')"))
        # A new generation of chunks, which is there beside the old one.
        connection.execute(text("SELECT rag_pause('page')"))
        connection.execute(text("SELECT rag_alter_pipeline('page', chunking => '{\"max_tokens\": 64}')"))

    with engine.connect() as connection:
        plain = compare_metadata(MigrationContext.configure(connection), Base.metadata)
        dropped = {entry[1].name for entry in plain if entry[0] == "remove_table"}
        assert {"page_rag_chunks", "page_rag_chunks_2"} <= dropped, dropped

    script = command.revision(config, message="nothing has changed", autogenerate=True)
    written = Path(script.path).read_text()
    assert written.count("    pass\n") == 2, written
    command.upgrade(config, "head")

    # In a schema of their own autogenerate does not see the relations of a pipeline at all.
    with engine.begin() as connection:
        connection.execute(text("SELECT rag_drop_pipeline('page')"))
        connection.execute(text("CREATE SCHEMA page_search"))
        connection.execute(text("SET LOCAL rag.relations_schema = 'page_search'"))
        connection.execute(text("SELECT rag_create_pipeline('page', 'body', metadata => ARRAY['title'])"))
    with engine.begin() as connection:
        assert connection.scalar(text("SELECT to_regclass('page_search.page_rag_chunks') IS NOT NULL"))
        assert compare_metadata(MigrationContext.configure(connection), Base.metadata) == []
        # It would, if it were told to look there.
        told = {"include_schemas": True, "include_name": lambda it, kind, _: kind != "schema" or it == "page_search"}
        seen = compare_metadata(MigrationContext.configure(connection, opts=told), Base.metadata)
        assert "page_rag_chunks" in {entry[1].name for entry in seen if entry[0] == "remove_table"}, seen

    command.downgrade(config, "base")
    with engine.connect() as connection:
        assert connection.scalar(text("SELECT to_regclass('page_rag')")) is None
        assert connection.scalar(text("SELECT count(*) FROM rag.pipeline")) == 0
