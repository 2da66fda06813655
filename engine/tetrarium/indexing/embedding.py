"""Texts to unit vectors, by an ONNX model on this machine.

A model is a folder: `manifest.json` beside an ONNX file and a SentencePiece file. The manifest says all
that differs between models (dimension, prefixes, pooling, ids, length, SHA-256 of both files), so
another model – bge-m3 of S1, say – is another folder and no other code:

    name, version      "e5-small-multilingual-q4", 1; together the model id stored with every vector
    dimension          length of a vector
    prefixes           what the model wants before a "query" and before a "passage"
    pooling            "output": the graph returns sentence vectors; "mean" or "cls": over its token vectors
    bos_id eos_id pad_id unk_id
                       the model's special tokens
    piece_offset       added to every SentencePiece id (XLM-R's own tokenizer file wants 1, else 0)
    max_tokens         longest input with its special tokens
    model, tokenizer   file and sha256
    random_cosine      mean, std and 95th percentile of the cosine of unrelated passages

A text longer than `max_tokens` is cut for its embedding only: the store, the keyword index and every
answer keep it whole. Weights are loaded at first use; importing this module costs nothing.
"""

from __future__ import annotations

import hashlib
import json
import logging
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tetrarium.config import Settings
from tetrarium.errors import ModelUnavailable
from tetrarium.model import Float32, Int64
from tetrarium.paths import resources

log = logging.getLogger(__name__)

MANIFEST = "manifest.json"

_CHARACTERS_PER_TOKEN = 32
"""No piece of these vocabularies is longer than 16 characters; twice that is read before tokenising,
so that a text of megabytes costs no more than a page."""

_BLANK = "\u2581"
"""What SentencePiece writes for a blank."""

_CONTROLS = dict.fromkeys((*range(0x20), *range(0x7F, 0xA0)), " ")


Spreads = dict[str, dict[str, tuple[float, float]]]
"""Language of a question → language of a memory → mean and deviation of their cosines when they have nothing to do
with each other. Languages as in tokens.language. What a space does not know of a language yet, this stands in for."""


