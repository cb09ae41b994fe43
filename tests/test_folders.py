"""Whole or not at all."""

import errno
import os
import re
import tempfile
from pathlib import Path

import pytest

from glasshead.errors import InputError
from glasshead.folders import claim, discard, ending, parents, publish, whole, write_text


def tree(folder):
    """Relative path → content (None for a folder)."""
    return {
        str(path.relative_to(folder)): path.read_text() if path.is_file() else None
        for path in folder.rglob("*")
    }


@pytest.fixture
def old(tmp_path):
    """A run that stands already."""
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "run.json").write_text("old")
    return tmp_path / "out"


class TestWhole:
    def test_appears_when_the_block_ends(self, tmp_path):
        out = tmp_path / "deep" / "down" / "out"
        with whole(out) as work:
            assert work.parent == out.parent
            (work / "a").write_text("new")
            assert not out.exists()
        assert tree(tmp_path) == {
            "deep": None,
            "deep/down": None,
            "deep/down/out": None,
            "deep/down/out/a": "new",
        }

    @pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit])
    def test_vanishes_when_the_block_fails(self, tmp_path, error):
        def fail():
            with whole(tmp_path / "deep" / "out") as work:
                (work / "a").write_text("new")
                raise error

        with pytest.raises(error):
            fail()
        assert tree(tmp_path) == {}

    def test_folders_that_were_there_stay(self, tmp_path):
        (tmp_path / "deep").mkdir()
        with pytest.raises(ValueError, match="no"), whole(tmp_path / "deep" / "down" / "out"):
            raise ValueError("no")
        assert tree(tmp_path) == {"deep": None}

    def test_folders_that_others_used_meanwhile_stay(self, tmp_path):
        def fail():
            with whole(tmp_path / "deep" / "out"):
                (tmp_path / "deep" / "theirs").write_text("theirs")
                raise ValueError("no")

        with pytest.raises(ValueError, match="no"):
            fail()
        assert tree(tmp_path) == {"deep": None, "deep/theirs": "theirs"}

    def test_refuses_what_exists(self, old):
        with pytest.raises(InputError, match="exists already"), whole(old):
            pytest.fail("entered")
        assert tree(old.parent) == {"out": None, "out/run.json": "old"}

    def test_overwrites_only_when_it_ends_well(self, old):
        with pytest.raises(ValueError, match="no"), whole(old, overwrite=True):
            raise ValueError("no")
        assert tree(old.parent) == {"out": None, "out/run.json": "old"}
        with whole(old, overwrite=True) as work:
            (work / "b").write_text("new")
            assert (old / "run.json").read_text() == "old"
        assert tree(old.parent) == {"out": None, "out/b": "new"}

    def test_overwrites_a_file(self, tmp_path):
        (tmp_path / "out").write_text("old")
        with whole(tmp_path / "out", overwrite=True):
            pass
        assert tree(tmp_path) == {"out": None}

    def test_neighbours_are_left_alone(self, tmp_path):
        for name in ("out.partial", "out.previous", ".out"):
            (tmp_path / name).mkdir()
            (tmp_path / name / "letter").write_text("mine")
        before = tree(tmp_path)
        with whole(tmp_path / "out") as work:
            assert list(work.iterdir()) == []
        assert tree(tmp_path) == before | {"out": None}

    def test_a_relative_path(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        with whole(Path("out")):
            pass
        assert tree(tmp_path) == {"out": None}


class TestClaim:
    def test_creates_nothing(self, tmp_path):
        claim(tmp_path / "deep" / "down" / "out")
        assert tree(tmp_path) == {}

    def test_below_a_file(self, tmp_path):
        (tmp_path / "file").write_text("")
        with pytest.raises(InputError, match="file is not a folder"):
            claim(tmp_path / "file" / "deep" / "out")

    def test_asks_for_the_permission_of_the_nearest_folder(self, tmp_path, monkeypatch):
        asked = []
        monkeypatch.setattr(os, "access", lambda path, mode: asked.append((path, mode)))
        with pytest.raises(InputError, match="permission denied"):
            claim(tmp_path / "deep" / "out")
        assert asked == [(tmp_path, os.W_OK | os.X_OK)]

    def test_a_folder_that_takes_no_files(self, tmp_path, monkeypatch):
        """Such as /proc, which says that it may be written to."""

        def refused(*, dir):
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(dir))

        monkeypatch.setattr(tempfile, "TemporaryFile", refused)
        with pytest.raises(InputError, match=r"cannot write .*out\.html: No such file"):
            claim(tmp_path / "out.html")

    @pytest.mark.skipif(not Path("/proc/self").exists(), reason="there is no /proc here")
    def test_proc(self):
        with pytest.raises(InputError, match=r"^cannot write.* /proc"):
            claim(Path("/proc/x.html"))

    def test_what_is_finished_is_not_resumed(self, old):
        with pytest.raises(InputError, match=r"nothing to resume: .* is finished; --overwrite"):
            claim(old, resume=True)
        claim(old, resume=True, overwrite=True)

    @pytest.mark.parametrize(
        ("name", "kinds", "message"),
        [
            ("a.html", ("html",), None), ("a.HTML", ("json", "html"), None),
            ("y.pdf", ("html",), "y.pdf is to end in .html"),
            ("y", ("html",), "y is to end in .html"),
            ("y.txt", ("png", "svg", "pdf"), "y.txt is to end in .png, .svg or .pdf"),
        ],
    )  # fmt: skip
    def test_endings(self, name, kinds, message):
        if message is None:
            assert ending(Path(name), *kinds) == "html"
        else:
            with pytest.raises(InputError, match=f"^{re.escape(message)}$"):
                ending(Path(name), *kinds)

    @pytest.mark.parametrize("name", [".", "..", "/", "a/.."])
    def test_no_name(self, name):
        with pytest.raises(InputError, match="no name"):
            claim(Path(name), overwrite=True)

    def test_what_is_read_is_not_replaced(self, old):
        for reads in (old, old / "run.json", old.parent / "elsewhere" / ".." / "out"):
            (old.parent / "elsewhere").mkdir(exist_ok=True)
            with pytest.raises(InputError, match="which is read"):
                claim(old, overwrite=True, reads=[reads])
        claim(old, overwrite=True, reads=[old.parent, old.parent / "elsewhere", old / "missing"])


