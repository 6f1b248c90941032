"""Writes the reader of a BERT encoder as ONNX: what says of each token of a passage whether it answers a question.

    input_ids, attention_mask, token_type_ids   int64 [batch, sequence], a question and a passage
    token_logits                                float [batch, sequence, 4]

The logits of a token are those of scripts/reader/train.py: that the answer begins
there, that it ends there, that its sentence answers, and, of the first token, that
the passage is about the question. The reader is the encoder with what training has
added: to each matrix the product of two narrow ones, which a file of that script
holds, and the heads. So that file is small, and the reader has the encoder's words.
"""

from pathlib import Path

import numpy as np
import onnxruntime
from bert_onnx import Blocks, Encoder, Int8Encoder
from tokenizers import Tokenizer

LOGITS = 4

# Parts of a layer by their names in the file.
PARTS = {
    "attention_self_query": "attention.self.query",
    "attention_self_key": "attention.self.key",
    "attention_self_value": "attention.self.value",
    "attention_output_dense": "attention.output.dense",
    "intermediate_dense": "intermediate.dense",
    "output_dense": "output.dense",
}

PAIRS = [
    ("When was the bridge opened?", "The bridge crosses the Elbe. It was opened in 1893."),
    ("Wie lang ist die Brücke?", "Die Brücke führt über die Elbe. Sie ist 280 m lang."),
    ("这座桥有多长？", "这座桥横跨易北河。它于1893年开放，长280米。"),
    ("Who built the tower?", "The bridge crosses the Elbe. It was opened in 1893."),
]


class Heads:
    """What an encoder's graph ends with."""

    def results(self, x: str) -> dict[str, tuple[str, list]]:
        weight = self.graph.constant("heads.weight", self.weights["heads.weight"].T)
        bias = self.graph.constant("heads.bias", self.weights["heads.bias"])
        logits = self.graph.node("Add", self.graph.node("MatMul", x, weight), bias)
        return {"token_logits": (logits, ["batch", "sequence", LOGITS])}


class Reader(Heads, Encoder):
    """A reader with fp32 products."""


class Int8Reader(Heads, Int8Encoder):
    """A reader with 8 bit products but for those of the heads."""


def with_added(weights: dict[str, np.ndarray | Blocks], added: Path) -> tuple[int, dict]:
    """How many layers a reader has, and its weights."""
    file = np.load(added)
    weights = dict(weights)
    for short, part in PARTS.items():
        narrow = file[short + "_a"].astype(np.float32)
        wide = file[short + "_b"].astype(np.float32)
        for layer in range(len(narrow)):
            name = f"encoder.layer.{layer}.{part}.weight"
            weights[name] = weights[name] + product(wide[layer], narrow[layer])
    weights["heads.weight"] = file["heads_weight"].astype(np.float32)
    weights["heads.bias"] = file["heads_bias"].astype(np.float32)
    return int(file["layers"]), weights


def product(wide: np.ndarray, narrow: np.ndarray) -> np.ndarray:
    """wide @ narrow, added up in the same order on all machines: a reader has the same bytes on each."""
    outer = (column[:, None] * row for column, row in zip(wide.T, narrow))
    return sum(outer, np.zeros((len(wide), narrow.shape[1]), np.float32))


def read_pairs(model: Path, tokenizer: Tokenizer) -> np.ndarray:
    """The logits of all tokens of PAIRS, one after the other: [tokens, 4]."""
    encodings = tokenizer.encode_batch(PAIRS)
    ids = np.array([it.ids for it in encodings], np.int64)
    mask = np.array([it.attention_mask for it in encodings], np.int64)
    session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    feed = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
    return session.run(None, feed)[0][mask > 0]
