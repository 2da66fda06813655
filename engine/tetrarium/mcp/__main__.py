"""`tetrarium-mcp`: what an IDE starts. Standard input and output carry the protocol, nothing else does.

It is a relay to the one host of the space (relay.py), the host itself (hosting.py), or both in one process
(`--standalone`); which one is decided here, and nothing heavy is imported before that. Everything that leaves this process on its old descriptor 1 – a stray print, a chatty native library, a
child – goes to standard error; the protocol writes to a private copy. The endpoint leaves when the client
closes its side, dies or sends SIGTERM, with the store closed.
"""

from __future__ import annotations

import argparse
import logging
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from tetrarium import __version__, paths
from tetrarium.config import DEFAULTS
from tetrarium.mcp import meeting
from tetrarium.mcp.projects import project_of

LOG_LIMIT = 1_000_000
"""Bytes of what earlier hosts wrote into the log of a space, from which on it begins anew."""

PASSPHRASE_FILE = "TETRARIUM_PASSPHRASE_FILE"
"""As in privacy/keys.py, which a relay does not import."""

LOG_LEVELS = ("debug", "info", "warning", "error")


def main(argv: Sequence[str] | None = None) -> None:
    """Serve one client on standard input and output, or be the host of a space; then end the process."""
    options = _options(argv)
    if (
        options.passphrase_file
    ):  # by the environment it reaches the host that a relay starts, and shows in no list of programs
        os.environ[PASSPHRASE_FILE] = str(options.passphrase_file.expanduser().absolute())
    try:
        code = _run_host(options) if options.host else _run_endpoint(options)
    except Exception:  # the last place that can still write the reason down
        logging.getLogger(__name__).exception("the endpoint failed")
        code = 1
    logging.shutdown()
    os._exit(code)  # the store is closed; taking the interpreter apart would use up the client's patience


def _run_endpoint(options: argparse.Namespace) -> int:
    wire_in, wire_out = _keep_the_wire()
    _log_to(options.log_file, options.log_level)
    project = project_of(options.project)
    if options.standalone or not meeting.possible():
        from tetrarium.mcp import stdio  # imports the protocol's SDK: only now, when nothing can reach the wire

        return stdio.run(wire_in, wire_out, data_dir=options.data_dir, project=project)
    from tetrarium.mcp.relay import Relay
    from tetrarium.mcp.route import Route

    told: tuple[str, ...] = ("--log-level", options.log_level, "--linger", str(options.linger))
    told += ("--log-file", str(options.log_file.absolute())) if options.log_file else ()
    route = Route(
        folder=(options.data_dir or paths.default_data_dir()).expanduser().absolute(),
        relay=f"relay-{os.urandom(8).hex()}",
        project=project,
        host_options=told,
    )
    return Relay(wire_in, wire_out, route).run()


def _run_host(options: argparse.Namespace) -> int:
    from tetrarium.mcp import hosting  # brings asyncio, which a relay does without

    if options.status is None:
        _log_to(options.log_file, options.log_level)
        return hosting.run_attached(options.data_dir, options.connection)
    hosting.detach(options.status, options.lock)  # the lock is held as long as this process has it open
    kept = options.data_dir / paths.LOG_FILE
    if kept.stat().st_size > LOG_LIMIT:
        os.truncate(kept, 0)
    _log_to(options.log_file or kept, options.log_level)
    return hosting.run_detached(options.data_dir, options.status, options.linger)


def _options(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="tetrarium-mcp",
        description="Serves a memory space to a coding agent, over standard input and output (MCP).",
        allow_abbrev=False,
    )
    parser.add_argument(
        "--data-dir",
        type=Path,
        metavar="DIR",
        help="folder of the space (default: TETRARIUM_DATA_DIR, else the user's)",
    )
    parser.add_argument(
        "--project",
        metavar="NAME",
        help="project of this client's memories (default: name of CLAUDE_PROJECT_DIR, else global)",
    )
    parser.add_argument(
        "--passphrase-file",
        type=Path,
        metavar="FILE",
        help="holds the passphrase of an encrypted space, readable by you alone (else TETRARIUM_PASSPHRASE(_FILE), "
        "else the keychain); a passphrase itself never stands on a command line",
    )
    parser.add_argument(
        "--standalone",
        action="store_true",
        help="run the engine in this process, instead of in one host that all clients of the space share",
    )
    parser.add_argument(
        "--linger",
        type=float,
        default=os.environ.get("TETRARIUM_LINGER", str(DEFAULTS.host_linger)),
        metavar="SECONDS",
        help="how long a host that this program starts stays after its last client (default: TETRARIUM_LINGER, "
        f"else {DEFAULTS.host_linger:g})",
    )
    parser.add_argument(
        "--log-file",
        type=Path,
        metavar="FILE",
        help=f"write the log there instead of to standard error, or of {paths.LOG_FILE} in the folder (the shared host)",
    )
    parser.add_argument(
        "--log-level", choices=LOG_LEVELS, default="warning", help="how much to log (default: %(default)s)"
    )
    parser.add_argument("--version", action="version", version=f"tetrarium-mcp {__version__}")
    for name, kind in (
        ("--status", int),
        ("--lock", int),
        ("--connection", int),
    ):  # what a relay gives to the host that it starts
        parser.add_argument(name, type=kind, help=argparse.SUPPRESS)
    parser.add_argument("--host", action="store_true", help=argparse.SUPPRESS)
    return parser.parse_args(argv)


def _keep_the_wire() -> tuple[int, int]:
    """Private descriptors for the protocol; 0 now reads nothing and 1 writes to standard error."""
    wire_in, wire_out = os.dup(0), os.dup(1)
    if sys.platform == "win32":
        import msvcrt

        for descriptor in (wire_in, wire_out):
            msvcrt.setmode(descriptor, os.O_BINARY)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    return wire_in, wire_out


def _log_to(file: Path | None, level: str) -> None:
    """Log to the file or to standard error, in UTF-8 whatever the locale says."""
    handler: logging.Handler
    if file is None:
        sys.stderr = open(2, "w", encoding="utf-8", errors="backslashreplace", buffering=1, closefd=False)  # noqa: SIM115
        handler = logging.StreamHandler(sys.stderr)
    else:
        file.parent.mkdir(parents=True, exist_ok=True)
        handler = logging.FileHandler(file, encoding="utf-8", errors="backslashreplace")
    logging.basicConfig(
        level=level.upper(), handlers=[handler], format="%(asctime)s %(levelname)s %(name)s: %(message)s", force=True
    )
    logging.captureWarnings(True)


if __name__ == "__main__":
    main()
