"""What is served in the tests, made once; a client; a browser."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from served_models import served, write_audits, write_models
from starlette.testclient import TestClient

from browsers import browser  # noqa: F401
from once import made_once


@pytest.fixture(scope="session")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of models; not to be written to."""
    return made_once(tmp_path_factory, "served-models", write_models)


@pytest.fixture(scope="session")
def audits(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of audits; not to be written to."""
    return made_once(tmp_path_factory, "served-audits", write_audits)


@pytest.fixture(scope="module")
def client(models: Path, audits: Path) -> Iterator[TestClient]:
    """All of them served, without a network. While they are, torch calls a hook before every module."""
    with served(sorted(models.iterdir()), audits) as client:
        yield client
