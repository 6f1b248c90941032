"""Makes a tiny token classifier in Hugging Face layout.

    token_classifier.py MODEL TARGET

MODEL is a folder with a tokenizer.json; TARGET gets the token classifier. Standard input is a JSON object: "labels" are
the names of the labels in the order of their numbers, the first for all words that nothing is said of, and "words" are
labels by word.

The label of a token depends on the token alone, and a word's label is that of its first piece: its other pieces have the
first label, so that it shows where they count.
"""

import json
import shutil
import sys
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Tokenizer

MAX_TOKENS = 64


def graph(table: np.ndarray) -> onnx.ModelProto:
    constants = [
        numpy_helper.from_array(table, "table"),
        numpy_helper.from_array(np.array([2], np.int64), "two"),
    ]
    nodes = [
        helper.make_node("Gather", ["table", "input_ids"], ["scores"]),
        helper.make_node("Cast", ["attention_mask"], ["mask"], to=TensorProto.FLOAT),
        helper.make_node("Unsqueeze", ["mask", "two"], ["column"]),
        helper.make_node("Mul", ["scores", "column"], ["logits"]),
    ]
    shape = ["batch", "sequence"]
    inputs = ["input_ids", "attention_mask"]
    body = helper.make_graph(
        nodes,
        "token-classifier",
        [helper.make_tensor_value_info(name, TensorProto.INT64, shape) for name in inputs],
        [helper.make_tensor_value_info("logits", TensorProto.FLOAT, [*shape, table.shape[1]])],
        constants,
    )
    model = helper.make_model(body, opset_imports=[helper.make_opsetid("", 20)], ir_version=10)
    onnx.checker.check_model(model)
    return model


def main() -> None:
    source, target = Path(sys.argv[1]), Path(sys.argv[2])
    wanted = json.load(sys.stdin)
    labels = wanted["labels"]
    tokenizer = Tokenizer.from_file(str(source / "tokenizer.json"))
    table = np.zeros((tokenizer.get_vocab_size(), len(labels)), np.float32)
    table[:, 0] = 1
    for word, label in wanted["words"].items():
        first = tokenizer.encode(word, add_special_tokens=False).ids[0]
        table[first, labels.index(label)] = 2
    target.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source / "tokenizer.json", target / "tokenizer.json")
    config = {
        "architectures": ["BertForTokenClassification"],
        "hidden_size": 8,
        "max_position_embeddings": MAX_TOKENS,
        "id2label": {str(number): label for number, label in enumerate(labels)},
    }
    (target / "config.json").write_text(json.dumps(config))
    onnx.save(graph(table), str(target / "model.onnx"))


if __name__ == "__main__":
    main()
