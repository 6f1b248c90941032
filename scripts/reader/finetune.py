"""Trains a reader further, on questions about handbooks and manuals: its last layers alone, which a machine without a
graphics card can do.

    finetune.py PREPARED.npz START.npz OUT.npz [--first-layer N] [--epochs X] [--seconds N]

PREPARED.npz is of prepare.py, START.npz and OUT.npz are readers as train.py writes them. The layers
before N stay as they are, so that what they make of a question with a passage is computed once and
kept in memory in 16 bits: 150 kB each. The narrow matrices of the others and the heads are trained
by the loss of train.py.

Each question of the sets that are read as a whole, or halved, is asked with the passages that answer it and one that
does not: of the passages of its set the best by the words of the question or of its answer (BM25). One answerable question in seven
is asked without those that answer. So that what was learnt before is kept, some questions of the other
sets are among them (REPLAYED).
"""

import argparse
import functools
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn.functional as F
from judge import judge
from model import DENSE, DROPOUT, END, EVIDENCE, READ, RELEVANCE, START, Pairs, Prepared, key, load, nearest, save
from prepare import SETS
from train import descend, log_sums, loss

REPLAYED = {
    "squad_train_sample": 250,
    "squad2_half": 220,
    "xquad/en": 50,
    "xquad/de": 70,
    "xquad/zh": 70,
    "xquad/ar": 70,
    "xquad/ru": 70,
    "hotpotqa500": 50,
    "chunking_eval": 50,
}

REMOVED = 1 / 7
TITLES = 0.8

BATCH = 10
RATE = 3e-4
CACHED = 32  # sequences that go through the lower layers at once

# BM25's constants.
K1, B = 1.2, 0.75


@dataclass
class Cached:
    """A question with a passage: what the lower layers make of it, and what is right."""

    states: torch.Tensor  # [tokens, width], 16 bits
    first: int  # token of the passage's first one
    sentences: np.ndarray  # number of the sentence of each of its tokens
    spans: list[tuple[int, int]]  # first and last token of each answer in it; none where it does not answer


@dataclass
class Example:
    """A question with its passages."""

    is_answerable: bool
    sequences: list[Cached]


class WordIndex:
    """The passages of a set by their tokens."""

    def __init__(self, prepared, number):
        self.first, last = prepared.sets[number]["passages"]
        texts = [np.concatenate([prepared.titles[at], prepared.passages[at]]) for at in range(self.first, last)]
        lengths = np.array([len(text) for text in texts])
        self.count = len(texts)
        self.norms = K1 * (1 - B + B * lengths / lengths.mean())
        owners = np.repeat(np.arange(self.count), lengths)
        keys, frequencies = np.unique(np.concatenate(texts) * self.count + owners, return_counts=True)
        tokens, owners = np.divmod(keys, self.count)
        begins = np.flatnonzero(np.diff(tokens, prepend=-1))
        ends = np.append(begins[1:], len(tokens))
        self.postings = {tokens[a]: (owners[a:b], frequencies[a:b]) for a, b in zip(begins, ends)}

    def best(self, tokens, most):
        scores = np.zeros(self.count)
        for token in np.unique(tokens):
            if token in self.postings:
                owners, frequencies = self.postings[token]
                idf = np.log(1 + (self.count - len(owners) + 0.5) / (len(owners) + 0.5))
                scores[owners] += idf * frequencies * (K1 + 1) / (frequencies + self.norms[owners])
        return (np.argsort(-scores, kind="stable")[:most] + self.first).tolist()


def asked(prepared, random):
    """(question, set) of all that is trained on."""
    for number, it in enumerate(prepared.sets):
        questions = [
            question
            for question in range(*it["questions"])
            if prepared.purposes[question] == READ
            and (prepared.spans[question] or not prepared.answerable[question])
        ]
        if it["name"] not in SETS["whole"] + SETS["halved"]:
            questions = random.permutation(questions)[: REPLAYED.get(it["name"], 0)]
        yield from ((int(question), number) for question in questions)


def passages_of(prepared, index, question):
    """Passages that answer a question, two at most, and one that does not."""
    gold = sorted({passage for passage, _, _ in prepared.spans[question]})[:2]
    related = set(prepared.relevant[question])
    if not prepared.answerable[question]:
        return [], [*related][:1] + [it for it in index.best(prepared.questions[question], 4) if it not in related][:1]
    answers = [prepared.passages[p][a : b + 1].tobytes() for p, a, b in prepared.spans[question] if a < b]
    near = index.best(prepared.questions[question], 12)
    near += [passage for it in gold for passage in index.best(prepared.passages[it], 8)]
    others = (
        passage
        for passage in near
        if passage not in related and not any(answer in prepared.passages[passage].tobytes() for answer in answers)
    )
    return gold, [it for it in [next(others, None)] if it is not None]


@torch.no_grad()
def cache(prepared, model, first_layer, random, device):
    """All examples, with the states before `first_layer`."""
    pairs, examples, waiting = Pairs(prepared), [], []
    index_of = functools.cache(lambda number: WordIndex(prepared, number))
    for question, number in asked(prepared, random):
        gold, others = passages_of(prepared, index_of(number), question)
        example = Example(bool(prepared.answerable[question]), [])
        for passage in gold + others:
            sequence = pairs.sequence(question, passage, random.random() < TITLES)
            spans = [(a, b) for it, a, b in prepared.spans[question] if it == passage]
            cached = Cached(None, sequence.first, prepared.sentences[passage], spans)
            example.sequences.append(cached)
            waiting.append((sequence, cached))
        examples.append(example)
    waiting.sort(key=lambda it: len(it[0].ids))
    layers, model.layers = model.layers, first_layer
    for begin in range(0, len(waiting), CACHED):
        part = waiting[begin : begin + CACHED]
        arrays = pairs.batch([sequence for sequence, _ in part])[:3]
        states = model.hidden(*(torch.as_tensor(it).to(device) for it in arrays)).half().cpu()
        lengths = [len(sequence.ids) for sequence, _ in part]
        for (_, cached), own in zip(part, states.split(lengths)):
            cached.states = own.clone()
    model.layers = layers
    return examples


