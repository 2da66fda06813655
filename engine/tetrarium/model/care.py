"""What keeps a space safe: forgetting, masking, copies, checks, the audit, encryption."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


@dataclass(frozen=True, slots=True)
class Forgetting:
    """What a filter would put, or has put, into the trash.

    done: it is in the trash now; confirm: the token that makes it so, valid while the same memories match; examples:
    (id, first words) of some, no words of inhibited ones; spared: matching ones that stay (pinned, or a person's).
    """

    done: bool
    total: int
    by_category: dict[str, int]
    examples: tuple[tuple[str, str], ...]
    spared: int
    confirm: str
    ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class MaskedSecret:
    """One secret that was masked: its kind and where it stood, never what it was. memory: "" where nothing was stored."""

    kind: str
    field: str
    memory: str
    client: str
    at: datetime


@dataclass(frozen=True, slots=True)
class SecretPolicy:
    """What a space does with secrets: mask them, refuse the memory, or allow them. mail: e-mail addresses count too."""

    action: str = "mask"
    mail: bool = False


@dataclass(frozen=True, slots=True)
class SecretScan:
    """Secrets that the rules find in what is stored now. by_kind: finds; memories: ids of those that hold any."""

    by_kind: dict[str, int]
    memories: tuple[str, ...]
    looked_at: int


@dataclass(frozen=True, slots=True)
class Exclusion:
    """What is never stored. kind: pattern (text, * for anything), topic (words), folder (path), client (name)."""

    id: int
    kind: str
    pattern: str
    added_at: datetime


@dataclass(frozen=True, slots=True)
class ExclusionTrial:
    """What an exclusion would have kept out of what is stored now: how many, and some of them as (id, first words)."""

    total: int
    of: int
    examples: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Residue:
    """Bytes of a text that were found. form: as what (UTF-8, base64 …); inside: of which compressed part, or ""."""

    file: str
    offset: int
    form: str
    inside: str = ""


@dataclass(frozen=True, slots=True)
class DeletionProof:
    """What a search of every file of a space for a text found; proved when `residues` is empty.

    forms: how many byte strings were looked for; compressed: parts that were unpacked; skipped: words of the text that
    kept memories use too and that say nothing; still_stored: ids of memories that hold the text.
    """

    files: int
    bytes: int
    forms: int
    compressed: int
    skipped: tuple[str, ...]
    still_stored: tuple[str, ...]
    residues: tuple[Residue, ...]

    @property
    def is_gone(self) -> bool:
        return not self.residues and not self.still_stored


@dataclass(frozen=True, slots=True)
class PendingErasure:
    """A memory that is gone from the store while files may still hold bytes of it; it is gone on with by itself.

    backups: copies of the store that lie in the space, of which some may hold it until then.
    """

    memory: str
    asked_at: datetime
    backups: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Backup:
    """A copy of the space. cause: daily, migration, deletion, plan, restore, repair, or asked; memories: −1 unknown."""

    name: str
    at: datetime
    cause: str
    bytes: int
    memories: int


@dataclass(frozen=True, slots=True)
class RestorePreview:
    """What going back to a backup would change in the space.

    returning, leaving, changing: how many memories would come back, go, or read otherwise; staying: the same in both.
    examples: (what, id, first words), at most a few of each kind.
    """

    backup: Backup
    returning: int
    leaving: int
    changing: int
    staying: int
    examples: tuple[tuple[str, str, str], ...]


@dataclass(frozen=True, slots=True)
class RestoreOnePreview:
    """What bringing one memory back from a backup would change.

    here: "live", "in the trash" or "gone"; differing: what reads otherwise (text, keywords …), none of one that is gone;
    then, now: its text in the backup and in the space ("" where it is gone).
    """

    backup: Backup
    memory_id: str
    here: str
    differing: tuple[str, ...]
    then: str
    now: str

    @property
    def changes(self) -> bool:
        """Whether there is anything to bring back."""
        return bool(self.differing) or self.here != "live"


class CheckState(StrEnum):
    """How one part of a space is."""

    OK = "ok"
    WARN = "warn"
    BAD = "bad"


@dataclass(frozen=True, slots=True)
class HealthCheck:
    """One part of a space that was looked at. words: what was found; remedy: what a person can do, or "".

    repairable: `heal` puts it right. examples: ids or names, at most a few.
    """

    name: str
    state: CheckState
    words: str
    remedy: str = ""
    repairable: bool = False
    count: int = 0
    examples: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Health:
    """How a space is, part by part. kept: the backup that was made before a repair, or ""."""

    version: int
    at: datetime
    checks: tuple[HealthCheck, ...]
    kept: str = ""

    @property
    def state(self) -> CheckState:
        """The worst of its parts."""
        order = (CheckState.BAD, CheckState.WARN)
        return next((state for state in order if any(c.state is state for c in self.checks)), CheckState.OK)


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """One read or write: who, when, how many memories. kind: read, write, delete, inhibit, refused (nothing changed)."""

    seq: int
    at: datetime
    verb: str
    kind: str
    client: str
    session: str
    count: int


@dataclass(frozen=True, slots=True)
class AuditProof:
    """Whether the audit is whole. anchor: COUNT:HASH of its end, to be kept elsewhere and asked for later;
    first_bad: 0 when it is sound, else the row, the kind (altered, dropped, reordered, truncated) and why."""

    rows: int
    anchor: str
    first_bad: int = 0
    kind: str = ""
    why: str = ""

    @property
    def is_sound(self) -> bool:
        return not self.first_bad


@dataclass(frozen=True, slots=True)
class AuditFlag:
    """Unusual behaviour: a client read, deleted or inhibited (kind) so many memories within a short time from `since`."""

    kind: str
    client: str
    count: int
    since: datetime

    @property
    def words(self) -> str:
        """The same as a sentence without its end; what the client calls itself stands first."""
        done = {"read": "read", "delete": "deleted", "inhibit": "inhibited"}[self.kind]
        return f"{self.client or '(no client named)'} {done} {self.count} memories from {self.since:%Y-%m-%d %H:%M} on"


@dataclass(frozen=True, slots=True)
class Recoding:
    """What an encryption, decryption or change of key did. lost: backups that could not be read and were destroyed;
    plain: SQLite files in the folder that are still readable by anybody, which are not ours to touch."""

    folder: str
    encrypted: bool
    lost: tuple[str, ...]
    plain: tuple[str, ...]
