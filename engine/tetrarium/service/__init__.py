"""The one door. MCP tools, command line and window are one-line translations of these verbs.

Everything runs on one thread (the lane is the lock). A verb that writes is one transaction; what was
acknowledged is on disk. A recall or search writes nothing: accesses are counted later, in `maintain`.

    door       what every verb stands on
    screening  what verbs that take words stand on: secrets masked first
    storing    store, record_decision, learn_pattern
    asking     search, recall, gather, explain, trace(s)
    briefing   brief: what matters of a project before anybody asks
    editing    get, update, inhibit, release, feedback, forget, restore, contradictions …
    erasing    erase, trash, prove_deleted
    guarding   secrets, exclusions, quarantine
    looking    page, snapshot, snapshot_since, stats
    arranging  clusters: walk, name, plan, apply, undo, examine, repair
    curating   trashed, corrections, amend_inhibition, inhibit_all, label_all, let_through, void_again, tune
    rehearsing rehearse: a recall of before under other premises
    keeping    backup, backups, preview_restore(_memory), restore_backup, restore_memory; the daily copy
    healing    health, heal
    undoing    history, undo, redo, undo_client
    locking    encrypt, decrypt, rekey: on a closed space; lock_of; open_space unlocks
    exchange   export, anonymity, preview_import, import_file, imports, undo_import
    auditing   audit, verify_audit, audit_flags; auditor notes every verb, in one place
"""

from tetrarium.lifecycle.trust import SAMPLE, WINDOW
from tetrarium.service.door import EVERYWHERE
from tetrarium.service.keeping import backup_for_damaged, restore_damaged
from tetrarium.service.locking import decrypt, encrypt, lock_of, rekey
from tetrarium.service.memory_service import MemoryService, fill_sample, kept_snapshot, open_space

__all__ = [
    "EVERYWHERE",
    "SAMPLE",
    "WINDOW",
    "MemoryService",
    "backup_for_damaged",
    "decrypt",
    "encrypt",
    "fill_sample",
    "kept_snapshot",
    "lock_of",
    "open_space",
    "rekey",
    "restore_damaged",
]
