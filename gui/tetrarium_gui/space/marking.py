"""Several memories at once: marks, and what is shown – the part of the view that choosing and the legend act on."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from tetrarium.model import Bool
from tetrarium_gui.space import choosing
from tetrarium_gui.space.camera import Camera
from tetrarium_gui.space.coloring import Visibility
from tetrarium_gui.space.scene import Scene
from tetrarium_gui.state import WindowState


class Marking:
    """Mixed into the view, whose state, scene and visibility these are."""

    state: WindowState
    scene: Scene | None
    camera: Camera
    visibility: Visibility
    _away: Bool

    def _take_visibility(self) -> None:
        """What is shown has changed."""
        raise NotImplementedError

    def chosen(self) -> frozenset[str]:
        """The marked memories, else the selected one."""
        return frozenset(self.state.chosen or ([self.state.selected] if self.state.selected else ()))

    def isolate(self) -> None:
        """Show the chosen memories alone."""
        if chosen := self.chosen():
            self.visibility.isolated = chosen
            self._take_visibility()

    def hide_chosen(self) -> None:
        """Hide the chosen memories; they stay as they are."""
        if chosen := self.chosen():
            self.visibility.hidden |= chosen
            self.state.choose(())
            self._take_visibility()

    def show_everything(self) -> None:
        """Take isolation, hiding and the legend's filters back."""
        self.visibility.show_all()
        self._take_visibility()

    def filter_class(self, index: int) -> None:
        """Filter a class of the legend away, or show it again."""
        self.visibility.toggle(index)
        self._take_visibility()

    def mark_rest(self) -> None:
        """Mark what is shown and not marked."""
        if self.scene is not None:
            self._mark(choosing.rest(self.scene, frozenset(self.state.chosen), self._away))

    def mark_touching(self) -> None:
        """Let the marks grow by one step over shared vertices."""
        if self.scene is not None:
            self._mark(self.chosen().union(choosing.touching(self.scene, self.chosen())))

    def mark_cluster(self) -> None:
        """Mark the whole cluster of the selected memory."""
        scene = self.scene
        if scene is not None and (row := scene.row(self.state.selected)) >= 0:
            self._mark(scene.ids[at] for at in np.flatnonzero(scene.cluster == scene.cluster[row]))

    def mark_within(self, path: list[tuple[float, float]], *, is_box: bool, adds: bool) -> None:
        """Mark what lies inside a box or lasso of pixels; adds: beside what is marked already."""
        if self.scene is None:
            return
        found = (
            choosing.in_box(self.scene, self.camera, path[0], path[-1], self._away)
            if is_box
            else choosing.in_lasso(self.scene, self.camera, path, self._away)
        )
        self._mark({*(self.state.chosen if adds else ()), *found})

    def _mark(self, memory_ids: Iterable[str]) -> None:
        """Mark these memories, in the order of the scene."""
        assert self.scene is not None
        self.state.choose(tuple(sorted(memory_ids, key=self.scene.row)))
