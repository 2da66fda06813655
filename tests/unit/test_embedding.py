"""The embedder: the shipped model, a model of another shape, and folders that are not as they should be."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from tetrarium.config import DEFAULTS
from tetrarium.errors import ModelUnavailable
from tetrarium.indexing.embedding import MANIFEST, Embedder, load_embedder
from tetrarium.model import Float32
from tetrarium.paths import resources

SHIPPED = resources() / "models" / DEFAULTS.model
BGE_M3 = {"name": "tiny-bge-m3", "dimension": 1024, "prefixes": {"query": "", "passage": ""}, "pooling": "cls"}


@pytest.fixture(scope="module")
def e5() -> Embedder:
    return load_embedder(DEFAULTS)


def model_folder(folder: Path, model: bytes, **changes: Any) -> Path:
    """A model folder as a person would bring it: a manifest, an ONNX file, the XLM-R tokenizer."""
    folder.mkdir(exist_ok=True)
    shutil.copy(SHIPPED / "tokenizer.spm", folder)
    (folder / "model.onnx").write_bytes(model)
    told = json.loads((SHIPPED / MANIFEST).read_text("utf-8"))
    told["model"]["sha256"] = hashlib.sha256(model).hexdigest()
    (folder / MANIFEST).write_text(json.dumps(told | changes), "utf-8")
    return folder


def opened(folder: Path) -> Embedder:
    return load_embedder(replace(DEFAULTS, model=str(folder)))


def graph(nodes: list[onnx.NodeProto], constants: dict[str, Any], output: tuple[str, list[Any]]) -> bytes:
    text = ["batch", "seq"]
    built = helper.make_graph(
        nodes,
        "tiny",
        [helper.make_tensor_value_info(name, TensorProto.INT64, text) for name in ("input_ids", "attention_mask")],
        [helper.make_tensor_value_info(output[0], TensorProto.FLOAT, output[1])],
        [numpy_helper.from_array(np.asarray(value), name) for name, value in constants.items()],
    )
    model = helper.make_model(built, opset_imports=[helper.make_opsetid("", 17)], ir_version=10)
    return bytes(model.SerializeToString())


def tiny_bge_m3() -> bytes:
    """bge-m3's shape: input_ids and attention_mask in, last_hidden_state (batch, seq, 1024) out.

    Every token's state is its own row plus the sum over the text, so that the first one knows the text.
    """
    table = np.random.default_rng(0).normal(size=(97, 1024)).astype(np.float32)
    nodes = [
        helper.make_node("Mod", ["input_ids", "rows"], ["row"]),
        helper.make_node("Gather", ["table", "row"], ["own"]),
        helper.make_node("Unsqueeze", ["attention_mask", "last"], ["mask"]),
        helper.make_node("Cast", ["mask"], ["weight"], to=TensorProto.FLOAT),
        helper.make_node("Mul", ["own", "weight"], ["seen"]),
        helper.make_node("ReduceSum", ["seen", "middle"], ["text"], keepdims=1),
        helper.make_node("Add", ["own", "text"], ["last_hidden_state"]),
    ]
    constants = {"table": table, "rows": np.int64(97), "last": np.array([2]), "middle": np.array([1])}
    return graph(nodes, constants, ("last_hidden_state", ["batch", "seq", 1024]))


def echo() -> bytes:
    """A model whose vector is the first four token ids."""
    nodes = [
        helper.make_node("Slice", ["input_ids", "start", "end", "axis"], ["head"]),
        helper.make_node("Cast", ["head"], ["sentence"], to=TensorProto.FLOAT),
    ]
    constants = {"start": np.array([0]), "end": np.array([4]), "axis": np.array([1])}
    return graph(nodes, constants, ("sentence", ["batch", 4]))


def is_unit(vectors: Float32) -> bool:
    return vectors.dtype == np.float32 and np.allclose(np.linalg.norm(vectors, axis=-1), 1.0, atol=1e-5)


def test_weights_are_loaded_at_first_use() -> None:
    embedder = load_embedder(DEFAULTS)
    assert not embedder.ready
    assert (embedder.name, embedder.dimension) == ("e5-small-multilingual-q4@1", 384)
    embedder.embed_query("where is the queue")
    assert embedder.ready


def test_vectors_have_unit_length_and_the_order_of_their_texts(e5: Embedder) -> None:
    texts = [
        "The cache is Redis.",
        "缓存使用 Redis。",
        "Deploys happen on Mondays, after the review of the week before.",
    ]
    vectors = e5.embed_passages(texts)
    assert vectors.shape == (3, 384)
    assert is_unit(vectors)
    for text, vector in zip(texts, vectors, strict=True):
        assert np.allclose(e5.embed_passages([text])[0], vector, atol=1e-5)


def test_no_texts_give_no_vectors(e5: Embedder) -> None:
    assert e5.embed_passages([]).shape == (0, 384)


def test_a_question_is_nearest_to_the_memory_that_answers_it(e5: Embedder) -> None:
    memories = e5.embed_passages(
        [
            "Billing amounts are stored as integer cents since floats rounded wrongly.",
            "The staging cluster is restarted every night at two.",
            "Anna prefers tabs, the linter enforces them.",
        ]
    )
    assert int(np.argmax(memories @ e5.embed_query("How do we keep money values exact?"))) == 0


def test_a_vector_does_not_depend_on_the_texts_beside_it(e5: Embedder) -> None:
    texts = [f"Service {i} retries {i % 5} times. " * (1 + i % 7) for i in range(40)]
    together = e5.embed_passages(texts)
    alone = np.vstack([e5.embed_passages([text]) for text in texts[:12]])
    assert np.allclose(alone, together[:12], atol=1e-5)


def test_blanks_around_a_text_mean_nothing(e5: Embedder) -> None:
    assert np.array_equal(e5.embed_query("retry policy"), e5.embed_query("  retry policy\n\t "))


def test_a_query_is_answered_from_the_cache_the_second_time(e5: Embedder) -> None:
    first = e5.embed_query("Which port does the relay use?")
    assert e5.embed_query("Which port does the relay use?") is first
    assert not first.flags.writeable


def test_the_oldest_query_leaves_the_full_cache() -> None:
    embedder = load_embedder(replace(DEFAULTS, query_cache=2))
    first = embedder.embed_query("one")
    for text in ("two", "three"):
        embedder.embed_query(text)
    again = embedder.embed_query("one")
    assert again is not first
    assert np.array_equal(again, first)


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "\x00",
        "a\x00b\x1b[31m",
        "\ud83d",
        "half \udc00 pair",
        "👩‍💻" * 50,
        "\u202e\ufeff",
        "词" * 9_000,
        "x" * 3_000_000,
    ],
    ids=["empty", "blank", "nul", "controls", "high surrogate", "low surrogate", "emoji", "bidi", "long", "megabytes"],
)
def test_no_text_makes_the_embedder_fall_over(e5: Embedder, text: str) -> None:
    assert is_unit(e5.embed_query(text))
    assert is_unit(e5.embed_passages([text, "beside"]))


def test_a_long_text_is_cut_for_its_vector_only(e5: Embedder) -> None:
    text = "The build of module seven failed again. " * 60
    assert np.array_equal(e5.embed_passages([text])[0], e5.embed_passages([text + "An end that nobody reads."])[0])


def test_a_model_of_the_shape_of_bge_m3_embeds_to_1024_dimensions(tmp_path: Path) -> None:
    embedder = opened(model_folder(tmp_path, tiny_bge_m3(), **BGE_M3))
    texts = ["short", "rather longer than the other text", "中文也可以"]
    together = embedder.embed_passages(texts)
    assert embedder.name == "tiny-bge-m3@1"
    assert together.shape == (3, embedder.dimension) == (3, 1024)
    assert is_unit(together)
    for text, vector in zip(texts, together, strict=True):
        assert np.allclose(embedder.embed_query(text), vector, atol=1e-5)
    assert abs(float(together[0] @ together[1])) < 0.99


def test_mean_pooling_leaves_padding_out(tmp_path: Path) -> None:
    embedder = opened(model_folder(tmp_path, tiny_bge_m3(), **BGE_M3 | {"pooling": "mean"}))
    together = embedder.embed_passages(["one", "a text that is much longer than the one before it"])
    assert is_unit(together)
    assert np.allclose(embedder.embed_passages(["one"])[0], together[0], atol=1e-5)


@pytest.mark.parametrize("offset", [0, 1])
def test_pieces_get_the_ids_that_the_manifest_asks_for(tmp_path: Path, offset: int) -> None:
    changes = {
        "dimension": 4,
        "prefixes": {"query": "", "passage": ""},
        "bos_id": 1,
        "unk_id": 7,
        "piece_offset": offset,
    }
    embedder = opened(model_folder(tmp_path, echo(), **changes))
    vector = embedder.embed_query("a \U000f0000 b")  # a private character: unknown to every vocabulary
    ids = np.rint(vector / vector[0]).astype(int).tolist()
    # of this tokenizer: "▁a" is 10, "▁" is 6, <unk> is 3
    assert ids == ([1, 10, 6, 3] if offset == 0 else [1, 11, 7, 7])


def missing(folder: Path) -> None:
    (folder / "model.onnx").unlink()


def one_bit(folder: Path) -> None:
    data = bytearray((folder / "model.onnx").read_bytes())
    data[len(data) // 2] ^= 1
    (folder / "model.onnx").write_bytes(data)


def shorter(folder: Path) -> None:
    path = folder / "tokenizer.spm"
    path.write_bytes(path.read_bytes()[:-1])


def other_words(folder: Path) -> None:
    (folder / MANIFEST).write_text("not JSON", "utf-8")


def no_manifest(folder: Path) -> None:
    (folder / MANIFEST).unlink()


def told(**changes: Any) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        manifest = json.loads((folder / MANIFEST).read_text("utf-8"))
        (folder / MANIFEST).write_text(json.dumps(manifest | changes), "utf-8")

    return change


@pytest.mark.parametrize(
    "damage",
    [
        missing,
        one_bit,
        shorter,
        other_words,
        no_manifest,
        told(dimension=768),
        told(pooling="output"),
        told(pooling="max"),
        told(prefixes={}),
        told(max_tokens="many"),
        told(model={"file": "model.onnx"}),
        told(model={"file": MANIFEST, "sha256": ""}),
    ],
)
def test_a_folder_that_is_not_as_it_should_be_says_what_to_do(tmp_path: Path, damage: Callable[[Path], None]) -> None:
    folder = model_folder(tmp_path, tiny_bge_m3(), **BGE_M3)
    damage(folder)
    with pytest.raises(ModelUnavailable, match=r"keywords\. Put the folder right"):
        opened(folder).embed_query("anything")


def test_a_file_that_is_no_model_is_refused_though_its_hash_fits(tmp_path: Path) -> None:
    with pytest.raises(ModelUnavailable, match="not a model that can be run"):
        opened(model_folder(tmp_path, b"no model", **BGE_M3)).load()


def test_an_unknown_model_is_named_in_the_error() -> None:
    with pytest.raises(ModelUnavailable, match="'no-such-model' was not found"):
        load_embedder(replace(DEFAULTS, model="no-such-model"))
