"""What every verb that takes words stands on: secrets are masked before anything is stored, embedded, hashed or kept."""

from __future__ import annotations

from pathlib import Path
from typing import TypeVar

from tetrarium.config import Settings
from tetrarium.errors import InvalidInput
from tetrarium.lifecycle.trust import Trust, trust_of
from tetrarium.model import Draft, SecretPolicy
from tetrarium.privacy import exclusions, instructions
from tetrarium.privacy.masking import Masking
from tetrarium.recall.ranking import Scope
from tetrarium.service.door import Door, question_text
from tetrarium.storage import memories as rows
from tetrarium.storage import privacy as privacy_rows

Given = TypeVar("Given")

POLICY = "secrets"
"""Under which the space keeps its policy, among its facts."""


class Screening(Door):
    """Screens."""

    def __init__(self, folder: Path, settings: Settings) -> None:
        super().__init__(folder, settings)
        self._private = privacy_rows.PrivacyReader(self._space.database)

    def secret_policy(self) -> SecretPolicy:
        """What this space does with secrets: as a person set it, else as the settings have it."""
        kept = self._space.reader.meta(POLICY)
        return SecretPolicy(**kept) if kept else SecretPolicy(self.settings.secrets, bool(self.settings.mask_mail))

    def _masking(self) -> Masking:
        return Masking(self.secret_policy())

    def _project(self, project: Given) -> Given:
        """A project as it is stored: with its secrets masked, so that it is found under the name that holds them."""
        return self._masking().text(project, "project")

    def _scope(self, project: str | None, state: str, *, beside: int | None = None, of_person: bool = False) -> Scope:
        return super()._scope(self._project(project), state, beside=beside, of_person=of_person)

    def _question(self, query: object) -> str:
        """A question as it is ranked and kept: one line, its secrets masked."""
        return self._masking().text(question_text(query), "question")

    def _note_masked(self, masking: Masking, client: str) -> None:
        """Write down secrets of a request that stored nothing."""
        if masking.found and self._space.database.writable:
            with self._space.database.write() as connection:
                privacy_rows.note_masked(connection, "", masking.found, client=client, now=rows.now())

    def _refuse_secrets(self, masking: Masking, client: str) -> None:
        """Raises InvalidInput where the space refuses secrets and the request holds some."""
        if masking.is_refused:
            self._note_masked(masking, client)
            raise InvalidInput(
                f"The text holds a secret ({', '.join(dict.fromkeys(masking.kinds()))}), which this space refuses; "
                "nothing changed.",
                advice="Say it without the secret.",
            )

    def _suspicion(self, client: str, *texts: str) -> str:
        """Why words of this client go into quarantine, or ""; a person's never do."""
        return "" if trust_of(client) is Trust.PERSON else instructions.suspicion("\n".join(texts))

    def _unwanted(self, draft: Draft, hide: Masking) -> str:
        """Why a person does not want this stored, or ""."""
        if hide.is_refused:
            return "Not stored: it holds a secret, which this space refuses. Say it without the secret."
        source = draft.source
        subject = exclusions.Subject(
            " ".join((draft.content, *draft.keywords, *draft.labels)),
            draft.tokens,
            source.file,
            source.project,
            source.client,
        )
        for exclusion in self._private.exclusions():
            if exclusions.matches(exclusion.kind, exclusion.pattern, subject):
                return f"Not stored: a person excluded this {exclusion.kind} (exclusion {exclusion.id})."
        return ""
