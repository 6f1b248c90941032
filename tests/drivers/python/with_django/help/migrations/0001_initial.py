"""Create the pages."""

import pgvector.django
from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True
    operations = [
        migrations.CreateModel(
            "Page",
            [
                (
                    "id",
                    models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID"),
                ),
                ("title", models.CharField(max_length=100)),
                ("body", models.TextField()),
                ("lang", models.CharField(max_length=2)),
            ],
        ),
        migrations.CreateModel(
            "PageChunk",
            [
                ("chunk_id", models.BigIntegerField(primary_key=True, serialize=False)),
                ("content", models.TextField()),
                ("lang", models.CharField(max_length=2)),
                ("embedding", pgvector.django.VectorField(dimensions=384)),
            ],
            options={"managed": False, "db_table": "help_page_rag"},
        ),
    ]
