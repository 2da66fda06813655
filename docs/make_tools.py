"""Draws docs/tools.md from the table of tools, so that the page cannot say anything else.

python docs/make_tools.py
"""

from __future__ import annotations

from pathlib import Path

from tetrarium.mcp.arguments import Argument
from tetrarium.mcp.tools import TOOLS, Tool

PAGE = Path(__file__).with_name("tools.md")


def page() -> str:
    """The whole page."""
    head = (
        "# Tools\n\nDrawn from the table in `tetrarium.mcp.tools` by `docs/make_tools.py`. Arguments in *italics* are taken, "
        "but left out of the schema that a model reads, because every word there is paid for in every conversation."
    )
    return "\n\n".join([head, *map(section, TOOLS)]) + "\n"


def section(tool: Tool) -> str:
    """One tool: what it does, how it behaves, its arguments."""
    behaves = "reads only" if tool.read_only else "moves to the trash" if tool.destructive else "writes"
    rows = [row(argument) for argument in tool.arguments] or ["No arguments."]
    table = ["| argument | kind | |", "| --- | --- | --- |", *rows] if tool.arguments else rows
    return "\n".join([f"## `{tool.name}` – {tool.title}", "", f"{tool.description} ({behaves})", "", *table])


def row(argument: Argument) -> str:
    """One line of the table."""
    name = f"`{argument.name}`" if argument.listed else f"*`{argument.name}`*"
    choices = f" One of: {', '.join(argument.choices)}." if argument.choices else ""
    return f"| {name}{' (needed)' if argument.required else ''} | {argument.kind} | {argument.about}{choices} |"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