class TestPublish:
    def test_the_old_one_comes_back_if_the_new_one_cannot_stand(self, old):
        with pytest.raises(FileNotFoundError):
            publish(old.with_name("missing"), old)
        assert tree(old.parent) == {"out": None, "out/run.json": "old"}


class TestParents:
    def test_stay_when_all_is_well(self, tmp_path):
        with parents(tmp_path / "a" / "b" / "out"):
            pass
        assert tree(tmp_path) == {"a": None, "a/b": None}


class TestWriteText:
    def test_writes(self, tmp_path):
        write_text(tmp_path / "deep" / "page.html", "grün")
        assert (tmp_path / "deep" / "page.html").read_text(encoding="utf-8") == "grün"
        assert set(tree(tmp_path)) == {"deep", "deep/page.html"}

    def test_refuses_what_exists(self, tmp_path):
        (tmp_path / "page").write_text("old")
        with pytest.raises(InputError, match="exists already"):
            write_text(tmp_path / "page", "new")
        assert tree(tmp_path) == {"page": "old"}

    def test_overwrites(self, tmp_path):
        (tmp_path / "page").write_text("old")
        write_text(tmp_path / "page", "new", overwrite=True)
        assert tree(tmp_path) == {"page": "new"}

    def test_never_replaces_a_folder(self, old):
        with pytest.raises(InputError, match="is a folder"):
            write_text(old, "new", overwrite=True)
        assert tree(old.parent) == {"out": None, "out/run.json": "old"}

    def test_a_failure_leaves_the_old_one(self, tmp_path):
        (tmp_path / "page").write_text("old")
        with pytest.raises(UnicodeEncodeError):
            write_text(tmp_path / "page", "\ud800", overwrite=True)
        assert tree(tmp_path) == {"page": "old"}
        with pytest.raises(UnicodeEncodeError):
            write_text(tmp_path / "deep" / "page", "\ud800")
        assert tree(tmp_path) == {"page": "old"}


class TestDiscard:
    def test_folder_file_and_nothing(self, old):
        discard(old)
        assert not old.exists()
        discard(old)
        old.write_text("")
        discard(old)
        assert not old.exists()

    def test_a_link_goes_and_what_it_points_to_stays(self, old):
        link = old.with_name("link")
        link.symlink_to(old)
        discard(link)
        assert tree(old.parent) == {"out": None, "out/run.json": "old"}
