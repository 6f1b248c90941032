"""The reader in PyTorch, and the texts that it reads."""

import gzip
import json
import math
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn.functional as F

# The matrices of a layer.
DENSE = (
    "attention.self.query",
    "attention.self.key",
    "attention.self.value",
    "attention.output.dense",
    "intermediate.dense",
    "output.dense",
)

# What a question is for.
READ, WEIGHED, KEPT = range(3)

# Logits of a token.
START, END, EVIDENCE, RELEVANCE = range(4)

# Passages that are nearest to a question and may be read with it.
NEAR = 20

DROPOUT = 0.1


class Prepared:
    """The file of prepare.py."""

    def __init__(self, path):
        file = np.load(path)
        self.shape = json.loads(str(file["shape"]))
        self.sets = json.loads(str(file["sets"]))
        self.words = file["words"]
        self.start, self.pad, self.end, self.unknown = file["special"].tolist()
        self.prefix = file["passage_prefix"].astype(np.int64)
        self.passages = parts(file, "passages")
        self.sentences = parts(file, "sentences")
        self.titles = parts(file, "titles")
        self.questions = parts(file, "questions")
        self.answerable, self.relevant_answers = file["flags"].T
        self.purposes = file["purposes"]
        self.spans = grouped(file["spans"], len(self.questions))
        self.relevant = grouped(file["relevant"], len(self.questions))
        self.set_of = np.zeros(len(self.questions), np.int64)
        for number, it in enumerate(self.sets):
            self.set_of[slice(*it["questions"])] = number
        self.weights = {}
        for name in file.files:
            if name.startswith("weights/") and name.endswith("/values"):
                values, scales = file[name], file[name[:-6] + "scales"].astype(np.float32)
                blocks = values.reshape(*scales.shape, -1) * scales[:, :, None]
                self.weights[name[8:-7]] = blocks.reshape(values.shape)
            elif name.startswith("weights/") and not name.endswith("/scales"):
                self.weights[name[8:]] = file[name]

    def add_generated(self, path):
        """Questions of generate.py, to be trained on: their numbers."""
        first = len(self.questions)
        lines = [json.loads(line) for line in gzip.open(path, "rt")]
        for passage, _, _, begin, end, question in lines:
            self.questions.append(np.array(question, np.int64))
            self.spans.append([(passage, begin, end)])
            self.relevant.append([passage])
        count = len(lines)
        self.purposes = np.append(self.purposes, np.full(count, READ))
        self.answerable = np.append(self.answerable, np.ones(count, bool))
        self.relevant_answers = np.append(self.relevant_answers, np.zeros(count, bool))
        firsts = [it["passages"][0] for it in self.sets]
        sets = np.searchsorted(firsts, [line[0] for line in lines], side="right") - 1
        self.set_of = np.append(self.set_of, sets)
        return np.arange(first, len(self.questions))

    def in_other_language(self, question, random):
        """The same question in one of the languages of its set."""
        name = self.sets[self.set_of[question]]["name"]
        if not name.startswith("xquad/"):
            return question
        if question >= self.sets[-1]["questions"][1]:
            return question
        at = question - self.sets[self.set_of[question]]["questions"][0]
        others = [it["questions"][0] for it in self.sets if it["name"].startswith("xquad/")]
        return others[random.integers(len(others))] + at


def parts(file, name):
    ends = file[name + ".ends"].astype(np.int64)
    values = file[name].astype(np.int64)
    return [values[a:b] for a, b in zip(ends[:-1], ends[1:])]


def grouped(rows, count):
    groups = [[] for _ in range(count)]
    for first, *rest in rows.tolist():
        groups[first].append(rest[0] if len(rest) == 1 else tuple(rest))
    return groups