@dataclass(frozen=True, slots=True)
class ModelFile:
    """A file of a model folder and the hash it must have."""

    file: str
    sha256: str


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a model folder says about itself; the fields are explained at the top of the module."""

    name: str
    version: int
    dimension: int
    query_prefix: str
    passage_prefix: str
    pooling: str
    bos_id: int
    eos_id: int
    pad_id: int
    unk_id: int
    piece_offset: int
    max_tokens: int
    model: ModelFile
    tokenizer: ModelFile
    question_cosine: Spreads


def load_embedder(settings: Settings) -> Embedder:
    """The embedder that `settings.model` names: a folder below resources/models, or a path.

    Reads the manifest only. Raises ModelUnavailable when the folder, the manifest or a file is missing.
    """
    folder = _folder(settings.model)
    manifest = _read_manifest(folder)
    for part in (manifest.model, manifest.tokenizer):
        if not (folder / part.file).is_file():
            raise _unavailable(folder, f"'{part.file}' is missing")
    return Embedder(
        folder,
        manifest,
        threads=settings.model_threads,
        batch=settings.model_batch,
        cached_queries=settings.query_cache,
    )


_opened: dict[tuple[object, ...], tuple[Any, Any]] = {}
"""Tokenizer and weights of the model used last: another space of this process opens without loading 200 MB again.
Both may be used by several threads."""


class Embedder:
    """One model. Not for two threads at once (the lane is the lock)."""

    def __init__(self, folder: Path, manifest: Manifest, *, threads: int, batch: int, cached_queries: int) -> None:
        self._folder = folder
        self.manifest = manifest
        self._threads = threads
        self._batch = batch
        self._cached_queries = cached_queries
        self._queries: OrderedDict[str, Float32] = OrderedDict()
        self._session: Any = None
        self._pieces: Any = None
        self._output = 0

    @property
    def name(self) -> str:
        """The model id that is stored with every vector: "name@version"."""
        return f"{self.manifest.name}@{self.manifest.version}"

    @property
    def dimension(self) -> int:
        return self.manifest.dimension

    @property
    def ready(self) -> bool:
        """True once the weights are in memory."""
        return self._session is not None

    def load(self) -> None:
        """Check both hashes and load the weights (about a second); does nothing when they are loaded.

        Raises ModelUnavailable when a file is damaged or is no model.
        """
        if self.ready:
            return
        if (opened := _opened.get(self._stamp())) is None:
            # From files, not from bytes: the bytes would stay beside the weights (68 MB of 260, measured).
            pieces = self._open_tokenizer(self._checked(self.manifest.tokenizer))
            opened = pieces, self._open_session(self._checked(self.manifest.model))
            _opened.clear()
            _opened[self._stamp()] = opened
            log.info("embedding model %s loaded", self.name)
        self._pieces, self._session = opened

    def embed_query(self, text: str) -> Float32:
        """The vector of a question. (d,) float32, unit length, read-only; the last few are kept."""
        if (known := self._queries.get(text)) is not None:
            self._queries.move_to_end(text)
            return known
        vector: Float32 = self._embed([text], self.manifest.query_prefix)[0]
        vector.setflags(write=False)
        self._queries[text] = vector
        if len(self._queries) > self._cached_queries:
            self._queries.popitem(last=False)
        return vector

    def embed_passages(self, texts: Sequence[str]) -> Float32:
        """The vectors of texts to remember. (n, d) float32, unit rows, in the order of `texts`.

        A text's vector does not depend on the texts beside it.
        """
        return self._embed(texts, self.manifest.passage_prefix)

    def pieces(self, text: str) -> list[tuple[str, float]]:
        """A short text cut into pieces of the vocabulary, without blanks, each with its surprise in nats: how rare it is
        in the languages that the model was made from."""
        self.load()
        cut = (
            (self._pieces.id_to_piece(i).lstrip(_BLANK), -self._pieces.get_score(i)) for i in self._pieces.encode(text)
        )
        return [(piece, surprise) for piece, surprise in cut if piece]

    def _stamp(self) -> tuple[object, ...]:
        """Tells one state of the model's files from another."""
        files = [(self._folder / part.file).stat() for part in (self.manifest.model, self.manifest.tokenizer)]
        return self._folder.resolve(), self._threads, *((file.st_size, file.st_mtime_ns) for file in files)

    def _embed(self, texts: Sequence[str], prefix: str) -> Float32:
        vectors = np.empty((len(texts), self.dimension), np.float32)
        if not texts:
            return vectors
        self.load()
        encoded = [self._token_ids(text, prefix) for text in texts]
        for members in _by_length(encoded, self._batch):
            vectors[members] = self._run([encoded[i] for i in members])
        return vectors

    def _token_ids(self, text: str, prefix: str) -> list[int]:
        m = self.manifest
        head = text[: m.max_tokens * _CHARACTERS_PER_TOKEN].translate(_CONTROLS)
        # Half of a surrogate pair is no character: UTF-8 has no bytes for it.
        head = head.encode("utf-8", "replace").decode("utf-8").strip()
        pieces = self._pieces.encode((prefix + head).strip())[: m.max_tokens - 2]
        if m.piece_offset:
            unknown = self._pieces.unk_id()
            pieces = [m.unk_id if piece == unknown else piece + m.piece_offset for piece in pieces]
        return [m.bos_id, *pieces, m.eos_id]

    def _run(self, encoded: list[list[int]]) -> Float32:
        width = max(map(len, encoded))
        ids = np.full((len(encoded), width), self.manifest.pad_id, np.int64)
        mask = np.zeros_like(ids)
        for row, tokens in enumerate(encoded):
            ids[row, : len(tokens)] = tokens
            mask[row, : len(tokens)] = 1
        feed = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        wanted = [put.name for put in self._session.get_inputs()]
        outputs = self._session.run(None, {name: feed[name] for name in wanted})
        vectors = _unit(self._pooled(outputs, mask))
        if vectors.shape[1] != self.dimension or not np.isfinite(vectors).all():
            raise _unavailable(self._folder, f"the model does not give usable vectors of {self.dimension} dimensions")
        return vectors

    def _pooled(self, outputs: list[Any], mask: Int64) -> Float32:
        rank = 2 if self.manifest.pooling == "output" else 3
        found: Float32 | None = next((out for out in outputs if out.ndim == rank), None)
        if found is None:
            raise _unavailable(self._folder, f"the model has no output for pooling '{self.manifest.pooling}'")
        if self.manifest.pooling == "output":
            return found
        if self.manifest.pooling == "cls":
            return found[:, 0]
        weight = mask[:, :, None].astype(np.float32)
        return np.asarray((found * weight).sum(axis=1) / weight.sum(axis=1), np.float32)

    def _checked(self, part: ModelFile) -> str:
        path = self._folder / part.file
        try:
            with path.open("rb") as file:
                found = hashlib.file_digest(file, "sha256").hexdigest()
        except OSError as error:
            raise _unavailable(self._folder, f"'{part.file}' cannot be read ({error.strerror})") from error
        if found != part.sha256:
            raise _unavailable(self._folder, f"'{part.file}' is damaged (its SHA-256 is not the manifest's)")
        return str(path)

    def _open_session(self, model: str) -> Any:
        import onnxruntime
        from onnxruntime.capi import onnxruntime_pybind11_state as state

        failures = tuple(
            kind for kind in vars(state).values() if isinstance(kind, type) and issubclass(kind, Exception)
        )
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = self._threads
        options.inter_op_num_threads = 1
        options.log_severity_level = 3
        # Idle threads that spin would take the cores from the window and from the person's IDE.
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        try:
            session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
        except failures as error:
            raise _unavailable(self._folder, f"'{self.manifest.model.file}' is not a model that can be run") from error
        unknown = {put.name for put in session.get_inputs()} - {"input_ids", "attention_mask", "token_type_ids"}
        if unknown:
            raise _unavailable(self._folder, f"the model wants inputs that are not texts: {', '.join(sorted(unknown))}")
        return session

    def _open_tokenizer(self, pieces: str) -> Any:
        import sentencepiece

        try:
            return sentencepiece.SentencePieceProcessor(model_file=pieces)
        except (RuntimeError, OSError) as error:
            raise _unavailable(
                self._folder, f"'{self.manifest.tokenizer.file}' is not a SentencePiece model"
            ) from error


