"""pg_rag from SQLAlchemy 2, and Alembic."""

# region model
from pgvector.sqlalchemy import Vector
from sqlalchemy import BigInteger, ForeignKey, Text, cast, create_engine, func, literal_column, select, text
from sqlalchemy.dialects.postgresql import ARRAY, JSONB, REAL
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column, relationship


class Base(DeclarativeBase):
    pass


class Page(Base):
    __tablename__ = "page"

    id: Mapped[int] = mapped_column(primary_key=True)
    title: Mapped[str] = mapped_column(Text)
    body: Mapped[str] = mapped_column(Text)
    lang: Mapped[str] = mapped_column(Text)


# endregion

# region connect
engine = create_engine("postgresql+psycopg://")
# endregion

# region pipeline
Base.metadata.create_all(engine)
with engine.begin() as connection:
    connection.execute(text("SELECT rag_create_pipeline('page', 'body', metadata => ARRAY['title', 'lang'])"))

with Session(engine) as session:
    session.add_all(
        [
            Page(id=1, title="Passwords", body='To reset a password, choose "Forgot password".', lang="en"),
            Page(id=2, title="Invoices", body="A refund takes five working days.", lang="en"),
            Page(id=3, title="Passwörter", body='Wählen Sie "Passwort vergessen".', lang="de"),
        ]
    )
    session.commit()
    session.scalar(select(func.rag_wait("page")))
# endregion


# region named
def named(**arguments):
    """Named arguments of a function of SQL, which `func` has no form of its own for."""
    return [literal_column(name).op("=>")(value) for name, value in arguments.items()]


# endregion

# region retrieve
found = func.rag_retrieve(*named(question="forgotten password", k=2, filter=cast({"lang": "en"}, JSONB))).table_valued(
    "rank", "source_key", "content", "score"
)

with Session(engine) as session:
    query = (
        select(Page, found.c.content)
        .join(found, cast(found.c.source_key, Page.id.type) == Page.id)
        .order_by(found.c.rank)
    )
    pages = session.execute(query).all()
# endregion
assert pages[0].Page.title == "Passwords" and len(pages) == 2

# region answer
details = func.rag_answer_details("How long does a refund take?").table_valued(
    "answer", "supported", literal_column("citations", JSONB)
)
with engine.connect() as connection:
    answer = connection.execute(select(details)).one()
# endregion
assert answer.supported and answer.answer == "A refund takes five working days. [1]", answer
assert answer.citations[0]["source_key"] == "2"

# region embed
embedding = func.unnest(func.rag_embed_batch(cast(["happy", "sad"], ARRAY(Text)))).column_valued("embedding")
with engine.connect() as connection:
    vectors = connection.scalars(select(cast(embedding, ARRAY(REAL)))).all()
# endregion
assert len(vectors) == 2 and isinstance(vectors[0][0], float)


# region view
class Views(DeclarativeBase):
    """Models over views, apart from the tables that migrations create."""


class PageChunk(Views):
    __tablename__ = "page_rag"

    chunk_id: Mapped[int] = mapped_column(BigInteger, primary_key=True)
    source_id: Mapped[int] = mapped_column(ForeignKey(Page.id))
    content: Mapped[str] = mapped_column(Text)
    lang: Mapped[str] = mapped_column(Text)
    embedding: Mapped[list[float]] = mapped_column(Vector(384))
    page: Mapped[Page] = relationship()


with Session(engine) as session:
    nearest = session.scalars(
        select(PageChunk)
        .where(PageChunk.lang == "en")
        .order_by(PageChunk.embedding.cosine_distance(func.rag_embed("lost password")))
        .limit(1)
    ).one()
    assert nearest.page.title == "Passwords"
# endregion

# region stream
with engine.connect() as connection:
    rows = connection.execution_options(yield_per=1).scalars(
        select(func.rag_answer_stream("How long does a refund take?"))
    )
    pieces = list(rows)  # or row by row, to show each piece as it comes
# endregion
assert pieces[0].startswith("A refund") and pieces[-1].startswith("{")

# region errors
from sqlalchemy.exc import DBAPIError  # noqa: E402

try:
    with engine.connect() as connection:
        connection.execute(select(func.rag_answer("refund", "pages")))
except DBAPIError as error:
    message = f"{error.orig.sqlstate}: {error.orig.diag.message_primary} ({error.orig.diag.message_hint})"
# endregion
assert message == '42704: pipeline "pages" does not exist (Known pipelines: page.)', message
