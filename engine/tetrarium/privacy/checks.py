"""Guards that tell a secret from what only looks like one: check digits, entropy, placeholders. Pure."""

from __future__ import annotations

import math
import re
from collections import Counter
from datetime import date

RANDOM_BITS = 2.8
"""Shannon entropy (bits a character) from which a text of 12 characters or more counts as drawn at random."""

LONGEST_TERM = 24
"""Characters of a technical term with what is joined to it; longer ones are values."""

_PLACEHOLDER = re.compile(
    r"^(?:x{3,}|\*{2,}|\.{2,}|…+|-{2,}|_{2,}|(?P<one>.)(?P=one)*|<.*|\$.*|%.*|\{.*|\[.*|#\{.*|&[lg]t;.*"
    r"|(?:your|enter|insert|replace|example|sample|dummy|fake|placeholder)[ _-].*|example.*|redacted|removed|hidden|masked"
    r"|none|null|nil|undefined|true|false|empty|unset|required|optional|string|str|text|bytes|number|int|bool|char|varchar.*|any|object"
    r"|password|passwd|passwort|passphrase|pass|pwd|secret|token|user|username|login|admin_password|api[ _-]?key|key|value|current-password|new-password"
    r"|contraseña|wachtwoord|senha|mot de passe|пароль|密码|口令|秘密|请输入.*)$",
    re.IGNORECASE,
)
_TECHNICAL = re.compile(
    r"^(?:base\d+|sha-?\d+|md5|utf-?\d+|argon2\w*|bcrypt\w*|scrypt|pbkdf2\w*|oauth2?\w*|http[s2]?|x509|rot13|ascii\d*|aes-?\d*\w*|rsa-?\d*|ed25519|hs\d+|rs\d+|es\d+"
    r"|hmac\w*|totp|2fa|mfa|sso|v\d+(?:\.\d+)*|jwt\w*|pkcs\d+|tls\d?[\w.]*|i18n|k8s|s3|ec2|ipv[46])(?:\W.*)?$",
    re.IGNORECASE,
)
_FOREIGN_PHRASE = re.compile(r"[^\W\d_a-zA-Z]{2,60}[!-~]{0,60}\d{2,}[!-~]{0,20}")
_SAID_OF_A_PASSWORD = re.compile(
    "至少|最少|不少于|不低于|不超过|大于|小于|等于|长度|最长|最短|最多|最大|必须|需要|应该|有效期|过期|端口|版本|参见|见附|以及|加密|哈希"
)
_DIGIT = re.compile(r"\d")
_LETTER = re.compile(r"[^\W\d_]")
_CASE_CHANGE = re.compile(r"[a-z](?=[A-Z])|[A-Z](?=[a-z])")
_IDENTIFIER_PATH = re.compile(r"[A-Za-z_]\w*(?:(?:\.|::|->)[A-Za-z_]\w*)+")
_ID_WEIGHTS = (7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2)
_ID_CHECKS = "10X98765432"
_REGIONS = frozenset(
    [*range(11, 16), *range(21, 24), *range(31, 38), *range(41, 47), *range(50, 55), *range(61, 66), 71, 81, 82, 83, 91]
)
"""First two digits of a Chinese identity number: provinces, and 91 for foreigners."""


def entropy(text: str) -> float:
    """Shannon entropy of the characters, bits each; 0 for an empty text."""
    size = len(text)
    return -sum(n / size * math.log2(n / size) for n in Counter(text).values()) if size else 0.0


def is_random(text: str, least: int = 12) -> bool:
    """Whether a run of characters is long, holds letters with digits or changes case all the time, and is spread as if
    drawn at random."""
    return (
        len(text) >= least
        and _LETTER.search(text) is not None
        and (
            _DIGIT.search(text) is not None
            or (20 <= len(text) <= 100 and len(_CASE_CHANGE.findall(text)) * 4 >= len(text))
        )
        and entropy(text) >= min(RANDOM_BITS, math.log2(max(2, len(text))) - 0.6)
    )


def is_placeholder(value: str) -> bool:
    """Whether a value stands for one: <password>, ${TOKEN}, xxxx, "string", a type or the word itself."""
    return _PLACEHOLDER.match(value) is not None


def is_code(value: str) -> bool:
    """Whether a value is computed, not written: a call, an index, a dotted name of a program."""
    return "(" in value or "[" in value or "${" in value or _IDENTIFIER_PATH.fullmatch(value) is not None


def is_technical(value: str) -> bool:
    """Whether a value names a method or format (base64, SHA-256 …) that a sentence speaks about."""
    return len(value) <= LONGEST_TERM and _TECHNICAL.match(value) is not None


def has_mixture(value: str) -> bool:
    """Letters with digits, or a character that words do not have: what passwords have and words do not."""
    both = _LETTER.search(value) is not None and _DIGIT.search(value) is not None
    return both or any(c in "!@#$%^&*+=~?" for c in value[:-1])


def is_foreign_phrase(value: str) -> bool:
    """A passphrase in another script than Latin: its words, then digits, and nothing after them; no sentence about how
    long a password must be, which goes on after its digits or says so."""
    return _FOREIGN_PHRASE.fullmatch(value) is not None and _SAID_OF_A_PASSWORD.search(value) is None


def luhn(digits: str) -> bool:
    """The check digit of bank cards."""
    total = 0
    for place, digit in enumerate(reversed(digits)):
        number = int(digit) * (1 + place % 2)
        total += number - 9 if number > 9 else number
    return total % 10 == 0


def is_card(digits: str) -> bool:
    """A bank card: length and first digits of a known issuer, and a right check digit."""
    size = len(digits)
    issued = (
        (digits[0] == "4" and size in (16, 19))
        or (("51" <= digits[:2] <= "55" or "2221" <= digits[:4] <= "2720") and size == 16)
        or (digits[:2] in ("34", "37") and size == 15)
        or ((digits[:2] == "65" or digits[:4] == "6011") and size == 16)
        or (digits[:2] == "62" and 16 <= size <= 19)
        or ("3528" <= digits[:4] <= "3589" and size == 16)
    )
    return issued and len(set(digits)) > 1 and luhn(digits)


def is_chinese_id(number: str) -> bool:
    """An 18-character identity number of China: region, day of birth, check character (ISO 7064, mod 11-2)."""
    try:
        born = date(int(number[6:10]), int(number[10:12]), int(number[12:14]))
    except ValueError:
        return False
    if int(number[:2]) not in _REGIONS or not 1900 <= born.year <= 2099:
        return False
    return _ID_CHECKS[sum(int(d) * w for d, w in zip(number[:17], _ID_WEIGHTS, strict=True)) % 11] == number[17].upper()


def is_iban(number: str) -> bool:
    """An international bank account number with right check digits (ISO 7064, mod 97)."""
    turned = number[4:] + number[:4]
    return int("".join(str(int(c, 36)) for c in turned)) % 97 == 1


def is_chinese_mobile(digits: str) -> bool:
    """Eleven digits of a mobile number of China, and no round number (16 GiB are 17179869184 bytes)."""
    second, third = digits[1], digits[2]
    given = {"4": "56789", "5": "012356789", "6": "2567", "7": "012345678", "9": "012356789"}.get(second, "0123456789")
    return third in given and int(digits) % (1 << 20) != 0 and not digits.endswith("000000")
