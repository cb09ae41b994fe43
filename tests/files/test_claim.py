"""A folder of parts whose settings cannot be read is refused in one line."""

from pathlib import Path

import pytest

from glasshead.errors import InputError
from glasshead.files import SETTINGS_FILE, claim_folder

SETTINGS = {"seed": 1, "texts": ["one", "two"]}


def test_what_was_begun_is_taken_up_again(tmp_path):
    claim_folder(tmp_path / "parts", SETTINGS)
    claim_folder(tmp_path / "parts", SETTINGS)
    assert [path.name for path in (tmp_path / "parts").iterdir()] == [SETTINGS_FILE]
    with pytest.raises(InputError, match="holds the measurements of another request"):
        claim_folder(tmp_path / "parts", SETTINGS | {"seed": 2})
    with pytest.raises(InputError, match=r"\(different: seed, data of train\)"):
        claim_folder(tmp_path / "parts", SETTINGS | {"seed": 3, "asked": {"data_of_train": "x"}})


@pytest.mark.parametrize("part", [0, 0.5, "[" * 100_000, "\x00"])
def test_settings_that_were_cut_off_are_refused(tmp_path, part):
    claim_folder(tmp_path, SETTINGS)
    path = tmp_path / SETTINGS_FILE
    text = path.read_text()
    path.write_text(part if isinstance(part, str) else text[: int(len(text) * part)])
    with pytest.raises(InputError, match=r"settings.json is damaged: delete the folder"):
        claim_folder(tmp_path, SETTINGS)


def test_a_kill_while_they_are_written_leaves_none(tmp_path, monkeypatch):
    opened = Path.open

    def killed(path, *args, **options):
        with opened(path, *args, **options) as file:
            file.write(b"{" if "b" in file.mode else "{")
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "open", killed)
    with pytest.raises(KeyboardInterrupt):
        claim_folder(tmp_path, SETTINGS)
    monkeypatch.undo()
    assert not (tmp_path / SETTINGS_FILE).exists()
    claim_folder(tmp_path, SETTINGS)
