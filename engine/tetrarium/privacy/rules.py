"""The rules that find secrets, as data: what a kind is called, which cues it needs, its pattern, its guard.

Every pattern is written so that a search over any text is linear: it begins with a literal or a short bounded
part, and what repeats without a bound is one class of characters after which nothing must follow. What else
has to hold is asked by a guard on the text that was found. Formats are those that the issuers document.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Callable
from dataclasses import dataclass

from tetrarium.privacy import checks

Guard = Callable[["re.Match[str]"], bool]

_NEXT_ARGUMENT = re.compile(r"&[\w.-]{1,40}=")
"""Where an unquoted value in an address ends."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One kind of secret.

    cues: lower-case texts of which one must occur for the rule to be tried; pattern: group "secret", else all of it,
    is what is masked; accepts: whether a match is one; alone: no letter or digit may stand right before it.
    """

    kind: str
    cues: tuple[str, ...]
    pattern: re.Pattern[str]
    accepts: Guard
    alone: bool = True


@dataclass(frozen=True, slots=True)
class Named:
    """A secret that is known by the word before it: "password: …", "the token is …", 密码是….

    name: the word, lower case, looked for in the lower-case text; tails: what may stand between it and the value, with
    the groups sign, and quoted or bare for the value, tried in turn; accepts: whether name and value make a secret.
    """

    kind: str
    cues: tuple[str, ...]
    name: re.Pattern[str]
    tails: tuple[re.Pattern[str], ...]
    accepts: Callable[[re.Match[str], re.Match[str]], bool]


def bare_of(value: re.Match[str]) -> str:
    """An unquoted value without what follows it."""
    bare = value.group("bare")
    if "&" in bare:
        bare = _NEXT_ARGUMENT.split(bare, maxsplit=1)[0]
    return bare.rstrip(".,;:?")


def _always(_: re.Match[str]) -> bool:
    return True


def _varied(match: re.Match[str]) -> bool:
    """Not the same few characters again and again, as in a placeholder."""
    return checks.entropy(match.group()[-24:]) >= 2.0


def _random(match: re.Match[str]) -> bool:
    return checks.is_random(match.group("secret"))


def _issued(kind: str, cues: str, pattern: str, accepts: Guard = _varied, *, alone: bool = True) -> Rule:
    """A token whose issuer gives it a prefix."""
    return Rule(kind, tuple(cues.split()), re.compile(pattern), accepts, alone)


# --- guards --------------------------------------------------------------------------------------


def _is_token_web(match: re.Match[str]) -> bool:
    """A JWT: its first part decodes to a JSON object."""
    if len(match.group()) < 30 or "." not in match.group():
        return False
    head = match.group().split(".")[0]
    try:
        return isinstance(json.loads(base64.urlsafe_b64decode(head + "=" * (-len(head) % 4))), dict)
    except (binascii.Error, ValueError):
        return match.group().count(".") >= 2 and len(match.group()) >= 60


def _is_discord(match: re.Match[str]) -> bool:
    return checks.is_random(match.group(), 50)


def _is_basic(match: re.Match[str]) -> bool:
    """HTTP Basic: decodes to user:password."""
    try:
        return b":" in base64.b64decode(match.group("secret") + "=" * (-len(match.group("secret")) % 4))
    except (binascii.Error, ValueError):
        return False


def _is_password(name: re.Match[str], value: re.Match[str]) -> bool:
    """The value beside a word that means password; in code, not a name or a call; in prose, not a plain word."""
    quoted = value.group("quoted")
    if quoted is not None:
        if len(quoted) < 4 or checks.is_placeholder(quoted.strip()) or checks.is_code(quoted):
            return False
        sentence = any(c.isspace() for c in quoted)
        return not sentence or "phrase" in name.group() or any(map(checks.has_mixture, quoted.split()))
    bare = bare_of(value)
    if not bare[:1].isascii():
        return checks.is_foreign_phrase(bare)
    if len(bare) < 4 or checks.is_placeholder(bare) or checks.is_code(bare) or checks.is_technical(bare):
        return False
    if checks.has_mixture(bare) or bare.isdigit():
        return True
    # PASSWORD=swordfish in a file of variables, ?password=swordfish in an address; `password=word` in code is a name.
    written, start = value.string[name.start() : name.end()], name.start()
    variable = written.isupper() or value.string[max(0, start - 1) : start] in ("?", "&")
    return variable and value.group("sign") in ("=", "＝") and bare.isalpha()


def _is_key(_: re.Match[str], value: re.Match[str]) -> bool:
    """The value beside a word that means key or token: drawn at random."""
    quoted = value.group("quoted")
    bare = bare_of(value) if quoted is None else quoted
    if not checks.is_random(bare) or any(c.isspace() for c in bare) or not bare[:1].isascii():
        return False
    return not (checks.is_placeholder(bare) or checks.is_technical(bare) or checks.is_code(bare))


def _is_login(match: re.Match[str]) -> bool:
    """user:password@ in an address."""
    return not checks.is_placeholder(match.group("secret"))


def _is_amazon_secret(match: re.Match[str]) -> bool:
    """Forty characters of base64, mixed, with a word of Amazon's shortly before: a commit hash has no capitals."""
    value = match.group("secret")
    before = match.string[max(0, match.start() - 80) : match.start()].casefold()
    if len(value) != 40 or not any(word in before for word in ("aws", "secret", "akia")):
        return False
    mixed = any(c.isupper() for c in value) and any(c.islower() for c in value) and any(c.isdigit() for c in value)
    return mixed and checks.entropy(value) >= 4.0


