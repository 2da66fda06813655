"""Verbs that let memories out and in: export, import with a preview, and the undoing of an import.

An export reads one state of the store and holds one line in memory. An import is one transaction: all of the file
or nothing of it. Into an empty space it brings everything, to the last place and counter; into one that lives, only
what is new, and nothing that was there before changes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from tetrarium import __version__
from tetrarium.errors import InvalidInput, NotFound
from tetrarium.geometry.health import examine
from tetrarium.indexing.tokens import budget_tokens, language
from tetrarium.lifecycle import ingest
from tetrarium.lifecycle.trust import Trust, trust_of
from tetrarium.model import Anonymity, Draft, ExportReport, ImportBatch, ImportReport, ImportUndone
from tetrarium.privacy import anonymity, archive, lines, markdown, peers
from tetrarium.privacy.anonymity import Groups, Row
from tetrarium.privacy.incoming import Incoming
from tetrarium.privacy.masking import Masking
from tetrarium.privacy.pseudonyms import KINDS as PSEUDONYMOUS
from tetrarium.privacy.pseudonyms import ROLES, Pseudonyms
from tetrarium.privacy.reading import Line, read
from tetrarium.privacy.screen import ImportScreen
from tetrarium.privacy.secrets import mask
from tetrarium.service.door import EVERYWHERE
from tetrarium.service.erasing import Erasing
from tetrarium.service.peers import Notes
from tetrarium.storage import exchange, migrations
from tetrarium.storage import memories as rows
from tetrarium.storage import privacy as privacy_rows
from tetrarium.storage.database import Connection
from tetrarium.storage.exchange import LANDSCAPE, Record
from tetrarium.storage.identity import new_id

FORMS = ("jsonl", "markdown")
REMEDIES = ("", "generalise", "suppress")

EMBEDDED = 500
"""Notes of somebody's that are embedded before they are placed: some seconds; the rest follow in quiet moments."""

_CALIBRATION, _RECALLS, _NEXT = "calibration", "recalls", "next_component"


@dataclass(frozen=True, slots=True)
class Selection:
    """Which memories an export takes. ids: num → id; whole: nothing was left out by a filter."""

    ids: Mapping[int, str]
    whole: bool


