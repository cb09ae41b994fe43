"""Every address answers, with the library's own numbers, and its views can do nothing else."""

import json
import os
import re
import shutil
import time
from concurrent.futures import ThreadPoolExecutor
from html import unescape
from io import BytesIO
from threading import Event, current_thread

import numpy as np
import pytest
import transformers as hf
from PIL import Image
from served_models import ADDRESS, HEBREW, LABELS, TEXT, served
from starlette.testclient import TestClient

import glasshead
from classifier_families import FAMILIES as FAMILIES_OF_MODELS
from glasshead.audits import run_heads
from glasshead.escaping import visible
from glasshead.explainers import FAMILIES, explain_texts
from glasshead.requests import HeadsRequest
from glasshead.results import to_json_values
from glasshead.serve.cancellation import check_current
from hostile import NASTY
from pages import Page
from tolerances import ALL_LAYERS

MIXED = "unaffordable, heartwarmingly bad film"


def answer(client, path, question):
    found = client.post(path, json=question)
    assert found.status_code == 200, found.text
    return found.json()


def assert_same(first, second, where=""):
    """The same JSON, numbers within the rounding of a model."""
    assert type(first) is type(second) or {type(first), type(second)} == {int, float}, where
    if isinstance(first, dict):
        assert first.keys() == second.keys(), where
        for name in first:
            assert_same(first[name], second[name], f"{where}.{name}")
    elif isinstance(first, list):
        assert len(first) == len(second), where
        for place, (one, other) in enumerate(zip(first, second, strict=True)):
            assert_same(one, other, f"{where}[{place}]")
    elif isinstance(first, float):
        np.testing.assert_allclose(first, second, **ALL_LAYERS, err_msg=where)
    else:
        assert first == second, where


def written(value, folder):
    """What `save` writes: that of ``--format json``."""
    value.save(folder / "value.json")
    return json.loads((folder / "value.json").read_text(encoding="utf-8"))


class TestModels:
    @pytest.mark.slow
    def test_what_may_be_asked_of_each(self, client):
        facts = {one["name"]: one for one in client.get("/api/models").json()}
        kinds = {name: one["kind"] for name, one in facts.items()}
        assert kinds == {
            "planted": "classifier", "signed": "classifier", "pieces": "classifier", "pairs": "classifier",
            "watched": "classifier", "writer": "language model", "bare": "encoder", "damaged": "",
        }  # fmt: skip
        assert facts["pieces"]["labels"] == list(LABELS)
        assert facts["pieces"]["usual_class"] == LABELS[1]
        assert facts["pairs"]["usual_class"] == "the predicted one"  # of three
        assert facts["writer"]["usual_class"] == ""
        assert (facts["pieces"]["layers"], facts["pieces"]["heads"]) == (2, 2)
        assert facts["pairs"]["pairs"] == "needed"
        assert facts["planted"]["pairs"] == "none"
        assert len(facts["watched"]["examples"]) == 20
        assert facts["bare"]["methods"] == []
        known = {method["name"]: method for method in facts["pieces"]["methods"]}
        assert known["attention"]["has_intervals"]
        assert not known["gradient"]["reads_attention"]
        assert "erasure-blur" not in known  # of images alone: the model refuses it
        assert "erasure-mean-colour" not in known
        families = [method["family"] for method in facts["pieces"]["methods"]]
        assert families == sorted(families, key=FAMILIES.index)
        assert set(families) == set(FAMILIES) - {"other methods"}
        assert known["attention"]["family"] == known["contribution"]["family"] == "attention of one layer"
        assert known["rollout"]["family"] == "attention through all layers"

    def test_one_that_cannot_be_opened_says_why_and_is_not_asked(self, client):
        (damaged,) = [one for one in client.get("/api/models").json() if one["name"] == "damaged"]
        assert damaged["state"] == "failed"
        assert damaged["message"]
        assert "Traceback" not in damaged["message"]
        refused = client.post("/api/explain", json={"model": "damaged", "text": "a"})
        assert refused.status_code == 503
        assert damaged["message"] in refused.json()["error"]


