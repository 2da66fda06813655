"""Every word that a person reads, from one catalogue: English and Chinese side by side, by name.

`resources/translations/words.toml` has one line a text, so that both languages are reviewed together and nothing has
to be compiled. The language is set once, before the window is made; changing it makes the window anew.
"""

from __future__ import annotations

import tomllib
from functools import lru_cache
from typing import Any

from PySide6.QtCore import QCoreApplication, QLibraryInfo, QLocale, QTranslator

from tetrarium.paths import resources

LANGUAGES = ("en", "zh")
"""Codes, in the order of the catalogue's columns."""
LANGUAGE_NAMES = {"en": "English", "zh": "中文"}
"""Each in its own words: whoever reads the wrong language must find the way back."""

_LOCALES = {"zh": QLocale(QLocale.Language.Chinese, QLocale.Country.China)}


class _Chosen:
    """The language in use, and Qt's own words in it (menus of text boxes)."""

    code = "en"
    translator: QTranslator | None = None


@lru_cache(maxsize=1)
def catalogue() -> dict[str, tuple[str, ...]]:
    """Name ("section.key") → (English, Chinese), or (English for one, English for many, Chinese)."""
    rooms = tomllib.loads((resources() / "translations" / "words.toml").read_text("utf-8"))
    return {f"{room}.{key}": tuple(texts) for room, words in rooms.items() for key, texts in words.items()}


def t(name: str, /, **values: Any) -> str:
    """The text of a name in the chosen language, with its values put in; `count` also chooses one or many.

    Raises KeyError for a name that the catalogue does not have (a test looks for such names).
    """
    texts, count = catalogue()[name], values.get("count")
    in_english = _Chosen.code == "en"
    text = texts[0] if in_english and (len(texts) == 2 or count == 1) else texts[1 if in_english else -1]
    if isinstance(count, int):
        values["count"] = QLocale().toString(count)
    return text.format(**values) if values else text


def language() -> str:
    """The code of the language in use."""
    return _Chosen.code


def system_language() -> str:
    """What the system's own language asks for; English where the catalogue does not have it."""
    return "zh" if QLocale.system().language() == QLocale.Language.Chinese else "en"


def set_language(choice: str) -> None:
    """Use a language of LANGUAGES from now on, or the system's ("system"); dates and numbers follow."""
    _Chosen.code = choice if choice in LANGUAGES else system_language()
    QLocale.setDefault(_LOCALES.get(_Chosen.code, _english()))
    application = QCoreApplication.instance()
    if _Chosen.translator is not None and application is not None:
        application.removeTranslator(_Chosen.translator)
        _Chosen.translator = None
    if _Chosen.code == "zh" and application is not None:
        translator = QTranslator(application)
        if translator.load("qtbase_zh_CN", QLibraryInfo.path(QLibraryInfo.LibraryPath.TranslationsPath)):
            application.installTranslator(translator)
            _Chosen.translator = translator


def _english() -> QLocale:
    """The reader's own way to write dates and numbers where he reads English anyway."""
    system = QLocale.system()
    return system if system.language() == QLocale.Language.English else QLocale(QLocale.Language.English)
