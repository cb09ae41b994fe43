"""Words of ``attention="WORD:RUN"`` come from extensions."""

import pytest

from glasshead.errors import InputError
from glasshead.registry import Registry
from glasshead.training import TrainingConfig, other_run


def test_without_an_extension_there_is_no_word(monkeypatch):
    monkeypatch.setattr(other_run, "OTHER_RUNS", Registry("word"))
    with pytest.raises(InputError, match=r"'frozen:runs/other': no installed extension adds 'frozen'$"):
        TrainingConfig().with_settings({"attention": "frozen:runs/other"})
