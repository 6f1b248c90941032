"""Makes a tiny cross-encoder in Hugging Face layout, and scores pairs with plain ONNX Runtime.

    cross_encoder.py MODEL TARGET LABELS

MODEL is a folder with a tokenizer.json of BERT's kind; TARGET gets the cross-encoder, which
gives LABELS numbers a pair. Standard input is a JSON list of pairs of texts; standard output is
the list of their logits, each pair computed alone.

The weights are random numbers of a fixed seed. The score depends on the words, on which of the
two texts they are in, and on their places, so that a mistake in any of the three inputs shows.
"""

import json
import shutil
import sys
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Tokenizer

WIDTH = 8
MAX_TOKENS = 64


def graph(words: int, labels: int) -> onnx.ModelProto:
    random = np.random.default_rng(7)
    weights = {
        "words": random.normal(size=(words, WIDTH)),
        "types": random.normal(size=(2, WIDTH)),
        "positions": random.normal(size=(MAX_TOKENS, WIDTH)) * 0.3,
        "head": random.normal(size=(WIDTH, labels)) * 2,
    }
    constants = [numpy_helper.from_array(v.astype(np.float32), k) for k, v in weights.items()]
    constants += [
        numpy_helper.from_array(np.array([value], np.int64), name)
        for name, value in (("zero", 0), ("one", 1), ("two", 2))
    ]
    steps = [
        ("Gather", ["words", "input_ids"], "word"),
        ("Gather", ["types", "token_type_ids"], "type"),
        ("Shape", ["input_ids"], "shape"),
        ("Slice", ["shape", "one", "two"], "length"),
        ("Slice", ["positions", "zero", "length", "zero"], "position"),
        ("Mul", ["word", "type"], "typed"),
        ("Add", ["typed", "position"], "sum"),
        ("Tanh", ["sum"], "hidden"),
        ("Cast", ["attention_mask"], "mask"),
        ("Unsqueeze", ["mask", "two"], "column"),
        ("Mul", ["hidden", "column"], "masked"),
        ("ReduceSum", ["masked", "one"], "total"),
        ("ReduceSum", ["mask", "one"], "count"),
        ("Div", ["total", "count"], "mean"),
        ("MatMul", ["mean", "head"], "logits"),
    ]
    attributes = {"Cast": {"to": TensorProto.FLOAT}}
    nodes = [
        helper.make_node(
            kind,
            inputs,
            [output],
            **attributes.get(kind, {}),
            **({"keepdims": 0} if output == "total" else {}),
        )
        for kind, inputs, output in steps
    ]
    inputs = ["input_ids", "attention_mask", "token_type_ids"]
    shape = ["batch", "sequence"]
    body = helper.make_graph(
        nodes,
        "cross-encoder",
        [helper.make_tensor_value_info(name, TensorProto.INT64, shape) for name in inputs],
        [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["batch", labels])],
        constants,
    )
    model = helper.make_model(body, opset_imports=[helper.make_opsetid("", 20)], ir_version=10)
    onnx.checker.check_model(model)
    return model


def main() -> None:
    source, target, labels = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])
    pairs = json.load(sys.stdin)
    tokenizer = Tokenizer.from_file(str(source / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.enable_truncation(MAX_TOKENS, strategy="longest_first")
    target.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source / "tokenizer.json", target / "tokenizer.json")
    config = {
        "architectures": ["BertForSequenceClassification"],
        "hidden_size": WIDTH,
        "max_position_embeddings": MAX_TOKENS,
        "id2label": {str(label): f"LABEL_{label}" for label in range(labels)},
    }
    (target / "config.json").write_text(json.dumps(config))
    onnx.save(graph(tokenizer.get_vocab_size(), labels), str(target / "model.onnx"))
    session = onnxruntime.InferenceSession(str(target / "model.onnx"))
    print(json.dumps([score(session, tokenizer.encode(*pair)) for pair in pairs]))


def score(session: onnxruntime.InferenceSession, encoding) -> list[float]:
    feed = {
        "input_ids": np.array([encoding.ids], np.int64),
        "attention_mask": np.array([encoding.attention_mask], np.int64),
        "token_type_ids": np.array([encoding.type_ids], np.int64),
    }
    return session.run(None, feed)[0][0].tolist()


if __name__ == "__main__":
    main()