class Encoder(torch.nn.Module):
    """The first layers of the encoder, frozen, with narrow matrices beside theirs, and the heads."""

    def __init__(self, prepared, layers, rank):
        super().__init__()
        self.shape = prepared.shape
        self.layers = layers
        for name, value in prepared.weights.items():
            if not any(part in name for part in DENSE) or "bias" in name:
                self.register_buffer(key(name), torch.tensor(value))
        added = {}
        for part in DENSE:
            name = "encoder.layer.{}." + part + ".weight"
            stacked = np.stack([prepared.weights[name.format(layer)] for layer in range(layers)])
            self.register_buffer(key(part), torch.tensor(stacked))
            _, rows, columns = stacked.shape
            added[key(part) + "_a"] = torch.nn.Parameter(torch.randn(layers, rank, columns) / math.sqrt(columns))
            added[key(part) + "_b"] = torch.nn.Parameter(torch.zeros(layers, rows, rank))
        self.added = torch.nn.ParameterDict(added)
        self.heads = torch.nn.Linear(self.shape["width"], 4)
        torch.nn.init.normal_(self.heads.weight, std=0.02)
        # Of a thousand tokens none is likely the one.
        torch.nn.init.constant_(self.heads.bias, -6.0)

    def merged(self):
        """For each of DENSE the matrices of all layers, with what was added: [layers, rows, columns]."""
        kind = torch.bfloat16 if self.heads.weight.is_cuda else torch.float32
        parts = [key(part) for part in DENSE]
        return [
            (getattr(self, part) + self.added[part + "_b"] @ self.added[part + "_a"]).to(kind) for part in parts
        ]

    def of(self, name):
        return getattr(self, key(name))

    def norm(self, x, name):
        weight, bias = self.of(name + ".weight"), self.of(name + ".bias")
        return F.layer_norm(x, weight.shape, weight, bias, self.shape["epsilon"])

    def drop(self, x):
        return F.dropout(x, DROPOUT, self.training)

    def hidden(self, ids, mask, places):
        """Token ids [batch, tokens] to [places, width]: padding is computed in attention only."""
        batch, tokens = ids.shape
        query, k, value, output, intermediate, last = self.merged()
        prefix = "embeddings."
        x = self.of(prefix + "word_embeddings.weight")[ids.flatten()[places]]
        x = x + self.of(prefix + "position_embeddings.weight")[places % tokens]
        x = x + self.of(prefix + "token_type_embeddings.weight")[0]
        x = self.drop(self.norm(x, prefix + "LayerNorm"))
        for layer in range(self.layers):
            name = f"encoder.layer.{layer}."
            weight = torch.cat([query[layer], k[layer], value[layer]])
            bias = torch.cat([self.of(name + part + ".bias") for part in DENSE[:3]])
            joined = F.linear(x, weight, bias)
            padded = joined.new_zeros(batch * tokens, joined.shape[1]).index_copy(0, places, joined)
            parts = padded.view(batch, tokens, 3, self.shape["heads"], -1).permute(2, 0, 3, 1, 4)
            attended = F.scaled_dot_product_attention(*parts, attn_mask=mask[:, None, None, :])
            attended = attended.transpose(1, 2).reshape(batch * tokens, -1)[places]
            attended = F.linear(attended, output[layer], self.of(name + DENSE[3] + ".bias"))
            x = self.norm(x + self.drop(attended), name + "attention.output.LayerNorm")
            inner = F.gelu(F.linear(x, intermediate[layer], self.of(name + DENSE[4] + ".bias")))
            inner = F.linear(inner, last[layer], self.of(name + DENSE[5] + ".bias"))
            x = self.norm(x + self.drop(inner), name + "output.LayerNorm")
        return x

    def forward(self, ids, mask, places):
        """Logits [batch, tokens, 4], 0 for padding."""
        logits = self.heads(self.hidden(ids, mask, places).float()).float()
        padded = logits.new_zeros(ids.numel(), 4).index_copy(0, places, logits)
        return padded.view(*ids.shape, 4)


def key(name):
    return name.replace(".", "_")


@dataclass
class Sequence:
    """A question with one passage."""

    ids: np.ndarray
    first: int  # token of the passage's first one, behind the title
    passage: int


class Pairs:
    """Questions with passages, as token ids."""

    def __init__(self, prepared):
        self.prepared = prepared

    def sequence(self, question, passage, with_title=True):
        it = self.prepared
        title = it.titles[passage] if with_title else np.zeros(0, np.int64)
        words = it.questions[question][:128]
        head = np.concatenate([[it.start], words, [it.end, it.end], title[:64]])
        ids = np.concatenate([head, it.passages[passage], [it.end]])
        return Sequence(ids, len(head), passage)

    def without_answer(self, question, sequence):
        """The same without the sentences of the answer; None if it stands in others, too."""
        it = self.prepared
        text, sentences = it.passages[sequence.passage], it.sentences[sequence.passage]
        dropped = np.zeros(len(text), bool)
        spans = [(first, last) for passage, first, last in it.spans[question] if passage == sequence.passage]
        for first, last in spans:
            dropped |= (sentences >= sentences[first]) & (sentences <= sentences[last])
        rest = text[~dropped].tobytes()
        if dropped.all() or any(text[first : last + 1].tobytes() in rest for first, last in spans):
            return None
        ids = np.concatenate([sequence.ids[: sequence.first], text[~dropped], [it.end]])
        return Sequence(ids, sequence.first, sequence.passage)

    def batch(self, sequences):
        """Token ids, what of them is there, and what belongs to the passage: [sequences, tokens] each;
        and where those are that are there."""
        longest = max(len(it.ids) for it in sequences)
        longest += -longest % 8
        ids = np.full((len(sequences), longest), self.prepared.pad, np.int64)
        inside = np.zeros((len(sequences), longest), bool)
        mask = np.zeros((len(sequences), longest), bool)
        for row, it in enumerate(sequences):
            ids[row, : len(it.ids)] = it.ids
            mask[row, : len(it.ids)] = True
            inside[row, it.first : len(it.ids) - 1] = True
        return ids, mask, np.flatnonzero(mask), inside