def _number(match: re.Match[str]) -> str:
    return re.sub(r"\D", "", match.group())


def _ends_alone(match: re.Match[str]) -> bool:
    """No letter, digit or decimal follows."""
    after = match.string[match.end() : match.end() + 2]
    return not (after[:1].isalnum() or after[:1] == "_" or (after[:1] in ".-" and after[1:].isdigit()))


def _is_card(match: re.Match[str]) -> bool:
    return _ends_alone(match) and match.string[match.start() - 1 : match.start()] not in ("-", ".") and checks.is_card(_number(match))  # fmt: skip


def _is_chinese_id(match: re.Match[str]) -> bool:
    return _ends_alone(match) and checks.is_chinese_id(match.group())


def _is_mobile(match: re.Match[str]) -> bool:
    before = match.string[max(0, match.start() - 1) : match.start()]
    return _ends_alone(match) and before not in ("-", ".", "_") and checks.is_chinese_mobile(_number(match)[-11:])


def _is_phone(match: re.Match[str]) -> bool:
    return _ends_alone(match) and 7 <= len(_number(match)) <= 15


def _is_international(match: re.Match[str]) -> bool:
    number = match.group().rstrip(" -.(")
    digits = len(re.sub(r"\D", "", number))
    return 10 <= digits <= 15 and (digits >= 11 or any(c in number for c in " -("))


def _is_iban(match: re.Match[str]) -> bool:
    number = match.group().replace(" ", "")
    return _ends_alone(match) and 15 <= len(number) <= 34 and checks.is_iban(number)


# --- patterns ------------------------------------------------------------------------------------

_SIGN = r"""\d?["'`]?\]?\s{0,3}(?P<sign>:=|=>|={1,3}|[:：＝])\s{0,3}"""
_SAID = r"(?:\s{1,3}[\w'./-]{1,24}){0,4}?\s{1,3}(?P<sign>is|was|are|=|(?:set|changed|reset|rotated)\s{1,3}to)\s{1,3}(?:(?:now|still)\s{1,3})?(?:set\s{1,3}to\s{1,3})?"
_SAID_IN_CHINESE = r"[\u4e00-\u9fff]{0,4}?(?P<sign>改成了?|改为了?|换成了?|设置?[为成]|是|为|叫)\s{0,3}[:：]?\s{0,3}"
_VALUE = r"""(?:[brfu]{0,2}\\?(?P<mark>["'`])(?P<quoted>(?:(?!(?P=mark))[^\\\r\n]){1,2000})(?=\\?(?P=mark)|$)|(?P<bare>[!#-&*-:<-_a-~]{3,200}|[^\W\d_a-zA-Z][\w!#-&*+./:<-@^~-]{3,63}))"""
_TAILS = tuple(re.compile(sign + _VALUE, re.IGNORECASE) for sign in (_SIGN, _SAID, _SAID_IN_CHINESE))

