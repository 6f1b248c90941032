"""What a reader finds in articles that it was not trained on."""

import math

import numpy as np
from model import END, EVIDENCE, KEPT, NEAR, START, read


def log_sum(values):
    largest = np.max(values)
    return largest + np.log(np.exp(values - largest).sum())


def sentence_scores(prepared, passage, logits):
    sentences = prepared.sentences[passage]
    count = sentences.max() + 1
    scores = np.zeros((count, 2))
    for number in range(count):
        own = logits[sentences == number]
        if len(own):
            sums = [log_sum(own[:, channel]) for channel in range(3)]
            scores[number] = sums[EVIDENCE], (sums[START] + sums[END]) / 2
        else:
            scores[number] = -99
    return scores


def auroc(good, bad):
    ranks = np.argsort(np.argsort(np.concatenate([good, bad]))) + 1
    return (ranks[: len(good)].sum() - len(good) * (len(good) + 1) / 2) / (len(good) * len(bad))


def caught(good, bad, refused=0.1):
    return (np.array(bad) < np.quantile(good, refused)).mean()


def ndcg(order, relevant):
    gains = [1 / math.log2(at + 2) for at, passage in enumerate(order[:10]) if passage in relevant]
    best = sum(1 / math.log2(at + 2) for at in range(min(10, len(relevant))))
    return sum(gains) / best


def judge(prepared, model, near, device, most=500):
    """Prints what the kept questions of each set get."""
    model.eval()
    for number, it in enumerate(prepared.sets):
        kept = [q for q in range(*it["questions"]) if prepared.purposes[q] == KEPT]
        if not kept:
            continue
        answerable = [q for q in kept if prepared.answerable[q]][:most]
        hopeless = [q for q in kept if not prepared.answerable[q]][:most]
        found = {q: list(near[q][:NEAR]) for q in answerable + hopeless}
        wanted = [(q, passage) for q, passages in found.items() for passage in passages]
        reading = dict(zip(wanted, read(prepared, model, wanted, device)))
        line = f"{it['name']:20}"
        asked = [q for q in answerable if set(found[q][:6]) & set(prepared.relevant[q])]
        placed = [q for q in asked if prepared.spans[q]]
        if placed:
            line += sentences_line(prepared, reading, found, placed)
            line += answerable_line(prepared, reading, found, placed, hopeless)
        line += reranked_line(prepared, reading, found, answerable)
        print(line, flush=True)


def sentences_line(prepared, reading, found, asked):
    right = np.zeros(3)
    for q in asked:
        gold = {(p, s) for p, a, b in prepared.spans[q] for s in prepared.sentences[p][a : b + 1]}
        scored = [
            (p, s, *row)
            for p in found[q][:6]
            for s, row in enumerate(sentence_scores(prepared, p, reading[q, p][0]))
        ]
        for at, by in enumerate([lambda it: it[2], lambda it: it[3], lambda it: it[2] + it[3]]):
            right[at] += max(scored, key=by)[:2] in gold
    right /= len(asked)
    return f" {len(asked):4} sentence {right[0]:.3f} by evidence {right[1]:.3f} by span {right[2]:.3f} by both"


def presence(prepared, reading, q, passages):
    logits = np.concatenate([reading[q, p][0] for p in passages])
    return [log_sum(logits[:, EVIDENCE]), log_sum(logits[:, START]) + log_sum(logits[:, END])]


def answerable_line(prepared, reading, found, asked, hopeless):
    there = np.array([presence(prepared, reading, q, found[q][:6]) for q in asked])
    removed = []
    for q in asked:
        others = [p for p in found[q] if p not in prepared.relevant[q]]
        removed.append(presence(prepared, reading, q, others[:6]))
    removed = np.array(removed)
    both = [auroc(there[:, at], removed[:, at]) for at in range(2)]
    sums = there.sum(1), removed.sum(1)
    line = f" removed {both[0]:.3f} {both[1]:.3f} {auroc(*sums):.3f} caught {caught(*sums):.2f}"
    if hopeless:
        bad = np.array([presence(prepared, reading, q, found[q][:6]) for q in hopeless])
        line += f" adversarial {auroc(there[:, 0], bad[:, 0]):.3f} {auroc(there[:, 1], bad[:, 1]):.3f}"
        line += f" {auroc(there.sum(1), bad.sum(1)):.3f} caught {caught(there.sum(1), bad.sum(1)):.2f}"
    return line


def reranked_line(prepared, reading, found, asked):
    figures = np.zeros(3)
    for q in asked:
        relevant = set(prepared.relevant[q])
        score = {p: reading[q, p][1] for p in found[q]}
        evidence = {p: log_sum(reading[q, p][0][:, EVIDENCE]) for p in found[q]}
        orders = [found[q], sorted(found[q], key=score.get)[::-1], sorted(found[q], key=evidence.get)[::-1]]
        figures += [ndcg(order, relevant) for order in orders]
    figures /= len(asked)
    return f" nDCG {figures[0]:.3f} reranked {figures[1]:.3f} by evidence {figures[2]:.3f}"
