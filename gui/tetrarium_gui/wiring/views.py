"""Looking about: whose mouse it is, views that are kept, and the way between two memories."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from hashlib import blake2b

import numpy as np
from PySide6.QtCore import QObject
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QMenu

from tetrarium.model import Memory, SpaceStats
from tetrarium_gui.space.camera import Pose
from tetrarium_gui.space.hands import HABITS
from tetrarium_gui.style import visible
from tetrarium_gui.wiring.desk import Desk
from tetrarium_gui.words import t

MOST_VIEWS = 9
"""Views kept of one space; the oldest goes."""
NAME_LENGTH = 48


class Views(QObject):
    """Connects the habits of the mouse, kept views and paths with the space."""

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk.window)
        self._desk = desk
        self._key = ""
        commands = desk.commands
        self.menu = QMenu(t("menu.views"), desk.window)
        commands.menus["view"].insertMenu(commands["isolate"], self.menu)
        habit = str(desk.settings.value("habit", "tetrarium"))
        self.choose_habit(habit if habit in HABITS else "tetrarium")
        for name in HABITS:
            commands[f"habit_{name}"].triggered.connect(partial(self.choose_habit, name))
        commands["keep_view"].triggered.connect(self.keep)
        commands["path"].triggered.connect(self.show_path)
        desk.bridge.stats_ready.connect(self._take_space)
        desk.state.chosen_changed.connect(lambda: desk.space.show_path(()))
        desk.state.selection_changed.connect(lambda _: desk.space.show_path(()))
        self._fill()

    def choose_habit(self, name: str) -> None:
        """Drags mean what they mean in another program. name: in HABITS."""
        self._desk.space.hands.habit = name
        self._desk.settings.setValue("habit", name)
        self._desk.commands[f"habit_{name}"].setChecked(True)

    # --- kept views -----------------------------------------------------------------------------
    def kept(self) -> list[tuple[str, Pose]]:
        """Views of this space, the oldest first; what is damaged in the settings is left out."""
        rows = self._desk.settings.value(self._key, []) if self._key else []
        found = []
        for row in rows if isinstance(rows, list) else []:
            try:
                name, *numbers = str(row).split("\t")
                x, y, z, distance, azimuth, elevation = map(float, numbers)
            except ValueError:
                continue
            if np.isfinite([x, y, z, distance, azimuth, elevation]).all() and distance > 0:
                found.append((name, Pose((x, y, z), distance, azimuth, elevation)))
        return found[-MOST_VIEWS:]

    def keep(self) -> None:
        """Keep where the camera is, under the name of the topic in the middle."""
        pose = self._desk.space.camera.pose
        self._write([*self.kept(), (self._name(pose), pose)][-MOST_VIEWS:])
        self._desk.tell(t("views.kept"), t("views.kept_advice"))

    def go(self, at: int) -> None:
        """Fly to a kept view."""
        self._desk.space.gaze.fly(self.kept()[at][1])

    def forget(self) -> None:
        """Keep none of this space any more."""
        self._write([])

    # --- paths ----------------------------------------------------------------------------------
    def show_path(self) -> None:
        """The shortest way over shared vertices between the two memories that are marked."""
        chosen = self._desk.state.chosen
        if len(chosen) != 2:
            self._desk.tell(t("views.mark_two"), t("views.mark_two_advice"), done=False)
            return
        self._desk.bridge.ask("path", lambda s: s.path_between(*chosen), self._draw)

    def _draw(self, way: Sequence[Memory]) -> None:
        if way:
            self._desk.space.show_path(tuple(memory.id for memory in way))
            self._desk.tell(t("views.path", count=len(way) - 1))
        else:
            self._desk.tell(t("views.no_path"), t("views.no_path_advice"), done=False)

    # --- inside ---------------------------------------------------------------------------------
    def _take_space(self, stats: SpaceStats) -> None:
        key = f"views/{blake2b(stats.space.encode('utf-8', 'replace'), digest_size=8).hexdigest()}"
        if key != self._key:
            self._key = key
            self._fill()

    def _name(self, pose: Pose) -> str:
        scene = self._desk.space.scene
        named = [at for at, c in enumerate(scene.clusters) if c.name] if scene is not None else []
        if scene is None or not named:
            return t("views.unnamed")
        away = np.linalg.norm(scene.cluster_centres[named] - np.array(pose.centre), axis=1)
        return " ".join(scene.clusters[named[int(away.argmin())]].name.split())[:NAME_LENGTH]

    def _write(self, views: list[tuple[str, Pose]]) -> None:
        rows = []
        for name, pose in views:
            numbers = (*pose.centre, pose.distance, pose.azimuth, pose.elevation)
            rows.append("\t".join([name, *(f"{number:.6g}" for number in numbers)]))
        self._desk.settings.setValue(self._key, rows)
        self._fill()

    def _fill(self) -> None:
        self.menu.clear()
        self.menu.addAction(self._desk.commands["keep_view"])
        views = self.kept()
        if views:
            self.menu.addSeparator()
        for at, (name, _) in enumerate(views):
            action = self.menu.addAction(f"{at + 1} · {visible(name)}".replace("&", "&&"))
            action.setShortcut(QKeySequence(f"Alt+{at + 1}"))
            action.triggered.connect(partial(self.go, at))
        if views:
            self.menu.addSeparator()
            self.menu.addAction(t("views.forget")).triggered.connect(self.forget)