QUESTIONS = [
    {"model": "planted", "text": TEXT},
    {"model": "signed", "text": TEXT, "target": "negative"},
    {"model": "pieces", "text": MIXED, "unit": "token"},
    {"model": "pieces", "text": MIXED, "layer": 0, "head": 1},
    {"model": "pieces", "text": MIXED, "method": "gradient"},
    {"model": "pieces", "text": MIXED, "method": "erasure", "target": LABELS[1]},
    {"model": "pieces", "text": MIXED, "method": "rollout", "unit": "token"},
    {"model": "pieces", "text": MIXED, "target_fn": "logit", "method": "gradient"},
    {"model": "pieces", "text": MIXED, "intervals": True},
    {"model": "pairs", "text": "the film was good", "pair": "the film was bad"},
    {"model": "writer", "text": "the film was"},
    {"model": "writer", "text": "the film was", "method": "gradient", "target": "good", "against": "bad"},
    {"model": "pieces", "text": HEBREW},
    {"model": "pieces", "text": " ".join(NASTY)},
]


class TestExplain:
    @pytest.mark.parametrize("question", QUESTIONS)
    def test_numbers_are_those_of_the_library(self, client, models, tmp_path, question):
        found = answer(client, "/api/explain", question)
        options = {name: value for name, value in question.items() if name not in ("model", "text", "pair")}
        if "pair" in question:
            options["pairs"] = question["pair"]
        own = glasshead.explain(str(models / question["model"]), question["text"], **options)
        assert_same(found["attributions"], written(own, tmp_path))
        line = f"glasshead.explain({str(models / question['model'])!r}, {question['text']!r}"
        assert found["python"].startswith(line)
        assert all(f"{name}={value!r}" in found["python"] for name, value in options.items())
        assert found["text"] == own[0].text
        caution = found["drawing"]["caution"]
        assert [*found["remarks"], *([] if caution is None else [caution])] == list(own.remarks)
        assert "".join(span["text"] for span in found["drawing"]["spans"]) == visible(own[0].text)

    def test_an_erased_word_is_a_text_without_it(self, client):
        start = TEXT.index("bad")
        question = {"model": "planted", "text": TEXT}
        whole = answer(client, "/api/explain", question)
        without = answer(client, "/api/explain", question | {"without": [[start, start + 3]]})
        by_hand = answer(client, "/api/explain", question | {"text": TEXT.replace("bad ", "")})
        assert without["text"] == by_hand["text"]
        assert_same(without["attributions"], by_hand["attributions"])
        # Planted: good and bad decide, and cancel in the whole text.
        assert whole["attributions"][0]["prediction"] == pytest.approx(0.5, abs=1e-4)
        assert without["attributions"][0]["prediction"] > 0.9

    def test_a_word_of_the_second_text_is_erased_where_the_answer_says_it_stands(self, client):
        question = {"model": "pairs", "text": "the film was good", "pair": "the film was bad"}
        whole = answer(client, "/api/explain", question)
        (span,) = [one for one in whole["drawing"]["spans"] if one["text"] == "bad"]
        assert whole["text"][span["start"] : span["end"]] == "bad"
        without = answer(client, "/api/explain", question | {"without": [[span["start"], span["end"]]]})
        by_hand = answer(client, "/api/explain", question | {"pair": "the film was "})
        assert_same(without, by_hand)
        saved = client.post(
            "/save/explanation.json", json=question | {"without": [[span["start"], span["end"]]]}
        )
        assert_same(saved.json(), by_hand["attributions"])

    def test_what_is_certain_is_drawn(self, client):
        found = answer(client, "/api/explain", {"model": "planted", "text": TEXT, "intervals": True})
        assert found["drawing"]["ranged"]
        spans = [span for span in found["drawing"]["spans"] if span["token"] is not None]
        assert {span["text"] for span in spans} == set(TEXT.split())
        assert all(abs(span["least"]) <= abs(span["share"]) + 1e-9 for span in spans)

    @pytest.mark.parametrize(
        ("changes", "status", "words"),
        [
            ({"model": "plantde"}, 404, "did you mean 'planted'"),
            ({"method": "atention"}, 422, "did you mean 'attention'"),
            ({"target": "no such class"}, 422, "no such class"),
            ({"model": "pieces", "layer": 7}, 422, "layer 7"),
            ({"method": "gradient", "intervals": True}, 422, "interval"),
            ({"against": "bad"}, 422, "`target` or `answer`"),
            ({"answer": ""}, 422, "`answer` is empty"),
            ({"model": "bare"}, 422, "predicts no class"),
            ({"model": "pairs"}, 422, "text"),
            ({"text": "\ud800"}, 422, "`text`"),
            ({"without": [[0, 1000]]}, 422, "not a part"),
            ({"without": [[0, len(TEXT)]]}, 422, "no word is left"),
        ],
    )
    def test_what_cannot_be_answered_is_one_sentence(self, client, changes, status, words):
        body = json.dumps({"model": "planted", "text": TEXT} | changes)
        refused = client.post("/api/explain", content=body, headers={"content-type": "application/json"})
        assert refused.status_code == status, refused.text
        (error,) = refused.json().values()
        assert words in error
        assert "\n" not in error


