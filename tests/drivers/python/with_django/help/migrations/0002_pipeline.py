"""Create the pipeline over the pages."""

# region migration
from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("help", "0001_initial")]
    operations = [
        migrations.RunSQL("CREATE EXTENSION IF NOT EXISTS pg_rag CASCADE", migrations.RunSQL.noop),
        migrations.RunSQL(
            "SELECT rag_create_pipeline('help_page', 'body', metadata => ARRAY['title', 'lang'])",
            "SELECT rag_drop_pipeline('help_page', if_exists => true)",
        ),
    ]


# endregion
