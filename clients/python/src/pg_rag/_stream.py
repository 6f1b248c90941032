"""The rows of `rag_answer_stream`, put together again."""

from __future__ import annotations

import json

from ._results import Answer, answer_of


class Pieces:
    """Tells pieces of an answer from the last row, which holds the rest as JSON.

    Only what could be that row waits for the next one, so that a piece is passed on as soon as it comes.
    """

    def __init__(self) -> None:
        """Begin with nothing told."""
        self._told: list[str] = []
        self._held: str | None = None

    def take(self, row: str) -> str:
        """Return what a row adds to what can be told, which is empty while the row waits."""
        ready = self._held or ""
        self._held = row if row.startswith("{") else None
        if self._held is None:
            ready += row
        self._told.append(ready)
        return ready

    def answer(self) -> Answer:
        """Return the answer, after the last row."""
        details = json.loads(self._held) if self._held is not None else {}
        return answer_of(details.get("answer", "".join(self._told)), details)
