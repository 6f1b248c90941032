"""Makes tiny models of the families that users bring, in Hugging Face layout.

    tiny_families.py TARGET

TARGET gets a folder for each family: bge and gte (BERT, the vector of the first token), mpnet, roberta (a
cross-encoder) and deberta (natural language inference). Standard input is a JSON object of texts by family, each as the
list of its tokens, special tokens included; standard output is, by family, what the model gives for each text alone,
computed here without ONNX: the vectors of its tokens, or one row of logits.

Inputs and outputs, special tokens, the number of the padding token and the way positions are counted are those of the
family. The weights are random numbers of a fixed seed; what a token gives depends on all tokens of its text and on
their places. Where a family counts positions from its tokens, so does the graph tell padding by the token: a text that
is filled up with another one gives something else.
"""

import json
import sys
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

WIDTH = 8
MAX_TOKENS = 64
WORDS = ["what", "is", "ink", "paper", "black", "dark", "white", "and", "thin", "?", ".", ":"]
PREFIX = ["represent", "this", "sentence", "for", "searching", "relevant", "passages"]
PROMPT = "Represent this sentence for searching relevant passages: "


@dataclass
class Family:
    """What tells the models of a family from others."""

    config: dict
    tokenizer: Tokenizer
    inputs: list[str] = field(default_factory=lambda: ["input_ids", "attention_mask"])
    labels: int = 0
    """Numbers that it gives a text; none if it gives a vector a token."""
    counted_from: int | None = None
    """The padding token, where positions are counted from the number after it."""
    files: dict = field(default_factory=dict)
    """Files by name, beside config.json and tokenizer.json."""


def word_pieces(specials: list[str], first: str, last: str, pair: str) -> Tokenizer:
    """BERT's tokenizer, with these special tokens in the order of their numbers, two of which stand around a text."""
    vocabulary = {token: number for number, token in enumerate([*specials, *WORDS, *PREFIX])}
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]", max_input_chars_per_word=100))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{first} $A {last}",
        pair=pair,
        special_tokens=[(token, vocabulary[token]) for token in (first, last)],
    )
    tokenizer.add_special_tokens(specials)
    return tokenizer


def byte_pairs() -> Tokenizer:
    """RoBERTa's tokenizer: bytes, and merges that make whole words of them."""
    specials = ["<s>", "<pad>", "</s>", "<unk>"]
    words = [*(f"Ġ{word}" for word in WORDS), "What", "Ink", "Paper"]
    pieces, merges = [], []
    for word in words:
        for end in range(2, len(word) + 1):
            merge = (word[: end - 1], word[end - 1])
            if merge not in merges:
                merges.append(merge)
                pieces.append(word[:end])
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    vocabulary = {token: number for number, token in enumerate([*specials, *alphabet, *pieces])}
    tokenizer = Tokenizer(models.BPE(vocabulary, merges))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.post_processor = processors.RobertaProcessing(
        ("</s>", 2), ("<s>", 0), trim_offsets=True, add_prefix_space=False
    )
    tokenizer.add_special_tokens(specials)
    return tokenizer


def unigrams() -> Tokenizer:
    """DeBERTa's tokenizer: pieces with a mark for the space before them."""
    specials = ["[PAD]", "[CLS]", "[SEP]", "[UNK]"]
    pieces = [*(f"▁{word}" for word in [*WORDS, "Ink", "Paper"]), "▁", ".", "?"]
    vocabulary = [(token, 0.0) for token in specials] + [(piece, -3.0) for piece in pieces]
    tokenizer = Tokenizer(models.Unigram(vocabulary, unk_id=3, byte_fallback=False))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(replacement="▁", prepend_scheme="always")
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", 1), ("[SEP]", 2)],
    )
    tokenizer.add_special_tokens(specials)
    return tokenizer


