"""Trains the reader: where in these passages is the question answered, if anywhere?

    train.py PREPARED.npz OUT.npz [--generated FILE] [--rank N] [--layers N] [--seconds N]

PREPARED.npz is of prepare.py, FILE of generate.py. OUT.npz takes what is added to the
encoder's matrices, two narrow ones for each (LoRA, Hu et al. 2021, section 4.1), and
the heads.

A question is read with each passage, <s> question </s></s> title passage </s>. Each
token of the passage gets three logits: that the answer begins there, that it ends
there, and that its sentence answers. <s> gets one: that the passage is about the
question. All tokens of all passages of a question compete in one softmax (the
shared normalisation of Clark and Gardner 2018, section 3.2), together with a
constant 0 for "nowhere". So logits are comparable between passages, and their sum is
the log odds that the answer is there.

Each question is asked with passages that the untrained encoder finds near to it; one
in six times without those that answer it, one in eight without the sentences that do,
and then "nowhere" is right, as it is where the passage speaks of the subject only.
Questions whose answer is marked in no place train the third logit with the whole of
their relevant passages.
"""

import argparse
import time

import numpy as np
import torch
import torch.nn.functional as F
from judge import judge
from model import (
    END,
    EVIDENCE,
    NEAR,
    READ,
    RELEVANCE,
    START,
    Encoder,
    Pairs,
    Prepared,
    autocast,
    nearest,
    save,
)

# Passages beside those that answer, and how often these are taken away, or their sentences are.
NEGATIVES = 5
REMOVED = 1 / 6
WITHOUT_SENTENCE = 1 / 8

# How often a question is asked in another language of its set, and a passage has its title.
OTHER_LANGUAGE = 0.3
TITLES = 0.7

GENERATED = 10_000  # in each epoch
EPOCHS = 5
BATCH = 32
RATE = 1e-3
WARM = 0.05


class Batches(torch.utils.data.Dataset):
    """Batches of questions to train on, each with passages and what is right."""

    def __init__(self, prepared, near, questions, seed):
        self.prepared, self.near, self.questions, self.seed = prepared, near, questions, seed
        self.pairs = Pairs(prepared)

    def __len__(self):
        return len(self.questions) // BATCH

    def __getitem__(self, number):
        random = np.random.default_rng((self.seed, number))
        questions = self.questions[number * BATCH : (number + 1) * BATCH]
        examples = [self.example(question, random) for question in questions]
        sequences = [it for _, sequences, _ in examples for it in sequences]
        group = np.repeat(np.arange(BATCH), [len(sequences) for _, sequences, _ in examples])
        arrays = self.pairs.batch(sequences)
        return *arrays, *targets(self.prepared, examples, arrays[0].shape[1]), group

    def gold(self, question):
        """Passages that answer; of many windows those nearest to the question."""
        it = self.prepared
        spans = {passage for passage, _, _ in it.spans[question]}
        gold = list(spans or it.relevant[question])
        rank = {passage: at for at, passage in enumerate(self.near[question])}
        return sorted(gold, key=lambda passage: rank.get(passage, 99))[:3]

    def example(self, question, random):
        """(question, sequences, passages that answer it): none of them if it has no answer here, None
        if they speak of it and don't answer it."""
        it = self.prepared
        related = set(it.relevant[question]) | set(self.gold(question))
        others = [passage for passage in self.near[question][:NEAR] if passage not in related]
        # Near ones more often: those are what a question brings.
        weights = np.exp(-np.arange(len(others)) / 5)
        others = list(random.choice(others, min(NEGATIVES, len(others)), False, weights / weights.sum()))
        removed = it.answerable[question] and random.random() < REMOVED
        asked = question
        if random.random() < OTHER_LANGUAGE:
            asked = it.in_other_language(question, random)
        passages = others if removed else [*self.gold(question), *others]
        titled = random.random() < TITLES
        sequences = [self.pairs.sequence(asked, passage, titled) for passage in passages]
        holds = it.answerable[question] and not removed
        if holds and it.spans[question] and random.random() < WITHOUT_SENTENCE:
            gold = {passage for passage, _, _ in it.spans[question]}
            cut = [self.pairs.without_answer(asked, s) if s.passage in gold else s for s in sequences]
            if asked == question and None not in cut:
                return question, cut, None
        return question, sequences, set(related) if holds else set()


def targets(prepared, batch, length):
    """Right tokens [sequences, tokens, 3], right sequences, and for which losses each question counts."""
    rows = sum(len(sequences) for _, sequences, _ in batch)
    right = np.zeros((rows, length, 3), bool)
    relevant = np.zeros(rows, bool)
    counts = np.ones((len(batch), 4), bool)
    row = 0
    for number, (question, sequences, gold) in enumerate(batch):
        whole = prepared.relevant_answers[question]
        counts[number, :EVIDENCE] = not (whole and gold)
        counts[number, RELEVANCE] = prepared.answerable[question] and gold is not None
        for it in sequences:
            relevant[row] = it.passage in (gold or ())
            sentences = prepared.sentences[it.passage]
            for passage, first, last in prepared.spans[question] if gold else []:
                if passage == it.passage:
                    right[row, it.first + first, START] = True
                    right[row, it.first + last, END] = True
                    same = (sentences >= sentences[first]) & (sentences <= sentences[last])
                    right[row, it.first : it.first + len(sentences), EVIDENCE] |= same
            if whole and relevant[row]:
                right[row, it.first : it.first + len(sentences), EVIDENCE] = True
            row += 1
    return right, relevant, counts


