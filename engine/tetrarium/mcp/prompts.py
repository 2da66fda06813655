"""The prompts a person starts by name: restore what is known, store what matters, review what may be wrong.

Each is a text of ours, then memories as embedded resources: whole, quoted, with their address, within a budget of
tokens. They are looked up, not recalled: nothing here counts as an access.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import mcp_types as types
from mcp.shared.exceptions import MCPError

from tetrarium.config import DEFAULTS
from tetrarium.errors import UserError
from tetrarium.mcp.arguments import Argument, nearest, read, visible
from tetrarium.mcp.calls import Calls
from tetrarium.mcp.context import Context, refuse_cursor
from tetrarium.mcp.quoting import iso, line
from tetrarium.mcp.resource_texts import QUOTED, Address, item
from tetrarium.mcp.tools import CATEGORY_NAMES, Caller

if TYPE_CHECKING:
    from tetrarium.model import Briefing, Memory, Review, Section
    from tetrarium.service import MemoryService

Messages = list[types.PromptMessage]

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """One prompt. `write` looks up what it needs on the lane and gives the messages."""

    name: str
    title: str
    description: str
    arguments: tuple[Argument, ...]
    write: Callable[[MemoryService, dict[str, Any], Caller], Messages]


class Prompts:
    """Lists and writes the prompts for one client. `caller` tells who asks."""

    def __init__(self, calls: Calls, caller: Callable[[Context], Caller]) -> None:
        self._calls = calls
        self._caller = caller

    async def list(self, context: Context, params: types.PaginatedRequestParams | None) -> types.ListPromptsResult:
        refuse_cursor(params)
        return types.ListPromptsResult(prompts=[_listed(prompt) for prompt in PROMPTS])

    async def get(self, context: Context, params: types.GetPromptRequestParams) -> types.GetPromptResult:
        """The messages of a prompt. What cannot be done is an error that says what to do instead."""
        prompt = BY_NAME.get(params.name)
        if prompt is None:
            name = visible(params.name)[:60]
            raise MCPError(
                code=types.INVALID_PARAMS, message=f"There is no prompt '{name}'. {nearest(name, list(BY_NAME))}"
            )
        caller = self._caller(context)
        try:
            given = {name: value for name, value in (params.arguments or {}).items() if value.strip()}
            values = read(prompt.arguments, given)
            messages = await self._calls.run(lambda service: prompt.write(service, values, caller))
        except UserError as error:
            raise MCPError(code=types.INVALID_PARAMS, message=visible(str(error))) from None
        return types.GetPromptResult(description=prompt.description, messages=messages)


def _listed(prompt: Prompt) -> types.Prompt:
    return types.Prompt(
        name=prompt.name,
        title=prompt.title,
        description=prompt.description,
        arguments=[
            types.PromptArgument(name=argument.name, description=argument.about, required=argument.required)
            for argument in prompt.arguments
        ],
    )


def _start(service: MemoryService, values: dict[str, Any], caller: Caller) -> Messages:
    """What to know first, and, when a task is named, what belongs to it, out of the same budget."""
    project, budget = values.get("project", caller.project), values.get("budget", DEFAULTS.prompt_budget)
    task = values.get("task", "")
    matching = _matching(service, task, project, budget // 2) if task else []
    spent = sum(_cost(memory) for memory in matching)
    briefing = service.briefing(project=project, budget=budget - spent)
    told = {memory.id for memory in matching}
    memories = matching + [memory for memory in _all(briefing.sections) if memory.id not in told]
    where = f" in project '{line(project)}'" if project else ""
    if not memories:
        return [
            _said(
                f"Your long-term memory{where} holds nothing yet. Begin with the task, and store what the next conversation would miss: {_STORE}"
            )
        ]
    lines = (
        f"Restore what you know before you go on{where}. The {len(memories)} resources that follow are memories of earlier conversations. {QUOTED}",
        "They are sorted: "
        + "; ".join(
            filter(
                None,
                (
                    f"for the task ({len(matching)})" if matching else "",
                    *(f"{s.name} ({len(s.memories)}{_more(s)})" for s in briefing.sections),
                ),
            )
        )
        + ".",
        f"The task: {line(task, 300)}" if task else "",
        "Say in two or three sentences who you work with, what was decided, and where the work stands; then go on from there. "
        "What you miss, ask void_recall. What is wrong or outdated, correct: store what holds now with the old id in supersedes.",
    )
    return [_said("\n".join(filter(None, lines))), *map(_embedded, memories)]


def _end(service: MemoryService, values: dict[str, Any], caller: Caller) -> Messages:
    """What to store before the conversation ends; what this client stored already, so that it is not said twice."""
    project, budget = values.get("project", caller.project), values.get("budget", DEFAULTS.prompt_budget)
    stored = service.lately(client=caller.client, project=project, budget=budget)
    recalls = service.traces(client=caller.client)[: DEFAULTS.listed_recalls]
    answered = dict.fromkeys(hit.id for trace in recalls for hit in trace.blocks)
    lines = (
        "This conversation is about to end. Store what the next one would miss: " + _STORE,
        "Then one memory of category session: what was done, what is open, what comes next.",
        f"Stored by you in the last hours: the {_count(stored)} that follow. Do not repeat them; where one is wrong by now, "
        f"store what holds with its id in supersedes. {QUOTED}"
        if stored.sections
        else "Nothing was stored by you in the last hours.",
        f"Recalled in this session: {', '.join(list(answered)[:20])}. Where one decided something or led you astray, say so with memory_feedback."
        if answered
        else "",
    )
    return [_said("\n".join(filter(None, lines))), *map(_embedded, _all(stored.sections))]


def _review(service: MemoryService, values: dict[str, Any], caller: Caller) -> Messages:
    """Contradictions, what misled, what expires, what was not used for long, and what was inhibited last."""
    project = values.get("project", caller.project)
    review = service.review(
        project=project,
        labels=values.get("label", ""),
        categories=values.get("category", ""),
        budget=values.get("budget", DEFAULTS.prompt_budget),
    )
    memories = _all(review.sections)
    if not memories and not review.inhibited:
        return [_said("There is nothing to review here: no contradiction, nothing misled, nothing is about to expire.")]
    lines = (
        f"Go through these memories with the person you work with, and change nothing they have not agreed to. {QUOTED}",
        *_pairs(review),
        *(
            f"{section.name.capitalize()}: {', '.join(memory.id for memory in section.memories) or 'none shown'}{_more(section)}."
            for section in review.sections
            if section.name != "contradicting"
        ),
        "For each ask: does it still hold? Correct with supersedes; take out with memory_update (action inhibit, a reason); "
        "forget with memory_forget; keep what is right.",
        *_silenced(review),
    )
    return [_said("\n".join(lines)), *map(_embedded, memories)]


def _pairs(review: Review) -> Iterable[str]:
    for pair in review.contradictions:
        yield f"May not both be true: {pair.newer} and {pair.older} ({line(pair.why, 120)})."
    if (more := review.contradictions_total - len(review.contradictions)) > 0:
        yield f"{more} more pairs may contradict each other; a larger budget shows them."


def _silenced(review: Review) -> Iterable[str]:
    if review.inhibited:
        yield "Inhibited last, silent until released (no word of theirs is shown here):"
    for edge in review.inhibited:
        by = f" by {edge.successor}" if edge.successor else ""
        yield f"- {edge.target}{by}, {iso(edge.created_at)}: {line(edge.reason, 120) or 'no reason given'}"


def _matching(service: MemoryService, task: str, project: str, budget: int) -> list[Memory]:
    """What belongs to a task, best first, as far as the budget goes. A search, so that it counts as no recall."""
    from tetrarium.recall.budget import fit  # engine: this runs on the lane

    hits = service.search(task, project=project, limit=20).hits
    kept = fit([_cost(hit.memory) for hit in hits], budget).kept
    return [hits[at].memory for at in kept]


def _cost(memory: Memory) -> int:
    from tetrarium.indexing.tokens import budget_tokens  # engine: this runs on the lane
    from tetrarium.recall.budget import cost

    return cost(budget_tokens(memory.content))


def _said(text: str) -> types.PromptMessage:
    return types.PromptMessage(role="user", content=types.TextContent(type="text", text=text))


def _embedded(memory: Memory) -> types.PromptMessage:
    contents = types.TextResourceContents(
        uri=Address("item", memory.id).uri, mime_type="text/markdown", text=item(memory)
    )
    return types.PromptMessage(role="user", content=types.EmbeddedResource(type="resource", resource=contents))


def _all(sections: Sequence[Section]) -> list[Memory]:
    return [memory for section in sections for memory in section.memories]


def _count(briefing: Briefing) -> str:
    (section,) = briefing.sections
    return f"{len(section.memories)} memories{_more(section)}"


def _more(section: Section) -> str:
    return f", {section.left_out} more" if section.left_out else ""


_STORE = (
    "one self-contained statement each, with its reason: decisions, causes of bugs, preferences, conventions, how something is done. "
    "No secrets, no chatter, nothing the code itself says."
)

_PROJECT = Argument(name="project", kind="text", about="Project; default this client's, '*' for all.")
_BUDGET = Argument(
    name="budget",
    kind="whole",
    least=1,
    most=DEFAULTS.resource_budget,
    about=f"Most tokens of memory; default {DEFAULTS.prompt_budget}.",
)

PROMPTS: tuple[Prompt, ...] = (
    Prompt(
        name="session_start",
        title="Restore who I am and what we were doing",
        description="Preferences, where the work stands, decisions and problems, so that work goes on where it ended.",
        arguments=(
            Argument(name="task", kind="text", about="What is to be done now, in a sentence."),
            _PROJECT,
            _BUDGET,
        ),
        write=_start,
    ),
    Prompt(
        name="session_end",
        title="Store what matters",
        description="Before a conversation ends: store what was learnt, and what comes next.",
        arguments=(_PROJECT, _BUDGET),
        write=_end,
    ),
    Prompt(
        name="review",
        title="Review what I remember",
        description="Contradictions, memories that misled, expire or went unused, and what was inhibited last.",
        arguments=(
            Argument(name="label", kind="text", about="Only memories with this label."),
            Argument(name="category", kind="text", choices=CATEGORY_NAMES, about="Only memories of this category."),
            _PROJECT,
            _BUDGET,
        ),
        write=_review,
    ),
)

BY_NAME: dict[str, Prompt] = {prompt.name: prompt for prompt in PROMPTS}
