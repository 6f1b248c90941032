"""The rows of `rag_answer_stream`, put together again."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any
from uuid import UUID

from ._results import Answer, answer_of

if TYPE_CHECKING:
    from typing import TypeAlias

# A row, and the conversation of which the answer is part.
Told: TypeAlias = "tuple[str, UUID | None]"


class Pieces:
    """Tells pieces of an answer from steps of an agent before them, and from the last row: the rest, as JSON.

    Only what could be the last row waits for the next one, so that a piece is passed on as soon as it comes.
    """

    def __init__(self) -> None:
        """Begin with nothing told."""
        self.steps: list[dict[str, Any]] = []
        self.conversation: UUID | None = None
        self._begins = True
        self._told: list[str] = []
        self._held: str | None = None

    def take(self, row: str) -> str:
        """Return what a row adds to what can be told, which is empty while the row waits, and of a step."""
        if self._begins:
            step = _step(row)
            if step is not None:
                self.steps.append(step)
                return ""
            self._begins = False
        ready = self._held or ""
        self._held = row if row.startswith("{") else None
        if self._held is None:
            ready += row
        self._told.append(ready)
        return ready

    def answer(self) -> Answer:
        """Return the answer, after the last row."""
        details = json.loads(self._held) if self._held is not None else {}
        text = details.get("answer", "".join(self._told))
        return answer_of(text, {**details, "conversation": self.conversation})


def _no_constant(name: str) -> Any:
    raise ValueError(name)


def _step(row: str) -> dict[str, Any] | None:
    """Return the step of an agent that a row holds: rows are steps until the first that is none."""
    if not row.startswith("{"):
        return None
    try:
        # The server, too, takes for a step only what is JSON to the letter.
        value = json.loads(row, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        return None
    step = value.get("step") if isinstance(value, dict) and len(value) == 1 else None
    return step if isinstance(step, dict) else None
