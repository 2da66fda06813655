"""The schema, as named steps. Each step and the record that it ran are one transaction.

`user_version` is the number of steps applied; a file with more steps than this program knows is refused
before it is opened for writing (database.py).
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

import apsw

from tetrarium.storage import seals

TOKEN_CHARACTERS = "._/:@+#-"
"""Characters, beside letters and digits, that our tokens may hold (tokens.py); FTS5 must not split at them."""


def _first_schema(connection: apsw.Connection) -> None:
    connection.execute(
        f"""
        CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
        CREATE TABLE memories (
            num INTEGER PRIMARY KEY AUTOINCREMENT,
            id TEXT NOT NULL UNIQUE,
            content TEXT NOT NULL,
            content_hash BLOB NOT NULL,
            keywords TEXT NOT NULL, labels TEXT NOT NULL, entities TEXT NOT NULL,
            category TEXT NOT NULL, memory_type TEXT NOT NULL,
            importance REAL NOT NULL CHECK (importance BETWEEN 0 AND 1),
            language TEXT NOT NULL,
            tokens TEXT NOT NULL,
            budget_tokens INTEGER NOT NULL,
            client TEXT NOT NULL, author TEXT NOT NULL, session TEXT NOT NULL, position INTEGER NOT NULL,
            project TEXT NOT NULL, file TEXT NOT NULL,
            created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL, expires_at INTEGER,
            last_accessed_at INTEGER, access_count INTEGER NOT NULL DEFAULT 0,
            revision INTEGER NOT NULL DEFAULT 1,
            trashed_at INTEGER
        );
        CREATE INDEX memories_by_hash ON memories (content_hash);
        CREATE INDEX memories_by_session ON memories (session, position) WHERE session <> '';
        CREATE TABLE versions (
            num INTEGER NOT NULL REFERENCES memories ON DELETE CASCADE,
            revision INTEGER NOT NULL,
            content TEXT NOT NULL, keywords TEXT NOT NULL, labels TEXT NOT NULL,
            category TEXT NOT NULL, importance REAL NOT NULL,
            replaced_at INTEGER NOT NULL, cause TEXT NOT NULL,
            PRIMARY KEY (num, revision)
        ) WITHOUT ROWID;
        CREATE TABLE vectors (
            num INTEGER PRIMARY KEY REFERENCES memories ON DELETE CASCADE,
            model TEXT NOT NULL,
            vector BLOB NOT NULL
        );
        CREATE TABLE places (
            num INTEGER PRIMARY KEY REFERENCES memories ON DELETE CASCADE,
            i INTEGER NOT NULL, j INTEGER NOT NULL, k INTEGER NOT NULL,
            component INTEGER NOT NULL,
            UNIQUE (i, j, k)
        );
        CREATE TABLE inhibitions (
            edge INTEGER PRIMARY KEY AUTOINCREMENT,
            target INTEGER NOT NULL REFERENCES memories ON DELETE CASCADE,
            successor INTEGER REFERENCES memories ON DELETE SET NULL,
            reason TEXT NOT NULL, author TEXT NOT NULL,
            created_at INTEGER NOT NULL, lifted_at INTEGER
        );
        CREATE INDEX inhibitions_in_force ON inhibitions (target) WHERE lifted_at IS NULL;
        CREATE INDEX inhibitions_by_successor ON inhibitions (successor) WHERE lifted_at IS NULL;
        CREATE TABLE requests (
            key TEXT PRIMARY KEY, -- "project" LF "key": a client's keys are its own
            content_hash BLOB NOT NULL,
            num INTEGER NOT NULL REFERENCES memories ON DELETE CASCADE,
            result TEXT NOT NULL
        ) WITHOUT ROWID;
        CREATE TABLE changes (
            seq INTEGER PRIMARY KEY AUTOINCREMENT,
            num INTEGER NOT NULL,
            op TEXT NOT NULL,
            at INTEGER NOT NULL
        );
        CREATE VIRTUAL TABLE fulltext USING fts5 (
            tokens, content='memories', content_rowid='num',
            tokenize="unicode61 remove_diacritics 0 tokenchars '{TOKEN_CHARACTERS}'"
        );
        INSERT INTO fulltext (fulltext, rank) VALUES ('secure-delete', 1);
        CREATE VIRTUAL TABLE vocabulary USING fts5vocab (fulltext, 'row');
        """
    )


def _arrangement(connection: apsw.Connection) -> None:
    """What people call clusters, what became of cluster ids, and every move of a memory, for ever."""
    connection.execute(
        """
        CREATE TABLE cluster_names (
            cluster INTEGER PRIMARY KEY, name TEXT NOT NULL, author TEXT NOT NULL, given_at INTEGER NOT NULL
        );
        CREATE TABLE cluster_aliases (alias INTEGER PRIMARY KEY, cluster INTEGER NOT NULL);
        CREATE TABLE cluster_origins (cluster INTEGER PRIMARY KEY, origin INTEGER NOT NULL, cause TEXT NOT NULL);
        CREATE TABLE plans (
            id TEXT PRIMARY KEY, cause TEXT NOT NULL, why TEXT NOT NULL, undoes TEXT NOT NULL, started_at INTEGER NOT NULL
        ) WITHOUT ROWID;
        CREATE INDEX plans_by_undone ON plans (undoes) WHERE undoes <> '';
        CREATE TABLE moves (
            seq INTEGER PRIMARY KEY AUTOINCREMENT,
            plan TEXT NOT NULL REFERENCES plans, step INTEGER NOT NULL, num INTEGER NOT NULL,
            from_i INTEGER, from_j INTEGER, from_k INTEGER, from_component INTEGER,
            to_i INTEGER NOT NULL, to_j INTEGER NOT NULL, to_k INTEGER NOT NULL, to_component INTEGER NOT NULL,
            at INTEGER NOT NULL
        );
        CREATE INDEX moves_by_plan ON moves (plan, seq);
        CREATE INDEX moves_by_memory ON moves (num, seq);
        CREATE TRIGGER moves_never_change BEFORE UPDATE ON moves BEGIN SELECT RAISE(ABORT, 'moves are append-only'); END;
        CREATE TRIGGER moves_never_go BEFORE DELETE ON moves BEGIN SELECT RAISE(ABORT, 'moves are append-only'); END;
        """
    )


def _corrections_and_counters(connection: apsw.Connection) -> None:
    """What a memory has proved (feedback, different questions, repetitions), what a person pinned, what may contradict."""
    connection.execute(
        """
        ALTER TABLE memories ADD COLUMN pinned INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE memories ADD COLUMN helped INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE memories ADD COLUMN misled INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE memories ADD COLUMN distinct_queries INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE memories ADD COLUMN stored_again INTEGER NOT NULL DEFAULT 0;
        CREATE TABLE feedback (
            num INTEGER NOT NULL REFERENCES memories ON DELETE CASCADE,
            recall TEXT NOT NULL, client TEXT NOT NULL,
            helped INTEGER NOT NULL, at INTEGER NOT NULL,
            PRIMARY KEY (num, recall, client)
        ) WITHOUT ROWID;
        CREATE TABLE asked (
            num INTEGER NOT NULL REFERENCES memories ON DELETE CASCADE,
            question BLOB NOT NULL,
            PRIMARY KEY (num, question)
        ) WITHOUT ROWID;
        CREATE TABLE contradictions (
            newer INTEGER NOT NULL REFERENCES memories ON DELETE CASCADE,
            older INTEGER NOT NULL REFERENCES memories ON DELETE CASCADE,
            why TEXT NOT NULL, found_at INTEGER NOT NULL, dismissed_at INTEGER,
            PRIMARY KEY (newer, older)
        ) WITHOUT ROWID;
        CREATE INDEX contradictions_by_older ON contradictions (older);
        """
    )


def _relations(connection: apsw.Connection) -> None:
    """Typed relations between memories, as people and agents state them; a removed one stays as history."""
    connection.execute(
        """
        CREATE TABLE relations (
            edge INTEGER PRIMARY KEY AUTOINCREMENT,
            source INTEGER NOT NULL REFERENCES memories ON DELETE CASCADE,
            target INTEGER NOT NULL REFERENCES memories ON DELETE CASCADE,
            kind TEXT NOT NULL, note TEXT NOT NULL, author TEXT NOT NULL,
            created_at INTEGER NOT NULL, removed_at INTEGER,
            CHECK (source <> target)
        );
        CREATE UNIQUE INDEX relations_in_force ON relations (source, target, kind) WHERE removed_at IS NULL;
        CREATE INDEX relations_by_target ON relations (target) WHERE removed_at IS NULL;
        """
    )


def _history(connection: apsw.Connection) -> None:
    """Operations with their effects, so that each can be taken back; what versions lacked to come back exactly; a hash for every row."""
    connection.execute(
        """
        CREATE TABLE history (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            op TEXT NOT NULL, client TEXT NOT NULL, at INTEGER NOT NULL
        );
        CREATE INDEX history_by_client ON history (client, id);
        CREATE TABLE effects (
            seq INTEGER PRIMARY KEY AUTOINCREMENT,
            entry INTEGER NOT NULL REFERENCES history, num INTEGER NOT NULL,
            aspect TEXT NOT NULL, key TEXT NOT NULL,
            before, after -- states: numbers or a short JSON text, never content
        );
        CREATE INDEX effects_by_entry ON effects (entry, seq);
        CREATE INDEX effects_by_memory ON effects (num, aspect, entry);
        CREATE INDEX effects_by_plan ON effects (key) WHERE aspect = 'plan';
        CREATE TABLE undoings (
            entry INTEGER NOT NULL REFERENCES history, undoes INTEGER NOT NULL REFERENCES history,
            PRIMARY KEY (entry, undoes)
        ) WITHOUT ROWID;
        CREATE TRIGGER effects_never_change BEFORE UPDATE ON effects BEGIN SELECT RAISE(ABORT, 'history is append-only'); END;
        CREATE TRIGGER effects_never_go BEFORE DELETE ON effects BEGIN SELECT RAISE(ABORT, 'history is append-only'); END;
        CREATE TRIGGER history_never_changes BEFORE UPDATE ON history BEGIN SELECT RAISE(ABORT, 'history is append-only'); END;
        CREATE TRIGGER history_never_goes BEFORE DELETE ON history BEGIN SELECT RAISE(ABORT, 'history is append-only'); END;
        CREATE TABLE seals ( -- hashes of rows: seals.py
            kind INTEGER NOT NULL, num INTEGER NOT NULL, part INTEGER NOT NULL, seal INTEGER NOT NULL,
            PRIMARY KEY (kind, num, part)
        ) WITHOUT ROWID;
        ALTER TABLE versions ADD COLUMN entities TEXT NOT NULL DEFAULT '';
        ALTER TABLE versions ADD COLUMN tokens TEXT NOT NULL DEFAULT '';
        ALTER TABLE versions ADD COLUMN expires_at INTEGER;
        """
    )
    _requests_with_their_text(connection)


def _requests_with_their_text(connection: apsw.Connection) -> None:
    """The first spaces kept no hash of the text beside a client's key, and no project in it."""
    if connection.execute("SELECT 1 FROM pragma_table_info('requests') WHERE name = 'content_hash'").fetchall():
        return
    connection.execute(
        """
        ALTER TABLE requests RENAME TO requests_before;
        CREATE TABLE requests (
            key TEXT PRIMARY KEY, content_hash BLOB NOT NULL,
            num INTEGER NOT NULL REFERENCES memories ON DELETE CASCADE, result TEXT NOT NULL
        ) WITHOUT ROWID;
        INSERT INTO requests SELECT m.project || char(10) || r.key, m.content_hash, r.num, r.result
            FROM requests_before r JOIN memories m USING (num);
        DROP TABLE requests_before;
        """
    )