def _folder(model: str) -> Path:
    named = Path(model).expanduser()
    if named.is_dir():
        return named
    try:
        shipped = resources() / "models" / model
    except FileNotFoundError as error:
        raise ModelUnavailable(f"The embedding model '{model}' was not found. {error}") from error
    if not shipped.is_dir():
        raise ModelUnavailable(
            f"The embedding model '{model}' was not found. Set 'model' to a folder with a {MANIFEST}, or install Tetrarium again."
        )
    return shipped


def _read_manifest(folder: Path) -> Manifest:
    try:
        told = json.loads((folder / MANIFEST).read_text("utf-8"))
        manifest = Manifest(
            name=str(told["name"]),
            version=int(told["version"]),
            dimension=int(told["dimension"]),
            query_prefix=str(told["prefixes"]["query"]),
            passage_prefix=str(told["prefixes"]["passage"]),
            pooling=str(told["pooling"]),
            bos_id=int(told["bos_id"]),
            eos_id=int(told["eos_id"]),
            pad_id=int(told["pad_id"]),
            unk_id=int(told["unk_id"]),
            piece_offset=int(told["piece_offset"]),
            max_tokens=int(told["max_tokens"]),
            model=ModelFile(**told["model"]),
            tokenizer=ModelFile(**told["tokenizer"]),
            question_cosine={
                asked: {kept: (float(spread[0]), float(spread[1])) for kept, spread in pairs.items()}
                for asked, pairs in told.get("question_cosine", {}).items()
            },
        )
    except OSError as error:
        raise _unavailable(folder, f"'{MANIFEST}' cannot be read ({error.strerror})") from error
    except (KeyError, AttributeError) as error:
        raise _unavailable(folder, f"'{MANIFEST}' lacks {error}") from error
    except (ValueError, TypeError) as error:
        raise _unavailable(folder, f"'{MANIFEST}' is not as it should be ({error})") from error
    if manifest.pooling not in ("output", "mean", "cls"):
        raise _unavailable(folder, f"'{MANIFEST}' has an unknown pooling '{manifest.pooling}'")
    if manifest.dimension < 1 or manifest.max_tokens < 3:
        raise _unavailable(folder, f"'{MANIFEST}' has a dimension or a length that cannot be")
    return manifest


def _unavailable(folder: Path, what: str) -> ModelUnavailable:
    return ModelUnavailable(
        f"The embedding model in {folder} cannot be used: {what}. Nothing stored is lost, and search goes on by "
        "keywords. Put the folder right, install Tetrarium again, or choose another folder in the setting 'model'."
    )


def _by_length(encoded: list[list[int]], size: int) -> Iterator[list[int]]:
    """Positions in batches of texts of like length, so that little is padded."""
    order = sorted(range(len(encoded)), key=lambda i: len(encoded[i]))
    for start in range(0, len(order), size):
        yield order[start : start + size]


def _unit(vectors: Float32) -> Float32:
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.maximum(norms, np.float32(1e-12)), np.float32)