class TestCompare:
    def test_two_versions_on_one_scale(self, client):
        reading = {"model": "planted"}
        other = TEXT.replace("bad", "good")
        found = answer(
            client,
            "/api/compare",
            {"first": reading, "second": reading, "text": TEXT, "other_text": other},
        )
        assert found["one_scale"]
        assert (found["first"]["text"], found["second"]["text"]) == (TEXT, other)
        differs = [piece for piece in found["pieces"] if not piece["same"]]
        assert [TEXT[slice(*piece["before"])] for piece in differs] == ["bad"]
        assert [other[slice(*piece["after"])] for piece in differs] == ["good"]
        for side, text in (("first", TEXT), ("second", other)):
            alone = answer(client, "/api/explain", reading | {"text": text})
            assert_same(found[side]["attributions"], alone["attributions"])

    def test_two_models_whose_tokens_differ(self, client):
        question = {"first": {"model": "planted"}, "second": {"model": "pieces"}, "text": TEXT}
        found = answer(client, "/api/compare", question)
        assert not found["one_scale"]
        assert all(piece["same"] for piece in found["pieces"])
        assert {word["word"] for word in found["words"]} == set(TEXT.split())
        sizes = [abs(word["difference"]) for word in found["words"]]
        assert sizes == sorted(sizes, reverse=True)
        for side in ("first", "second"):
            alone = answer(client, "/api/explain", question[side] | {"text": TEXT})
            assert_same(found[side]["attributions"], alone["attributions"])
            assert found[side]["python"] == alone["python"]

    def test_a_colour_that_is_another_class_in_each_row_is_said(self, client, tmp_path):
        reading = {"model": "planted"}
        for first, second, caution in (
            ({}, {}, None),
            ({"target": "negative"}, {}, "choose one class for both"),
            ({"target": "negative"}, {"model": "pieces"}, "the two models have differently named classes"),
            ({}, {"method": "attention", "intervals": True}, None),
        ):
            question = {"first": reading | first, "second": reading | second, "text": TEXT}
            found = answer(client, "/api/compare", question)
            sides = [found["first"]["drawing"], found["second"]["drawing"]]
            targets = [found[side]["attributions"][0]["target"] for side in ("first", "second")]
            for drawing, target in zip(sides, targets, strict=True):
                if not drawing["ranged"] and drawing["diverging"]:
                    assert drawing["legend"] == f"red: for {visible(target)}, blue: against it"
            if caution is None or not all(one["diverging"] for one in sides):
                assert found["caution"] is None
                continue
            assert caution in found["caution"]
            assert all(f"“{visible(target)}”" in found["caution"] for target in targets)

    def test_two_methods(self, client):
        readings = {"first": {"model": "pieces"}, "second": {"model": "pieces", "method": "gradient"}}
        found = answer(client, "/api/compare", readings | {"text": MIXED})
        assert [found[side]["attributions"][0]["method"] for side in ("first", "second")] == [
            "attention", "gradient",
        ]  # fmt: skip

    def test_repeated_words_keep_nobody_waiting(self, client):
        """Alignment runs where the model does, and fast."""
        question = {"first": {"model": "pieces"}, "second": {"model": "pieces"}, "text": "a " * 1000}
        question["other_text"] = "a b " * 500
        with ThreadPoolExecutor() as pool:
            compared = pool.submit(answer, client, "/api/compare", question)
            waits = []
            while not compared.done():
                started = time.monotonic()
                assert client.get("/api/models").status_code == 200
                waits.append(time.monotonic() - started)
                time.sleep(0.05)
        pieces = compared.result()["pieces"]
        assert "".join(question["text"][slice(*piece["before"])] for piece in pieces) == question["text"]
        assert max(waits, default=0.0) < 5

    def test_both_halves_share_one_limit(self, models, monkeypatch):
        def slow(*arguments):
            time.sleep(0.4)
            check_current()
            return explain_texts(*arguments)

        monkeypatch.setattr("glasshead.serve.answers.explain_texts", slow)
        question = {"first": {"model": "planted"}, "second": {"model": "planted"}, "text": TEXT}
        with served([models / "planted"], seconds=0.7) as client:
            found = client.post("/api/compare", json=question)
        assert found.status_code == 504
        assert "took longer than 0.7 seconds" in found.json()["error"]


