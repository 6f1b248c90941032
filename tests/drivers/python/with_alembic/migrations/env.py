"""Runs migrations, and compares models with the database."""

# region env
from alembic import context
from sqlalchemy import create_engine, text
from tables import Base


def tables_of_pg_rag(connection):
    """The tables that pg_rag keeps for its pipelines, new generations and what is derived from chunks included."""
    return set(
        connection.scalars(
            text("""
                SELECT c.relname FROM pg_class AS c
                JOIN (SELECT chunk_table::oid AS oid FROM rag.pipeline
                      UNION ALL SELECT relation::oid FROM rag.derivation) AS kept USING (oid)
            """)
        )
    )


with create_engine("postgresql+psycopg://").connect() as connection:
    has_pg_rag = connection.scalar(text("SELECT to_regclass('rag.pipeline') IS NOT NULL"))
    hidden = tables_of_pg_rag(connection) if has_pg_rag else set()
    context.configure(
        connection=connection,
        target_metadata=Base.metadata,
        # Autogenerate then neither drops these tables nor their indexes.
        include_name=lambda name, kind, parents: kind != "table" or name not in hidden,
    )
    with context.begin_transaction():
        context.run_migrations()
    connection.commit()
# endregion
