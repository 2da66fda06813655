"""What the Privacy panel asks: the audit and its proof, secrets, exclusions, the key, and whether a text is gone."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject

from tetrarium.errors import UserError
from tetrarium.model import (
    AuditFlag,
    AuditProof,
    Exclusion,
    MaskedSecret,
    Recoding,
    SecretPolicy,
    SecretScan,
    SpaceStats,
)
from tetrarium_gui.bridge import CLIENT, notice_of
from tetrarium_gui.panels.audit_log import AuditFilter
from tetrarium_gui.wiring.desk import Desk
from tetrarium_gui.wiring.seen import WhenSeen
from tetrarium_gui.words import t
from tetrarium_gui.worker import Recode, Verb, lock_of

PAUSE = 1_000
"""Milliseconds between two looks: an agent that stores without pause changes the audit all the time."""
ROWS = 300
"""Rows of the audit, and masked secrets, that the window lists."""

Found = tuple[tuple[AuditFlag, ...], SecretPolicy, tuple[MaskedSecret, ...], tuple[Exclusion, ...], str]
OWN_READS = "audit_own_reads"
"""The setting that keeps whether the audit lists what this window read."""


class Privacy(QObject):
    """Connects the Privacy panel with the bridge."""

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk.window)
        self._desk, self._panel = desk, desk.panels.privacy
        self._folder: Path | None = None
        audit, secrets, exclusions, keys = (
            self._panel.audit,
            self._panel.secrets,
            self._panel.exclusions,
            self._panel.keys,
        )
        audit.own.setChecked(bool(desk.settings.value(OWN_READS, False, type=bool)))
        audit.own.toggled.connect(lambda on: desk.settings.setValue(OWN_READS, on))
        audit.narrowed.connect(self._list)
        audit.proof_asked.connect(self.prove_chain)
        secrets.policy_chosen.connect(self.choose_policy)
        secrets.scan_asked.connect(self.scan)
        secrets.mask_asked.connect(self.mask_stored)
        secrets.memory_selected.connect(desk.state.select)
        secrets.memory_opened.connect(desk.open_memory)
        exclusions.trial_asked.connect(self.try_exclusion)
        exclusions.add_asked.connect(self.exclude)
        exclusions.remove_asked.connect(self.include_again)
        exclusions.waiting_asked.connect(self._show_waiting)
        keys.recode_asked.connect(self.recode)
        keys.proof_asked.connect(self.prove_deleted)
        self._due = WhenSeen(desk.docks["privacy"], self._ask, PAUSE)
        self._proved = False
        desk.bridge.opened.connect(self._due.ask)
        desk.bridge.changed.connect(lambda _: self._due.ask())
        desk.bridge.happened.connect(lambda _: self._due.ask())
        desk.bridge.stats_ready.connect(self._take_stats)
        self._panel.page_shown.connect(self._due.ask)

    # --- audit ------------------------------------------------------------------------------------
    def prove_chain(self) -> None:
        """Follow the chain of the audit from its start."""
        self._desk.bridge.ask("audit proof", lambda s: s.verify_audit(), self._take_proof)

    def _list(self, wanted: AuditFilter) -> None:
        since = datetime.now(UTC) - timedelta(hours=wanted.hours) if wanted.hours else None

        def verb(s: Any) -> Any:
            return s.audit(
                limit=ROWS,
                client=wanted.client,
                verb=wanted.verb,
                memory_id=wanted.memory_id,
                since=since,
                unread_by="" if wanted.own_reads or wanted.client == CLIENT else CLIENT,
            )

        self._desk.bridge.ask("audit", verb, self._panel.audit.show_entries)

    def _take_proof(self, proof: AuditProof) -> None:
        self._panel.audit.show_proof(proof)

    # --- secrets ----------------------------------------------------------------------------------
    def choose_policy(self, action: str, mail: bool) -> None:
        """Mask, refuse or allow secrets from now on."""

        def told(policy: SecretPolicy) -> None:
            self._panel.secrets.show_policy(policy)
            self._desk.tell(t(f"privacy.{policy.action}_chosen"))

        self._desk.bridge.edit(lambda s: s.set_secret_policy(action, mail=mail, client=CLIENT), told)

    def scan(self) -> None:
        """What the rules find in what is stored now; nothing changes."""
        self._desk.bridge.ask("scan", lambda s: s.scan_secrets(), self._panel.secrets.show_scan)

    def mask_stored(self) -> None:
        """Mask what the scan found, in the texts, versions and backups; what it was is erased."""

        def told(scan: SecretScan) -> None:
            self._desk.tell(t("privacy.masked_now", count=len(scan.memories)))
            self._panel.secrets.found.hide()
            self._due.ask()

        self._desk.bridge.edit(lambda s: s.mask_stored(client=CLIENT), told)

    # --- exclusions -------------------------------------------------------------------------------
    def try_exclusion(self, kind: str, pattern: str) -> None:
        self._desk.bridge.ask("trial", lambda s: s.try_exclusion(kind, pattern), self._panel.exclusions.show_trial)

    def exclude(self, kind: str, pattern: str) -> None:
        def told(_: object) -> None:
            self._panel.exclusions.clear_pattern()
            self._desk.tell(t("privacy.excluded_now"), t("privacy.excluded_advice"))
            self._due.ask()

        self._desk.bridge.edit(lambda s: s.exclude(kind, pattern, client=CLIENT), told)

    def include_again(self, number: int) -> None:
        self._do(lambda s: s.include_again(number, client=CLIENT), t("privacy.included_again"))

    def _show_waiting(self) -> None:
        """The quarantine has its own page in Inhibition, where each memory is read, released or trashed."""
        self._desk.docks.show("inhibition")
        self._desk.panels.inhibition.show_page("waiting")

    # --- key and proof ----------------------------------------------------------------------------
    def recode(self, way: str, old: str | None, new: str | None) -> None:
        """Another key, a first one, or none any more. The space closes for it and opens again."""
        keys = self._panel.keys
        if self._folder is None:
            keys.tell("")
            return

        def told(done: Recoding) -> None:
            keys.forget()
            keys.tell("")
            lost = t("keys.lost", names=", ".join(done.lost)) if done.lost else ""
            plain = t("keys.plain", names=", ".join(done.plain)) if done.plain else ""
            self._desk.tell(t(f"keys.{way}_done"), " ".join(filter(None, (lost, plain))) or t("keys.done_advice"))
            self._due.ask()

        def refused(error: Exception) -> bool:
            notice = notice_of(error)
            keys.tell(f"{notice.message} {notice.advice}".strip())
            return isinstance(error, UserError)

        self._desk.bridge.recode(Recode(way, old, new), self._folder, told, otherwise=refused)

    def prove_deleted(self, text: str) -> None:
        """Search every file of the space for a text."""
        self._desk.bridge.ask("proof", lambda s: s.prove_deleted(text), self._panel.keys.show_proof)

    # --- inside -----------------------------------------------------------------------------------
    def _do(self, verb: Verb, words: str) -> None:
        def told(_: object) -> None:
            self._desk.tell(words)
            self._due.ask()

        self._desk.bridge.edit(verb, told)

    def _ask(self) -> None:
        self._list(self._panel.audit.filter())
        self._desk.bridge.ask(
            "privacy",
            lambda s: (
                s.audit_flags(), s.secret_policy(), s.masked(limit=ROWS), s.exclusions(),
                lock_of(s.path),
            ),
            self._take,
        )  # fmt: skip
        if not self._proved:
            self._proved = True
            self.prove_chain()

    def _take(self, found: Found) -> None:
        flags, policy, masked, exclusions, lock = found
        self._panel.audit.show_flags(flags)
        self._panel.secrets.show_policy(policy)
        self._panel.secrets.show_masked(masked)
        self._panel.exclusions.show_exclusions(exclusions)
        if lock != self._panel.keys.lock:
            self._panel.keys.show_lock(lock)

    def _take_stats(self, stats: SpaceStats) -> None:
        self._folder = Path(stats.space)
        self._panel.exclusions.show_waiting(stats.quarantined)
