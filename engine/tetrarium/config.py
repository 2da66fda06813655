"""Every number with a meaning, once: weight, threshold, budget, limit – with its unit and its source.

`Settings` is frozen. `open_space(path, void_target=0.2)` overrides fields by name; an unknown name is
an error that lists the near ones. Sources: S1, S2, S3 are the three articles Tetrarium builds on, T is
our own decision, "measured" names a benchmark of tests/bench or a decision record.
"""

from __future__ import annotations

import difflib
from dataclasses import dataclass, field, fields, replace
from typing import Any

from tetrarium.errors import InvalidInput


def _number(default: Any, *, unit: str, source: str, about: str) -> Any:
    return field(default=default, metadata={"unit": unit, "source": source, "about": about})


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The settings of one open space."""

    # --- ingest -------------------------------------------------------------------------------
    min_content_length: int = _number(
        20, unit="characters", source="S2", about="Shortest text that is stored; one CJK character counts as two."
    )
    min_letter_share: float = _number(
        0.30, unit="share", source="S2", about="Least share of letters in a text that is stored."
    )
    max_content_bytes: int = _number(4_000_000, unit="bytes", source="T", about="Longest text that is stored.")
    max_keywords: int = _number(5, unit="keywords", source="S2", about="Keywords derived for a memory.")
    duplicate_cosine: float = _number(
        0.96, unit="cosine", source="T, measured", about="Cosine from which two texts may be one memory."
    )
    description_coverage: float = _number(
        0.60,
        unit="share",
        source="measured",
        about="Weight of a description's words that the memory it means must hold.",
    )
    description_lead: float = _number(
        0.10, unit="share", source="measured", about="By how much it must hold more of them than any other memory."
    )
    description_margin: float = _number(
        0.15, unit="share", source="measured", about="By how much of its score it must lead the next memory."
    )
    contradiction_overlap: float = _number(
        0.30,
        unit="Jaccard",
        source="measured",
        about="Shared content words, weighted by rarity, from which two memories may contradict.",
    )
    contradiction_stranger: float = _number(
        2.5,
        unit="log(N/df)",
        source="measured",
        about="Rarity of a word from which one on either side makes two subjects of two texts.",
    )

    # --- model --------------------------------------------------------------------------------
    model: str = _number(
        "e5-small-multilingual-q4",
        unit="folder",
        source="measured",
        about="Embedding model, a folder below resources/models or a path.",
    )
    model_threads: int = _number(2, unit="threads", source="T", about="Threads of the embedding model.")
    model_batch: int = _number(
        16, unit="texts", source="measured", about="Texts that the embedding model takes at once."
    )
    query_cache: int = _number(256, unit="queries", source="T", about="Query vectors kept in memory.")

    # --- search: fusion -----------------------------------------------------------------------
    vector_weight: float = _number(0.50, unit="weight", source="measured", about="Weight of the calibrated cosine.")
    keyword_weight: float = _number(0.50, unit="weight", source="measured", about="Weight of the calibrated BM25.")
    label_weight: float = _number(
        0.15, unit="weight", source="S1", about="Weight of the share of the query's labels that a memory carries."
    )
    intent_weight: float = _number(
        0.15,
        unit="weight",
        source="T",
        about="Weight of being of the kind (decision, skill, bug …) and of the time that a question asks for.",
    )
    entity_weight: float = _number(
        0.25,
        unit="weight",
        source="measured",
        about="Weight of the share of the query's entities that a memory carries (S1 has 0.20).",
    )
    neighbour_weight: float = _number(
        0.20,
        unit="share",
        source="measured",
        about="Share of the score of the memories stored just before and after in the same session that a memory gains; half of it two away.",
    )
    session_weight: float = _number(
        0.50,
        unit="share",
        source="measured",
        about="Share of the mean of the three best scores of its session that a memory gains.",
    )
    synonym_weight: float = _number(
        0.4, unit="share", source="measured", about="Weight of a word that means the same against the question's own."
    )
    bm25_k1: float = _number(0.9, unit="", source="measured", about="BM25 term saturation; short texts want less.")
    bm25_b: float = _number(0.4, unit="", source="measured", about="BM25 length normalisation.")
    vector_candidates: int = _number(
        200, unit="memories", source="measured", about="Nearest memories taken from the vector index."
    )
    keyword_candidates: int = _number(
        500, unit="memories", source="measured", about="Best matches taken from the keyword index."
    )
    frequent_term_floor: int = _number(
        200,
        unit="memories",
        source="measured",
        about="A query term in at most this many memories always counts as rare.",
    )
    frequent_term_share: float = _number(
        0.02,
        unit="share",
        source="measured",
        about="A query term in more than this share of the memories does not fetch candidates.",
    )
    frequent_term_ceiling: int = _number(
        5_000, unit="memories", source="measured", about="Cap on the document frequency of terms that fetch candidates."
    )

    fetched_matches: int = _number(
        3_000,
        unit="memories",
        source="measured",
        about="Matches of the rarest query terms at which further terms fetch no more candidates.",
    )

    # --- search: bounded factors --------------------------------------------------------------
    recency_half_life: float = _number(
        30.0, unit="days", source="S1", about="Half-life of the recency factor, counted from the last access."
    )
    recency_span: float = _number(
        0.05, unit="share", source="T", about="The recency factor lies between 1 − span and 1 + span."
    )
    access_refresh: float = _number(
        0.05,
        unit="share",
        source="measured",
        about="How new an access makes a memory again; 1 would let answers feed on themselves.",
    )
    importance_span: float = _number(
        0.05, unit="share", source="T", about="The importance factor lies between 1 − span and 1 + span."
    )
    access_span: float = _number(
        0.015, unit="share", source="measured", about="The access factor lies between 1 and 1 + span."
    )
    hub_span: float = _number(
        0.05,
        unit="share",
        source="S2, T",
        about="A memory recalled for very many different questions loses up to this.",
    )
    hub_questions: float = _number(
        50.0, unit="questions", source="T", about="Different questions at which a memory loses half of the hub span."
    )
    confidence_span: float = _number(
        0.015, unit="share", source="S2, measured", about="The confidence factor lies between 1 and 1 + span."
    )

    # --- recall -------------------------------------------------------------------------------
    evidence_floor: float = _number(
        4.5,
        unit="standard deviations",
        source="measured",
        about="Evidence under which a recall answers nothing: its subject is not in this space. 0 answers always.",
    )
    known_weight: float = _number(
        6.8,
        unit="standard deviations",
        source="measured",
        about="Evidence that knowing every word of a question's subject is worth.",
    )
    default_budget: int = _number(4_000, unit="tokens", source="S2", about="Budget of a recall when none is given.")
    hook_start_budget: int = _number(
        1_500, unit="tokens", source="T", about="What a hook tells a session at its start."
    )
    hook_prompt_budget: int = _number(800, unit="tokens", source="T", about="What a hook tells with a prompt.")
    hook_time: float = _number(
        2.0,
        unit="s",
        source="T",
        about="After this a session's hook is silent; people reported hooks that block a prompt for a minute.",
    )
    max_budget: int = _number(200_000, unit="tokens", source="T", about="Largest budget of a recall.")
    max_candidates: int = _number(100, unit="memories", source="S2", about="Candidates of a recall.")
    void_target: float = _number(
        0.30,
        unit="share",
        source="S2",
        about="Share of the candidates that a recall aims to void; an aim, not a quota.",
    )
    cluster_threshold: float = _number(
        0.10,
        unit="Jaccard",
        source="measured",
        about="Average-linkage threshold of the void pass (S2 has 0.25, which voids 16 % of what is on topic).",
    )
    void_cut: float = _number(
        -0.2, unit="standard deviations", source="measured", about="Topic profile under which a cluster is off topic."
    )
    protected_top: int = _number(
        3, unit="memories", source="T", about="The best memories of a recall, which are never voided."
    )
    gathered_share: float = _number(
        0.80,
        unit="share",
        source="T",
        about="Of the budget of a recall sorted by use, what the recall may take; neighbours take the rest.",
    )
    near_duplicates_kept: int = _number(
        8,
        unit="memories",
        source="T",
        about="Of memories that say the same but for numbers, a recall answers the best so many.",
    )
    kept_traces: int = _number(50, unit="recalls", source="T", about="Recall traces kept in memory.")

    rerank_url: str = _number(
        "",
        unit="URL",
        source="T",
        about="OpenAI-compatible endpoint that orders the best memories of a recall, like http://127.0.0.1:8080/v1; empty for none.",
    )
    rerank_model: str = _number("local", unit="name", source="T", about="Model that the endpoint is asked for.")
    rerank_depth: int = _number(20, unit="memories", source="spec 2.1", about="Best memories that are reranked.")
    rerank_time_limit: float = _number(
        2.0, unit="s", source="T", about="How long a recall waits for the endpoint before it answers without."
    )
    rerank_anywhere: int = _number(
        0,
        unit="0 or 1",
        source="T",
        about="1 lets memories, secrets masked, go to an endpoint that is not this machine.",
    )

    # --- geometry -----------------------------------------------------------------------------
    anchors: int = _number(
        8,
        unit="memories",
        source="T",
        about="Nearest memories of its component round which a placement looks for a free voxel.",
    )
    anchor_share: float = _number(
        0.8,
        unit="share",
        source="measured",
        about="Share of its nearest members, against the cluster's main directions, in where a memory wants to stand.",
    )
    merge_weight: float = _number(
        0.35,
        unit="lattice units a vertex",
        source="measured",
        about="Worth of one merged vertex against distance to the target.",
    )
    centroid_slack: float = _number(
        0.10,
        unit="similarity",
        source="T",
        about="How far below τ the mean similarity to the component's members may lie.",
    )
    relatives: int = _number(
        16,
        unit="memories",
        source="measured",
        about="Nearest memories by vector, and as many by keywords, that a placement chooses from.",
    )
    calibration_start: int = _number(
        200,
        unit="memories",
        source="T",
        about="Size from which a space measures its own scale of similarity, again at every doubling.",
    )
    tau_percentile: float = _number(
        97.0,
        unit="percentile",
        source="measured",
        about="τ: this percentile of the similarity of random pairs; the 95th mixed topics.",
    )
    tau_floor: float = _number(
        0.5,
        unit="similarity",
        source="T",
        about="τ is never lower: where few memories share a keyword the percentile alone would let strangers in.",
    )
    component_prior: float = _number(
        5.0,
        unit="members",
        source="measured",
        about="When several components could take a memory, each one's similarity counts n / (n + prior).",
    )
    satellite_size: int = _number(
        8,
        unit="members",
        source="T",
        about="A component of this size keeps the memories that nearly belong to it close by.",
    )
    component_block: int = _number(
        5, unit="voxels", source="T", about="Edge of the empty block on which a new component starts."
    )
    shell_reach: int = _number(
        6,
        unit="voxels",
        source="measured",
        about="How far round the target a free voxel is looked for before the whole component is.",
    )
    component_gap: float = _number(
        6.0, unit="edges", source="measured", about="Median gap between neighbouring components."
    )

    attach_size: int = _number(
        8,
        unit="members",
        source="T",
        about="Smaller clusters are attached to a larger one that takes all of their kind.",
    )
    fission_size: int = _number(24, unit="members", source="T", about="Least size of a cluster that may be split.")
    fission_part: int = _number(8, unit="members", source="T", about="Least size of either part of a split.")
    fission_silhouette: float = _number(
        0.15, unit="silhouette", source="T", about="Least separation of the two parts of a split."
    )
    merge_margin: float = _number(
        0.10,
        unit="similarity",
        source="T",
        about="How far above τ the mean similarity of two clusters must lie to merge them.",
    )
    settle_size: int = _number(
        32,
        unit="members",
        source="measured",
        about="Least size of a cluster whose places are given out anew; smaller ones gain nothing.",
    )
    plan_step: int = _number(
        64, unit="moves", source="T", about="Moves of one transaction of a plan, where they can be parted."
    )

    picture_size: int = _number(
        1_000,
        unit="memories",
        source="T",
        about="From this size on a space keeps a packed picture of itself for the window.",
    )

    # --- index --------------------------------------------------------------------------------
    exact_limit: int = _number(
        50_000,
        unit="memories",
        source="measured",
        about="Up to this size vectors are searched exactly; above it by HNSW.",
    )
    hnsw_m: int = _number(16, unit="links", source="measured", about="HNSW links per node.")
    hnsw_ef_construction: int = _number(
        100, unit="candidates", source="measured", about="HNSW search width while building."
    )
    hnsw_ef_floor: int = _number(
        64,
        unit="candidates",
        source="measured",
        about="Least HNSW search width; a self-check raises it where the vectors want more.",
    )
    hnsw_ef_ceiling: int = _number(
        1_024, unit="candidates", source="measured", about="Search width above which exact search is the faster way."
    )
    hnsw_recall: float = _number(
        0.95, unit="share", source="measured", about="Recall@10 that the HNSW self-check asks for."
    )
    exact_subset: int = _number(
        2_000,
        unit="memories",
        source="measured",
        about="A filter that lets at most this many memories pass is searched exactly.",
    )
    exact_subset_share: float = _number(
        0.02, unit="share", source="measured", about="So is a filter that lets at most this share pass."
    )
    language_floor: int = _number(
        20, unit="memories", source="measured", about="Languages with fewer memories are calibrated by the whole space."
    )
    hnsw_dead_share: float = _number(
        0.20, unit="share", source="measured", about="Share of deleted vectors at which the HNSW index is rebuilt."
    )

    # --- privacy ------------------------------------------------------------------------------
    secrets: str = _number(
        "mask",
        unit="action",
        source="T",
        about="What a space does with secrets until a person sets it: mask, refuse or allow.",
    )
    mask_mail: int = _number(0, unit="0 or 1", source="T", about="Whether e-mail addresses count as secrets.")
    trash_days: float = _number(
        30.0, unit="days", source="T", about="Time in the trash after which a memory is erased; 0 keeps it for ever."
    )
    expired_days: float = _number(
        30.0,
        unit="days",
        source="T",
        about="Time after its expiry after which a memory is erased; 0 keeps it for ever.",
    )
    overdue_share: float = _number(
        0.20, unit="share", source="T", about="Of a space, what is never erased by itself in one go: a person is asked."
    )
    settling_days: float = _number(
        1.0,
        unit="days",
        source="T",
        about="Ordinary time that must pass after a leap of the clock before anything is erased by itself.",
    )
    erased_at_once: int = _number(
        64_000_000, unit="bytes", source="T", about="Backups up to this size are erased in at once, larger ones later."
    )

    # --- tools --------------------------------------------------------------------------------
    search_page: int = _number(8, unit="memories", source="T", about="Hits of a search page when no limit is given.")
    list_budget: int = _number(
        1_800, unit="tokens", source="T", about="Size at which a page of hits ends; the rest follows on the next page."
    )
    request_limit: int = _number(
        32_000_000,
        unit="bytes",
        source="T",
        about="Longest message of a client; room for the longest content, escaped.",
    )
    drain_time: float = _number(
        2.5, unit="s", source="T", about="How long calls under way may finish after a client has left."
    )
    quiet_time: float = _number(
        5.0, unit="s", source="T", about="How long no call may have come before the space does its own work."
    )
    closing_time: float = _number(
        1.5, unit="s", source="T", about="How long the store may take to close when the endpoint leaves."
    )
    prompt_budget: int = _number(
        2_000, unit="tokens", source="T", about="Memories that a prompt embeds when it names no budget."
    )
    resource_budget: int = _number(
        8_000,
        unit="tokens",
        source="T",
        about="Most that one resource holds: clients warn or refuse from 10,000. A longer memory comes in parts.",
    )
    listed_clusters: int = _number(30, unit="clusters", source="T", about="Largest clusters in the list of resources.")
    listed_memories: int = _number(
        50, unit="memories", source="T", about="Pinned and newest memories in the list of resources."
    )
    listed_recalls: int = _number(10, unit="recalls", source="T", about="Last recalls in the list of resources.")
    stale_days: int = _number(
        90,
        unit="days",
        source="T",
        about="How long a memory was neither new nor recalled before a review asks after it.",
    )
    expiry_days: int = _number(14, unit="days", source="T", about="How far ahead a review looks for what expires.")
    lately_hours: int = _number(
        12, unit="h", source="T", about="How far back the end of a session looks for what it stored."
    )
    notice_interval: float = _number(
        1.0, unit="s", source="T", about="Changes of resources are told to a client at most this often, together."
    )
    progress_interval: float = _number(
        1.0, unit="s", source="T", about="How often a call that takes long tells its client that it goes on."
    )
    parent_watch: float = _number(
        2.0, unit="s", source="T", about="How often the endpoint looks whether the program that started it still lives."
    )

    # --- export and import --------------------------------------------------------------------
    import_line: int = _number(
        32_000_000, unit="bytes", source="T", about="Longest line of a file to import; room for the longest content."
    )
    import_total: int = _number(
        8_000_000_000, unit="bytes", source="T", about="Most that a file to import may hold, unpacked."
    )
    import_ratio: int = _number(
        200,
        unit="times",
        source="measured",
        about="How much larger than its packed form a file to import may be; exports reach 4 to 25.",
    )
    suppressed_share: float = _number(
        0.05,
        unit="share",
        source="T",
        about="Memories that an anonymous export may leave out before it is told more coarsely.",
    )
    # --- relay and host -----------------------------------------------------------------------
    host_linger: float = _number(
        600.0, unit="s", source="T", about="How long the host of a space stays after its last client has left."
    )
    host_patience: float = _number(
        30.0,
        unit="s",
        source="T",
        about="How long a relay waits for a host that is starting or leaving before it starts one of its own.",
    )
    host_closing_time: float = _number(
        10.0, unit="s", source="T", about="How long the store may take to close when the host leaves."
    )
    open_requests: int = _number(
        256, unit="requests", source="T", about="Unanswered requests of one client from which on no more are read."
    )
    write_burst: int = _number(
        2_000, unit="writes", source="T", about="Writes that one client may make as fast as it likes."
    )
    write_rate: float = _number(
        20.0, unit="writes/s", source="T", about="Writes of one client a second in the long run; more are refused."
    )
    retry_memory: float = _number(
        3_600.0, unit="s", source="T", about="How long it is known what a call has written, should it be sent again."
    )

    # --- audit --------------------------------------------------------------------------------
    audit_window: float = _number(600.0, unit="s", source="T", about="Time within which much is unusual.")
    audit_reads: int = _number(2_000, unit="memories", source="T", about="Read by one client in that time: flagged.")
    audit_deletions: int = _number(50, unit="memories", source="T", about="Deleted in that time: flagged.")
    audit_inhibitions: int = _number(20, unit="memories", source="T", about="Inhibited in that time: flagged.")

    # --- storage ------------------------------------------------------------------------------
    busy_timeout: int = _number(5_000, unit="ms", source="T", about="How long a write waits for another process.")
    load_at_open: int = _number(
        1,
        unit="0 or 1",
        source="T",
        about="0: what is derived of the store is read when a verb first needs it; an export of everything needs none.",
    )
    check_at_open: int = _number(
        6_000_000,
        unit="bytes",
        source="measured",
        about="A store up to this size is checked whole before it answers; a larger one in quiet moments after.",
    )
    backup_hours: float = _number(
        24.0, unit="h", source="T", about="Age of the last backup at which one is made by itself."
    )
    backup_days: int = _number(7, unit="backups", source="T", about="Daily backups kept, the newest of each day.")
    backup_weeks: int = _number(4, unit="backups", source="T", about="Weekly backups kept, the newest of each week.")
    backup_others: int = _number(
        3, unit="backups", source="T", about="Backups kept of those made before each kind of large change."
    )
    backup_deletion: int = _number(
        20, unit="memories", source="T", about="Memories from which a deletion is preceded by a backup."
    )
    backup_moves: int = _number(
        500, unit="moves", source="T", about="Moves from which a rearrangement of clusters is preceded by a backup."
    )
    reserve_bytes: int = _number(
        4_000_000, unit="bytes", source="measured", about="Room kept back so that a full disk still lets memories go."
    )


DEFAULTS = Settings()

S1_WEIGHTS: dict[str, float] = {
    "vector_weight": 0.55,
    "keyword_weight": 0.35,
    "label_weight": 0.15,
    "entity_weight": 0.20,
}
"""S1's own fusion weights as a preset: `open_space(path, **S1_WEIGHTS)`."""


def with_overrides(settings: Settings, overrides: dict[str, Any]) -> Settings:
    """Settings with some fields replaced. Raises InvalidInput for an unknown name or a value of the wrong kind."""
    known = {f.name: f for f in fields(Settings)}
    for name, value in overrides.items():
        if name not in known:
            near = difflib.get_close_matches(name, known, n=3) or sorted(known)[:3]
            raise InvalidInput(f"There is no setting '{name}'.", advice=f"Did you mean {', '.join(near)}?")
        default = known[name].default
        if isinstance(default, str) != isinstance(value, str) or (
            not isinstance(value, (int, float, str)) or isinstance(value, bool)
        ):
            raise InvalidInput(f"Setting '{name}' cannot be {value!r}.", advice=f"Give a value like {default!r}.")
    return replace(settings, **overrides)
