"""An export for reading: one Markdown file, oldest memory first. Texts of memories are quoted, so that none of
them can pass for a part of the document."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from tetrarium.storage.exchange import Record


def write(records: Callable[[], Iterable[Record]], facts: Mapping[str, object]) -> Iterator[bytes]:
    """The lines of the document. records: gives the same records each time it is called."""
    edges: dict[str, list[Record]] = {}
    count = 0
    for record in records():
        count += record["kind"] == "memory"
        if record["kind"] == "inhibition" and record["lifted_at"] is None:
            edges.setdefault(record["target"], []).append(record)
    yield f"# Memories\n\n{count} memories, exported {facts['made_at']}\n".encode()
    for record in records():
        if record["kind"] == "memory":
            yield "\n".join(_memory(record, edges.get(record["id"], ()))).encode() + b"\n"
        elif record["kind"] == "version":
            yield "\n".join(_version(record)).encode() + b"\n"


def quoted(text: str) -> str:
    """A text as a Markdown quotation, every line of it, with what could be markup or HTML shown as written."""
    safe = text.replace("\\", "\\\\").replace("<", "\\<").replace("`", "\\`").replace("[", "\\[").replace("![", "!\\[")
    return "\n".join(f"> {line}".rstrip() for line in safe.splitlines())


def _memory(record: Record, edges: Iterable[Record]) -> Iterator[str]:
    state = ", in the trash" if record["trashed_at"] else ""
    yield f"\n## {record['created_at'][:10]} · {record['category']} · {record['id']}{state}\n"
    yield quoted(record["content"])
    told = [
        ("keywords", ", ".join(record["keywords"])),
        ("labels", ", ".join(record["labels"])),
        ("from", " · ".join(filter(None, (record[n] for n in ("client", "author", "project", "session", "file"))))),
        ("importance", f"{record['importance']:.2f}"),
        ("recalled", f"{record['access_count']} times" if record["access_count"] else ""),
        ("pinned", "yes" if record["pinned"] else ""),
        ("expires", (record["expires_at"] or "")[:10]),
    ]
    yield ""
    yield from (f"- {name}: {_line(value)}" for name, value in told if value)
    for edge in edges:
        by = f" by {edge['successor']}" if edge["successor"] else ""
        yield f"- **superseded{by}**" + (f": {_line(edge['reason'])}" if edge["reason"] else "")


def _version(record: Record) -> Iterator[str]:
    yield f"\n### Earlier text of {record['memory']}, until {record['replaced_at'][:10]} ({_line(record['cause'])})\n"
    yield quoted(record["content"])


def _line(text: str) -> str:
    return quoted(" ".join(text.split()))[2:]