class TestGenerate:
    QUESTION = {"model": "writer", "prompt": "the film was", "tokens": 5}  # noqa: RUF012

    def test_it_writes_what_the_library_writes(self, client, models):
        found = answer(client, "/api/generate", self.QUESTION)
        own = glasshead.generate(str(models / "writer"), "the film was", tokens=5)
        told = own.with_maps(["attention", "erasure-mean-embedding"], heads=True).to_dict()
        assert_same(found["written"], to_json_values(told))
        again = eval(found["python"], {"glasshead": glasshead})
        assert_same(to_json_values(again.to_dict())["tokens"], found["written"]["tokens"])

    def test_a_seed_repeats_what_was_drawn(self, client):
        drawn = self.QUESTION | {"strategy": "sample", "seed": 3}
        first, second = (answer(client, "/api/generate", drawn)["written"] for _ in range(2))
        assert_same(first, second)

    @pytest.mark.parametrize(
        "changes",
        [{"strategy": "best"}, {"methods": ["no such"]}, {"target": "no such"}, {"model": "planted"}],
    )
    def test_refusals(self, client, changes):
        refused = client.post("/api/generate", json=self.QUESTION | changes)
        assert refused.status_code == 422
        assert list(refused.json()) == ["error"]


class TestShelves:
    def test_audits_and_their_texts(self, client, audits):
        found = {one["name"]: one for one in client.get("/api/audits").json()}
        assert set(found) == {path.name for path in audits.iterdir()}
        assert found["damaged"]["problem"]
        query = {"audit": "tanhmax", "label": "negative", "words": "film"}
        texts = client.get("/api/audits/texts", params=query).json()
        assert texts["found"] >= len(texts["texts"]) > 0
        assert all(one["label"] == "negative" and "film" in one["text"] for one in texts["texts"])
        assert client.get("/api/audits/texts", params={"audit": "damaged"}).status_code == 422
        assert client.get("/api/audits/texts", params={"audit": "gone"}).status_code == 404


