"""`tetrarium secrets …`, `exclude …`, `quarantine …`, `trash …`, `erase` and `prove-deleted`: what a person guards."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from tetrarium.cli.terminal import as_json, caller, common, counted, first_line, space, standard_input, write
from tetrarium.errors import InvalidInput, NotFound
from tetrarium.mcp.arguments import from_system
from tetrarium.model import DeletionProof, Exclusion, Memory, SecretScan
from tetrarium.privacy import exclusions

_REGULAR = re.compile(r"\\[A-Za-z.]|[\[\](){}|+$^]")
"""Signs of a regular expression, which mean nothing in a pattern of ours."""

SHOWN_FINDS = 40
"""Finds that `prove-deleted` lists."""


def add(commands: Any) -> None:
    """Their parsers."""
    _add_secrets(_group(commands, "secrets", "what was masked, what is stored now, and what to do with secrets"))
    _add_exclusions(_group(commands, "exclude", "patterns, topics, folders and clients that are never stored"))
    _add_quarantine(_group(commands, "quarantine", "memories that read like instructions to an agent"))
    _add_trash(
        _group(
            commands, "trash", "put memories into the trash, take them out; what is in it, what is overdue; empty it"
        )
    )
    erase = commands.add_parser("erase", help="erase memories for good: no byte is left in any file of the space")
    common(erase)
    erase.add_argument("memory", nargs="+", help="ids; in the trash or not")
    erase.add_argument("--prove", action="store_true", help="search every file for them afterwards")
    erase.set_defaults(run=_erase)
    prove = commands.add_parser("prove-deleted", help="search every file of the space for a text, in any form")
    common(prove)
    prove.add_argument("text", nargs="?", help="a text that should be gone; '-' or none: from standard input")
    prove.set_defaults(run=_prove)


def _group(commands: Any, name: str, about: str) -> Any:
    group = commands.add_parser(name, help=about, description=about)
    return group.add_subparsers(title="verbs", required=True, metavar="VERB")


def _verb(verbs: Any, name: str, about: str, run: Any) -> Any:
    parser = verbs.add_parser(name, help=about, description=about)
    common(parser)
    parser.set_defaults(run=run)
    return parser


# --- secrets -------------------------------------------------------------------------------------


def _add_secrets(verbs: Any) -> None:
    listing = _verb(verbs, "list", "what was masked: kind, field, memory, when; never the secret", _list_masked)
    listing.add_argument("--limit", type=int, default=40, help="how many (default 40)")
    _verb(verbs, "scan", "count what the rules find in what is stored now; changes nothing", _scan)
    _verb(verbs, "mask", "mask what is stored now, in backups too, and erase what it was", _mask)
    policy = _verb(verbs, "policy", "show or set what this space does with secrets", _policy)
    policy.add_argument("action", nargs="?", choices=("mask", "refuse", "allow"))
    policy.add_argument("--mail", action="store_true", help="with an action: e-mail addresses count as secrets")


def _list_masked(options: argparse.Namespace) -> int:
    with space(options.data_dir) as service:
        found = service.masked(limit=options.limit)
    if options.json:
        write(as_json([asdict(one) for one in found]))
        return 0
    for one in found:
        write(f"{one.at:%Y-%m-%d %H:%M}  {one.kind} ({one.field})  {one.memory or 'not stored'}  {one.client}")
    if not found:
        write("Nothing was masked yet.")
    return 0


def _scan(options: argparse.Namespace) -> int:
    """0: nothing found; 1: secrets are stored."""
    with space(options.data_dir) as service:
        found = service.scan_secrets()
    _tell_scan(found, options.json, "`tetrarium secrets mask` masks them.")
    return 1 if found.memories else 0


def _mask(options: argparse.Namespace) -> int:
    with space(options.data_dir) as service:
        found = service.mask_stored(client=caller().client)
    _tell_scan(found, options.json, "They are masked, and what they were is erased.")
    return 0


def _tell_scan(found: SecretScan, json: bool, then: str) -> None:
    if json:
        write(as_json(asdict(found)))
        return
    for kind, count in found.by_kind.items():
        write(f"{count:6}  {kind}")
    write(
        f"{len(found.memories)} of {found.looked_at} memories hold secrets: {', '.join(found.memories[:8])}. {then}"
        if found.memories
        else f"No secret in {found.looked_at} memories."
    )


def _policy(options: argparse.Namespace) -> int:
    with space(options.data_dir, makes=bool(options.action)) as service:
        if options.action:
            service.set_secret_policy(options.action, mail=options.mail, client=caller().client)
        policy = service.secret_policy()
    mail = "; e-mail addresses count as secrets" if policy.mail else ""
    write(as_json(asdict(policy)) if options.json else f"Secrets: {policy.action}{mail}")
    return 0


# --- exclusions ----------------------------------------------------------------------------------


def _add_exclusions(verbs: Any) -> None:
    _verb(verbs, "list", "what is never stored", _list_exclusions)
    for name, about, run in (
        ("add", "never store what matches from now on", _exclude),
        ("try", "count what it would have kept out of what is stored now", _try_exclusion),
    ):
        parser = _verb(verbs, name, about, run)
        parser.add_argument("kind", choices=exclusions.KINDS)
        parser.add_argument("pattern", help="text (* for anything), words, a folder, or the name of a client")
        parser.add_argument(
            "--literal", action="store_true", help="take the signs of a regular expression as they stand"
        )
    removing = _verb(verbs, "remove", "store it again", _include)
    removing.add_argument("what", metavar="NUMBER|KIND", help="its number, as `list` shows it; or its kind, and then:")
    removing.add_argument("pattern", nargs="?", metavar="PATTERN", help="what was excluded")


def _list_exclusions(options: argparse.Namespace) -> int:
    with space(options.data_dir) as service:
        found = service.exclusions()
    if options.json:
        write(as_json([asdict(one) for one in found]))
        return 0
    for one in found:
        write(f"{one.id:4}  {one.kind:8}  {one.pattern}")
    if not found:
        write("Nothing is excluded.")
    return 0


def _exclude(options: argparse.Namespace) -> int:
    pattern = _pattern(options)
    with space(options.data_dir, makes=True) as service:
        made = service.exclude(options.kind, pattern, client=caller().client)
        stored = service.try_exclusion(options.kind, pattern)
    if options.json:
        write(as_json(asdict(made) | {"matching": stored.total}))
        return 0
    stays = f"{counted(stored.total)} of {stored.of} stored now would match; what is stored stays."
    write(f"Excluded as {made.id}: {made.kind} {made.pattern}. {stays}")
    return 0


def _pattern(options: argparse.Namespace) -> str:
    """What to exclude. Raises InvalidInput for a regular expression: it would be kept, and never match anything."""
    pattern = from_system(options.pattern)
    if options.kind == "pattern" and not options.literal and (sign := _REGULAR.search(pattern)):
        raise InvalidInput(
            f"'{pattern}' reads like a regular expression ({sign.group()}); nothing was changed.",
            advice="Patterns are text in which * stands for anything, as in PROJ-*; "
            "--literal takes every other sign as it stands.",
        )
    return pattern


def _try_exclusion(options: argparse.Namespace) -> int:
    pattern = _pattern(options)
    with space(options.data_dir) as service:
        trial = service.try_exclusion(options.kind, pattern)
    if options.json:
        write(as_json(asdict(trial)))
        return 0
    for memory_id, words in trial.examples:
        write(f"{memory_id}  {first_line(words)}")
    write(f"It would have kept out {trial.total} of {trial.of} memories.")
    return 0


def _include(options: argparse.Namespace) -> int:
    kind, pattern = options.what, options.pattern
    if (pattern is None) != kind.isdecimal() or not (kind.isdecimal() or kind in exclusions.KINDS):
        raise InvalidInput(
            "Which exclusion?", advice="Give its number, as `tetrarium exclude list` shows it, or its kind and pattern."
        )
    with space(options.data_dir) as service:
        number = int(kind) if pattern is None else _number_of(service.exclusions(), kind, from_system(pattern))
        service.include_again(number, client=caller().client)
    write(as_json({"removed": number}) if options.json else f"Exclusion {number} is gone.")
    return 0


def _number_of(known: Iterable[Exclusion], kind: str, pattern: str) -> int:
    wanted = exclusions.checked(kind, pattern)
    for one in known:
        if (one.kind, one.pattern.casefold()) == (kind, wanted.casefold()):
            return one.id
    raise NotFound(f"No {kind} '{wanted}' is excluded.", advice="`tetrarium exclude list` shows what is.")


# --- quarantine ----------------------------------------------------------------------------------


def _add_quarantine(verbs: Any) -> None:
    _verb(verbs, "list", "what waits for a person, and why", _list_quarantine)
    release = _verb(verbs, "release", "let memories through that you have read", _release)
    release.add_argument("memory", nargs="+")


def _list_quarantine(options: argparse.Namespace) -> int:
    with space(options.data_dir) as service:
        found = service.quarantined(client=caller().client)
    if options.json:
        rows = [{"id": m.id, "why": m.quarantined, "client": m.source.client, "content": m.content} for m in found]
        write(as_json(rows))
        return 0
    for memory in found:
        write(f"{memory.id}  {memory.quarantined}; from {memory.source.client}")
        for line in memory.content.splitlines():
            write(f"      {line}")
    if not found:
        write("Nothing is in quarantine.")
    return 0


def _release(options: argparse.Namespace) -> int:
    with space(options.data_dir) as service:
        released = [service.release_from_quarantine(one, client=caller().client).id for one in options.memory]
    write(as_json({"released": released}) if options.json else f"Let through: {', '.join(released)}")
    return 0


# --- trash and erasing ---------------------------------------------------------------------------


def _add_trash(verbs: Any) -> None:
    _verb(verbs, "list", "what is in the trash, latest first", _list_trash)
    for name, about, run in (
        ("put", "put memories into the trash, all or none", _put_into_trash),
        ("restore", "take memories out of the trash", _take_out_of_trash),
    ):
        _verb(verbs, name, about, run).add_argument("memory", nargs="+", help="ids")
    overdue = _verb(verbs, "overdue", "what is past its time in the trash or its expiry", _overdue)
    overdue.add_argument("--erase", action="store_true", help="erase it now")
    _verb(verbs, "empty", "erase what is in the trash, but for pinned memories", _empty_trash)


def _list_trash(options: argparse.Namespace) -> int:
    with space(options.data_dir) as service:
        _tell([one.memory for one in service.trashed(limit=1_000)], options.json, "The trash is empty.")
    return 0


def _put_into_trash(options: argparse.Namespace) -> int:
    with space(options.data_dir) as service:
        done = service.forget_all(options.memory, client=caller().client)
    write(as_json({"trashed": done.ids}) if options.json else f"In the trash: {', '.join(done.ids)}")
    return 0


def _take_out_of_trash(options: argparse.Namespace) -> int:
    with space(options.data_dir) as service:
        done = service.restore_all(options.memory, client=caller().client)
    write(as_json({"restored": done.ids}) if options.json else f"Out of the trash: {', '.join(done.ids)}")
    return 0


def _overdue(options: argparse.Namespace) -> int:
    with space(options.data_dir) as service:
        found = service.overdue()
        if options.erase and found:
            service.erase([memory.id for memory in found], client=caller().client)
    _tell(found, options.json, "Nothing is overdue.")
    return 0


def _empty_trash(options: argparse.Namespace) -> int:
    with space(options.data_dir) as service:
        done = service.empty_trash(client=caller().client)
        pending = service.pending_erasures()
    later = f"; files may still hold {len(pending)} of them until the next quiet moment" if pending else ""
    write(as_json(asdict(done)) if options.json else f"Erased {counted(done.total)}{later}.")
    return 0


def _tell(memories: Iterable[Memory], json: bool, none: str) -> None:
    found = list(memories)
    if json:
        write(as_json([{"id": m.id, "content": m.content} for m in found]))
        return
    for memory in found:
        write(f"{memory.id}  {first_line(memory.content)}")
    if not found:
        write(none)


def _erase(options: argparse.Namespace) -> int:
    """0: erased, and with --prove nothing found; 1: something found, or files still to go through."""
    with space(options.data_dir) as service:
        if options.prove:
            return _tell_proof(service.erase_with_proof(options.memory, client=caller().client), options.json)
        done = service.erase(options.memory, client=caller().client)
        pending = service.pending_erasures()
    if options.json:
        write(as_json(asdict(done) | {"pending": [asdict(one) for one in pending]}))
    else:
        copies = f" Still to go through: {', '.join(pending[0].backups) or 'the store'}." if pending else ""
        write(f"Erased {counted(done.total)}.{copies}")
    return 1 if pending else 0


def _prove(options: argparse.Namespace) -> int:
    """0: no byte of it; 1: found, or still stored."""
    text = standard_input() if options.text in (None, "-") else from_system(options.text)
    if not text.strip():
        raise InvalidInput("There is no text to look for.", advice="Give a text that should be gone.")
    with space(options.data_dir) as service:
        return _tell_proof(service.prove_deleted(text), options.json)


def _tell_proof(found: DeletionProof, json: bool) -> int:
    code = 0 if found.is_gone else 1
    if json:
        write(as_json(asdict(found) | {"is_gone": found.is_gone}))
        return code
    for residue in found.residues[:SHOWN_FINDS]:
        inside = f", inside {residue.inside}" if residue.inside else ""
        write(f"{residue.file} at byte {residue.offset}: {residue.form}{inside}")
    if (more := len(found.residues) - SHOWN_FINDS) > 0:
        write(f"and {more} more")
    if found.still_stored:
        write(f"Still stored: {', '.join(found.still_stored)}")
    looked = (
        f"{found.forms} forms in {found.files} files ({found.bytes / 1e6:.1f} MB, {found.compressed} compressed parts)"
    )
    write(f"{'No byte of it is left' if found.is_gone else 'It is not gone'}: {looked}.")
    if found.skipped:
        write(
            f"Words that other memories or the store itself use, and that prove nothing: {', '.join(found.skipped[:20])}"
        )
    return code
