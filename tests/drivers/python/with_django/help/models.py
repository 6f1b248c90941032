"""Pages of help, and their chunks."""

# region models
from django.db import models
from pgvector.django import VectorField


class Page(models.Model):
    title = models.CharField(max_length=100)
    body = models.TextField()
    lang = models.CharField(max_length=2)


class PageChunk(models.Model):
    """The view that the pipeline makes. Django reads it, and leaves its definition to pg_rag."""

    chunk_id = models.BigIntegerField(primary_key=True)
    page = models.ForeignKey(Page, models.DO_NOTHING, db_column="source_id", related_name="chunks")
    content = models.TextField()
    lang = models.CharField(max_length=2)
    embedding = VectorField(dimensions=384)

    class Meta:
        managed = False
        db_table = "help_page_rag"


# endregion
