"""Whole memories under headings, for those who look around instead of asking."""

from __future__ import annotations

from dataclasses import dataclass

from tetrarium.model.memory import Contradiction, Inhibition, Memory
from tetrarium.model.space import Cluster


@dataclass(frozen=True, slots=True)
class Section:
    """Whole memories that a reader gets under one heading, in order; left_out: how many more belong there."""

    name: str
    memories: tuple[Memory, ...]
    left_out: int


@dataclass(frozen=True, slots=True)
class Briefing:
    """What to know before work goes on, or before it ends: sections that say something, within a budget of tokens."""

    sections: tuple[Section, ...]
    budget: int
    token_usage: int


@dataclass(frozen=True, slots=True)
class Overview:
    """What a space holds, shortly: its largest clusters, and memories – pinned ones first, then the newest."""

    clusters: tuple[Cluster, ...]
    memories: tuple[Memory, ...]


@dataclass(frozen=True, slots=True)
class Review:
    """What a person or an agent may want to put right.

    contradictions: open proposals whose memories stand in the section "contradicting"; contradictions_total: all
    that are open in the same scope; inhibited: edges in force, newest first, with no word of what they silence.
    """

    contradictions: tuple[Contradiction, ...]
    contradictions_total: int
    inhibited: tuple[Inhibition, ...]
    sections: tuple[Section, ...]
    budget: int
    token_usage: int
