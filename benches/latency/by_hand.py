"""Hybrid retrieval as one writes it by hand: onnxruntime, pgvector, tsvector, fusion in the client.

    by_hand.py SOCKET_FOLDER MODEL_FOLDER ONNX_FILE

Reads a question a line, as JSON: {"question": text, "words": "or" or "and"}. Writes a line for each,
milliseconds and the chunks found: {"embed": 3.1, "total": 9.9, "ids": [4, 8]}.

The table is by_hand (id, content, embedding, tsv) with an index hnsw and an index GIN. Each side puts
100 chunks forward, which reciprocal rank fusion with k = 60 makes one list of; the first 10 are read.
"""

import json
import sys
import time

import numpy
import onnxruntime
import psycopg
import tokenizers
from pgvector.psycopg import register_vector

CANDIDATES, RRF, K = 100, 60, 10

DENSE = "SELECT id FROM by_hand ORDER BY embedding <=> %s LIMIT %s"

LEXICAL = """SELECT id FROM by_hand, {words} AS query
             WHERE tsv @@ query ORDER BY ts_rank(tsv, query, 1) DESC LIMIT %s"""
WORDS = {
    "and": "plainto_tsquery('english', %s)",
    "or": "CAST(replace(CAST(plainto_tsquery('english', %s) AS text), '&', '|') AS tsquery)",
}

CHUNKS = "SELECT id, content FROM by_hand WHERE id = ANY(%s)"


class Model:
    """The model whose vectors the table has: the mean of a text's tokens, of length 1."""

    def __init__(self, folder, file):
        self.tokenizer = tokenizers.Tokenizer.from_file(f"{folder}/tokenizer.json")
        self.tokenizer.no_padding()
        self.tokenizer.enable_truncation(256)
        self.session = onnxruntime.InferenceSession(f"{folder}/{file}")

    def embed(self, text):
        tokens = self.tokenizer.encode(text).ids
        ids = numpy.array([tokens], dtype=numpy.int64)
        inputs = {
            "input_ids": ids,
            "attention_mask": numpy.ones_like(ids),
            "token_type_ids": numpy.zeros_like(ids),
        }
        mean = self.session.run(None, inputs)[0][0].mean(axis=0)
        return mean / numpy.linalg.norm(mean)


def fused(*lists):
    scores = {}
    for found in lists:
        for place, (chunk,) in enumerate(found, 1):
            scores[chunk] = scores.get(chunk, 0.0) + 1.0 / (RRF + place)
    return sorted(scores, key=lambda chunk: -scores[chunk])[:K]


def retrieve(connection, vector, question, words):
    dense = connection.execute(DENSE, (vector, CANDIDATES)).fetchall()
    lexical = connection.execute(LEXICAL.format(words=WORDS[words]), (question, CANDIDATES))
    ids = fused(dense, lexical.fetchall())
    texts = dict(connection.execute(CHUNKS, (ids,)).fetchall())
    return [(chunk, texts[chunk]) for chunk in ids]


def main(socket, folder, file):
    model = Model(folder, file)
    connection = psycopg.connect(f"host={socket} user=postgres dbname=postgres", autocommit=True)
    register_vector(connection)
    # As many as are asked for, or the walk would end before.
    connection.execute(f"SET hnsw.ef_search = {CANDIDATES}")
    for line in sys.stdin:
        asked = json.loads(line)
        started = time.perf_counter()
        vector = model.embed(asked["question"])
        embedded = time.perf_counter()
        found = retrieve(connection, vector, asked["question"], asked["words"])
        done = time.perf_counter()
        times = {"embed": 1000 * (embedded - started), "total": 1000 * (done - started)}
        print(json.dumps({**times, "ids": [chunk for chunk, _ in found]}), flush=True)


main(*sys.argv[1:])
