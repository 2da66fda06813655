"""Deterministic generator of realistic developer memories with known topics.

  python tests/bench/generated_notes.py --n 10000 --seed 7 --out mem.jsonl \
                  [--labels labels.jsonl] [--queries q.jsonl --nq 50]
                  [--update-rate 0.0] [--dup-rate 0.0] [--cjk-rate 0.0]

--out     one JSON object a line: {content, keywords, category}
--labels  same order: {i, topic, component, aspect, project, kind, of}
          kind: fact | update (contradicts line `of`) | dup (rewording of line `of`)
--queries one JSON object a line: {query, kind, topic, gold, current, stale}
          kind: specific | topic | ambiguous ; gold = line numbers that answer it,
          ON-topic = every line whose label has the query's topic.
Standard library only. Same arguments, same bytes, on any platform (only
random.Random with an int seed, no set iteration, sorted where it matters).
"""

from __future__ import annotations

import argparse
import json
import random
from pathlib import Path
from typing import Any

# topic: (phrase, keywords, components).  Words such as pool, token, index, cache,
# session, key, worker, channel, branch, schema occur in several topics on purpose.
T = {
    "postgres": (
        "the Postgres database",
        "postgres sql vacuum replica pool",
        "connection pool|read replica|autovacuum|schema migration|query planner",
    ),
    "sqlite": (
        "the SQLite store",
        "sqlite wal journal pragma index",
        "WAL checkpoint|busy timeout|FTS index|page cache|backup job",
    ),
    "redis": (
        "the Redis cache",
        "redis cache ttl eviction key",
        "eviction policy|session cache|key prefix|pub-sub channel|cluster slot map",
    ),
    "kafka": (
        "the Kafka pipeline",
        "kafka topic partition consumer offset",
        "consumer group|partition key|retention policy|schema registry|dead letter topic",
    ),
    "rabbitmq": (
        "the RabbitMQ broker",
        "rabbitmq queue exchange channel ack",
        "prefetch limit|retry exchange|channel pool|quorum queue|ack timeout",
    ),
    "docker": (
        "the Docker images",
        "docker image layer registry build",
        "base image|build cache|multi-stage file|registry token|healthcheck",
    ),
    "kubernetes": (
        "the Kubernetes cluster",
        "kubernetes pod node ingress helm",
        "ingress rule|pod disruption budget|node pool|liveness probe|horizontal autoscaler",
    ),
    "terraform": (
        "the Terraform code",
        "terraform state module plan provider",
        "remote state|state lock|module registry|provider pin|drift check",
    ),
    "ci": (
        "the CI pipeline",
        "ci pipeline runner cache artifact",
        "runner pool|build cache|artifact upload|flaky retry|branch filter",
    ),
    "git": (
        "our Git workflow",
        "git branch rebase merge hook",
        "branch naming|rebase rule|pre-commit hook|release tag|merge queue",
    ),
    "auth": (
        "authentication",
        "auth jwt token session refresh",
        "access token|refresh token|session cookie|key rotation|password hash",
    ),
    "oauth": (
        "the OAuth login",
        "oauth redirect scope token consent",
        "redirect allow list|token exchange|scope list|consent screen|state parameter",
    ),
    "tls": (
        "TLS certificates",
        "tls certificate cipher key renewal",
        "renewal job|cipher list|private key store|pinning rule|intermediate chain",
    ),
    "payments": (
        "the payment flow",
        "payments invoice refund webhook ledger",
        "refund job|webhook signature|ledger schema|retry key|currency rounding",
    ),
    "email": (
        "outgoing e-mail",
        "email smtp bounce template queue",
        "bounce handler|template engine|send queue|DKIM key|unsubscribe link",
    ),
    "search": (
        "the search service",
        "search index analyzer ranking shard",
        "index alias|analyzer chain|ranking weight|shard count|synonym file",
    ),
    "embeddings": (
        "the embedding model",
        "embeddings vector model dimension batch",
        "batch size|vector dimension|pooling mode|model cache|token limit",
    ),
    "vectordb": (
        "the vector index",
        "vector hnsw recall index ef",
        "HNSW graph|ef search value|index rebuild|distance metric|delete mask",
    ),
    "llm": (
        "the LLM prompts",
        "llm prompt token context temperature",
        "system prompt|context window|token budget|tool schema|temperature",
    ),
    "rag": (
        "the RAG pipeline",
        "rag chunk retrieval rerank context",
        "chunk size|overlap|rerank step|citation format|retrieval depth",
    ),
    "frontend": (
        "the React front end",
        "react component state hook bundle",
        "state store|route loader|bundle split|form hook|error boundary",
    ),
    "css": (
        "the style sheets",
        "css layout theme grid token",
        "design token|dark theme|grid layout|breakpoint|font stack",
    ),
    "a11y": (
        "accessibility",
        "accessibility aria focus contrast keyboard",
        "focus order|aria label|contrast ratio|keyboard trap|screen reader text",
    ),
    "i18n": (
        "translations",
        "i18n locale translation plural format",
        "plural rule|locale fallback|date format|message key|translation export",
    ),
    "qt": (
        "the Qt desktop app",
        "qt widget signal thread opengl",
        "worker thread|signal slot|OpenGL view|settings store|high DPI scaling",
    ),
    "electron": (
        "the Electron shell",
        "electron ipc preload window update",
        "preload script|IPC channel|auto updater|window state|crash reporter",
    ),
    "ios": (
        "the iOS app",
        "ios swift keychain push build",
        "keychain item|push token|background task|build scheme|crash symbol upload",
    ),
    "android": (
        "the Android app",
        "android kotlin gradle intent push",
        "gradle cache|deep link|push channel|foreground service|proguard rule",
    ),
    "graphql": (
        "the GraphQL API",
        "graphql schema resolver mutation cache",
        "schema stitching|resolver batch|persisted query|depth limit|cache hint",
    ),
    "rest": (
        "the REST API",
        "rest endpoint pagination version status",
        "pagination cursor|version header|error body|idempotency key|rate limit",
    ),
    "grpc": (
        "the gRPC services",
        "grpc proto deadline stream channel",
        "deadline|proto package|channel pool|stream flow control|interceptor",
    ),
    "websocket": (
        "the WebSocket gateway",
        "websocket heartbeat reconnect channel session",
        "heartbeat|reconnect backoff|channel join|session resume|message size limit",
    ),
    "logging": (
        "logging",
        "logging level structured sink sampling",
        "log level|JSON formatter|sampling rate|sink buffer|redaction filter",
    ),
    "metrics": (
        "metrics and dashboards",
        "metrics prometheus histogram alert label",
        "histogram bucket|label limit|scrape interval|alert rule|dashboard folder",
    ),
    "tracing": (
        "distributed tracing",
        "tracing span context sampler exporter",
        "span name|context header|tail sampler|exporter batch|baggage key",
    ),
    "oncall": (
        "on-call and incidents",
        "incident oncall postmortem pager escalation",
        "escalation path|pager rule|postmortem template|status page|severity table",
    ),
    "backup": (
        "backups",
        "backup restore snapshot retention drill",
        "snapshot schedule|restore drill|retention policy|encryption key|offsite copy",
    ),
    "testing": (
        "the test suite",
        "testing pytest fixture mock coverage",
        "fixture scope|mock server|coverage gate|snapshot file|test database",
    ),
    "loadtest": (
        "load testing",
        "loadtest throughput latency ramp soak",
        "ramp profile|soak run|latency target|worker count|data set",
    ),
    "fuzzing": (
        "fuzzing",
        "fuzzing corpus sanitizer crash seed",
        "seed corpus|sanitizer flag|crash triage|worker count|dictionary file",
    ),
    "python": (
        "the Python packaging",
        "python wheel venv dependency lockfile",
        "lock file|wheel build|virtual environment|entry point|type stubs",
    ),
    "rust": (
        "the Rust crates",
        "rust crate lifetime async feature",
        "feature flag|async runtime|workspace lint|unsafe block|build script",
    ),
    "golang": (
        "the Go services",
        "go goroutine module context channel",
        "module proxy|context deadline|worker pool|channel buffer|race detector",
    ),
    "typescript": (
        "the TypeScript code",
        "typescript type strict lint build",
        "strict mode|path alias|lint rule|build target|type generator",
    ),
    "cpp": (
        "the C++ engine",
        "cpp cmake allocator abi sanitizer",
        "memory pool|build preset|ABI check|thread sanitizer|header layout",
    ),
    "gpu": (
        "the GPU kernels",
        "gpu cuda kernel stream memory",
        "kernel launch|stream pool|pinned memory|occupancy|mixed precision",
    ),
    "mltrain": (
        "model training",
        "training epoch checkpoint learning dataset",
        "learning rate|checkpoint interval|data loader worker|seed|evaluation split",
    ),
    "etl": (
        "the ETL jobs",
        "etl airflow dag schedule backfill",
        "backfill window|task retry|schedule|staging schema|sensor timeout",
    ),
    "warehouse": (
        "the data warehouse",
        "warehouse dbt model partition cost",
        "partition key|incremental model|cost limit|column mask|freshness test",
    ),
    "spark": (
        "the Spark jobs",
        "spark shuffle executor partition memory",
        "shuffle partition|executor memory|broadcast limit|cache level|skew hint",
    ),
    "s3": (
        "object storage",
        "s3 bucket object lifecycle upload",
        "bucket policy|multipart upload|lifecycle rule|object key|signed link",
    ),
    "cdn": ("the CDN", "cdn cache purge edge header", "cache key|purge job|edge rule|stale header|image resize"),
    "dns": (
        "DNS",
        "dns record ttl zone resolver",
        "record TTL|zone transfer|health check|split horizon|resolver cache",
    ),
    "featureflags": (
        "feature flags",
        "feature flag rollout cohort toggle",
        "rollout step|cohort rule|default value|stale flag clean-up|kill switch",
    ),
    "privacy": (
        "privacy and GDPR",
        "privacy gdpr erasure retention consent",
        "erasure job|retention policy|consent log|export format|data map",
    ),
    "security": (
        "security reviews",
        "security vulnerability secret scan policy",
        "secret scan|dependency audit|policy rule|threat model|key vault",
    ),
    "scheduler": (
        "the job scheduler",
        "scheduler cron worker lease retry",
        "worker lease|cron entry|retry backoff|priority queue|clock skew guard",
    ),
    "mcp": (
        "the MCP server",
        "mcp tool stdio session schema",
        "tool schema|stdio framing|session key|result limit|capability list",
    ),
    "graphics": (
        "the 3D renderer",
        "renderer mesh shader vertex camera",
        "vertex buffer|shader cache|camera path|instancing|picking pass",
    ),
    "game": (
        "the game loop",
        "game physics tick collision entity",
        "physics tick|collision layer|entity pool|save file|input buffer",
    ),
}
TOPICS = list(T)
PROJECTS = [
    "atlas",
    "beacon",
    "cobalt",
    "delta",
    "ember",
    "falcon",
    "granite",
    "harbor",
    "indigo",
    "juniper",
    "kestrel",
    "lumen",
    "meridian",
    "nimbus",
    "onyx",
    "pioneer",
    "quartz",
    "raven",
    "sable",
    "tundra",
    "umber",
    "vega",
    "willow",
    "zephyr",
]
PEOPLE = [
    "Ana",
    "Bram",
    "Chen",
    "Dara",
    "Emil",
    "Farah",
    "Goran",
    "Hana",
    "Ivo",
    "Jun",
    "Kofi",
    "Lena",
    "Mateo",
    "Nora",
    "Omar",
    "Priya",
]
ASPECTS = {  # aspect: (category, sentence shapes, value maker)
    "timeout": (
        "fact",
        ["In {p}, the {c} of {t} times out after {v}.", "{t}: {p} sets the {c} time-out to {v}."],
        lambda r: f"{r.choice([5, 10, 15, 20, 30, 45, 60, 90, 120])} seconds",
    ),
    "limit": (
        "fact",
        ["{p} caps the {c} for {t} at {v} because {why}.", "For {t}, the {c} in {p} is limited to {v}."],
        lambda r: f"{r.choice([8, 16, 25, 32, 50, 64, 100, 128, 250, 500])} entries",
    ),
    "owner": (
        "context",
        [
            "{who} owns the {c} of {t} in {p}; ask before changing it.",
            "Questions on {t} ({c}, project {p}) go to {who}.",
        ],
        lambda r: r.choice(PEOPLE),
    ),
    "decision": (
        "decision",
        [
            "Decision for {p}: keep the {c} of {t} on {v}, since {why}.",
            "We chose {v} for the {c} in {t} on {p}: {why}.",
        ],
        lambda r: r.choice(
            [
                "the managed variant",
                "the in-house variant",
                "the default settings",
                "version two",
                "the streaming mode",
                "the batch mode",
            ]
        ),
    ),
    "incident": (
        "episode",
        [
            "Incident in {p} on {d}: the {c} of {t} failed and {why}.",
            "On {d} {who} traced a {p} outage to the {c} in {t}; {why}.",
        ],
        lambda r: r.choice(["a full disk", "a stale value", "a race"]),
    ),
    "fix": (
        "skill",
        [
            "To repair the {c} of {t} in {p}, run {v} and then restart the worker.",
            "{p}: a broken {c} in {t} is fixed with {v}.",
        ],
        lambda r: "make " + r.choice(["repair", "reset", "resync", "rebuild", "warmup"]) + f"-{r.randint(1, 99)}",
    ),
    "preference": (
        "preference",
        ["{who} prefers {v} when working on the {c} of {t} in {p}.", "Style note for {p}: use {v} for the {c} in {t}."],
        lambda r: r.choice(
            ["small commits", "explicit names", "table tests", "one file per rule", "early returns", "no global state"]
        ),
    ),
    "location": (
        "fact",
        ["The {c} settings of {t} for {p} live in {v}.", "Look in {v} for the {p} {c} ({t})."],
        lambda r: (
            r.choice(["config", "deploy", "ops", "infra"])
            + "/"
            + r.choice(["base", "prod", "stage", "edge"])
            + f"-{r.randint(1, 60)}.yaml"
        ),
    ),
}
ASKS = {
    "timeout": "time-out of the {c}",
    "limit": "limit for the {c}",
    "owner": "who owns the {c}",
    "decision": "what did we decide on the {c}",
    "incident": "incident with the {c}",
    "fix": "how to repair the {c}",
    "preference": "preferred style for the {c}",
    "location": "where are the {c} settings",
}
WHY = [
    "traffic doubles at month end",
    "the old value caused stale reads",
    "two teams share the node",
    "the vendor changed its quota",
    "cold starts took too long",
    "the audit asked for it",
    "memory grew without bound",
    "retries piled up overnight",
    "the index no longer fitted in memory",
    "users saw partial results",
    "the cache was shared by mistake",
    "a release branch was cut late",
]
CJK = [
    "关于{t}的备忘:项目{p}的{c}设置为{v},原因是流量在月底翻倍。",
    "{p}プロジェクトの{t}では{c}を{v}に設定する。理由は旧値で不具合が出たため。",
]


