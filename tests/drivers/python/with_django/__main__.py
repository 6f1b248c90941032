"""pg_rag from Django: a project in one file."""

import os
import sys
from pathlib import Path

import django
from django.conf import settings
from django.core.management import call_command

sys.path.insert(0, str(Path(__file__).parent))
settings.configure(
    DATABASES={
        "default": {
            "ENGINE": "django.db.backends.postgresql",
            "NAME": os.environ["PGDATABASE"],
            "USER": os.environ["PGUSER"],
            "HOST": os.environ["PGHOST"],
        }
    },
    INSTALLED_APPS=["help"],
    DEFAULT_AUTO_FIELD="django.db.models.BigAutoField",
)
django.setup()

from django.db import DatabaseError, connection, migrations, models  # noqa: E402
from django.db.migrations.executor import MigrationExecutor  # noqa: E402
from django.db.migrations.state import ProjectState  # noqa: E402
from help.models import Page, PageChunk  # noqa: E402

call_command("migrate", verbosity=0)
call_command("makemigrations", check=True, dry_run=True, verbosity=0)

# region insert
Page.objects.bulk_create(
    [
        Page(title="Passwords", body='To reset a password, choose "Forgot password".', lang="en"),
        Page(title="Invoices", body="A refund takes five working days.", lang="en"),
        Page(title="Passwörter", body='Wählen Sie "Passwort vergessen".', lang="de"),
    ]
)
with connection.cursor() as cursor:
    cursor.execute("SELECT rag_wait('help_page')")
# endregion

# region view
from django.db.models import Func, Value  # noqa: E402
from pgvector.django import CosineDistance  # noqa: E402

question = Func(Value("lost password"), function="rag_embed", output_field=PageChunk._meta.get_field("embedding"))
chunks = PageChunk.objects.filter(lang="en").select_related("page").order_by(CosineDistance("embedding", question))[:5]
titles = [chunk.page.title for chunk in chunks]
# endregion
assert titles == ["Passwords", "Invoices"], titles

# region retrieve
import json  # noqa: E402

pages = Page.objects.raw(
    """
    SELECT help_page.*, found.rank, found.content
    FROM rag_retrieve(%s, 'help_page', k => %s, filter => %s) AS found
    JOIN help_page ON help_page.id = found.source_key::bigint
    ORDER BY found.rank
    """,
    ["forgotten password", 2, json.dumps({"lang": "en"})],
)
best = pages[0]
# endregion
assert best.title == "Passwords" and best.rank == 1


# region answer
def ask(question, **filters):
    """Return text, whether the documents hold it, and citations."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT answer, supported, citations FROM rag_answer_details(%s, 'help_page', filter => %s)",
            [question, json.dumps(filters)],
        )
        answer, supported, citations = cursor.fetchone()
        return answer, supported, json.loads(citations)


answer, supported, citations = ask("How long does a refund take?", lang="en")
# endregion
assert supported and answer == "A refund takes five working days. [1]"
assert citations[0]["quote"] == "A refund takes five working days."

# region embed
with connection.cursor() as cursor:
    cursor.execute("SELECT e::real[] FROM unnest(rag_embed_batch(%s)) AS e", [["happy", "sad"]])
    vectors = [row[0] for row in cursor]
# endregion
assert len(vectors) == 2 and isinstance(vectors[0][0], float)

# region stream
from django.db import transaction  # noqa: E402


def stream(question):
    """Yield the answer in pieces, for a StreamingHttpResponse."""
    with transaction.atomic(), connection.connection.cursor("answer") as cursor:
        cursor.itersize = 1
        cursor.execute("SELECT rag_answer_stream(%s, 'help_page')", [question])
        for (piece,) in cursor:
            yield piece


# endregion
pieces = list(stream("How long does a refund take?"))
assert pieces[0] == answer and json.loads(pieces[-1])["supported"]

# region errors
from django.db import ProgrammingError  # noqa: E402

try:
    ask("refund", language="en")
except ProgrammingError as error:
    cause = error.__cause__
    message = f"{cause.sqlstate}: {cause.diag.message_primary} ({cause.diag.message_hint})"
# endregion
assert message.startswith('42704: filter names an unknown column "language" (Columns'), message


def migrate(*operations):
    """Apply operations as `migrate` does, and return the state of the project after them."""
    state: ProjectState = MigrationExecutor(connection).loader.project_state()
    with connection.schema_editor() as editor:
        for operation in operations:
            before = state.clone()
            operation.state_forwards("help", state)
            operation.database_forwards("help", editor, before, state)


def pipelines():
    with connection.cursor() as cursor:
        cursor.execute("SELECT name FROM rag.pipeline")
        return [row[0] for row in cursor]


# Migrations of columns that the pipeline uses, and of others, leave it and its chunks there.
migrate(migrations.AddField("page", "clicks", models.IntegerField(default=0)))
migrate(migrations.AlterField("page", "title", models.CharField(max_length=300)))
migrate(migrations.RenameField("page", "title", "heading"))
migrate(migrations.RemoveField("page", "lang"))
with connection.cursor() as cursor:
    cursor.execute("SELECT rag_wait('help_page')")
    cursor.execute("SELECT source_key FROM rag_retrieve('refund', 'help_page', k => 1)")
    assert cursor.fetchone() == ("2",)
assert pipelines() == ["help_page"]

# A column of the content stays, and the error says why.
try:
    migrate(migrations.RemoveField("page", "body"))
    raise AssertionError("the content of the pipeline was removed")
except DatabaseError as error:
    assert "help_page" in str(error), error
    assert error.__cause__.diag.message_hint, error

# region tests
# In a TestCase rows are never committed, so nothing embeds them: there the pipeline embeds within the statement.
with transaction.atomic(), connection.cursor() as cursor:
    cursor.execute("SELECT rag_alter_pipeline('help_page', refresh => 'sync')")
    cursor.execute("INSERT INTO help_page (heading, body, clicks) VALUES ('Museum', 'The museum opens at ten.', 0)")
    cursor.execute("SELECT rag_answer('When does the museum open?', 'help_page')")
    assert cursor.fetchone() == ("The museum opens at ten. [1]",)
    transaction.set_rollback(True)
# endregion

call_command("migrate", "help", "0001", verbosity=0)
assert pipelines() == []