NAMED = (
    Named(
        "password",
        ("pass", "pwd", "密码", "口令", "暗号"),
        re.compile(r"pass(?:word|wd|phrase|code)|pwd|密码|口令|暗号"),
        _TAILS,
        _is_password,
    ),
    Named(
        "secret key",
        ("key", "secret", "token", "auth", "credential", "密钥", "秘钥", "令牌"),
        re.compile(
            r"(?:api|access|private|encryption|signing|master|account|app|client|shared|subscription|storage)[ _-]?(?:key|secret|token)"
            r"|secret(?:[ _-]?(?:key|token|access[ _-]?key))?|(?:auth[ _-]?)?token|auth|credentials?|密钥|秘钥|令牌"
        ),
        _TAILS,
        _is_key,
    ),
)

RULES: tuple[Rule, ...] = (
    _issued("AWS key", "akia asia abia acca", r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]+", lambda m: len(m.group()) == 20),
    Rule("AWS secret key", ("aws", "secret", "akia"), re.compile(r"(?<![A-Za-z0-9+/])(?P<secret>[A-Za-z0-9+/]{40,})"), _is_amazon_secret),
    _issued("Google API key", "aiza", r"AIza[\w-]{35,}"),
    _issued("Google OAuth secret", "gocspx- ya29. 1//0", r"(?:GOCSPX-|ya29\.|1//0)[\w-]{24,}"),
    _issued("Azure key", "accountkey= sharedaccesskey= sig=", r"(?:AccountKey|SharedAccessKey|(?<=[?&])sig)=(?P<secret>[A-Za-z0-9+/%=_-]{30,})", alone=False),
    _issued("Azure client secret", "8q~ 7q~", r"(?P<secret>[\w.~-]{3}[78]Q~[\w.~-]{31,})"),
    _issued("GitHub token", "ghp_ gho_ ghu_ ghs_ ghr_ github_pat_", r"(?:gh[pousr]_[A-Za-z0-9]{36,}|github_pat_\w{36,})"),
    _issued("GitLab token", "glpat- gldt- glrt- glcbt- glptt- glft- glimt- glsoat- glffct- glagent- gloas-", r"gl(?:pat|dt|rt|cbt|ptt|ft|imt|soat|ffct|agent|oas)-[\w.-]{18,}"),
    _issued("Slack token", "xoxa- xoxb- xoxe- xoxe. xoxo- xoxp- xoxr- xoxs- xapp-", r"(?:xox[abeoprs][-.]|xapp-\d-)[\w-]{10,}"),
    _issued("Slack webhook", "hooks.slack.com/", r"hooks\.slack\.com/(?P<secret>(?:services|workflows|triggers)/[\w/]{20,})", alone=False),
    _issued("Stripe key", "_live_ _test_ whsec_", r"(?:(?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{16,}|whsec_[A-Za-z0-9+/=]{24,})"),
    _issued("Anthropic key", "sk-ant-", r"sk-ant-[\w-]{20,}"),
    _issued("OpenAI key", "sk-", r"(?P<secret>sk-(?:proj-|svcacct-|admin-|or-v1-)?[\w-]{20,})", _random),
    _issued("Hugging Face token", "hf_", r"hf_[A-Za-z0-9]{30,}"),
    _issued("model provider key", "gsk_ xai- pplx- r8_", r"(?:gsk_|xai-|pplx-|r8_)[A-Za-z0-9]{36,}"),
    _issued("npm token", "npm_", r"npm_[A-Za-z0-9]{36,}"),
    _issued("PyPI token", "pypi-", r"pypi-[\w-]{50,}"),
    _issued("package registry token", "rubygems_ cio dckr_ oy2", r"(?:rubygems_[0-9a-f]{48}|cio[A-Za-z0-9]{32}|dckr_(?:pat|oat)_[\w-]{20,}|oy2[a-z0-9]{43})"),
    _issued("Twilio key", "sk ac", r"(?:SK|AC)[0-9a-f]{32,}", lambda m: len(m.group()) == 34 and _varied(m)),
    _issued("mail service key", "sg. key- -us", r"(?:SG\.[\w-]{16,64}\.[\w-]{16,}|key-[0-9a-f]{32}|[0-9a-f]{32}-us\d{1,2})"),
    _issued("Telegram token", ":", r"(?P<secret>\d{8,10}:[A-Za-z0-9_-]{35,})", lambda m: len(m.group().split(":")[1]) == 35 and _random(m)),
    _issued("Discord webhook", "/api/webhooks/", r"/api/webhooks/(?P<secret>\d{8,}/[\w-]{30,})", alone=False),
    _issued("JSON web token", "eyj", r"eyJ[\w-]*(?:\.[\w-]+)*", _is_token_web),
    _issued("Discord token", ".", r"[MNO][\w-]{22,30}\.[\w-]{6}\.[\w-]{27,}", _is_discord),
    _issued("cloud service token", "dop_v1_ doo_v1_ dor_v1_ hrku- nfp_ sbp_ dapi pscale_ fm2_ fo1_", r"(?:do[opr]_v1_|HRKU-|nfp_|sbp_|dapi|pscale_(?:tkn|pw|oauth)_|fm2_|fo1_)[\w.-]{32,}"),
    _issued("monitoring token", "glsa_ glc_ nrak- sntrys_ sntryu_", r"(?:glsa_|glc_|NRAK-|sntrys_|sntryu_)[\w+/=-]{26,}"),
    _issued("shop and payment token", "shpat_ shpca_ shppa_ shpss_ sq0atp- sq0csp- eaaa eaa", r"(?:shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}|sq0(?:atp|csp)-[\w-]{22,}|EAA[\w-]{60,})"),
    _issued("workspace token", "lin_api_ ntn_ pmak- figd_ atatt3", r"(?:lin_api_|ntn_|PMAK-|figd_|ATATT3)[\w=-]{36,}"),
    _issued("vault token", "hvs. hvb. hvr. dp. .atlasv1. age-secret-key-", r"(?:hv[sbr]\.[\w-]{24,}|dp\.(?:pt|st|ct|sa|scim)\.[\w.-]{40,}|[A-Za-z0-9]{14}\.atlasv1\.[\w-]{60,}|AGE-SECRET-KEY-1[0-9A-Z]{50,})"),
    _issued("Chinese cloud key", "ltai akid", r"(?:LTAI[A-Za-z0-9]{12,26}|AKID[A-Za-z0-9]{28,})", lambda m: checks.is_random(m.group(), 16)),
    Rule("bearer token", ("bearer", "token "), re.compile(r"(?:Bearer|(?<=uthorization: )token)\s{1,3}(?P<secret>[\w.~+/=-]{16,})", re.IGNORECASE), _random),
    Rule("basic login", ("basic ",), re.compile(r"Basic\s{1,3}(?P<secret>[A-Za-z0-9+/=]{8,})", re.IGNORECASE), _is_basic),
    Rule("password", ("://",), re.compile(r"""://[^\s/:@"'<>]{0,200}:(?P<secret>[^\s/"'<>]+)@"""), _is_login, alone=False),
    Rule("password", ("-u", "--user"), re.compile(r"""(?<!\S)(?:-u|--user)[ =]{1,2}["']?[\w.@-]{1,64}:(?P<secret>[^\s"']{4,})"""), _is_login, alone=False),
    Rule("Chinese ID number", tuple("123456789"), re.compile(r"[1-9]\d{5}(?:19|20)\d{2}[01]\d[0-3]\d{4}[\dXx]"), _is_chinese_id),
    Rule("bank card", tuple("3456"), re.compile(r"[2-6]\d{3}(?:[ -]?\d{4}){2}[ -]?\d{3,4}\d{0,3}|3[47]\d{2}[ -]\d{6}[ -]\d{5}"), _is_card),
    Rule("IBAN", tuple("0123456789"), re.compile(r"[A-Z]{2}\d{2}(?:[A-Z0-9]{11,30}|(?: [A-Z0-9]{4}){2,7}(?: [A-Z0-9]{1,3})?)"), _is_iban),
    Rule("phone number", ("1",), re.compile(r"(?:(?:\+|00)86[ -]?)?1[3-9]\d(?:\d{8}|[ -]\d{4}[ -]\d{4})"), _is_mobile),
    Rule("phone number", ("+",), re.compile(r"\+[1-9][\d ()-]{8,20}"), _is_international),
    Rule("phone number", ("tel", "phone", "call", "mobile", "fax", "电话", "手机", "座机"), re.compile(r"(?i:tel|phone|call|mobile|fax|电话|手机|座机)[^\d\r\n]{0,16}(?P<secret>\(?0?\d{2,4}\)?[ -]\d{3,4}[ -]?\d{3,4})"), _is_phone, alone=False),
)  # fmt: skip
"""Tried in this order; where two find the same place, the first one names it."""

MAIL = Rule(
    "e-mail address", ("@",), re.compile(r"[\w.%+-]{1,64}@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63})+"), _always
)
"""Only where a person asks for it: an address is often what a memory is about."""
