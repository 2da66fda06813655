"""Colours, sizes and times by name; the only place in the window with hex codes.

Clusters take 12 hues of equal lightness from OKLCH, so that none shouts; the order steps by five hues,
so that clusters with neighbouring numbers differ. A second lightness serves the next 12.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QFont, QFontDatabase, QFontMetricsF, QGuiApplication, QPalette

from tetrarium.model import CATEGORIES, Category

GRID = 8
"""Spacing step, pixels."""
CHIP_GRID = 4
RADIUS = 6
SIZE_SMALL, SIZE_TEXT, SIZE_HEADING, SIZE_TITLE = 11, 13, 15, 20
"""Font sizes, pixels."""

CAMERA_EASE = 0.30
"""Longest camera move, seconds."""
GROW_TIME = 0.25
"""A new memory grows from its anchor's vertex in this time, seconds."""
REVEAL_TIME = 0.60
"""A recall lights its memories in score order within this time, seconds."""
TRAVEL_TIME = 0.60
"""The moves of a plan play as one sequence within this time, seconds."""
SUCCESSION_TIME = 1.40
"""A superseded memory turns, and a line runs from it to its successor and fades, within this time, seconds."""
DIM = 0.18
"""What remains of a memory's colour while others are lit, share."""

LEAST_CONTRAST = 4.5
"""Of text against what it stands on (WCAG AA)."""

LONGEST_TIP = 600
"""Characters of a memory that a tooltip shows."""

HUES = 12
HUE_STEP = 5
HUE_OFFSET = 75.0
"""First hue, degrees OKLCH: amber, away from the red of inhibited memories."""


@dataclass(frozen=True, slots=True)
class Theme:
    """The colours of one appearance, as #RRGGBB."""

    name: str
    canvas_top: str
    canvas_bottom: str
    surface: str
    raised: str
    line: str
    text: str
    muted: str
    accent: str
    on_accent: str
    inhibited: str
    inhibited_text: str
    amber: str
    good: str
    selection: str
    class_lightness: float
    cluster_lightness: tuple[float, float]
    cluster_chroma: float


DARK = Theme(
    name="dark",
    canvas_top="#0D1117",
    canvas_bottom="#161B22",
    surface="#1C2128",
    raised="#242A33",
    line="#30363D",
    text="#E6EDF3",
    muted="#9DA7B3",
    accent="#58A6FF",
    on_accent="#0D1117",
    inhibited="#B42318",
    inhibited_text="#FF8A7A",
    amber="#D29922",
    good="#3FB950",
    selection="#FFFFFF",
    class_lightness=0.72,
    cluster_lightness=(0.72, 0.84),
    cluster_chroma=0.13,
)
LIGHT = Theme(
    name="light",
    canvas_top="#F6F8FA",
    canvas_bottom="#FFFFFF",
    surface="#FFFFFF",
    raised="#F0F3F6",
    line="#D0D7DE",
    text="#1F2328",
    muted="#59636E",
    accent="#0969DA",
    on_accent="#FFFFFF",
    inhibited="#B42318",
    inhibited_text="#B42318",
    amber="#9A6700",
    good="#1A7F37",
    selection="#1F2328",
    class_lightness=0.56,
    cluster_lightness=(0.58, 0.70),
    cluster_chroma=0.13,
)

PART_HUES: dict[str, float] = {
    "vector": 250.0,
    "keyword": 165.0,
    "label": 75.0,
    "entity": 320.0,
    "context": 30.0,
    "recency": 110.0,
    "importance": 50.0,
    "access": 285.0,
    "confidence": 140.0,
}
"""Hue of every part of a score, degrees OKLCH, in the order in which every view shows them."""