VIEWS = [
    ("/view/heads", {"model": "pieces", "text": " ".join(NASTY)}),
    ("/view/heads", {"model": "bare", "text": TEXT}),
    ("/view/heads", {"model": "pairs", "text": "the film", "pair": "was good"}),
    ("/view/heads", {"model": "writer", "text": "the film was"}),
    ("/view/written", {"model": "writer", "prompt": "the film was", "tokens": 4}),
    ("/view/audit", {"audit": "tanhmax"}),
]
REFUSED = [
    ("/view/heads", {"model": NASTY[0], "text": "a"}, 404),
    ("/view/heads", {"model": "planted", "text": "a", "pair": NASTY[1]}, 422),
    ("/view/written", {"model": "planted", "prompt": NASTY[0]}, 422),
    ("/view/written", {"model": "writer", "prompt": "a", "strategy": NASTY[0]}, 422),
    ("/view/audit", {"audit": NASTY[1]}, 404),
    ("/view/run", {"run": NASTY[2]}, 404),
    ("/view/heads", {"text": "a"}, 422),
    ("/view/nothing", {"a": NASTY[0]}, 404),
]


class TestViews:
    @pytest.mark.parametrize(("path", "query"), VIEWS)
    def test_a_page_may_run_its_own_scripts_and_nothing_else(self, client, path, query):
        shown = client.get(path, params=query)
        assert shown.status_code == 200, shown.text[:300]
        policy = shown.headers["content-security-policy"]
        assert policy.startswith("default-src 'none'")
        scripts = re.search(r"script-src ([^;]*);", policy)[1].split()
        page = Page(shown.text)
        running = [
            one for one in page.all("script") if not (one.attributes.get("type") or "").startswith("app")
        ]
        assert all(one.attributes == {} for one in running)
        assert len(scripts) == len({one.text for one in running}) > 0
        assert all(one.startswith("'sha256-") for one in scripts)
        for element in page.elements:
            assert not [name for name in element.attributes if name.startswith("on")], element
            assert element.tag not in ("iframe", "object", "embed", "base")

    @pytest.mark.parametrize(("path", "query", "status"), REFUSED)
    def test_what_cannot_be_shown_is_a_page_with_a_sentence(self, client, path, query, status):
        shown = client.get(path, params=query)
        assert shown.status_code == status
        page = Page(shown.text)
        (alert,) = [one for one in page.elements if one.attributes.get("role") == "alert"]
        assert alert.text.strip()
        assert not page.all("script") + page.all("img") + page.all("iframe") + page.all("b")
        assert "script-src 'none'" in shown.headers["content-security-policy"]

    @pytest.mark.slow
    def test_heads_are_those_of_the_library(self, client, models):
        shown = client.get("/view/heads", params={"model": "pieces", "text": MIXED})
        request = HeadsRequest(str(models / "pieces"), [{"text": MIXED}], limit=1)
        own = run_heads(request)
        assert len(Page(shown.text).all("button")) > 4
        for layer in range(2):
            for head in range(2):
                assert f'data-head="{layer}-{head}"' in shown.text
        intro = next(one.text for one in Page(shown.text).all("p") if "over" in one.text)
        assert "4 heads in 2 layers, over 1 text." in intro
        assert own.facts["name"] == "pieces"