class Exchange(Erasing):
    """Exports and imports."""

    def export(
        self,
        to: Path | BinaryIO,
        *,
        form: str = "jsonl",
        vectors: bool = False,
        labels: Sequence[str] | str = (),
        categories: Sequence[str] | str = (),
        project: str = EVERYWHERE,
        since: datetime | str | None = None,
        until: datetime | str | None = None,
        ids: Sequence[str] = (),
        pseudonyms: bool = False,
        k: int = 0,
        remedy: str = "",
        client: str = "",
    ) -> ExportReport:
        """Write the space, or the memories that pass every filter, to a file or stream (docs/export.md).

        Whole, it is everything: trash, versions, edges, feedback, landscape and its history. Filtered or under
        pseudonyms the trash stays at home. `k` asks that each person is hidden among at least k memories, and implies
        pseudonyms: where a group is smaller, nothing is written unless `remedy` says what to do: "generalise" tells
        dates and names more coarsely and leaves out what is still exposed, "suppress" leaves it out at once.
        A path is packed by its ending (.gz, .zip, .zst). Raises InvalidInput, NotFound for an unknown id.
        """
        if form not in FORMS or remedy not in REMEDIES:
            raise InvalidInput(
                f"There is no form '{form}' or remedy '{remedy}'.",
                advice=f"Forms: {', '.join(FORMS)}; remedies: {', '.join(filter(None, REMEDIES))}.",
            )
        self.catch_up()
        hidden = pseudonyms or k > 0
        selection = self._selection(labels, categories, project, since, until, ids, trash=not hidden)
        facts = {"program": __version__, "schema": migrations.SCHEMA_VERSION, "made_at": _told(datetime.now(UTC))}
        with self._space.database.snapshot():
            groups = self._hidden_among(selection, k, remedy) if k else None
            if groups:
                left = set(groups.exposed)
                selection = Selection({n: i for n, i in selection.ids.items() if n not in left}, whole=False)
            names = self._pseudonyms(selection) if hidden else None
            facts |= {"whole": selection.whole, "pseudonyms": hidden, "vectors": vectors and not hidden}
            if groups:
                facts |= {"k": k, "level": groups.level.name}

            def records() -> Iterator[Record]:
                return self._records(selection, vectors=vectors, names=names, groups=groups)

            writer = lines.write if form == "jsonl" else markdown.write
            total = lines.Summing()
            with archive.written(to) as stream:
                for line in writer(records, facts):
                    stream.write(line)
                    total.add(_kind_of(line), line)
        summed = total.total()
        counts = {kind: count for kind, count in summed.counts.items() if kind not in ("header", "trailer", "")}
        return ExportReport(
            memories=len(selection.ids),
            counts=counts,
            size=summed.size,
            digest=summed.digest if form == "jsonl" else "",
            pseudonyms=len(names) if names else 0,
            suppressed=len(groups.exposed) if groups else 0,
            anonymity=_anonymity(groups, len(selection.ids)) if groups else None,
        )

    def anonymity(self, k: int, *, project: str = EVERYWHERE, labels: Sequence[str] | str = ()) -> Anonymity:
        """How well an export would hide people at its finest: groups below k. Reads only; writes nothing."""
        self.catch_up()
        selection = self._selection(labels, (), project, None, None, (), trash=False)
        return _anonymity(anonymity.check(self._quasi(selection), k), len(selection.ids))

    def preview_import(self, path: Path, *, foreign: bool = False, project: str = "") -> ImportReport:
        """What `import_file` would do: new, same, conflicting, refused. Reads only.

        Raises InvalidInput for what is no export, is cut or changed, or passes a cap.
        """
        self.catch_up()
        return self._look_at(path, foreign=foreign, project=project).report

    def import_file(
        self, path: Path, *, foreign: bool = False, skip_refused: bool = False, project: str = "", client: str = ""
    ) -> ImportReport:
        """Take an export in, all of it or nothing, as one batch that `undo_import` takes back. A knowledge graph of the
        reference memory server, and notes in Markdown (CLAUDE.md, AGENTS.md …), come in as memories of `project`.

        Secrets are masked on the way in, and what reads like an instruction to an agent waits in quarantine, as in a
        store. A memory keeps its id; one that the space has already stays as it is. In an empty space every memory stands
        where it stood; in another one clusters keep their places where these are free, the rest is placed anew.
        foreign: a file of somebody else's: nobody in it counts as a person here, nothing is pinned.
        Raises InvalidInput, also when a line is refused and `skip_refused` is not said; nothing is stored then.
        """
        batch = new_id()

        def plan() -> Incoming:
            look = self._look_at(path, foreign=foreign, project=project)
            report = look.report
            if report.refused and not skip_refused:
                first = "; ".join(f"line {line.line}: {line.why}" for line in report.refused[:3])
                raise InvalidInput(
                    f"{report.refused_count} lines of {path} cannot be imported ({first}); nothing was imported.",
                    advice="Put them right, or leave them out with --skip-refused.",
                )
            if look.form:
                self._embed_notes(look)
            return look

        def commit(connection: Connection, look: Incoming) -> ImportReport:
            if look.is_empty:
                return look.report
            self._take_in(connection, look, batch, client=ingest.clean_name(client, "client"))
            return replace(look.report, batch=batch)

        return self._space.write_many(plan, commit, op="import", client=client)

    def imports(self) -> tuple[ImportBatch, ...]:
        """The imports of this space, newest first."""
        self.catch_up()
        return tuple(
            ImportBatch(
                b.id, b.file, b.client, _moment(b.at), b.memories, _moment(b.undone_at) if b.undone_at else None
            )
            for b in exchange.BatchReader(self._space.database).batches()
        )

    def undo_import(self, batch: str, *, client: str = "") -> ImportUndone:
        """Take out exactly what an import brought, for good. Memories that were edited since are kept, and counted.

        Raises NotFound, and InvalidInput when it was undone before.
        """
        reader = exchange.BatchReader(self._space.database)

        def plan() -> tuple[exchange.Batch, list[int], int]:
            found = reader.batches(batch.strip().upper())
            if not found:
                raise NotFound(f"There is no import '{batch}'.", advice="`tetrarium imports` lists them.")
            if found[0].undone_at is not None:
                raise InvalidInput(f"Import {batch} is undone already.")
            return found[0], *reader.untouched(found[0].id)

        def commit(connection: Connection, planned: tuple[exchange.Batch, list[int], int]) -> ImportUndone:
            found, nums, kept = planned
            for num in nums:
                rows.purge(connection, num, now=rows.now())
            exchange.end_batch(connection, found, at=rows.microseconds(rows.now()))
            self._mend_after(connection, found)
            return ImportUndone(found.id, len(nums), kept)

        undone = self._space.write_many(plan, commit, op="undo import", client=client)
        self._finish_erasures()
        return undone

    # --- out ----------------------------------------------------------------------------------

    def _selection(
        self,
        labels: Sequence[str] | str,
        categories: Sequence[str] | str,
        project: str,
        since: datetime | str | None,
        until: datetime | str | None,
        ids: Sequence[str],
        *,
        trash: bool,
    ) -> Selection:
        everything = exchange.ExchangeReader(self._space.database).ids()
        if ids:
            nums = {self._number(memory_id, anywhere=True) for memory_id in ids}
            return Selection({n: i for n, i in everything.items() if n in nums}, whole=False)
        kinds = [ingest.parse_category(x) for x in ((categories,) if isinstance(categories, str) else categories) if x]
        words = ingest.clean_words(labels, "labels")
        first = None if since is None else ingest.parse_moment(since, "since")
        last = None if until is None else ingest.parse_moment(until, "until")
        project = self._project(project)
        narrowed = bool(words or kinds or first or last or project != EVERYWHERE)
        if not narrowed and trash:
            return Selection(everything, whole=True)
        table = self._space.indexes.table
        scope = self._filtered(self._scope(EVERYWHERE, "all"), words, kinds, first, last)
        mask = scope.allowed | table.present if not narrowed else scope.allowed
        if project != EVERYWHERE:
            mask = mask & (table.project == table.projects.find(project))
        return Selection({int(n): table.ids[n] for n in np.flatnonzero(mask).tolist()}, whole=False)

    def _records(
        self, selection: Selection, *, vectors: bool, names: Pseudonyms | None, groups: Groups | None
    ) -> Iterator[Record]:
        """The lines between header and trailer."""
        reader = exchange.ExchangeReader(self._space.database)
        coarse = anonymity.told_as(groups.level) if groups else None
        if selection.whole:
            yield self._space_line()
        for kind in exchange.KINDS:
            if (kind.name == "vector" and not vectors) or (kind.name in LANDSCAPE and not selection.whole):
                continue
            if names and kind.name not in PSEUDONYMOUS:
                continue
            for record in reader.records(kind, selection.ids):
                told = lines.with_found_by(record) if kind is exchange.MEMORY else record
                told = names.applied(told) if names else told
                yield coarse(told) if coarse else told

    def _space_line(self) -> Record:
        meta = self._space.reader.meta
        return {
            "kind": "space",
            "calibration": meta(_CALIBRATION),
            "recalls": meta(_RECALLS),
            "next_cluster": meta(_NEXT, 1),
        }

    def _pseudonyms(self, selection: Selection) -> Pseudonyms:
        reader = exchange.ExchangeReader(self._space.database)
        table = self._space.indexes.table
        entities = (entity for num in selection.ids if num < table.capacity for entity in table.entities[num])
        return Pseudonyms({column: reader.values(column, selection.ids) for column in ROLES}, entities)

    def _quasi(self, selection: Selection) -> list[Row]:
        reader = exchange.ExchangeReader(self._space.database)
        found = reader.columns(selection.ids, "project", "author", "client", "created_at")
        return anonymity.rows_of(found, exchange.told)

    def _hidden_among(self, selection: Selection, k: int, remedy: str) -> Groups:
        found = self._quasi(selection)
        if remedy == "generalise":
            return anonymity.coarsened(found, k, self.settings.suppressed_share)
        groups = anonymity.check(found, k)
        if groups.below and not remedy:
            raise InvalidInput(
                f"{groups.below} of {groups.groups} groups of project, person, program and day hold fewer than {k} "
                f"memories ({len(groups.exposed)} of {len(found)}); nothing was exported.",
                advice="Tell it more coarsely (generalise) or leave these out (suppress).",
            )
        return groups

    # --- in -----------------------------------------------------------------------------------

    def _look_at(self, path: Path, *, foreign: bool, project: str) -> Incoming:
        """The first reading of a file: what is new in it, and where that can stand."""
        form = peers.form_of(path, self._caps())
        reader = exchange.ExchangeReader(self._space.database)
        existing = {memory_id: num for num, memory_id in reader.ids().items()}
        fields = {kind.name: reader.fields_of(kind) for kind in exchange.KINDS}
        look = Incoming(path, foreign or bool(form), existing, fields, form, ingest.clean_project(project))
        said = exchange.BatchReader(self._space.database).said
        for line in self._lines_of(look):
            look.see(line, said, _is_person)
        places = self._space.geometry.places
        look.settle(places.owner_of.__contains__, places.next_component)
        return look

    def _lines_of(self, look: Incoming, *, embedded: bool = False) -> Iterator[Line]:
        """The lines of a file. embedded: notes of somebody's come with embeddings, as far as it takes no longer than a
        person waits."""
        if not look.form:
            return read(look.path, self._caps(), look.fields)
        reader = self._space.reader

        def same(content_hash: bytes, project: str) -> str | None:
            return next(iter(reader.ids([num for num, _ in reader.same_content(content_hash, project)])), None)

        def unwanted(draft: Draft) -> str:
            hide = Masking(self.secret_policy())
            hide.text(draft.content, "content")
            return self._unwanted(draft, hide).rstrip(".")

        notes = Notes(
            look.path,
            look.form,
            look.project,
            self._caps(),
            look.fields,
            self.settings,
            same,
            unwanted,
            self._space.indexes.keywords.rarity,
            self._space.model,
        )
        return notes.lines(look.vectors if embedded else {})

    def _embed_notes(self, look: Incoming) -> None:
        """Embed what comes in of somebody's notes, so that it stands beside what means the same."""
        records = (line.record for line in self._lines_of(look) if not line.why and line.record["kind"] == "memory")
        texts = {record["id"]: record["content"] for record in records if record["id"] in look.new}
        ids = list(texts)[:EMBEDDED]
        vectors = self._space.embed_passages([texts[memory_id] for memory_id in ids])
        look.vectors = {memory_id: v for memory_id, v in zip(ids, vectors, strict=True) if v is not None}

    def _caps(self) -> archive.Caps:
        return archive.Caps(self.settings.import_line, self.settings.import_total, self.settings.import_ratio)

    def _take_in(self, connection: Connection, look: Incoming, batch: str, *, client: str) -> None:
        """The second reading: write what is new, then find a place for what has none."""
        at = rows.microseconds(rows.now())
        before = {name: self._space.reader.meta(name) for name in (_CALIBRATION, _RECALLS, _NEXT)}
        nums, homeless = self._write_lines(connection, look, at)
        following = max([self._space.reader.meta(_NEXT, 1), *(spot[3] + 1 for spot in look.spots.values())])
        rows.set_meta(connection, _NEXT, following)
        if homeless:
            self._house(connection, homeless)
        exchange.note_batch(
            connection, batch, nums, file=mask(look.path.name)[0], client=client, added=look.added, before=before, at=at
        )

    def _write_lines(self, connection: Connection, look: Incoming, at: int) -> tuple[list[int], list[int]]:
        """Numbers of the new memories, and of those among them that have no place yet."""
        writer = exchange.ExchangeWriter(connection, look.fields)
        known = dict(look.existing)
        homeless: list[int] = []
        screen = ImportScreen(self.secret_policy())
        for line in self._lines_of(look, embedded=True):
            if line.why or not look.takes(line.record):
                continue
            record = look.told(line.record)
            if screen.drops(record):
                continue
            record = screen.masked(record)
            if record["kind"] == "memory":
                waits = self._quarantine_of(record, foreign=look.foreign)
                derived = _derived(record) | ({"quarantined": waits} if waits else {})
                num = known[record["id"]] = writer.memory(record, derived=derived, at=at)
                if spot := look.spots.get(record["id"]):
                    rows.set_place(connection, num, spot[:3], spot[3])
                elif record["trashed_at"] is None:
                    homeless.append(num)
            elif record["kind"] == "space":
                _take_facts(connection, record)
            else:
                writer.other(record, known)
        for memory_id, found in screen.found.items():
            privacy_rows.note_masked(connection, memory_id, found, client="import", now=rows.now())
        if writer.nums.keys() != look.new.keys():
            raise InvalidInput(f"{look.path} changed while it was read; nothing was imported.")
        return list(writer.nums.values()), homeless

    def _quarantine_of(self, record: Record, *, foreign: bool) -> str:
        """Why a memory that comes in waits for a person. What an export of one's own says of it is believed."""
        if "quarantined" in record and not foreign:
            return str(record["quarantined"] or "")
        return self._suspicion(record["client"], record["content"], *record["keywords"], *record["labels"])

    def _house(self, connection: Connection, nums: Iterable[int]) -> None:
        """Place memories of the open transaction, one after the other, beside what stands."""
        space = self._space
        space.load_within()
        for num in nums:
            placement = space.place_again(space.geometry, num)
            space.geometry.change((), {num: (placement.voxel, placement.component)}, checked=False)
            space.settle(connection, num, placement)

    def _mend_after(self, connection: Connection, batch: exchange.Batch) -> None:
        """Give what falls apart without an import clusters of its own, and the space its own facts back."""
        self._space.load_within()
        table = self._space.indexes.table
        nums = table.numbers()
        damage = examine(nums, table.place[nums], table.component[nums], self._space.reader.meta(_NEXT, 1))
        rows.set_components(connection, damage.labels)
        highest = max([0, *table.component[nums].tolist(), *damage.labels.values()])
        facts: dict[str, Any] = {_NEXT: max(batch.before[_NEXT] or 1, highest + 1)}
        if not len(nums):
            facts = dict(batch.before)
        for name, value in facts.items():
            if value is None:
                rows.drop_meta(connection, name)
            else:
                rows.set_meta(connection, name, value)


