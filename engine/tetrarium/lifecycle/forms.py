"""Two kinds of memory that are best told in parts: a decision and a pattern (S1). Pure: parts in, one statement out.

The statement is what every other verb sees: it stands for itself, in the order in which a reader needs it.
"""

from __future__ import annotations

from collections.abc import Sequence

from tetrarium.errors import InvalidInput


def decision_text(title: str, decision: str, rationale: str, alternatives: Sequence[str]) -> str:
    """A decision with its reason and what was turned down. Raises InvalidInput where a part is missing."""
    return _joined(
        ("", _needed(title, "title")),
        ("Decision", _needed(decision, "decision")),
        ("Because", _needed(rationale, "rationale")),
        ("Turned down", "; ".join(filter(None, map(_one_line, alternatives)))),
    )


def pattern_text(when: str, steps: Sequence[str], example: str, pitfalls: Sequence[str], language: str) -> str:
    """How something is done: when, the steps, an example as it stands, what to mind. Raises InvalidInput."""
    told = [step for step in map(_one_line, steps) if step]
    if not told:
        raise InvalidInput("The pattern has no steps.", advice="Give steps, one text for each.")
    numbered = told[0] if len(told) == 1 else " ".join(f"({number}) {step}" for number, step in enumerate(told, 1))
    text = _joined(
        ("Pattern" + (f" ({_one_line(language)})" if language.strip() else ""), _needed(when, "when")),
        ("Steps", numbered),
        ("Mind", "; ".join(filter(None, map(_one_line, pitfalls)))),
    )
    return f"{text}\nExample:\n{example.strip()}" if example.strip() else text


def _joined(*parts: tuple[str, str]) -> str:
    sentences = (f"{name}: {text}" if name else text for name, text in parts if text)
    return " ".join(text if text[-1] in ".!?。！？" else f"{text}." for text in sentences)


def _needed(text: str, name: str) -> str:
    if not (told := _one_line(text)):
        raise InvalidInput(f"The {name} is empty; nothing was stored.", advice=f"Give the {name} in a sentence.")
    return told


def _one_line(text: str) -> str:
    return " ".join(text.split())