class TestFiles:
    QUESTION = {"model": "pieces", "text": MIXED, "intervals": True}  # noqa: RUF012

    def saved(self, client, kind):
        found = client.post(f"/save/explanation.{kind}", json=self.QUESTION)
        assert found.status_code == 200
        assert found.headers["content-disposition"] == f'attachment; filename="explanation.{kind}"'
        return found

    @pytest.mark.slow
    def test_each_kind_opens(self, client):
        text = self.saved(client, "html").text
        assert "unaffordable" in "".join(one.text for one in Page(text).all("mark"))
        document = self.saved(client, "json").json()
        assert_same(document, answer(client, "/api/explain", self.QUESTION)["attributions"])
        assert self.saved(client, "svg").content.startswith((b"<?xml", b"<svg"))
        with Image.open(BytesIO(self.saved(client, "png").content)) as image:
            assert min(image.size) > 50
            assert len(image.convert("RGB").getcolors(1 << 24)) > 10
        rows = self.saved(client, "csv").text.splitlines()
        assert len(rows) > 4

    @pytest.mark.slow
    def test_two_models_draw_at_once_what_each_draws_alone(self, client):
        questions = [{"model": name, "text": TEXT} for name in ("pieces", "planted")]
        alone = [client.post("/save/explanation.svg", json=question).content for question in questions]
        with ThreadPoolExecutor() as pool:
            together = [
                pool.submit(client.post, "/save/explanation.svg", json=question) for question in questions * 3
            ]
        assert [found.result().content for found in together] == alone * 3

    def test_saving_waits_for_the_model_and_ends_with_the_limit(self, models, monkeypatch):
        threads = []

        def draw(*_):
            threads.append(current_thread().name)
            while True:
                check_current()
                time.sleep(0.01)

        monkeypatch.setattr("glasshead.serve.views.as_file", draw)
        with served([models / "planted"], seconds=0.3) as client:
            found = client.post("/save/explanation.png", json={"model": "planted", "text": TEXT})
        assert found.status_code == 504
        assert threads == ["model planted"]

    def test_a_comparison_has_both_below_one_another(self, client):
        first, second = {"model": "pieces"}, {"model": "planted"}
        question = {"text": TEXT, "first": first, "second": second}
        saved = {
            kind: client.post(f"/save/comparison.{kind}", json=question)
            for kind in ("html", "svg", "png", "csv")
        }
        for kind, found in saved.items():
            assert found.status_code == 200
            assert found.headers["content-disposition"] == f'attachment; filename="comparison.{kind}"'
        said = [answer(client, "/api/explain", one | {"text": TEXT})["drawing"] for one in (first, second)]
        page = unescape(saved["html"].text).lower()
        classes = [
            drawing["prediction"].lower().removeprefix("predicted ").split(" (")[0] for drawing in said
        ]
        assert all(name in page for name in classes)
        assert saved["svg"].content.startswith((b"<?xml", b"<svg"))
        rows = saved["csv"].text.splitlines()
        assert len(rows) == 1 + sum(len(drawing["numbers"]) for drawing in said)

    def test_no_other_kind(self, client):
        for kind in ("exe", "py", "..", "html/x", "pickle"):
            assert client.post(f"/save/explanation.{kind}", json=self.QUESTION).status_code in (404, 422)


class TestPage:
    def test_the_page_and_all_that_it_names(self, client):
        for first in ("/", "/api"):
            text = client.get(first).text
            named = re.findall(r'(?:src|href)="(/[^"#]*)"', text)
            assert len(named) > 3
            for path in named:
                assert client.get(path).status_code == 200, path
        main = client.get("/page/main.js").text
        for name in re.findall(r'from "\./([^"]+)"', main):
            assert client.get(f"/page/{name}").status_code == 200
        assert "unsafe" not in client.get("/").headers["content-security-policy"]
        assert not re.search(
            r"<script>|<style|style=|onclick|https?://(?!127\.0\.0\.1)", client.get("/").text
        )

    def test_the_schema_names_every_address_of_the_api(self, client):
        schema = client.get("/openapi.json").json()
        asked = {"/api/models", "/api/explain", "/api/compare", "/api/generate", "/api/audits"}
        assert asked <= set(schema["paths"])
        for path in asked:
            for operation in schema["paths"][path].values():
                assert operation["description"]
                assert operation["responses"]["422"]["content"]["application/json"]["schema"][
                    "$ref"
                ].endswith("Problem")

    @pytest.mark.parametrize(
        "path",
        [
            "/page/../app.py", "/page/%2e%2e/app.py", "/page/..%2fapp.py", "/page//etc/passwd",
            "/page/%2e%2e%2f%2e%2e%2fserver.py", "/page/\\..\\app.py", "/page/", "/page/%2e", "/page/%00",
        ],
    )  # fmt: skip
    def test_nothing_beside_the_page_can_be_read(self, client, path):
        found = client.get(path)
        assert 400 <= found.status_code < 500
        assert "import" not in found.text
        assert "root:" not in found.text


