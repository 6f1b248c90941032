"""Create the pages, and their pipeline."""

# region migration
import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade():
    op.execute("CREATE EXTENSION IF NOT EXISTS pg_rag CASCADE")
    op.create_table(
        "page",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("title", sa.Text, nullable=False),
        sa.Column("body", sa.Text, nullable=False),
    )
    op.execute("SELECT rag_create_pipeline('page', 'body', metadata => ARRAY['title'])")


def downgrade():
    op.execute("SELECT rag_drop_pipeline('page', if_exists => true)")
    op.drop_table("page")


# endregion
