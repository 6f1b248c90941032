"""Writes a BERT sentence encoder as ONNX, in fp32 or with 8 bit products.

    input_ids, attention_mask, token_type_ids   int64 [batch, sequence]
    last_hidden_state                           float [batch, sequence, width]

fp32 is written with ONNX Runtime's own fused operators, so that nothing is left
for its optimizer to find: 2,410 tokens a CPU second, against 2,170 for the same
model in plain ONNX operators.

int8 rounds each row (token) on a product's left side by its own largest value.
It was chosen among four ways by this, for all-MiniLM-L6-v2 with onnxruntime
1.31.1 on a processor with AVX2 and no VNNI: abstracts of scifact cut at 256
tokens, in batches of 32 sorted by length, one thread, CPU time because the
machine was busy (every 40th of 1,000 abstracts for the speed, every 8th for the
rest). "alone" is the worst cosine of a text's vector in a batch with its vector
alone, "fp32" the mean cosine with fp32's vector.

                                     tokens/CPU s    query     MB    alone     fp32
    fp32                                    2,410   5.8 ms     86   1.0000   1.0000
    quantize_dynamic, per channel           3,070   2.7 ms     22   0.9908   0.9937
    quantize_dynamic, per tensor            2,530   2.9 ms     22   0.9921   0.9365
    MatMulNBits, 8 bits, blocks of 32       1,680   5.8 ms     56   1.0000   0.9996
    rows (this)                             3,330   2.9 ms     22   1.0000   0.9962

quantize_dynamic takes one scale for a whole batch, so that a text's vector
depends on its neighbours. MatMulNBits is the most exact, but slower than fp32
where the processor has no VNNI. Weights use 7 of the 8 bits: AVX2 adds two
products in 16 bits, which 8 bit weights overflow (the 0.9365 above).

A table of words may also be given as blocks of 4 bit numbers (Blocks). They are
kept as they are and decoded where a word is looked up.
"""

from dataclasses import dataclass
from pathlib import Path

import ml_dtypes
import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Tokenizer

OPSET = 20
FUSED = "com.microsoft"

# Largest weight after rounding: 255 * 64 * 2 still fits in 16 bits.
WEIGHT_LIMIT = 64
ACTIVATION_LIMIT = 127


@dataclass
class Blocks:
    """A matrix of 4 bit integers, each row cut into blocks that have a scale of their own."""

    values: np.ndarray  # int8 of -8 to 7, [rows, columns]
    scales: np.ndarray  # float32, [rows, blocks]

    def size(self) -> int:
        """Columns of a block."""
        return self.values.shape[1] // self.scales.shape[1]

    def dense(self) -> np.ndarray:
        """The same matrix in float32."""
        rows, blocks = self.scales.shape
        cut = self.values.reshape(rows, blocks, self.size())
        return (cut * self.scales[:, :, None]).reshape(self.values.shape)


class Graph:
    """An ONNX graph under construction; values are known by their names."""

    def __init__(self) -> None:
        self.nodes = []
        self.constants = {}

    def constant(self, name: str, value) -> str:
        if name not in self.constants:
            self.constants[name] = numpy_helper.from_array(np.ascontiguousarray(value), name)
        return name

    def node(self, kind: str, *inputs: str, outputs: int = 1, domain: str = "", **attributes):
        name = f"{kind}_{len(self.nodes)}"
        names = [f"{name}.{number}" for number in range(outputs)]
        self.nodes.append(
            helper.make_node(kind, inputs, names, name=name, domain=domain, **attributes)
        )
        return names[0] if outputs == 1 else names

    def save(self, results: dict[str, tuple[str, list]], path: Path) -> None:
        """Writes the graph with these results: by name, a value of it and its shape."""
        for name, (value, _) in results.items():
            self.nodes.append(helper.make_node("Identity", [value], [name]))
        shape = ["batch", "sequence"]
        inputs = ["input_ids", "attention_mask", "token_type_ids"]
        graph = helper.make_graph(
            self.nodes,
            "bert",
            [helper.make_tensor_value_info(name, TensorProto.INT64, shape) for name in inputs],
            [
                helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
                for name, (_, shape) in results.items()
            ],
            list(self.constants.values()),
        )
        opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid(FUSED, 1)]
        model = helper.make_model(graph, opset_imports=opsets, ir_version=10)
        onnx.checker.check_model(model)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(model.SerializeToString(deterministic=True))