class TestRefusals:
    @pytest.mark.parametrize("body", [b"\xff\xfe", b'{"model": "\xff"}', b"\x00"])
    def test_what_is_no_text_is_told_the_same(self, client, body):
        headers = {"content-type": "application/json"}
        refused = client.post("/api/explain", content=body, headers=headers)
        assert refused.status_code in (400, 422)
        assert refused.json() == {"error": "send a JSON object: /api shows its fields"}

    @pytest.mark.parametrize("body", ["", "[]", "1", '"a"', "null", "{", "model=planted"])
    def test_what_is_no_object_is_told_to_be_one(self, client, body):
        headers = {"content-type": "application/json"}
        refused = client.post("/api/explain", content=body, headers=headers)
        assert refused.status_code == 422
        assert refused.json() == {"error": "send a JSON object: /api shows its fields"}

    @pytest.mark.parametrize(
        ("method", "path", "status", "says"),
        [
            ("GET", "/api/explian", 404, "there is no /api/explian here: /api lists all requests"),
            ("GET", "/api/explain", 405, "/api/explain does not support GET: /api lists all requests"),
        ],
    )
    def test_an_unknown_address_names_the_list_of_all(self, client, method, path, status, says):
        refused = client.request(method, path)
        assert (refused.status_code, refused.json()) == (status, {"error": says})
        shown = client.request(method, path, headers={"accept": "text/html"})
        assert shown.status_code == status
        assert [one.text for one in Page(shown.text).elements if one.attributes.get("role") == "alert"] == [
            says
        ]


def test_hostile_strings_are_json_text_and_come_back_unchanged(client):
    for nasty in NASTY:
        found = client.post("/api/explain", json={"model": "pieces", "text": nasty})
        assert found.headers["content-type"] == "application/json"
        assert found.headers["x-content-type-options"] == "nosniff"
        if found.status_code == 200:
            assert found.json()["text"] == nasty
        refused = client.post("/api/explain", json={"model": nasty, "text": "a"})
        assert refused.status_code == 404
        assert refused.headers["content-type"] == "application/json"
        (error,) = refused.json().values()
        assert "there is no model" in error


@pytest.mark.slow
def test_names_that_are_no_text_hide_no_other(models, audits, tmp_path):
    """File names are bytes, and JSON may hold half a character."""
    odd = tmp_path / os.fsdecode(b"m\xff")
    shutil.copytree(models / "pieces", odd)
    half = tmp_path / "half"
    shutil.copytree(models / "pieces", half)
    config = json.loads((half / "config.json").read_text())
    config["id2label"]["0"] = "neg\ud800"
    (half / "config.json").write_text(json.dumps(config))
    shelf = tmp_path / "shelf"
    for name in ("whole", os.fsdecode(b"a\xff")):
        shutil.copytree(audits / "tanhmax", shelf / name)
    card = shelf / "whole" / "card.json"
    card.write_text(card.read_text().replace("sst2", "s\\ud800"))
    gone = tmp_path / os.fsdecode(b"gone\xfe")
    with served([models / "planted", odd, half, gone], shelf) as client:
        facts = {one["name"]: one for one in client.get("/api/models").json()}
        assert {name: one["state"] for name, one in facts.items()} == {
            "planted": "ready", "m\\udcff": "failed", "half": "failed", "gone\\udcfe": "failed",
        }  # fmt: skip
        assert "the class 'neg\\ud800' is not valid UTF-8" in facts["half"]["message"]
        for name in ("m\\udcff", "half", "gone\\udcfe"):  # the first is no path to those who read its files
            refused = client.post("/api/explain", json={"model": name, "text": "a"})
            assert refused.status_code == 503
            assert facts[name]["message"] in refused.json()["error"]
        shelved = {one["name"]: one for one in client.get("/api/audits").json()}
        assert set(shelved) == {"whole", "a\\udcff"}
        assert "\\ud800" in shelved["whole"]["data"] + shelved["whole"]["problem"]
        assert client.get("/api/audits/texts", params={"audit": "a\\udcff"}).status_code in (200, 422)
        assert client.get("/view/audit", params={"audit": "whole"}).status_code in (200, 422)


