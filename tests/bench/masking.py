"""Secrets: how many of the generated ones are masked, and how often something harmless is.

    python tests/bench/masking.py [--each 40] [--harmless 2000] [--seed 5] [--show]

Formats are written down here from what issuers document, apart from the rules; each is put into prose (English and
Chinese), code, files of variables, JSON, logs and addresses. A secret counts as masked when none of it is left: no
eight characters in a row of its random part. Harmless texts: sentences from the documentation of installed packages
and from the standard library, generated developer notes, and sentences around hashes, UUIDs, versions, times, paths.
Exit code 1 when under 95 % are masked or over 0.5 % of the harmless are touched.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import json
import random
import re
import string
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from datetime import date, timedelta
from importlib.metadata import distributions
from pathlib import Path

from tetrarium.privacy import secrets
from tetrarium.privacy.instructions import suspicion

ALNUM = string.ascii_letters + string.digits
URL64 = ALNUM + "-_"
HEX = "0123456789abcdef"

Chance = random.Random


def drawn(chance: Chance, alphabet: str, length: int) -> str:
    return "".join(chance.choice(alphabet) for _ in range(length))


def web_token(chance: Chance) -> str:
    def part(value: object) -> str:
        return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")

    head = part({"alg": "HS256", "typ": "JWT"})
    return f"{head}.{part({'sub': chance.randrange(10**9), 'iat': 1_700_000_000})}.{drawn(chance, URL64, 43)}"


def private_key(chance: Chance) -> str:
    body = "\n".join(drawn(chance, ALNUM + "+/", 64) for _ in range(chance.randrange(3, 12)))
    kind = chance.choice(["RSA ", "EC ", "", "OPENSSH "])
    cut = chance.random() < 0.3
    return f"-----BEGIN {kind}PRIVATE KEY-----\n{body}" + ("" if cut else f"\n-----END {kind}PRIVATE KEY-----")


def luhn_card(chance: Chance) -> str:
    prefix = chance.choice(["4", "51", "55", "37", "62", "6011"])
    digits = prefix + drawn(chance, string.digits, (14 if prefix == "37" else 15) - len(prefix))
    total = 0
    for place, digit in enumerate(reversed(digits)):
        number = int(digit) * (2 if place % 2 == 0 else 1)
        total += number if number < 10 else number - 9
    number = digits + str(-total % 10)
    grouped = " ".join(number[i : i + 4] for i in range(0, 16, 4))
    return grouped if chance.random() < 0.5 and len(number) == 16 else number


def identity(chance: Chance) -> str:
    born = date(1950, 1, 1) + timedelta(days=chance.randrange(20_000))
    digits = f"{chance.choice(['110105', '310115', '440305', '510104'])}{born:%Y%m%d}{chance.randrange(1000):03}"
    weights = [2 ** (17 - i) % 11 for i in range(17)]
    return digits + "10X98765432"[sum(int(d) * w for d, w in zip(digits, weights, strict=True)) % 11]


def mobile(chance: Chance) -> str:
    number = chance.choice(["138", "139", "150", "186", "177", "199"]) + drawn(chance, string.digits[1:], 8)
    return chance.choice([number, f"+86 {number}", f"{number[:3]} {number[3:7]} {number[7:]}", f"{number[:3]}-{number[3:7]}-{number[7:]}"])  # fmt: skip


def password(chance: Chance) -> str:
    word = chance.choice(["Autumn", "kestrel", "Bremen", "tango", "Quartz", "monsoon"])
    return word + chance.choice(["!", "#", "$", "@", "_"]) + drawn(chance, string.digits, 4) + drawn(chance, ALNUM, 3)


BARE: dict[str, Callable[[Chance], str]] = {
    "AWS access key": lambda c: "AKIA" + drawn(c, string.ascii_uppercase + "234567", 16),
    "Google API": lambda c: "AIza" + drawn(c, URL64, 35),
    "GitHub classic": lambda c: c.choice(["ghp_", "gho_", "ghs_", "ghu_"]) + drawn(c, ALNUM, 36),
    "GitHub fine-grained": lambda c: f"github_pat_{drawn(c, ALNUM, 22)}_{drawn(c, ALNUM, 59)}",
    "GitLab": lambda c: "glpat-" + drawn(c, URL64, 20),
    "Slack bot": lambda c: f"xoxb-{drawn(c, string.digits, 12)}-{drawn(c, string.digits, 13)}-{drawn(c, ALNUM, 24)}",
    "Stripe": lambda c: c.choice(["sk_live_", "rk_live_", "sk_test_"]) + drawn(c, ALNUM, 24),
    "OpenAI": lambda c: c.choice(["sk-proj-" + drawn(c, URL64, 64), "sk-" + drawn(c, ALNUM, 48)]),
    "Anthropic": lambda c: "sk-ant-api03-" + drawn(c, URL64, 93) + "AA",
    "npm": lambda c: "npm_" + drawn(c, ALNUM, 36),
    "PyPI": lambda c: "pypi-AgEIcHlwaS5vcmc" + drawn(c, URL64, 130),
    "Twilio": lambda c: "SK" + drawn(c, HEX, 32),
    "SendGrid": lambda c: f"SG.{drawn(c, URL64, 22)}.{drawn(c, URL64, 43)}",
    "Telegram": lambda c: f"{c.randrange(10**8, 10**10 - 1)}:AA{drawn(c, URL64, 33)}",
    "Discord": lambda c: f"{c.choice('MNO')}{drawn(c, ALNUM, 23)}.{drawn(c, URL64, 6)}.{drawn(c, URL64, 38)}",
    "Hugging Face": lambda c: "hf_" + drawn(c, string.ascii_letters, 34),
    "JWT": web_token,
    "PEM": private_key,
    "Chinese ID": identity,
    "phone": mobile,
    "bank card": luhn_card,
}
"""Known by themselves, wherever they stand."""

CARRIED: dict[str, Callable[[Chance], tuple[str, str]]] = {
    "AWS secret": lambda c: (s := drawn(c, ALNUM + "+/", 40), c.choice([f"aws_secret_access_key = {s}", f'AWS_SECRET_ACCESS_KEY="{s}"', f"the AWS secret key is {s}"]))[::-1],
    "Azure": lambda c: (s := base64.b64encode(c.randbytes(64)).decode(), f"DefaultEndpointsProtocol=https;AccountName=logs;AccountKey={s};EndpointSuffix=core.windows.net")[::-1],
    "connection string": lambda c: (s := password(c).replace("@", "!").replace("#", "!"), c.choice([f"postgresql://app:{s}@db.internal:5432/orders", f"mongodb+srv://svc:{s}@cluster0.example.net/?w=1", f"Server=db;User Id=sa;Password={s};Encrypt=true", f"redis://:{s}@cache:6379/0"]))[::-1],
    "password": lambda c: (s := password(c), c.choice([f"password={s}", f'password = "{s}"', f"'passwd': '{s}'", f"密码：{s}", f"the password is {s}", f"DB_PASSWORD={s}", f"密码是{s}", f"--password {s}" if False else f"pwd: {s}"]))[::-1],
    "bearer": lambda c: (s := drawn(c, URL64, c.randrange(24, 60)), c.choice([f"Authorization: Bearer {s}", f"-H 'authorization: bearer {s}'"]))[::-1],
    "URL login": lambda c: (s := password(c).replace("@", "!").replace("#", "!"), f"https://deploy:{s}@git.internal/infra.git")[::-1],
    "API key": lambda c: (s := drawn(c, HEX if c.random() < 0.4 else ALNUM, 32), c.choice([f"api_key = '{s}'", f"X_API_KEY={s}", f'"apiKey": "{s}"', f"client_secret: {s}", f"API 密钥：{s}", f"the API key is {s}"]))[::-1],
}  # fmt: skip
"""Known by the words beside them: (text with its carrier, the secret)."""

CONTEXTS = (
    "The gateway is called with {} since the move to the new cluster.",
    "We use {} for staging; it must be rotated before the release.",
    "调用支付网关时要用 {} ，每季度更换一次。",
    "测试环境的凭据：{}。",
    'client = Client("{}")',
    "export VALUE={}",
    '{{"value": "{}", "region": "eu-west-1"}}',
    "curl 'https://api.example.com/v1/items?key={}&page=2'",
    "2026-05-14 09:30:11 WARN request failed with {} (attempt 2)",
    "value: {}  # from the old vault",
    "({})",
    "line one\\n{}\\nline three",
)
CARRIED_CONTEXTS = tuple(c for c in CONTEXTS if "{}&" not in c and '"{}"' not in c)

SENTENCE = re.compile(r"[A-Z][^\n]{30,220}?[.:](?=\s)")
HARMLESS_FORMS: tuple[Callable[[Chance], str], ...] = (
    lambda c: f"Commit {hashlib.sha1(c.randbytes(8)).hexdigest()} fixes the flaky retry of the payment worker.",
    lambda c: f"The build {hashlib.sha1(c.randbytes(8)).hexdigest()[:8]} is deployed to staging.",
    lambda c: f"sha256:{hashlib.sha256(c.randbytes(8)).hexdigest()} is the digest of the base image.",
    lambda c: f"The request {uuid.UUID(int=c.getrandbits(128), version=4)} timed out after 30 s.",
    lambda c: f"tenant_id = '{uuid.UUID(int=c.getrandbits(128), version=4)}'",
    lambda c: f"The md5 of the archive is {hashlib.md5(c.randbytes(8)).hexdigest()}.",
    lambda c: f"The cursor is {base64.b64encode(c.randbytes(12)).decode()} on the second page.",
    lambda c: f"The job started at {c.randrange(1_600_000_000_000, 1_900_000_000_000)} and took {c.randrange(9_999)} ms.",
    lambda c: f"Version {c.randrange(20)}.{c.randrange(20)}.{c.randrange(2000)} needs {c.randrange(1, 64) * 2**30} bytes of memory.",
    lambda c: f"order_id={c.randrange(10**9, 10**10)} was refunded twice in June.",
    lambda c: f"integrity sha512-{base64.b64encode(c.randbytes(64)).decode()}",
    lambda c: f"The password must have at least {c.randrange(8, 20)} characters and one digit.",
    lambda c: f"password = os.environ['{c.choice(['DB', 'APP', 'MAIL'])}_PASSWORD']",
    lambda c: f"The token is read from ${{{c.choice(['CI', 'NPM', 'GH'])}_TOKEN}} and never logged.",
    lambda c: f"密码至少 {c.randrange(8, 16)} 位，连续错 5 次锁定账号。",
    lambda c: "API 密钥放在钥匙串里，不写进仓库。",
    lambda c: f"no API key in the build of {c.choice(['May', 'June', 'July'])}; import.meta.env.KEY is empty",
    lambda c: f"max_tokens: {c.randrange(512, 9000)}, temperature: 0.{c.randrange(10)}",
    lambda c: f"The secret of {c.choice(['fast builds', 'good tests', 'small images'])} is caching at layer {c.randrange(9)}.",
    lambda c: f"The lock file pins {c.choice(['react', 'numpy', 'serde'])}@{c.randrange(20)}.{c.randrange(9)}.{c.randrange(9)} for node{c.randrange(14, 24)}.",
)  # fmt: skip


def documentation(chance: Chance, most: int) -> list[str]:
    """Sentences from the descriptions of installed packages and the doc strings of the standard library."""
    texts = [d.metadata.get_payload() for d in distributions()]
    library = Path(json.__file__).parents[1]
    texts += [
        p.read_text("utf-8", "replace") for p in sorted(library.glob("*.py")) + sorted(library.glob("*/*.py"))[:400]
    ]
    sentences = sorted({s for text in texts if isinstance(text, str) for s in SENTENCE.findall(text)})
    chance.shuffle(sentences)
    return sentences[:most]


def positives(chance: Chance, each: int) -> Iterator[tuple[str, str, str]]:
    """(format, text, secret)."""
    for name, make in BARE.items():
        for _ in range(each):
            secret = make(chance)
            yield name, chance.choice(CONTEXTS).format(secret), secret
    for name, carry in CARRIED.items():
        for _ in range(each):
            text, secret = carry(chance)
            yield name, chance.choice(CARRIED_CONTEXTS).format(text), secret


def is_masked(secret: str, masked: str) -> bool:
    """Whether no eight characters in a row of the secret's last part are left."""
    end = secret.replace("\n-----END", "\n").split("PRIVATE KEY-----\n")[-1][-24:].strip()
    return not any(end[i : i + 8] in masked for i in range(max(1, len(end) - 7)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--each", type=int, default=40)
    parser.add_argument("--harmless", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=5)
    parser.add_argument("--show", action="store_true")
    a = parser.parse_args()
    chance = random.Random(a.seed)
    missed: dict[str, list[str]] = {}
    total = 0
    for name, text, secret in positives(chance, a.each):
        total += 1
        if not is_masked(secret, secrets.mask(text)[0]):
            missed.setdefault(name, []).append(text)
    count = sum(map(len, missed.values()))
    formats = len(BARE) + len(CARRIED)
    print(f"formats {formats} · generated {total} · masked {total - count} ({1 - count / total:.2%})")
    for name, texts in missed.items():
        print(f"  {name}: {len(texts)} of {a.each} missed" + "".join(f"\n    {t}" for t in texts[: 5 * a.show]))
    generated = [make(chance) for make in HARMLESS_FORMS for _ in range(a.harmless // (2 * len(HARMLESS_FORMS)))]
    harmless = generated + documentation(chance, a.harmless - len(generated))
    started = time.process_time()
    touched = [(text, found) for text in harmless if (found := secrets.mask(text)[1])]
    micro = (time.process_time() - started) / len(harmless) * 1e6
    print(
        f"harmless {len(harmless)} · touched {len(touched)} ({len(touched) / len(harmless):.2%}) · {micro:.0f} µs each"
    )
    for text, found in touched if a.show else ():
        print(f"    {found}: {text}")
    waiting = [(why, text) for text in harmless if (why := suspicion(text))]
    print(f"harmless put into quarantine {len(waiting)}")
    for why, text in waiting if a.show else ():
        print(f"    {why}: {text}")
    sys.exit(count / total > 0.05 or len(touched) / len(harmless) > 0.005)


if __name__ == "__main__":
    main()