def _take_facts(connection: Connection, record: Record) -> None:
    for name, value in ((_CALIBRATION, record["calibration"]), (_RECALLS, record["recalls"])):
        if value is not None:
            rows.set_meta(connection, name, value)
    rows.set_meta(connection, _NEXT, record["next_cluster"])


def _derived(record: Record) -> dict[str, Any]:
    """The columns that are worked out of a memory's text."""
    text = record["content"]
    return {
        "content_hash": ingest.content_hash(text),
        "language": language(text[: ingest.KEYWORD_TEXT]),
        "tokens": lines.tokens_of(record),
        "budget_tokens": budget_tokens(text),
    }


def _is_person(client: str) -> bool:
    return trust_of(client) is Trust.PERSON


def _anonymity(groups: Groups, memories: int) -> Anonymity:
    return Anonymity(
        groups.k, groups.level.name, memories, groups.groups, groups.below, groups.smallest, len(groups.exposed)
    )


def _told(moment: datetime) -> str:
    return exchange.told(rows.microseconds(moment))


def _moment(value: int) -> datetime:
    return datetime.fromtimestamp(value / 1e6, UTC)


def _kind_of(line: bytes) -> str:
    """The kind of an encoded line; "" for a line of Markdown."""
    return line[9 : line.index(b'"', 9)].decode() if line.startswith(b'{"kind":"') else ""