def generate(
    n: int, *, seed: int, update_rate: float = 0.0, dup_rate: float = 0.0, cjk_rate: float = 0.0
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """n memories (content, keywords, category) and their labels, line by line."""
    r = random.Random(seed)
    mem: list[dict[str, Any]] = []
    lab: list[dict[str, Any]] = []
    facts: list[int] = []
    seen: dict[str, int] = {}

    def sentence(t: str, c: str, asp: str, p: str, v: str, cjk: bool = False) -> str:
        shapes = CJK if cjk else ASPECTS[asp][1]
        s = shapes[r.randrange(len(shapes))]
        return s.format(
            t=T[t][0],
            c=c,
            p=p,
            v=v,
            who=v if asp == "owner" else r.choice(PEOPLE),
            why=r.choice(WHY),
            d=f"2026-{r.randint(1, 12):02d}-{r.randint(1, 28):02d}",
        )

    def keywords(t: str, c: str, asp: str, p: str) -> list[str]:
        ks = T[t][1].split()
        pick = [ks[0], *r.sample(ks[1:], r.randint(0, 2))]
        for extra in (p, c.split()[-1].lower(), asp):
            if len(pick) < 5 and r.random() < (0.8 if extra == p else 0.5):
                pick.append(extra)
        if len(pick) < 2:
            pick.append(c.split()[0].lower())
        return list(dict.fromkeys(pick))[:5]

    while len(mem) < n:
        x = r.random()
        if facts and x < update_rate:
            i = r.choice(facts)
            L = lab[i]
            t, c, asp, p = L["topic"], L["component"], L["aspect"], L["project"]
            v = ASPECTS[asp][2](r)
            if v == L["value"]:
                continue
            txt = sentence(t, c, asp, p, v)
            txt = (
                r.choice(["Correction: ", "As of today this changed. ", "No longer valid as noted before. ", ""]) + txt
            )
            kind, of, kw = "update", i, keywords(t, c, asp, p)
        elif facts and x < update_rate + dup_rate:
            i = r.choice(facts)
            L = lab[i]
            t, c, asp, p, v = L["topic"], L["component"], L["aspect"], L["project"], L["value"]
            txt, kind, of, kw = sentence(t, c, asp, p, v), "dup", i, keywords(t, c, asp, p)
        else:
            t = r.choice(TOPICS)
            c = r.choice(T[t][2].split("|"))
            asp = r.choice(list(ASPECTS))
            p = r.choice(PROJECTS)
            v = ASPECTS[asp][2](r)
            txt = sentence(t, c, asp, p, v, cjk=r.random() < cjk_rate)
            kind, of, kw = "fact", None, keywords(t, c, asp, p)
        txt = txt[0].upper() + txt[1:]
        k = seen[txt] = seen.get(txt, 0) + 1
        if k > 1:
            txt += f" (note {k})"
        if kind == "fact":
            facts.append(len(mem))
        mem.append({"content": txt, "keywords": kw, "category": ASPECTS[asp][0]})
        lab.append(
            {"i": len(lab), "topic": t, "component": c, "aspect": asp, "project": p, "value": v, "kind": kind, "of": of}
        )
    return mem, lab


def questions(labels: list[dict[str, Any]], *, seed: int, count: int) -> list[dict[str, Any]]:
    """Questions on generated memories: specific, topic and ambiguous in turn; gold = lines that answer."""
    by = {}
    for L in labels:
        by.setdefault((L["topic"], L["component"], L["aspect"], L["project"]), []).append(L["i"])
    keys = sorted(by)
    qr = random.Random(seed + 1)
    qs = []
    share = {}
    for t in TOPICS:
        for w in T[t][1].split() + [c.split()[-1].lower() for c in T[t][2].split("|")]:
            share.setdefault(w, []).append(t)
    poly = [w for w in sorted(share) if len(dict.fromkeys(share[w])) > 1]
    tp = TOPICS[:]
    qr.shuffle(tp)
    for n in range(count):
        t = tp[n % len(tp)]
        kind = ("specific", "topic", "ambiguous")[n % 3]
        if kind == "topic":
            q = qr.choice(["what do we know about {0}", "summary of {0} notes", "current state of {0}"]).format(T[t][0])
            gold = []
        else:
            mine = [k for k in keys if k[0] == t]
            if kind == "ambiguous":
                amb = [k for k in mine if k[1].split()[-1].lower() in poly]
                mine = amb or mine
            if not mine:
                continue
            _, c, asp, p = k = qr.choice(mine)
            gold = by[k]
            q = ASKS[asp].format(c=c) + (f" of {T[t][0]} in {p}" if kind == "specific" else f" ({t}) in {p}")
        upd = [labels[g]["of"] for g in gold if labels[g]["kind"] == "update"]
        qs.append(
            {
                "query": q,
                "kind": kind,
                "topic": t,
                "gold": gold,
                "current": [g for g in gold if g not in upd],
                "stale": [g for g in gold if g in upd],
            }
        )
    return qs


def main() -> None:
    a = argparse.ArgumentParser(description=__doc__)
    a.add_argument("--n", type=int, default=1000)
    a.add_argument("--seed", type=int, default=7)
    a.add_argument("--out", type=Path, required=True)
    a.add_argument("--labels", type=Path)
    a.add_argument("--queries", type=Path)
    a.add_argument("--nq", type=int, default=50)
    for rate in ("--update-rate", "--dup-rate", "--cjk-rate"):
        a.add_argument(rate, type=float, default=0.0)
    o = a.parse_args()
    memories, labels = generate(o.n, seed=o.seed, update_rate=o.update_rate, dup_rate=o.dup_rate, cjk_rate=o.cjk_rate)
    _dump(o.out, memories)
    if o.labels:
        _dump(o.labels, labels)
    if o.queries:
        _dump(o.queries, questions(labels, seed=o.seed, count=o.nq))


def _dump(path: Path, rows: list[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(x, ensure_ascii=False) + "\n" for x in rows), encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
