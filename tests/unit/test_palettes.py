"""Colours that must be told apart can be, also by eyes that lack the red or the green cones.

Simulated after Machado, Oliveira and Fernandes (2009), severity 1.0; differences are distances in OKLab, where 0.02 is
about what people just notice side by side.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from tetrarium_gui import style

EYES = {
    "normal": np.eye(3),
    "no red cones": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
    "no green cones": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
    ),
}
_CONES = np.array(
    [
        [0.4122214708, 0.5363325363, 0.0514459929],
        [0.2119034982, 0.6806995451, 0.1073969566],
        [0.0883024619, 0.2817188376, 0.6299787005],
    ]
)
_LAB = np.array(
    [
        [0.2104542553, 0.7936177850, -0.0040720468],
        [1.9779984951, -2.4285922050, 0.4505937099],
        [0.0259040371, 0.7827717662, -0.8086757660],
    ]
)
APART = 0.085
"""Least distance between two classes of one legend."""


def seen(color: str, eyes: np.ndarray) -> np.ndarray:
    """OKLab of a colour as these eyes see it."""
    channels = np.array([int(color[at : at + 2], 16) / 255 for at in (1, 3, 5)])
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    lab: np.ndarray = _LAB @ np.cbrt(_CONES @ np.clip(eyes @ linear, 0, 1))
    return lab


def least(colors: tuple[str, ...], eyes: np.ndarray) -> float:
    return min(float(np.linalg.norm(seen(a, eyes) - seen(b, eyes))) for a, b in combinations(colors, 2))


@pytest.mark.parametrize("theme", [style.DARK, style.LIGHT], ids=lambda theme: theme.name)
@pytest.mark.parametrize("eyes", EYES)
def test_classes_of_one_legend_are_told_apart_by_every_kind_of_eyes(theme: style.Theme, eyes: str) -> None:
    palette = style.scene_palette(theme)
    kinds, types = style.CATEGORY_PALETTE_START, style.TYPE_PALETTE_START
    for legend in (
        palette[kinds:types],
        palette[types : style.CONFIDENCE_PALETTE_START],
        palette[style.CONFIDENCE_PALETTE_START : style.RAMP_PALETTE_START],
        tuple(palette[at] for at in style.SOURCE_PALETTE),
    ):
        assert least(legend, EYES[eyes]) >= APART


@pytest.mark.parametrize("theme", [style.DARK, style.LIGHT], ids=lambda theme: theme.name)
def test_the_simulation_finds_what_cannot_be_told_apart(theme: style.Theme) -> None:
    red, green = style.oklch(0.65, 0.13, 30.0), style.oklch(0.65, 0.13, 110.0)
    assert least((red, green), EYES["normal"]) > 0.15
    assert least((red, green), EYES["no green cones"]) < 0.06


@pytest.mark.parametrize("theme", [style.DARK, style.LIGHT], ids=lambda theme: theme.name)
def test_every_class_stands_out_from_the_canvas(theme: style.Theme) -> None:
    for color in style.scene_palette(theme)[: style.CONFIDENCE_PALETTE_START]:
        for canvas in (theme.canvas_top, theme.canvas_bottom):
            assert style.contrast(color, canvas) >= 1.8
