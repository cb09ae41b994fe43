"""What heads do on its page, in a figure and in a notebook; the bytes that its maps are kept in."""

import json
import zlib
from base64 import b64decode

import fake_heads
import numpy as np
import pandas as pd
import pytest
from fake_heads import HOSTILE, PAIR

import glasshead.report  # noqa: F401 — registers how values are drawn
from glasshead.errors import InputError
from glasshead.report.documents.heads import closest_pairs_table
from glasshead.report.figure_file import to_matplotlib
from glasshead.report.html.heads_page import heads_page
from glasshead.report.html.packed_maps import data_script, pack_texts
from glasshead.report.html.packed_pairs import pack_pairs
from glasshead.report.plots.head_grid import head_grid
from glasshead.results import HeadText
from pages import Page


@pytest.fixture(scope="module")
def report():
    return fake_heads.make()


@pytest.fixture(scope="module")
def html(report):
    return heads_page(report)


@pytest.fixture(scope="module")
def data(html):
    (script,) = [one for one in Page(html).all("script") if one.attributes.get("id") == "heads-data"]
    return json.loads(script.text)


def unpack(packed, shape, signed):
    """A map as a reader of the format would rebuild it, one weight after the other."""
    content = zlib.decompress(b64decode(packed["map"]))
    rows, columns = shape
    peaks = np.frombuffer(content[: 2 * rows], "<u2") / 65535 * packed["peak"]
    gaps, values = np.split(np.frombuffer(content[2 * rows :], np.uint8), 2)
    levels = values.view(np.int8) / 127 if signed else values / 255
    weights, at = np.zeros(rows * columns), -1
    for gap, level in zip(gaps, levels, strict=True):
        at += int(gap)
        weights[at] = level * peaks[at // columns]
    return weights.reshape(shape)


def test_the_conclusion_stands_first_and_every_head_has_its_cell(report, html):
    page = Page(html)
    assert page.all("h1")[0].text == "One head looks back."
    cells = [one for one in page.all("button") if "data-head" in one.attributes]
    assert [one.attributes["data-head"] for one in cells] == [head.name for head in report.heads]
    assert [one.attributes["tabindex"] for one in cells].count("0") == 1
    spoken = cells[1].attributes["aria-label"] or ""
    assert "previous token" in spoken
    assert "0.500 [0.375, 0.625]" in spoken
    bars = [one for one in page.all("i", "bar") if "style" in one.attributes]
    assert bars[1].attributes["style"] == "--w:100%"
    assert "hollow" in bars[0].classes
    assert "hollow" not in bars[1].classes


def test_every_two_heads_come_as_bytes_and_the_closest_as_a_table(report, html, data):
    size, agreement = len(report.heads), report.agreement
    half = np.triu_indices(size, k=1)
    content = np.frombuffer(zlib.decompress(b64decode(data["pairs"]["bytes"])), np.uint8)
    bits, low, high, null, shown = content.reshape(5, -1).astype(float)
    for levels, matrix in zip(
        (bits, low, high, null), (agreement.divergence, *agreement.interval, agreement.null), strict=True
    ):
        known = np.isfinite(matrix[half])
        assert (levels[~known] == 255).all()
        assert levels[known] / 254 == pytest.approx(matrix[half][known].clip(0, 1), abs=0.002)
    assert shown.tolist() == [1] + [0] * (len(shown) - 1)
    (table,) = [one for one in Page(html).all("table") if "most alike pairs" in one.text]
    assert "0-00-10.250[0.150, 0.350]0.500more alike" in table.text
    many = fake_heads.make(fake_heads.pair_text(1, 520), layers=1, heads=520)
    assert pack_pairs(many) is None
    assert len(closest_pairs_table(many).groups[0].rows) == 20


def test_nothing_from_outside_is_markup_and_no_network_is_needed(html):
    for bad in ("\x1b", "\u202e", "<i>", "http:", "https:", "import(", 'src="'):
        assert bad not in html
    assert html.count("</script>") == len(Page(html).all("script")) == 2


@pytest.mark.parametrize("signed", [False, True])
def test_short_texts_are_kept_whole_but_for_rounding(signed):
    text = fake_heads.pair_text(signed=signed)
    (packed,) = pack_texts(fake_heads.make(text))
    assert packed.data["remark"] == ""
    for layer, weights in text.weights.items():
        for head, one in zip(packed.data["layers"][layer]["heads"], np.nan_to_num(weights), strict=True):
            assert head["signed"] == bool((one < 0).any())
            error = np.abs(unpack(head, one.shape, head["signed"]) - one)
            steps = 127 if head["signed"] else 255
            assert (error <= np.abs(one).max(axis=-1, keepdims=True) * 0.501 / steps + 1e-4).all()
            assert head["kept"] == 1.0


def test_a_query_that_may_not_look_is_told_from_one_that_does_not(data):
    layers = data["texts"][0]["layers"]
    assert layers["0"]["mask"] == ""
    bits = np.frombuffer(zlib.decompress(b64decode(layers["1"]["mask"])), np.uint8)
    assert (np.unpackbits(bits.reshape(len(PAIR), -1), axis=-1)[:, : len(PAIR)] == np.tri(len(PAIR))).all()


def test_far_apart_weights_have_stations_between_them():
    weights = np.zeros((1, 40, 40))
    weights[0, 0, 3], weights[0, 39, 39] = 1.0, 0.5
    text = HeadText("a", [str(n) for n in range(40)], range(40), [0] * 40, {0: weights})
    (packed,) = pack_texts(fake_heads.make(text, layers=1, heads=1))
    rebuilt = unpack(packed.data["layers"][0]["heads"][0], (40, 40), False)
    assert rebuilt == pytest.approx(weights[0], abs=1e-4)


def test_words_sides_and_special_tokens_come_along(data):
    axis = data["texts"][0]["axes"]["text"]
    assert axis["words"][:4] == ["[CLS]", "it", "unknown", "[SEP]"]
    assert axis["units"] == [0, 1, 2, 2, 3, 4, 5, 6]
    assert axis["sides"] == list(fake_heads.SIDES)
    assert axis["special"] == [1, 0, 0, 0, 1, 0, 0, 1]


def test_queries_and_keys_are_kept_where_there_is_room(report, data):
    head = data["texts"][0]["layers"]["0"]["heads"][2]
    levels = np.frombuffer(zlib.decompress(b64decode(head["vectors"])), np.int8).reshape(2, len(PAIR), 4)
    text = report.texts[0]
    for level, scale, vectors in zip(
        levels, head["scales"], (text.query_vectors[0][2], text.key_vectors[0][0]), strict=True
    ):
        assert level / 127 * scale == pytest.approx(vectors, abs=0.005)
    without = pack_texts(report, budget=data_size(report) - 20)
    assert "vectors" not in without[0].data["layers"][0]["heads"][0]
    assert "MB" in without[0].data["withheld"]


def data_size(report):
    return sum(packed.letters for packed in pack_texts(report))


def test_a_decoder_looks_from_its_own_tokens_and_a_learned_query_from_none():
    text = HeadText(
        "a b", ["a", "b", "[SEP]"], [0, 1, -1], [0, 0, 0],
        {0: fake_heads.softmax_maps(1, 3, 3), 1: fake_heads.softmax_maps(1, 2, 2)},
        decoder_tokens=["x", "y"],
    )  # fmt: skip
    (packed,) = pack_texts(fake_heads.make(text, heads=1))
    assert [packed.data["layers"][layer]["queries"] for layer in (0, 1)] == ["text", "decoder"]
    assert packed.data["axes"]["decoder"]["tokens"] == ["x", "y"]
    pooled = HeadText(
        "a b", ["a", "b", "[SEP]"], [0, 1, -1], [0, 0, 0], {0: fake_heads.softmax_maps(1, 1, 3)}
    )
    (packed,) = pack_texts(fake_heads.make(pooled, layers=1, heads=1))
    layer = packed.data["layers"][0]
    assert packed.data["axes"][layer["queries"]]["tokens"] == ["query"]
    assert layer["thumbnails"]["rows"] == 1


@pytest.mark.slow
def test_twelve_by_twelve_heads_and_512_tokens_take_less_than_five_megabytes():
    text = fake_heads.long_text(12, 12)
    n, weights = 512, text.weights
    html = heads_page(fake_heads.make(fake_heads.pair_text(2, 3), text, layers=12, heads=12))
    assert len(html.encode()) < 5_000_000
    (script,) = [one for one in Page(html).all("script") if one.attributes.get("id") == "heads-data"]
    short, long = json.loads(script.text)["texts"]
    assert short["remark"] == ""
    assert "largest weights are kept" in long["remark"]
    largest = int(long["remark"].split()[4])
    own = long["layers"]["7"]["heads"][3]
    rebuilt, whole = unpack(own, (n, n), False), weights[7][3]
    assert (rebuilt > 0).sum(axis=-1).max() <= largest
    best = np.sort(whole, axis=-1)[:, -largest:]
    assert own["kept"] == pytest.approx(best.sum() / n, abs=1e-3)
    assert rebuilt.sum() == pytest.approx(best.sum(), rel=0.01)


def test_a_script_element_holds_any_text():
    assert "<" not in data_script({"a": "</script><!--"})
    assert json.loads(data_script({"a": "</script><!--"})) == {"a": "</script><!--"}


@pytest.mark.parametrize("kind", ["html", "json", "svg", "png"])
def test_it_is_saved_in_every_kind_of_file(report, tmp_path, kind):
    report.save(tmp_path / f"heads.{kind}")
    content = (tmp_path / f"heads.{kind}").read_bytes()
    assert len(content) > 1000
    assert HOSTILE.encode() not in content


def test_the_figure_has_a_map_for_each_head_by_layer(report):
    axes = to_matplotlib(head_grid(report)).axes
    assert len(axes) == len(report.heads)
    drawn = np.asarray(axes[1].images[0].get_array())
    assert drawn == pytest.approx(report.texts[0].weights[0][1])


def test_a_notebook_shows_the_most_important_heads_first(report):
    fragment = report._repr_html_()
    assert "<i>" not in fragment
    shown = Page(fragment).elements[0].text
    assert shown.index("0-1") < shown.index("1-2")


def test_every_number_is_in_the_tables(report, html):
    page = Page(html)
    captions = {one.text: one for one in page.all("table")}
    (numbers,) = [one for text, one in captions.items() if text.strip().startswith("All numbers")]
    assert numbers.text.count("[0.125, 0.375]") == len(report.heads)
    (relations,) = [one for text, one in captions.items() if text.strip().startswith("Relations")]
    for words in ("0-1", "75.0", "−1", "+25.0", "Better."):
        assert words in relations.text


@pytest.mark.parametrize("kind", ["csv", "parquet", "json", "svg", "png", "pdf", "html"])
def test_it_is_saved_as_its_name_ends(report, tmp_path, kind):
    out = tmp_path / f"heads.{kind}"
    report.save(out)
    start = {"svg": b"<?xml", "png": b"\x89PNG", "pdf": b"%PDF", "html": b"<!doctype", "json": b"{"}
    assert out.read_bytes().startswith(start.get(kind, b""))
    if kind in ("csv", "parquet"):
        table = pd.read_csv(out) if kind == "csv" else pd.read_parquet(out)
        assert len(table) == sum(len(head.findings) for head in report.heads)
        assert table["null.uniform"].tolist() == [0.125] * len(table)
    with pytest.raises(InputError, match=r"none of .*\.csv, \.parquet"):
        report.save(tmp_path / "heads.docx")
