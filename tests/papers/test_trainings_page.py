"""Recorded trainings as they are served: their ledgers add up, their page is shown."""

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.append(str(Path(__file__).parents[1] / "serve"))

from served_models import served, write_models

from once import made_once


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    folder = made_once(tmp_path_factory, "served-models", write_models)
    with served([folder / "watched", folder / "planted"]) as client:
        yield client


def test_a_ledger_adds_up(client):
    (run,) = client.get("/api/runs").json()
    assert run["name"] == "watched"
    assert run["problem"] == ""
    for quantity in run["quantities"]:
        for of, group in ((run["tokens"][0], False), (run["groups"][0], True)):
            query = {"run": "watched", "of": of, "quantity": quantity, "group": group}
            ledger = client.get("/api/runs/ledger", params=query).json()
            assert ledger["steps"] == run["steps"]
            total = np.sum([*ledger["terms"].values(), ledger["rest"]], axis=0)
            np.testing.assert_allclose(total, ledger["measured"], rtol=1e-4, atol=1e-6)
            assert np.abs(ledger["measured"]).max() > 0
    assert client.get("/api/runs/ledger", params={"run": "planted", "of": "a"}).status_code == 404


def test_the_page_and_its_parts(client):
    page = client.get("/view/run", params={"run": "watched"})
    assert page.status_code == 200
    assert "unsafe-eval" not in page.headers["content-security-policy"]
    assert client.get("/view/run", params={"run": "planted"}).status_code == 404
    assert 'data-script="/page/trainings/page.js"' in client.get("/").text
    assert client.get("/page/trainings/page.js").status_code == 200
    assert client.get("/page/trainings/page.css").status_code == 200
    assert "/api/runs" in client.get("/openapi.json").json()["paths"]