def _audit(connection: apsw.Connection) -> None:
    """Who read and wrote what, append-only; and what was imported, so that it can be taken back."""
    connection.execute(
        """
        CREATE TABLE audit (
            seq INTEGER PRIMARY KEY AUTOINCREMENT, -- sqlite_sequence tells how many there were
            at INTEGER NOT NULL, verb TEXT NOT NULL, kind TEXT NOT NULL,
            client TEXT NOT NULL, session TEXT NOT NULL,
            count INTEGER NOT NULL, ids BLOB NOT NULL, -- keyed hashes of memory ids, 8 bytes each
            hash BLOB NOT NULL -- keyed, of this row and the hash before it
        );
        CREATE TRIGGER audit_never_changes BEFORE UPDATE ON audit BEGIN SELECT RAISE(ABORT, 'audit is append-only'); END;
        CREATE TRIGGER audit_never_goes BEFORE DELETE ON audit BEGIN SELECT RAISE(ABORT, 'audit is append-only'); END;
        CREATE TABLE imports (
            batch TEXT PRIMARY KEY, file TEXT NOT NULL, client TEXT NOT NULL,
            added TEXT NOT NULL, before TEXT NOT NULL, at INTEGER NOT NULL, undone_at INTEGER
        ) WITHOUT ROWID;
        CREATE TABLE imported (
            batch TEXT NOT NULL REFERENCES imports,
            num INTEGER NOT NULL REFERENCES memories ON DELETE CASCADE,
            revision INTEGER NOT NULL,
            PRIMARY KEY (batch, num)
        ) WITHOUT ROWID;
        CREATE INDEX imported_by_memory ON imported (num);
        """
    )


