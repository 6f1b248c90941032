"""Makes a tiny embedding model in Hugging Face layout, which computes without end for one word.

    endless_model.py TARGET

TARGET gets the model. It takes any word for the same, but for "endless": a batch with this word in
one of its texts goes through a loop for centuries.
"""

import json
import sys
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

WIDTH = 8
WORDS = {"[UNK]": 0, "endless": 1}


def body() -> onnx.GraphProto:
    """What the loop does each time."""
    shape = ["batch", "sequence", WIDTH]
    nodes = [
        helper.make_node("Identity", ["go_on"], ["goes_on"]),
        helper.make_node("Tanh", ["before"], ["after"]),
    ]
    inputs = [
        helper.make_tensor_value_info("turn", TensorProto.INT64, []),
        helper.make_tensor_value_info("go_on", TensorProto.BOOL, []),
        helper.make_tensor_value_info("before", TensorProto.FLOAT, shape),
    ]
    outputs = [
        helper.make_tensor_value_info("goes_on", TensorProto.BOOL, []),
        helper.make_tensor_value_info("after", TensorProto.FLOAT, shape),
    ]
    return helper.make_graph(nodes, "body", inputs, outputs)


def model() -> onnx.ModelProto:
    constants = [
        numpy_helper.from_array(np.array([2], np.int64), "last"),
        numpy_helper.from_array(np.array(1 << 62, np.int64), "centuries"),
        numpy_helper.from_array(np.array(True), "yes"),
        numpy_helper.from_array(np.ones(WIDTH, np.float32), "ones"),
    ]
    nodes = [
        helper.make_node("ReduceMax", ["input_ids"], ["greatest"], keepdims=0),
        helper.make_node("Mul", ["greatest", "centuries"], ["turns"]),
        helper.make_node("Cast", ["attention_mask"], ["mask"], to=TensorProto.FLOAT),
        helper.make_node("Unsqueeze", ["mask", "last"], ["column"]),
        helper.make_node("Mul", ["column", "ones"], ["start"]),
        helper.make_node("Loop", ["turns", "yes", "start"], ["last_hidden_state"], body=body()),
    ]
    names = ["input_ids", "attention_mask"]
    shape = ["batch", "sequence"]
    graph = helper.make_graph(
        nodes,
        "endless",
        [helper.make_tensor_value_info(name, TensorProto.INT64, shape) for name in names],
        [helper.make_tensor_value_info("last_hidden_state", TensorProto.FLOAT, [*shape, WIDTH])],
        constants,
    )
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=10)
    onnx.checker.check_model(made)
    return made


def main() -> None:
    target = Path(sys.argv[1])
    target.mkdir(parents=True, exist_ok=True)
    onnx.save(model(), str(target / "model.onnx"))
    config = {"hidden_size": WIDTH, "max_position_embeddings": 64}
    (target / "config.json").write_text(json.dumps(config))
    tokenizer = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [],
        "normalizer": None,
        "pre_tokenizer": {"type": "Whitespace"},
        "post_processor": None,
        "decoder": None,
        "model": {"type": "WordLevel", "vocab": WORDS, "unk_token": "[UNK]"},
    }
    (target / "tokenizer.json").write_text(json.dumps(tokenizer))


if __name__ == "__main__":
    main()