def sentence_files(pooling: str, normalize: bool, prompts: dict) -> dict:
    """The files of sentence-transformers."""
    kinds = ["Transformer", "Pooling", *(["Normalize"] if normalize else [])]
    folders = ["", "1_Pooling", "2_Normalize"]
    modules = [
        {"idx": at, "name": str(at), "path": folders[at], "type": f"sentence_transformers.models.{kind}"}
        for at, kind in enumerate(kinds)
    ]
    modes = ["cls_token", "mean_tokens", "max_tokens", "mean_sqrt_len_tokens"]
    return {
        "modules.json": modules,
        "1_Pooling/config.json": {
            "word_embedding_dimension": WIDTH,
            **{f"pooling_mode_{mode}": mode == pooling for mode in modes},
        },
        "sentence_bert_config.json": {"max_seq_length": 512, "do_lower_case": False},
        "tokenizer_config.json": {"model_max_length": 512},
        "config_sentence_transformers.json": {"prompts": prompts, "default_prompt_name": None},
    }


def config(architecture: str, model_type: str, pad: int, positions: int, **others) -> dict:
    return {
        "architectures": [architecture],
        "model_type": model_type,
        "hidden_size": WIDTH,
        "pad_token_id": pad,
        "max_position_embeddings": positions,
        **others,
    }


def families() -> dict[str, Family]:
    bert = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"], "[CLS]", "[SEP]", "[CLS] $A [SEP] $B:1 [SEP]:1"
    mpnet = ["<s>", "<pad>", "</s>", "[UNK]"], "<s>", "</s>", "<s> $A </s> </s> $B:1 </s>:1"
    # Two positions more than the longest text: they are counted from the padding token's number plus one.
    counted = MAX_TOKENS + 2
    return {
        "bge": Family(
            config=config("BertModel", "bert", 0, MAX_TOKENS),
            tokenizer=word_pieces(*bert),
            inputs=["input_ids", "attention_mask", "token_type_ids"],
            files=sentence_files("cls_token", True, {"query": PROMPT}),
        ),
        "gte": Family(
            config=config("NewModel", "new", 0, MAX_TOKENS),
            tokenizer=word_pieces(*bert),
            files=sentence_files("cls_token", False, {}),
        ),
        "mpnet": Family(
            config=config("MPNetModel", "mpnet", 1, counted),
            tokenizer=word_pieces(*mpnet),
            counted_from=1,
            files=sentence_files("mean_tokens", True, {}),
        ),
        "roberta": Family(
            config=config(
                "RobertaForSequenceClassification", "roberta", 1, counted, id2label={"0": "LABEL_0"}
            ),
            tokenizer=byte_pairs(),
            labels=1,
            counted_from=1,
        ),
        "deberta": Family(
            config=config(
                "DebertaV2ForSequenceClassification",
                "deberta-v2",
                0,
                MAX_TOKENS,
                type_vocab_size=0,
                position_biased_input=False,
                id2label={"0": "entailment", "1": "neutral", "2": "contradiction"},
            ),
            tokenizer=unigrams(),
            labels=3,
        ),
    }


def weights(family: Family) -> dict[str, np.ndarray]:
    random = np.random.default_rng(5)
    shapes = {"words": (family.tokenizer.get_vocab_size(), WIDTH)}
    shapes["positions"] = (family.config["max_position_embeddings"], WIDTH)
    shapes["types"] = (2, WIDTH)
    shapes["head"] = (WIDTH, max(family.labels, 1))
    return {name: random.normal(size=shape).astype(np.float32) for name, shape in shapes.items()}