def log_sums(logits, inside, right):
    """Log sums [sequences, 7]: of all tokens by START, END, EVIDENCE, of the right ones by the same, and the
    logit RELEVANCE."""
    scores = logits[:, :, :RELEVANCE].masked_fill(~inside[:, :, None], -1e4)
    held = scores.masked_fill(~right, -1e4)
    return torch.cat([scores.logsumexp(1), held.logsumexp(1), logits[:, 0, RELEVANCE, None]], 1)


def loss(sums, relevant, counts, group):
    """Of each question: the negative log of what the right tokens have of the softmax."""
    total = 0.0
    questions = counts.shape[0]
    for channel in (START, END, EVIDENCE):
        all_ = grouped_log_sum(sums[:, channel], group, questions)
        held = grouped_log_sum(sums[:, 3 + channel], group, questions)
        total = total + share(all_, held, counts[:, channel])
    scores = sums[:, 6]
    held = scores.masked_fill(~relevant, -1e4)
    of_passages = [grouped_log_sum(it, group, questions) for it in (scores, held)]
    return total + 0.5 * share(*of_passages, counts[:, RELEVANCE])


def share(all_, held, counts):
    nowhere = held < -1e3
    right = torch.where(nowhere, torch.zeros_like(held), held)
    losses = F.softplus(all_) - right
    return (losses * counts).sum() / counts.sum().clamp(min=1)


def grouped_log_sum(scores, group, count):
    largest = torch.full((count,), -1e4, device=scores.device).scatter_reduce(0, group, scores, "amax").detach()
    sums = torch.zeros(count, device=scores.device).scatter_add(0, group, (scores - largest[group]).exp())
    return largest + sums.clamp(min=1e-30).log()


def order(prepared, generated, seed):
    """The questions of EPOCHS epochs: all judged ones, and GENERATED of the others, in each."""
    random = np.random.default_rng(seed)
    judged = np.flatnonzero(prepared.purposes == READ)
    judged = judged[judged < prepared.sets[-1]["questions"][1]]
    others = np.concatenate([random.permutation(generated) for _ in range(EPOCHS)])
    some = np.array_split(others[: EPOCHS * GENERATED], EPOCHS)
    return np.concatenate([random.permutation(np.append(judged, it)) for it in some])


def descend(module, values, steps, rate, seconds):
    """Takes a step after each of the losses `values`, which are computed one after the other as they are asked for: so
    many steps, or until the time is up; the rate falls to 0 by then."""
    optimizer = torch.optim.AdamW(module.parameters(), lr=rate, weight_decay=0.01, betas=(0.9, 0.98))
    module.train()
    begin, losses = time.time(), []
    for number, value in enumerate(values):
        spent = max(number / steps, (time.time() - begin) / seconds)
        if spent >= 1:
            break
        optimizer.param_groups[0]["lr"] = rate * min(spent / WARM, (1 - spent) / (1 - WARM))
        optimizer.zero_grad()
        value.backward()
        torch.nn.utils.clip_grad_norm_(module.parameters(), 1.0)
        optimizer.step()
        losses.append(value.detach())
        if number % 50 == 49:
            mean = torch.stack(losses).mean().item()
            losses = []
            print(f"batch {number + 1} of {steps}: loss {mean:.3f}, {time.time() - begin:.0f} s", flush=True)


def train(prepared, model, near, questions, options, device):
    batches = Batches(prepared, near, questions, options.seed)
    loader = torch.utils.data.DataLoader(
        batches, batch_size=None, num_workers=options.workers, prefetch_factor=8 if options.workers else None
    )

    def value(batch):
        ids, mask, places, inside, right, relevant, counts, group = [
            it.to(device, non_blocking=True) for it in map(torch.as_tensor, batch)
        ]
        with autocast(device):
            logits = model(ids, mask, places)
        return loss(log_sums(logits, inside, right), relevant, counts, group)

    descend(model, map(value, loader), len(batches), RATE, options.seconds)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("prepared")
    parser.add_argument("out")
    parser.add_argument("--rank", type=int, default=16)
    parser.add_argument("--layers", type=int, default=12)
    parser.add_argument("--seconds", type=float, default=1e9)
    parser.add_argument("--workers", type=int, default=8)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--generated")
    options = parser.parse_args()
    torch.manual_seed(options.seed)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    prepared = Prepared(options.prepared)
    generated = prepared.add_generated(options.generated) if options.generated else np.zeros(0, np.int64)
    near = nearest(prepared, device)
    model = Encoder(prepared, options.layers, options.rank).to(device)
    questions = order(prepared, generated, options.seed)
    print(f"{len(questions)} questions to train on", flush=True)
    train(prepared, model, near, questions, options, device)
    save(model, options.out)
    judge(prepared, model, near, device)


if __name__ == "__main__":
    main()