CATEGORY_HUES: dict[Category, float] = {
    Category.DECISION: 241.0,
    Category.PATTERN: 287.0,
    Category.BUG: 45.0,
    Category.SESSION: 223.0,
    Category.FACT: 182.0,
    Category.PREFERENCE: 351.0,
    Category.CONTEXT: 174.0,
    Category.SKILL: 117.0,
    Category.EPISODE: 53.0,
}
CATEGORY_SHIFTS: dict[Category, float] = {
    Category.DECISION: 0.09,
    Category.PATTERN: -0.12,
    Category.BUG: -0.12,
    Category.SESSION: -0.03,
    Category.FACT: 0.12,
    Category.PREFERENCE: -0.12,
    Category.CONTEXT: 0.0,
    Category.SKILL: 0.12,
    Category.EPISODE: 0.0,
}
"""Hues alone cannot keep nine kinds apart for eyes that lack red or green: hue and lightness, searched for together so
that the nearest two are as far apart as can be for three kinds of eyes (`tests/unit/test_palettes.py`)."""
CATEGORY_ICONS: dict[Category, str] = {
    Category.DECISION: "ph.git-branch",
    Category.PATTERN: "ph.puzzle-piece",
    Category.BUG: "ph.bug",
    Category.SESSION: "ph.terminal-window",
    Category.FACT: "ph.push-pin",
    Category.PREFERENCE: "ph.heart",
    Category.CONTEXT: "ph.map-trifold",
    Category.SKILL: "ph.wrench",
    Category.EPISODE: "ph.calendar-blank",
}


def oklch(lightness: float, chroma: float, hue: float) -> str:
    """#RRGGBB of an OKLCH colour (lightness 0 … 1, hue in degrees), cut to sRGB."""
    a, b = chroma * math.cos(math.radians(hue)), chroma * math.sin(math.radians(hue))
    long = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3
    medium = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3
    short = (lightness - 0.0894841775 * a - 1.2914855480 * b) ** 3
    linear = (
        4.0767416621 * long - 3.3077115913 * medium + 0.2309699292 * short,
        -1.2684380046 * long + 2.6097574011 * medium - 0.3413193965 * short,
        -0.0041960863 * long - 0.7034186147 * medium + 1.7076147010 * short,
    )
    return "#" + "".join(f"{round(255 * _gamma(min(1.0, max(0.0, channel)))):02X}" for channel in linear)


