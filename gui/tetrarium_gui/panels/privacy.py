"""What a space keeps to itself: who touched it, what was masked, what is never stored, its key, and proofs of deletion."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QScrollArea, QTabWidget, QVBoxLayout, QWidget

from tetrarium_gui.panels.audit_log import AuditView
from tetrarium_gui.panels.guards import ExclusionsView, SecretsView
from tetrarium_gui.panels.keys import KeysView
from tetrarium_gui.style import Theme
from tetrarium_gui.words import t


class PrivacyPanel(QWidget):
    """Four pages; each emits what a person decides, and shows records."""

    page_shown = Signal()

    def __init__(self, theme: Theme, excerpt_of: Callable[[str], str], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.audit, self.secrets = AuditView(theme), SecretsView(theme, excerpt_of)
        self.exclusions, self.keys = ExclusionsView(theme), KeysView(theme)
        self.tabs = QTabWidget()
        self.tabs.setDocumentMode(True)
        for name, page in (
            ("audit", self.audit),
            ("secrets", self.secrets),
            ("exclusions", self.exclusions),
            ("keys", _scrolled(self.keys, "privacy.tab_keys")),
        ):
            at = self.tabs.addTab(page, t(f"privacy.tab_{name}"))
            self.tabs.setTabToolTip(at, t(f"privacy.tab_{name}_tip"))
        self.tabs.currentChanged.connect(lambda _: self.page_shown.emit())
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self.tabs)
        self.setFocusProxy(self.tabs.tabBar())

    def set_theme(self, theme: Theme) -> None:
        for page in (self.audit, self.secrets, self.exclusions, self.keys):
            page.set_theme(theme)


def _scrolled(inner: QWidget, name: str) -> QScrollArea:
    area = QScrollArea()
    area.setAccessibleName(t(name))
    area.setWidgetResizable(True)
    area.setWidget(inner)
    return area