def _retries(connection: apsw.Connection) -> None:
    """What the transactions of a call wrote, for a while, so that the call may be sent again."""
    connection.execute(
        """
        CREATE TABLE retries (
            key TEXT NOT NULL, step INTEGER NOT NULL, result TEXT NOT NULL, at INTEGER NOT NULL,
            PRIMARY KEY (key, step)
        ) WITHOUT ROWID;
        CREATE INDEX retries_by_age ON retries (at);
        """
    )


def _privacy(connection: apsw.Connection) -> None:
    """What was masked (never what it was), what is never stored, what waits for a person, what is being erased."""
    connection.execute(
        """
        ALTER TABLE memories ADD COLUMN quarantined TEXT NOT NULL DEFAULT ''; -- why, or ''
        CREATE TABLE masked (
            seq INTEGER PRIMARY KEY AUTOINCREMENT,
            memory TEXT NOT NULL, -- its id, or '' where nothing was stored
            kind TEXT NOT NULL, field TEXT NOT NULL, client TEXT NOT NULL, at INTEGER NOT NULL
        );
        CREATE TABLE exclusions (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            kind TEXT NOT NULL, pattern TEXT NOT NULL, added_at INTEGER NOT NULL,
            UNIQUE (kind, pattern)
        );
        CREATE TABLE erasures ( -- ids of what is gone from the store, until no file holds a byte of it
            memory TEXT PRIMARY KEY, how TEXT NOT NULL, at INTEGER NOT NULL
        ) WITHOUT ROWID;
        """
    )