def graph(family: Family, numbers: dict[str, np.ndarray]) -> onnx.ModelProto:
    constants = {**numbers, "minus": np.array([-1], np.int64), "one": np.array([1], np.int64)}
    constants |= {"zero": np.array([0], np.int64), "two": np.array([2], np.int64)}
    constants |= {"first": np.array(0, np.int64), "axis": np.array(1, np.int64)}
    constants["pad"] = np.array(family.config["pad_token_id"], np.int64)
    nodes = []

    def node(kind: str, inputs: list[str], output: str, **attributes) -> str:
        nodes.append(helper.make_node(kind, inputs, [output], **attributes))
        return output

    node("Gather", ["words", "input_ids"], "word")
    if family.counted_from is None:
        node("Cast", ["attention_mask"], "mask", to=TensorProto.FLOAT)
        node("Shape", ["input_ids"], "shape")
        node("Slice", ["shape", "one", "two"], "length")
        node("Slice", ["positions", "zero", "length", "zero"], "position")
    else:
        node("Equal", ["input_ids", "pad"], "is_padding")
        node("Not", ["is_padding"], "is_text")
        node("Cast", ["is_text"], "mask", to=TensorProto.FLOAT)
        node("Cast", ["is_text"], "counts", to=TensorProto.INT64)
        node("CumSum", ["counts", "axis"], "place")
        node("Mul", ["place", "counts"], "text_place")
        node("Add", ["text_place", "pad"], "number")
        node("Gather", ["positions", "number"], "position")
    node("Add", ["word", "position"], "placed")
    if "token_type_ids" in family.inputs:
        node("Gather", ["types", "token_type_ids"], "type")
        node("Add", ["placed", "type"], "sum")
    else:
        node("Identity", ["placed"], "sum")
    node("Tanh", ["sum"], "own")
    node("Unsqueeze", ["mask", "minus"], "column")
    node("Mul", ["own", "column"], "masked")
    node("ReduceSum", ["masked", "one"], "total", keepdims=1)
    node("ReduceSum", ["column", "one"], "count", keepdims=1)
    node("Div", ["total", "count"], "mean")
    node("Add", ["own", "mean"], "last_hidden_state")
    shape = ["batch", "sequence"]
    outputs = [("last_hidden_state", [*shape, WIDTH])]
    if family.labels:
        node("Gather", ["last_hidden_state", "first"], "of_first", axis=1)
        node("MatMul", ["of_first", "head"], "logits")
        outputs = [("logits", ["batch", family.labels])]
    used = {name for one in nodes for name in one.input}
    body = helper.make_graph(
        nodes,
        "tiny",
        [helper.make_tensor_value_info(name, TensorProto.INT64, shape) for name in family.inputs],
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, sides) for name, sides in outputs],
        [numpy_helper.from_array(value, name) for name, value in constants.items() if name in used],
    )
    made = helper.make_model(body, opset_imports=[helper.make_opsetid("", 20)], ir_version=10)
    onnx.checker.check_model(made)
    return made


def expected(family: Family, numbers: dict[str, np.ndarray], tokens: list[str]) -> list[list[float]]:
    """What the model gives for a text by itself."""
    vocabulary = family.tokenizer.get_vocab()
    ids = [vocabulary[token] for token in tokens]
    first = 0 if family.counted_from is None else family.counted_from + 1
    rows = numbers["words"][ids] + numbers["positions"][first : first + len(ids)]
    if "token_type_ids" in family.inputs:
        rows = rows + numbers["types"][0]
    own = np.tanh(rows)
    hidden = own + own.mean(axis=0)
    return (hidden[:1] @ numbers["head"] if family.labels else hidden).tolist()


def write(family: Family, numbers: dict[str, np.ndarray], folder: Path) -> None:
    for name, content in {"config.json": family.config, **family.files}.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(content))
    family.tokenizer.save(str(folder / "tokenizer.json"))
    onnx.save(graph(family, numbers), str(folder / "model.onnx"))


def main() -> None:
    target, texts = Path(sys.argv[1]), json.load(sys.stdin)
    given = {}
    for name, family in families().items():
        numbers = weights(family)
        write(family, numbers, target / name)
        given[name] = [expected(family, numbers, tokens) for tokens in texts.get(name, [])]
    print(json.dumps(given))


if __name__ == "__main__":
    main()