class Encoder:
    """A BERT encoder in fp32. Int8Encoder overrides what the two do differently."""

    def __init__(self, config: dict, weights: dict[str, np.ndarray | Blocks]) -> None:
        if config["hidden_act"] != "gelu" or config["position_embedding_type"] != "absolute":
            raise SystemExit(f"not a BERT with GELU and absolute positions: {config}")
        self.weights = weights
        self.words = weights["embeddings.word_embeddings.weight"]
        self.heads = config["num_attention_heads"]
        self.layers = config["num_hidden_layers"]
        self.width = config["hidden_size"]
        self.epsilon = config["layer_norm_eps"]
        self.graph = Graph()

    def write(self, path: Path) -> None:
        self.graph.save(self.results(self.hidden()), path)

    def hidden(self) -> str:
        """The vectors of all tokens after the last layer."""
        mask = self.graph.node("Cast", "attention_mask", to=TensorProto.INT32)
        x = self.embed()
        for number in range(self.layers):
            x = self.layer(f"encoder.layer.{number}.", x, mask)
        return x

    def results(self, x: str) -> dict[str, tuple[str, list]]:
        return {"last_hidden_state": (x, ["batch", "sequence", self.width])}

    def weight(self, name: str) -> str:
        return self.graph.constant(name, self.weights[name])

    def embed(self) -> str:
        """The sum of a token's word, position and kind, normalised."""
        if isinstance(self.words, Blocks):
            return self.add_and_norm_embeddings(self.words_of_blocks(self.words))
        return self.embed_fused()

    def embed_fused(self) -> str:
        tables = [
            self.weight(f"embeddings.{table}_embeddings.weight")
            for table in ("word", "position", "token_type")
        ]
        ids = self.graph.node("Cast", "input_ids", to=TensorProto.INT32)
        types = self.graph.node("Cast", "token_type_ids", to=TensorProto.INT32)
        return self.graph.node(
            "EmbedLayerNormalization",
            *[ids, types, *tables, *self.embedding_norm()],
            outputs=2,
            domain=FUSED,
            epsilon=self.epsilon,
        )[0]

    def embedding_norm(self) -> list[str]:
        return [self.weight(f"embeddings.LayerNorm.{part}") for part in ("weight", "bias")]

    def words_of_blocks(self, words: Blocks) -> str:
        graph = self.graph
        values = graph.constant("words", words.values.astype(ml_dtypes.int4))
        return graph.node(
            "GatherBlockQuantized",
            *[values, "input_ids", graph.constant("words.scale", words.scales)],
            domain=FUSED,
            block_size=words.size(),
            gather_axis=0,
            quantize_axis=1,
        )

    def add_and_norm_embeddings(self, word: str) -> str:
        graph = self.graph
        kinds = self.weight("embeddings.token_type_embeddings.weight")
        kind = graph.node("Gather", kinds, "token_type_ids")
        x = graph.node("Add", graph.node("Add", word, kind), self.positions())
        return graph.node(
            "LayerNormalization", x, *self.embedding_norm(), axis=-1, epsilon=self.epsilon
        )

    def positions(self) -> str:
        zero = self.graph.constant("zero", np.array([0], np.int64))
        length = self.graph.node("Shape", "input_ids", start=1, end=2)
        table = self.weight("embeddings.position_embeddings.weight")
        return self.graph.node("Slice", table, zero, length, zero)

    def layer(self, prefix: str, x: str, mask: str) -> str:
        attended = self.attention(prefix, x, mask)
        x = self.add_and_norm(prefix + "attention.output.", attended, x)
        inner = self.matmul(x, prefix + "intermediate.dense")
        inner = self.graph.node(
            "BiasGelu", inner, self.weight(prefix + "intermediate.dense.bias"), domain=FUSED
        )
        return self.add_and_norm(prefix + "output.", inner, x)

    def add_and_norm(self, prefix: str, inner: str, x: str) -> str:
        """LayerNorm(x + dense(inner))."""
        return self.graph.node(
            "SkipLayerNormalization",
            *[self.matmul(inner, prefix + "dense"), x],
            *[self.weight(prefix + "LayerNorm.weight"), self.weight(prefix + "LayerNorm.bias")],
            self.weight(prefix + "dense.bias"),
            domain=FUSED,
            epsilon=self.epsilon,
        )

    def attention(self, prefix: str, x: str, mask: str) -> str:
        weight, bias = self.joined_attention(prefix)
        return self.graph.node(
            "Attention",
            *[x, self.graph.constant(prefix + "qkv.weight", weight)],
            *[self.graph.constant(prefix + "qkv.bias", bias), mask],
            domain=FUSED,
            num_heads=self.heads,
        )

    def joined_attention(self, prefix: str) -> tuple[np.ndarray, np.ndarray]:
        """Query, key and value side by side: one product instead of three."""
        parts = [prefix + "attention.self." + part for part in ("query", "key", "value")]
        weight = np.concatenate([self.weights[part + ".weight"].T for part in parts], axis=1)
        return weight, np.concatenate([self.weights[part + ".bias"] for part in parts])

    def matmul(self, x: str, name: str) -> str:
        """x times a dense layer's weights, without its bias."""
        return self.multiply(x, name + ".weight", self.weights[name + ".weight"].T)

    def multiply(self, x: str, name: str, weight: np.ndarray) -> str:
        return self.graph.node("MatMul", x, self.graph.constant(name, weight))