def test_no_models_but_audits(audits, tmp_path):
    with served([tmp_path / "gone"], audits) as client:
        (gone,) = client.get("/api/models").json()
        assert gone["state"] == "failed"
        assert len(client.get("/api/audits").json()) == 3


@pytest.mark.slow
def test_a_question_that_takes_too_long_is_ended(models, monkeypatch):
    ended = Event()

    def never_ends(*_):
        try:
            while True:
                check_current()
                time.sleep(0.01)
        finally:
            ended.set()

    with served([models / "pieces"], seconds=0.2) as client:
        question = {"model": "pieces", "text": "a long film"}
        with monkeypatch.context() as patched:
            patched.setattr("glasshead.serve.answers.explain_texts", never_ends)
            found = client.post("/api/explain", json=question)
        assert found.status_code == 504
        assert "took longer than 0.2 seconds" in found.json()["error"]
        assert ended.wait(5)  # the model is free again


def test_what_goes_wrong_inside_is_a_sentence_and_no_traceback(models, monkeypatch):
    with served([models / "planted"]) as opened:
        client = TestClient(opened.app, base_url=ADDRESS, raise_server_exceptions=False)

        def fail(*arguments, **options):
            raise ZeroDivisionError("a secret of the inside")

        monkeypatch.setattr("glasshead.serve.answers.explain_texts", fail)
        found = client.post("/api/explain", json={"model": "planted", "text": TEXT})
        assert found.status_code == 500
        assert list(found.json()) == ["error"]
        assert "ZeroDivisionError" in found.json()["error"]
        assert "secret" not in found.text
        assert "content-security-policy" in found.headers
        monkeypatch.undo()
        assert client.post("/api/explain", json={"model": "planted", "text": TEXT}).status_code == 200


def test_a_given_answer_is_explained_as_by_the_library(client, models, tmp_path):
    asked = {"answer": " good film", "method": "gradient"}
    found = answer(client, "/api/explain", {"model": "writer", "text": "the film was", **asked})
    own = glasshead.explain(models / "writer", "the film was", **asked)
    assert_same(found["attributions"], written(own, tmp_path))
    assert len(found["attributions"]) == 3
    assert "answer=' good film'" in found["python"]
    both = answer(
        client, "/api/explain", {"model": "writer", "text": "the film was", **asked, "against": " bad"}
    )
    assert "rather than" in both["attributions"][0]["target"]


@pytest.mark.slow
def test_a_model_that_answers_is_explained_of_a_given_answer(tmp_path):
    family = FAMILIES_OF_MODELS["T5"]
    hf.T5ForConditionalGeneration(family.config(**family.options)).save_pretrained(tmp_path / "t5")
    family.tokenizer().save_pretrained(tmp_path / "t5")
    with served([tmp_path / "t5"]) as client:
        (facts,) = client.get("/api/models").json()
        assert facts["kind"] == "answerer"
        offered = {method["name"] for method in facts["methods"]}
        assert {"attention", "gradient", "erasure-delete"} <= offered
        assert "alti" not in offered, "it is defined for one stack of layers"
        question = {"model": "t5", "text": "a warm film", "method": "gradient"}
        found = answer(client, "/api/explain", {**question, "answer": "good film"})
        own = glasshead.explain(tmp_path / "t5", "a warm film", method="gradient", answer="good film")
        assert_same(found["attributions"], written(own, tmp_path))
        refused = client.post("/api/explain", json=question)
        assert refused.status_code == 422
        assert "answer" in refused.json()["error"]