def _passages(connection: apsw.Connection) -> None:
    """Embeddings of the parts of long memories, beside the one of the whole."""
    connection.execute(
        """
        CREATE TABLE passages (
            num INTEGER NOT NULL REFERENCES memories ON DELETE CASCADE,
            part INTEGER NOT NULL,
            model TEXT NOT NULL,
            vector BLOB NOT NULL,
            PRIMARY KEY (num, part)
        ) WITHOUT ROWID;
        """
    )


STEPS: tuple[tuple[str, Callable[[apsw.Connection], None]], ...] = (
    ("0001_first_schema", _first_schema),
    ("0002_arrangement", _arrangement),
    ("0003_corrections_and_counters", _corrections_and_counters),
    ("0004_relations", _relations),
    ("0005_history", _history),
    ("0006_audit", _audit),
    ("0007_retries", _retries),
    ("0008_privacy", _privacy),
    ("0009_passages", _passages),
)
"""In order; never edited once released, only added to."""

SCHEMA_VERSION = len(STEPS)


def apply(connection: apsw.Connection, *, application_id: int) -> None:
    """Bring an open space up to date. A failing step leaves the file as it was before that step."""
    if connection.pragma("user_version") == SCHEMA_VERSION:
        return
    connection.execute("BEGIN IMMEDIATE")
    try:
        # Read again under the lock: another process may have been first.
        before = connection.pragma("user_version")
        for number in range(before, SCHEMA_VERSION):
            name, step = STEPS[number]
            step(connection)
            connection.execute(
                "CREATE TABLE IF NOT EXISTS migrations (name TEXT PRIMARY KEY, applied_at TEXT NOT NULL)"
            )
            connection.execute("INSERT INTO migrations VALUES (?, datetime('now'))", (name,))
            connection.execute(f"PRAGMA user_version={number + 1}")
        if before < SCHEMA_VERSION:
            # Steps change rows and columns: what they leave is taken as sound.
            seals.know(connection)
            seals.seal_all(connection)
        connection.execute(f"PRAGMA application_id={application_id}")
        connection.execute("COMMIT")
    except BaseException:
        # SQLite has rolled back by itself where the disk failed or is full; what is left to do may fail there, too.
        with suppress(apsw.Error):
            if connection.in_transaction:
                connection.execute("ROLLBACK")
        raise