class Upper(torch.nn.Module):
    """The layers that are trained, and the heads. What was added to a matrix is multiplied by itself, which is quicker
    than to add it to the matrix where that takes no gradient."""

    def __init__(self, model, first_layer):
        super().__init__()
        self.whole = [model]  # no module of this one: its parameters stay
        self.first = first_layer
        self.added = torch.nn.ParameterDict(
            {name: torch.nn.Parameter(it.detach()[first_layer:].clone()) for name, it in model.added.items()}
        )
        self.heads = model.heads

    def linear(self, x, part, layer):
        model, at = self.whole[0], layer - self.first
        narrow, wide = self.added[key(part) + "_a"][at], self.added[key(part) + "_b"][at]
        bias = model.of(f"encoder.layer.{layer}.{part}.bias")
        return F.linear(x, getattr(model, key(part))[layer], bias) + F.linear(F.linear(x, narrow), wide)

    def forward(self, x, mask, places):
        """States [places, width] to logits [sequences, tokens, 4], 0 for padding."""
        model, (rows, tokens) = self.whole[0], mask.shape
        drop = lambda it: F.dropout(it, DROPOUT, self.training)
        for layer in range(self.first, model.layers):
            name = f"encoder.layer.{layer}."
            joined = torch.cat([self.linear(x, part, layer) for part in DENSE[:3]], 1)
            padded = joined.new_zeros(rows * tokens, joined.shape[1]).index_copy(0, places, joined)
            parts = padded.view(rows, tokens, 3, model.shape["heads"], -1).permute(2, 0, 3, 1, 4)
            attended = F.scaled_dot_product_attention(*parts, attn_mask=mask[:, None, None, :])
            attended = attended.transpose(1, 2).reshape(rows * tokens, -1)[places]
            x = model.norm(x + drop(self.linear(attended, DENSE[3], layer)), name + "attention.output.LayerNorm")
            inner = F.gelu(self.linear(x, DENSE[4], layer))
            x = model.norm(x + drop(self.linear(inner, DENSE[5], layer)), name + "output.LayerNorm")
        logits = self.heads(x)
        return logits.new_zeros(rows * tokens, 4).index_copy(0, places, logits).view(rows, tokens, 4)

    def store(self):
        """Puts what was learnt into the whole reader."""
        for name, it in self.added.items():
            self.whole[0].added[name].data[self.first :] = it.data


def batch(examples, random, device):
    """States and targets of these questions, as Upper and the loss take them."""
    chosen = []
    for it in examples:
        others = [sequence for sequence in it.sequences if not sequence.spans]
        removed = it.is_answerable and others and random.random() < REMOVED
        chosen.append((it.is_answerable and not removed, others if removed else it.sequences))
    sequences = [it for _, own in chosen for it in own]
    longest = max(len(it.states) for it in sequences)
    mask = np.zeros((len(sequences), longest), bool)
    inside = np.zeros((len(sequences), longest), bool)
    right = np.zeros((len(sequences), longest, 3), bool)
    relevant = np.zeros(len(sequences), bool)
    counts = np.ones((len(examples), 4), bool)
    counts[:, RELEVANCE] = [holds for holds, _ in chosen]
    for row, it in enumerate(sequences):
        mask[row, : len(it.states)] = True
        inside[row, it.first : len(it.states) - 1] = True
        relevant[row] = bool(it.spans)
        for first, last in it.spans:
            right[row, it.first + first, START] = True
            right[row, it.first + last, END] = True
            same = (it.sentences >= it.sentences[first]) & (it.sentences <= it.sentences[last])
            right[row, it.first : it.first + len(same), EVIDENCE] |= same
    group = np.repeat(np.arange(len(examples)), [len(own) for _, own in chosen])
    arrays = [mask, np.flatnonzero(mask), inside, right, relevant, counts, group]
    states = torch.cat([it.states for it in sequences]).float().to(device)
    return states, *(torch.as_tensor(it).to(device) for it in arrays)


def train(upper, examples, options, random, device):
    """For so many epochs or until the time is up."""
    steps = int(options.epochs * len(examples) / BATCH)
    order = np.concatenate([random.permutation(len(examples)) for _ in range(int(options.epochs) + 1)])

    def value(number):
        chosen = [examples[at] for at in order[number * BATCH : (number + 1) * BATCH]]
        states, mask, places, inside, right, relevant, counts, group = batch(chosen, random, device)
        return loss(log_sums(upper(states, mask, places), inside, right), relevant, counts, group)

    descend(upper, map(value, range(steps)), steps, RATE, options.seconds)
    upper.store()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("prepared")
    parser.add_argument("start")
    parser.add_argument("out")
    parser.add_argument("--first-layer", type=int, default=9)
    parser.add_argument("--epochs", type=float, default=2)
    parser.add_argument("--seconds", type=float, default=1e9)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    torch.manual_seed(options.seed)
    random = np.random.default_rng(options.seed)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    prepared = Prepared(options.prepared)
    model = load(prepared, options.start).to(device).eval()
    examples = cache(prepared, model, options.first_layer, random, device)
    print(f"{len(examples)} questions to train on", flush=True)
    upper = Upper(model, options.first_layer).to(device)
    train(upper, examples, options, random, device)
    save(model, options.out)
    judge(prepared, model, nearest(prepared, device), device)


if __name__ == "__main__":
    main()