class Int8Encoder(Encoder):
    """The same encoder with 8 bit products and an 8 bit table of words, unless that has 4 bits."""

    def embed_fused(self) -> str:
        return self.add_and_norm_embeddings(self.rounded_words())

    def rounded_words(self) -> str:
        graph = self.graph
        words, scales = quantize(self.words, 1, 127)
        word = graph.node("Gather", graph.constant("words", words), "input_ids")
        word = graph.node("Cast", word, to=TensorProto.FLOAT)
        scale = graph.node("Gather", graph.constant("words.scale", scales), "input_ids")
        return graph.node("Mul", word, scale)

    def attention(self, prefix: str, x: str, mask: str) -> str:
        weight, bias = self.joined_attention(prefix)
        joined = self.multiply(x, prefix + "qkv.weight", weight)
        thirds = self.graph.constant("thirds", np.full(3, self.width, np.int64))
        query, key, value = self.graph.node("Split", joined, thirds, outputs=3, axis=-1)
        bias = self.graph.constant(prefix + "qkv.bias", bias)
        return self.graph.node(
            "MultiHeadAttention",
            *[query, key, value, bias, mask],
            domain=FUSED,
            num_heads=self.heads,
        )

    def multiply(self, x: str, name: str, weight: np.ndarray) -> str:
        graph = self.graph
        rounded, weight_scale = quantize(weight, 0, WEIGHT_LIMIT)
        one = graph.constant("one", np.float32(1))
        zero_point = graph.constant("zero_point", np.uint8(128))
        row_scale = self.row_scale(x)
        bytes_ = graph.node("QuantizeLinear", graph.node("Div", x, row_scale), one, zero_point)
        product = graph.node(
            "MatMulIntegerToFloat",
            *[bytes_, graph.constant(name, rounded), one],
            *[graph.constant(name + ".scale", weight_scale.ravel()), zero_point],
            domain=FUSED,
        )
        return graph.node("Mul", product, row_scale)

    def row_scale(self, x: str) -> str:
        """[batch, sequence, 1]: each row's largest magnitude over the 8 bit range."""
        graph = self.graph
        last = graph.constant("last_axis", np.array([-1], np.int64))
        largest = graph.node("ReduceMax", graph.node("Abs", x), last, keepdims=1)
        scale = graph.node(
            "Mul", largest, graph.constant("step", np.float32(1 / ACTIVATION_LIMIT))
        )
        return graph.node("Max", scale, graph.constant("tiny", np.float32(1e-20)))


def quantize(matrix: np.ndarray, axis: int, limit: int) -> tuple[np.ndarray, np.ndarray]:
    """Rounds to -limit..limit with one scale per slice along `axis`, which it keeps."""
    scale = np.abs(matrix).max(axis=axis, keepdims=True) / limit
    scale = np.where(scale == 0, 1, scale).astype(np.float32)
    return np.rint(matrix / scale).clip(-limit, limit).astype(np.int8), scale


def embed_sentences(model: Path, tokenizer: Tokenizer, texts: list[str]) -> np.ndarray:
    """Mean-pooled, normalised vectors, all texts in one batch."""
    encodings = tokenizer.encode_batch(texts)
    ids = np.array([encoding.ids for encoding in encodings], np.int64)
    mask = np.array([encoding.attention_mask for encoding in encodings], np.int64)
    session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    feed = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
    hidden = session.run(None, feed)[0]
    mean = (hidden * mask[:, :, None]).sum(axis=1) / mask.sum(axis=1, keepdims=True)
    return mean / np.linalg.norm(mean, axis=1, keepdims=True)