def cluster_color(theme: Theme, hue: int) -> str:
    """Colour of a cluster from its hue number; numbers from 12 on take the second lightness."""
    slot = hue % (2 * HUES)
    lightness = theme.cluster_lightness[slot // HUES]
    return oklch(lightness, theme.cluster_chroma, HUE_OFFSET + 30.0 * ((slot % HUES) * HUE_STEP % HUES))


@lru_cache(maxsize=256)
def cluster_ink(theme: Theme, hue: int) -> str:
    """A cluster's colour for text: its hue at the first lightness that stands out from the surface by 4.5 : 1."""
    slot = hue % HUES
    lightness, step = theme.cluster_lightness[0], (0.02 if theme.name == "dark" else -0.02)
    while True:
        color = oklch(lightness, theme.cluster_chroma, HUE_OFFSET + 30.0 * (slot * HUE_STEP % HUES))
        if contrast(color, theme.surface) >= LEAST_CONTRAST or not 0.1 < lightness < 0.95:
            return color
        lightness += step


def category_color(theme: Theme, category: Category) -> str:
    return class_color(theme, CATEGORY_HUES[category], CATEGORY_SHIFTS[category])


def class_color(theme: Theme, hue: float, shift: float) -> str:
    """Colour of a class: its hue, lighter or darker than the theme's middle by its shift (OKLCH lightness)."""
    return oklch(theme.class_lightness + shift, theme.cluster_chroma, hue)


def part_color(theme: Theme, part: str) -> str:
    return oklch(theme.cluster_lightness[0], theme.cluster_chroma, PART_HUES[part])


@lru_cache(maxsize=4)
def scene_palette(theme: Theme) -> tuple[str, ...]:
    """The colours that a memory's palette index means: 24 clusters, 9 categories, 5 types, 3 confidences, a ramp."""
    return (
        *(cluster_color(theme, hue) for hue in range(2 * HUES)),
        *(category_color(theme, category) for category in CATEGORIES),
        *(class_color(theme, hue, shift) for hue, shift in zip(TYPE_HUES, TYPE_SHIFTS, strict=True)),
        *(ramp_color(theme, share) for share in (0.15, 0.55, 1.0)),
        *(ramp_color(theme, step / (RAMP_STEPS - 1)) for step in range(RAMP_STEPS)),
    )


def ramp_color(theme: Theme, share: float) -> str:
    """From little (0: near the canvas) to much (1): lightness, chroma and hue go one way together."""
    near, far = (0.38, 0.88) if theme.name == "dark" else (0.84, 0.36)
    return oklch(near + (far - near) * share, 0.05 + 0.09 * share, 290.0 - 205.0 * share)


TYPE_HUES = (271.0, 158.0, 66.0, 1.0, 291.0)
TYPE_SHIFTS = (-0.09, 0.12, -0.02, -0.12, 0.08)
"""Of the memory types, in their order: degrees OKLCH, and lightness beside the theme's middle; searched for likewise."""
SOURCE_PALETTE = (3, 1, 0, 15, 17, 13)
"""Those six colours of the clusters' 24 that are farthest apart for three kinds of eyes: programs get them in turn."""
RAMP_STEPS = 16
CATEGORY_PALETTE_START = 2 * HUES
TYPE_PALETTE_START = CATEGORY_PALETTE_START + len(CATEGORIES)
CONFIDENCE_PALETTE_START = TYPE_PALETTE_START + len(TYPE_HUES)
RAMP_PALETTE_START = CONFIDENCE_PALETTE_START + 3
PALETTE_SIZE = RAMP_PALETTE_START + RAMP_STEPS


def contrast(first: str, second: str) -> float:
    """WCAG contrast ratio of two #RRGGBB colours, 1 … 21."""
    high, low = sorted((_luminance(first), _luminance(second)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def current_theme() -> Theme:
    """The theme that the system asks for; dark where it does not say."""
    scheme = QGuiApplication.styleHints().colorScheme()
    return LIGHT if scheme == Qt.ColorScheme.Light else DARK


def text_font(size: int = SIZE_TEXT, *, bold: bool = False) -> QFont:
    font = QFontDatabase.systemFont(QFontDatabase.SystemFont.GeneralFont)
    font.setPixelSize(size)
    font.setWeight(QFont.Weight.DemiBold if bold else QFont.Weight.Normal)
    return font


def mono_font(size: int = SIZE_SMALL) -> QFont:
    font = QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont)
    font.setPixelSize(size)
    return font


def palette(theme: Theme) -> QPalette:
    """The Qt palette of a theme, for the Fusion style."""
    roles = QPalette.ColorRole
    colors = QPalette()
    for role, color in (
        (roles.Window, theme.surface),
        (roles.WindowText, theme.text),
        (roles.Base, theme.surface),
        (roles.AlternateBase, theme.raised),
        (roles.Text, theme.text),
        (roles.Button, theme.raised),
        (roles.ButtonText, theme.text),
        (roles.ToolTipBase, theme.raised),
        (roles.ToolTipText, theme.text),
        (roles.PlaceholderText, theme.muted),
        (roles.Highlight, theme.accent),
        (roles.HighlightedText, theme.on_accent),
        (roles.Link, theme.accent),
        (roles.Mid, theme.line),
        (roles.Midlight, theme.line),
        (roles.Dark, theme.line),
        (roles.Light, theme.raised),
        (roles.Shadow, theme.canvas_top),
        (roles.BrightText, theme.inhibited_text),
    ):
        colors.setColor(role, QColor(color))
    for role in (roles.Text, roles.WindowText, roles.ButtonText):
        colors.setColor(QPalette.ColorGroup.Disabled, role, QColor(theme.muted))
    return colors


def style_sheet(theme: Theme) -> str:
    """What the palette cannot say: one-pixel lines, radii, spacing, the docks' headings."""
    return f"""
QMainWindow::separator {{ background: {theme.line}; width: 1px; height: 1px; }}
QMainWindow::separator:hover {{ background: {theme.accent}; }}
QWidget#top {{ background: {theme.surface}; border-bottom: 1px solid {theme.line}; }}
QMenuBar {{ background: transparent; border: none; padding: 4px 2px; }}
QPushButton#space_menu {{ background: transparent; border: 1px solid transparent; border-radius: {RADIUS}px; padding: 4px 8px; }}
QPushButton#space_menu:hover {{ background: {theme.raised}; border-color: {theme.line}; }}
QPushButton#space_menu:focus {{ border-color: {theme.accent}; }}
QPushButton#find {{ background: {theme.canvas_top}; color: {theme.muted}; text-align: left; padding: 4px 10px; }}
QPushButton#keys {{ background: transparent; border-color: transparent; color: {theme.muted}; padding: 4px 8px; }}
QPushButton#find:hover, QPushButton#keys:hover {{ border-color: {theme.line}; color: {theme.text}; }}
QPushButton#find:focus, QPushButton#keys:focus {{ border-color: {theme.accent}; }}
QMenuBar::item {{ padding: 4px 8px; border-radius: 4px; background: transparent; }}
QMenuBar::item:selected {{ background: {theme.raised}; }}
QMenu {{ background: {theme.raised}; border: 1px solid {theme.line}; padding: 4px; }}
QMenu::item {{ padding: 5px 24px 5px 24px; border-radius: 4px; }}
QMenu::item:selected {{ background: {theme.accent}; color: {theme.on_accent}; }}
QMenu::separator {{ height: 1px; background: {theme.line}; margin: 4px; }}
QStatusBar {{ background: {theme.surface}; border-top: 1px solid {theme.line}; color: {theme.muted}; }}
QStatusBar::item {{ border: none; }}
QDockWidget {{ color: {theme.muted}; font-size: {SIZE_SMALL}px; font-weight: 600; }}
QDockWidget::title {{ background: {theme.surface}; padding: 6px 8px; border-bottom: 1px solid {theme.line}; text-align: left; }}
QTabBar {{ background: {theme.surface}; }}
QTabBar::tab {{ background: transparent; color: {theme.muted}; padding: 6px 12px; border: none; border-bottom: 2px solid transparent; }}
QTabBar::tab:selected {{ color: {theme.text}; border-bottom: 2px solid {theme.accent}; }}
QLineEdit {{ background: {theme.canvas_top}; border: 1px solid {theme.line}; border-radius: {RADIUS}px; padding: 6px 8px; selection-background-color: {theme.accent}; }}
QLineEdit:focus {{ border-color: {theme.accent}; }}
QPushButton, QToolButton#action {{ background: {theme.raised}; border: 1px solid {theme.line}; border-radius: {RADIUS}px; padding: 5px 10px; }}
QPushButton:hover, QToolButton#action:hover {{ border-color: {theme.accent}; }}
QPushButton:checked {{ background: {theme.accent}; color: {theme.on_accent}; border-color: {theme.accent}; }}
QPushButton:disabled {{ color: {theme.muted}; }}
QPushButton#chip {{ border-radius: 9px; padding: 2px 9px; font-size: {SIZE_SMALL}px; }}
QPushButton#chip::menu-indicator {{ image: none; width: 0; }}
QPushButton#primary {{ background: {theme.accent}; color: {theme.on_accent}; border-color: {theme.accent}; font-weight: 600; }}
QPushButton#primary:disabled {{ background: {theme.raised}; color: {theme.muted}; border-color: {theme.line}; }}
QFrame#sheet {{ background: {theme.raised}; border: 1px solid {theme.line}; border-radius: {RADIUS}px; }}
QPlainTextEdit#field {{ background: {theme.canvas_top}; border: 1px solid {theme.line}; border-radius: {RADIUS}px; padding: 4px; }}
QPlainTextEdit#field:focus {{ border-color: {theme.accent}; }}
QCheckBox::indicator {{ width: 14px; height: 14px; border: 1px solid {theme.muted}; border-radius: 4px; background: {theme.canvas_top}; }}
QCheckBox::indicator:checked {{ background: {theme.accent}; border: 1px solid {theme.accent}; }}
QCheckBox:focus {{ color: {theme.accent}; }}
QTabWidget::pane {{ border: none; }}
QListWidget {{ background: {theme.surface}; border: none; outline: none; }}
QListWidget::item, QTreeView::item {{ padding: 3px 4px; }}
QListWidget::item:selected, QTreeView::item:selected {{ background: {theme.raised}; color: {theme.text}; }}
QPushButton:focus {{ border-color: {theme.accent}; }}
QListView, QTableView, QPlainTextEdit, QScrollArea, QTreeView {{ background: {theme.surface}; border: none; outline: none; }}
QTableView {{ gridline-color: {theme.line}; selection-background-color: {theme.raised}; selection-color: {theme.text}; alternate-background-color: {theme.surface}; }}
QTableView::item {{ padding: 0 6px; border-bottom: 1px solid {theme.raised}; }}
QTableView::item:selected {{ background: {theme.raised}; color: {theme.text}; border-bottom: 1px solid {theme.accent}; }}
QHeaderView {{ background: {theme.surface}; }}
QHeaderView::section {{ background: {theme.surface}; color: {theme.muted}; border: none; border-bottom: 1px solid {theme.line}; padding: 4px 8px; font-size: {SIZE_SMALL}px; }}
QScrollBar:vertical {{ background: transparent; width: 10px; margin: 0; }}
QScrollBar:horizontal {{ background: transparent; height: 10px; margin: 0; }}
QScrollBar::handle {{ background: {theme.line}; border-radius: 4px; min-height: 28px; min-width: 28px; margin: 1px; }}
QScrollBar::handle:hover {{ background: {theme.muted}; }}
QScrollBar::add-line, QScrollBar::sub-line {{ width: 0; height: 0; }}
QScrollBar::add-page, QScrollBar::sub-page {{ background: transparent; }}
QToolTip {{ background: {theme.raised}; color: {theme.text}; border: 1px solid {theme.line}; padding: 4px; }}
"""


_UNSEEN = dict.fromkeys([*range(0x200B, 0x2010), *range(0x202A, 0x202F), *range(0x2060, 0x206A), 0xFEFF], "\u25af")
_UNSEEN |= dict.fromkeys([*range(0x09), *range(0x0B, 0x20), 0x7F], "\u25af")


def visible(text: str) -> str:
    """Text of a memory for showing: control, direction and zero-width characters become a small box."""
    return text.translate(_UNSEEN)


def plain_tip(text: str) -> str:
    """The same for a tooltip: short, and without the sign by which Qt would take it for markup."""
    return visible(text[:LONGEST_TIP]).replace("<", "‹")


def wrap(text: str, metrics: QFontMetricsF, width: float, most: int) -> Sequence[str]:
    """Cut text into at most `most` lines of `width` pixels; breaks at blanks, else anywhere (Chinese has none)."""
    rest = " ".join(text.split())[:1000]
    lines: list[str] = []
    while rest and len(lines) < most:
        if metrics.horizontalAdvance(rest) <= width:
            lines.append(rest)
            break
        if len(lines) == most - 1:
            lines.append(metrics.elidedText(rest, Qt.TextElideMode.ElideRight, width))
            break
        low, high = 1, len(rest)
        while low < high:  # the longest start that fits
            middle = (low + high + 1) // 2
            low, high = (middle, high) if metrics.horizontalAdvance(rest[:middle]) <= width else (low, middle - 1)
        blank = rest.rfind(" ", 0, low + 1)
        cut = blank if blank > low // 2 else low
        lines.append(rest[:cut].rstrip())
        rest = rest[cut:].lstrip()
    return lines


def _gamma(linear: float) -> float:
    return 12.92 * linear if linear <= 0.0031308 else 1.055 * linear ** (1 / 2.4) - 0.055


def _luminance(color: str) -> float:
    channels = (int(color[i : i + 2], 16) / 255 for i in (1, 3, 5))
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
