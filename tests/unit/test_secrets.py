"""Secrets are found and masked; what only looks like one is left alone; no text makes it slow."""

from __future__ import annotations

import random
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tetrarium.privacy import checks, secrets
from tetrarium.privacy.rules import MAIL, NAMED, RULES

sys.path.insert(0, str(Path(__file__).parents[1] / "bench"))
import masking

KEY = "16C7e42F292c6912E7710c838347Ae178B4a"

MASKED = {
    f"The runner logs in with ghp_{KEY} since May.": "The runner logs in with [secret: GitHub token] since May.",
    "DB_PASSWORD=swordfish": "DB_PASSWORD=[secret: password]",
    'password = "hunter2"': 'password = "[secret: password]"',
    "登录密码改成 Qwe!2345 了": "登录密码改成 [secret: password] 了",
    "密码：abc12345。": "密码：[secret: password]。",
    "postgres://app:s3cr3tpw@db.local/x": "postgres://app:[secret: password]@db.local/x",
    "https://x.io/cb?token=abc&password=hunter2&x=1": "https://x.io/cb?token=abc&password=[secret: password]&x=1",
    "curl -u admin:Passw0rd! http://x": "curl -u admin:[secret: password] http://x",
    "card 4111 1111 1111 1111, please": "card [secret: bank card], please",
    "身份证 11010519491231002X": "身份证 [secret: Chinese ID number]",
    "aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY": "aws_secret_access_key = [secret: AWS secret key]",
    "password: 正确马电池订书钉123": "password: [secret: password]",
    "密码：正确马电池订书钉123。": "密码：[secret: password]。",
    "-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA7\nab": "[secret: private key]",
    "MIIEpAIBAAKCAQEA7+x=\n-----END RSA PRIVATE KEY-----": "[secret: private key]",
}

UNTOUCHED = (
    "no API key in the build; import.meta.env.KEY is empty",
    'password=os.environ["X"]',
    "password: string",
    "password=${DB_PASSWORD}",
    "connect(password=password)",
    "password: must have at least 12 characters",
    "The password is hashed with bcrypt, the API token is base64-encoded.",
    "token = get_token()  # max_tokens: 4096",
    "commit 9fceb02d0ae598e95dc970b74767f19372d61af8 in 550e8400-e29b-41d4-a716-446655440000",
    "16 GiB are 17179869184 bytes; it started at 1717430400000",
    "https://user:password@example.com",
    "密码至少12位，必须包含数字",
    'getpass("password: ")',
    "密码：至少12位，必须包含数字",
    "密码：长度不少于12，每年更换",
    "令牌：有效期为7200秒，过期后自动刷新",
    "Connect with postgres://app:[secret: password]@db.internal:5432/main for the reports.",
    "DB_PASSWORD=[secret: password] und password: [secret: secret key]",
    "-u admin:[secret: password] and ://[secret: password]@host:80/x@y",
)


@pytest.mark.parametrize("text", MASKED)
def test_a_secret_is_masked_and_the_words_around_it_stay(text: str) -> None:
    assert secrets.mask(text)[0] == MASKED[text]


@pytest.mark.parametrize("text", UNTOUCHED)
def test_what_only_looks_like_a_secret_is_left_alone(text: str) -> None:
    assert secrets.mask(text) == (text, ())


def test_generated_secrets_of_28_formats_are_masked_and_harmless_sentences_are_not() -> None:
    """The benchmark `masking` does more of both."""
    chance = random.Random(3)
    generated = list(masking.positives(chance, 4))
    missed = [(name, text) for name, text, secret in generated if not masking.is_masked(secret, secrets.mask(text)[0])]
    assert len(missed) <= 0.05 * len(generated), missed
    harmless = [make(chance) for make in masking.HARMLESS_FORMS for _ in range(20)]
    touched = [text for text in harmless if secrets.find(text)]
    assert len(touched) <= 0.005 * len(harmless), touched


@given(st.lists(st.sampled_from([*MASKED, *UNTOUCHED, "。", " ", "\n", '"', "密码", "password=", "sk-"]), max_size=6))
def test_a_masked_text_has_nothing_left_to_mask(parts: list[str]) -> None:
    once, _ = secrets.mask(" ".join(parts))
    assert secrets.mask(once) == (once, ())


_FORMATS = sorted({name for name, _, _ in masking.positives(random.Random(1), 1)})
_SURROUNDINGS = (
    "{} {}",
    "{}{}",
    "{}@{}",
    "postgres://app:{}@db.internal:5432/main {} for the reports.",
    "password: {}, token = {}",
    "password='{} {}",
    "secret: {}\n{}",
    "密码：{}；密钥是{}。",
    '{{"apiKey": "{}", "auth": "Bearer {}"}}',
    "https://x.io/cb?token={}&password={}&x=1",
    "curl -u admin:{} -H 'Authorization: Bearer {}'",
    "call {} or mobile {}",
    "-----BEGIN PRIVATE KEY-----\n{}\n{}",
)


@given(
    seed=st.integers(0, 2**32),
    names=st.tuples(st.sampled_from(_FORMATS), st.sampled_from(_FORMATS)),
    around=st.sampled_from(_SURROUNDINGS),
    mail=st.booleans(),
)
def test_masking_what_is_masked_changes_nothing(seed: int, names: tuple[str, str], around: str, mail: bool) -> None:
    """Whatever the format, alone or grown together with another, in prose, code and addresses."""
    made = {name: text for name, text, _ in masking.positives(random.Random(seed), 1)}
    once, _ = secrets.mask(around.format(made[names[0]], made[names[1]]), mail=mail)
    assert secrets.find(once, mail=mail) == ()
    assert secrets.mask(once, mail=mail) == (once, ())


def test_an_e_mail_address_is_masked_only_where_that_is_asked() -> None:
    text = "Ask ana.gomes@example.org about the invoice run."
    assert secrets.mask(text)[0] == text
    assert secrets.mask(text, mail=True)[0] == "Ask [secret: e-mail address] about the invoice run."


def test_no_text_takes_longer_than_its_length_allows() -> None:
    """Every cue of every rule, repeated to 20 kB: processor time, the best of two. A text that takes quadratic time needs
    seconds; 100 kB of the slowest takes under 0.1 s on an idle machine."""
    cues = {cue for rule in (*RULES, *NAMED, MAIL) for cue in rule.cues}
    more = {"password='password=\"", "eyJa.", "-----BEGIN PRIVATE KEY-----", "密码是", "a@", "1 2 3 4 ", "secret is "}
    for seed in sorted(cues | more):
        text = (seed * 20_000)[:20_000]
        assert _seconds(text) < 0.2 or _seconds(text) < 0.2, seed


def test_check_digits_tell_cards_and_identity_numbers_from_other_numbers() -> None:
    assert checks.is_card("4242424242424242")
    assert not checks.is_card("4242424242424241")
    assert checks.is_chinese_id("11010519491231002X")
    assert not checks.is_chinese_id("110105194912310021")
    assert checks.is_iban("GB82WEST12345698765432")


def _seconds(text: str) -> float:
    started = time.process_time()
    secrets.find(text, mail=True)
    return time.process_time() - started