def on(device, *arrays):
    return [torch.from_numpy(it).to(device, non_blocking=True) for it in arrays]


def autocast(device):
    return torch.autocast(device.type, torch.bfloat16, enabled=device.type == "cuda")


@torch.no_grad()
def embed(model, texts, prepared, device):
    """Normalised means of the untrained encoder's tokens."""
    order = sorted(range(len(texts)), key=lambda at: len(texts[at]))
    vectors = torch.zeros(len(texts), prepared.shape["width"], device=device)
    for begin in range(0, len(order), 512):
        rows = order[begin : begin + 512]
        sequences = [
            Sequence(np.concatenate([[prepared.start], texts[row], [prepared.end]]), 0, 0) for row in rows
        ]
        ids, mask, places = on(device, *Pairs(prepared).batch(sequences)[:3])
        with autocast(device):
            hidden = model.hidden(ids, mask, places).float()
        # A mean and a sum have the same direction.
        sums = hidden.new_zeros(len(rows), hidden.shape[1]).index_add(0, places // ids.shape[1], hidden)
        vectors[torch.tensor(rows, device=device)] = F.normalize(sums)
    return vectors


def nearest(prepared, device):
    """For each question the passages of its set that are nearest, best first."""
    model = Encoder(prepared, prepared.shape["layers"], 1).to(device).eval()
    passages = [
        np.concatenate([prepared.prefix, title, text])[:500]
        for title, text in zip(prepared.titles, prepared.passages)
    ]
    passages = embed(model, passages, prepared, device)
    questions = embed(model, prepared.questions, prepared, device)
    found = np.zeros((len(prepared.questions), NEAR + 8), np.int64)
    for number, it in enumerate(prepared.sets):
        first, last = it["passages"]
        for rows in np.array_split(np.flatnonzero(prepared.set_of == number), 8):
            similarity = questions[torch.from_numpy(rows).to(device)] @ passages[first:last].T
            found[rows] = similarity.topk(NEAR + 8).indices.cpu().numpy() + first
    return found


@torch.no_grad()
def read(prepared, model, wanted, device):
    """For each (question, passage): the logits of its tokens and that of <s>."""
    pairs = Pairs(prepared)
    sequences = [pairs.sequence(question, passage) for question, passage in wanted]
    order = sorted(range(len(sequences)), key=lambda at: len(sequences[at].ids))
    result = [None] * len(sequences)
    begin = 0
    while begin < len(order):
        longest = len(sequences[order[min(begin + 1023, len(order) - 1)]].ids)
        rows = order[begin : begin + max(16, min(1024, 200_000 // longest))]
        begin += len(rows)
        ids, mask, places = on(device, *pairs.batch([sequences[row] for row in rows])[:3])
        with autocast(device):
            logits = model(ids, mask, places).cpu().numpy()
        for row, found in zip(rows, logits):
            it = sequences[row]
            result[row] = (found[it.first : len(it.ids) - 1, :RELEVANCE], found[0, RELEVANCE])
    return result


def save(model, path):
    """What was added to the encoder, in 16 bits: it is small, and what it is added to is rounded to 8 bits."""
    stored = {name: it.detach().cpu().half().numpy() for name, it in model.added.items()}
    stored["heads_weight"] = model.heads.weight.detach().cpu().half().numpy()
    stored["heads_bias"] = model.heads.bias.detach().cpu().numpy()
    stored["layers"] = np.array(model.layers)
    np.savez_compressed(path, **stored)


def load(prepared, path):
    """The reader that `save` has written."""
    file = np.load(path)
    rank = file[key(DENSE[0]) + "_a"].shape[1]
    model = Encoder(prepared, int(file["layers"]), rank)
    for name, it in model.added.items():
        it.data = torch.tensor(file[name]).float()
    model.heads.weight.data = torch.tensor(file["heads_weight"]).float()
    model.heads.bias.data = torch.tensor(file["heads_bias"]).float()
    return model
