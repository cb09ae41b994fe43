"""Whole or not at all."""

import errno
import os
import re
import stat
import tempfile
from pathlib import Path

import pytest

from glasshead.errors import InputError
from glasshead.files import (
    atomic_folder,
    check_writable,
    format_from_suffix,
    remove,
    reserve_folder,
    temp_sibling,
    write_text,
)
from glasshead.files.atomic import make_parents
from glasshead.files.manifest import MANIFEST

RUN = '{"recipe": {}, "seed": 0, "data": {}}'


def tree(folder):
    """Relative path → content (None for a folder), without the lists of what is ours."""
    return {
        str(path.relative_to(folder)): path.read_text() if path.is_file() else None
        for path in folder.rglob("*")
        if path.name != MANIFEST
    }


@pytest.fixture
def old(tmp_path):
    """A run that stands already."""
    with atomic_folder(tmp_path / "out") as work:
        (work / "run.json").write_text(RUN)
    return tmp_path / "out"


@pytest.fixture
def ours(tmp_path):
    """A folder that was made here."""
    with atomic_folder(tmp_path / "out") as work:
        (work / "deep").mkdir()
        (work / "deep" / "a").write_text("old")
    return tmp_path / "out"


class TestWhole:
    def test_appears_when_the_block_ends(self, tmp_path):
        out = tmp_path / "deep" / "down" / "out"
        with atomic_folder(out) as work:
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
            with atomic_folder(tmp_path / "deep" / "out") as work:
                (work / "a").write_text("new")
                raise error

        with pytest.raises(error):
            fail()
        assert tree(tmp_path) == {}

    def test_folders_that_were_there_stay(self, tmp_path):
        (tmp_path / "deep").mkdir()
        with pytest.raises(ValueError, match="no"), atomic_folder(tmp_path / "deep" / "down" / "out"):
            raise ValueError("no")
        assert tree(tmp_path) == {"deep": None}

    def test_folders_that_others_used_meanwhile_stay(self, tmp_path):
        def fail():
            with atomic_folder(tmp_path / "deep" / "out"):
                (tmp_path / "deep" / "theirs").write_text("theirs")
                raise ValueError("no")

        with pytest.raises(ValueError, match="no"):
            fail()
        assert tree(tmp_path) == {"deep": None, "deep/theirs": "theirs"}

    def test_refuses_what_exists(self, old):
        with pytest.raises(InputError, match="exists already"), atomic_folder(old):
            pytest.fail("entered")
        assert tree(old.parent) == {"out": None, "out/run.json": RUN}

    def test_overwrites_only_when_it_ends_well(self, old):
        with pytest.raises(ValueError, match="no"), atomic_folder(old, overwrite=True):
            raise ValueError("no")
        assert tree(old.parent) == {"out": None, "out/run.json": RUN}
        with atomic_folder(old, overwrite=True) as work:
            (work / "b").write_text("new")
            assert (old / "run.json").read_text() == RUN
        assert tree(old.parent) == {"out": None, "out/b": "new"}

    def test_overwrites_a_file(self, tmp_path):
        (tmp_path / "out").write_text("old")
        with atomic_folder(tmp_path / "out", overwrite=True):
            pass
        assert tree(tmp_path) == {"out": None}

    def test_neighbours_are_left_alone(self, tmp_path):
        for name in ("out.partial", "out.previous", ".out"):
            (tmp_path / name).mkdir()
            (tmp_path / name / "letter").write_text("mine")
        before = tree(tmp_path)
        with atomic_folder(tmp_path / "out") as work:
            assert list(work.iterdir()) == []
        assert tree(tmp_path) == before | {"out": None}

    def test_a_relative_path(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        with atomic_folder(Path("out")):
            pass
        assert tree(tmp_path) == {"out": None}


class TestClaim:
    def test_creates_nothing(self, tmp_path):
        check_writable(tmp_path / "deep" / "down" / "out")
        assert tree(tmp_path) == {}

    def test_below_a_file(self, tmp_path):
        (tmp_path / "file").write_text("")
        with pytest.raises(InputError, match="file is not a folder"):
            check_writable(tmp_path / "file" / "deep" / "out")

    def test_asks_for_the_permission_of_the_nearest_folder(self, tmp_path, monkeypatch):
        asked = []
        monkeypatch.setattr(os, "access", lambda path, mode: asked.append((path, mode)))
        with pytest.raises(InputError, match="permission denied"):
            check_writable(tmp_path / "deep" / "out")
        assert asked == [(tmp_path, os.W_OK | os.X_OK)]

    def test_a_folder_that_takes_no_files(self, tmp_path, monkeypatch):
        """Such as /proc, which says that it may be written to."""

        def refused(*, dir):
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(dir))

        monkeypatch.setattr(tempfile, "TemporaryFile", refused)
        with pytest.raises(InputError, match=r"cannot write .*out\.html: No such file"):
            check_writable(tmp_path / "out.html")

    @pytest.mark.skipif(not Path("/proc/self").exists(), reason="there is no /proc here")
    def test_proc(self):
        with pytest.raises(InputError, match=r"^cannot write.* /proc"):
            check_writable(Path("/proc/x.html"))

    def test_what_is_finished_is_not_resumed(self, old):
        with pytest.raises(InputError, match=r"nothing to resume: .* is finished; `overwrite=True`"):
            check_writable(old, resume=True)
        check_writable(old, resume=True, overwrite=True)

    @pytest.mark.parametrize(
        ("name", "kinds", "message"),
        [
            ("a.html", ("html",), None), ("a.HTML", ("json", "html"), None),
            ("y.pdf", ("html",), "y.pdf must end in .html"),
            ("y", ("html",), "y must end in .html"),
            ("y.txt", ("png", "svg", "pdf"), "y.txt must end in .png, .svg or .pdf"),
        ],
    )  # fmt: skip
    def test_endings(self, name, kinds, message):
        if message is None:
            assert format_from_suffix(Path(name), *kinds) == "html"
        else:
            with pytest.raises(InputError, match=f"^{re.escape(message)}$"):
                format_from_suffix(Path(name), *kinds)

    @pytest.mark.parametrize("name", [".", "..", "/", "a/.."])
    def test_no_name(self, name):
        with pytest.raises(InputError, match="is not a valid name"):
            check_writable(Path(name), overwrite=True)

    def test_what_is_read_is_not_replaced(self, old):
        for reads in (old, old / "run.json", old.parent / "elsewhere" / ".." / "out"):
            (old.parent / "elsewhere").mkdir(exist_ok=True)
            with pytest.raises(InputError, match="which is an input"):
                check_writable(old, overwrite=True, reads=[reads])
        check_writable(old, overwrite=True, reads=[old.parent, old.parent / "elsewhere", old / "missing"])


class TestWhatIsReplaced:
    """--overwrite deletes folders: only those that were made here, and nothing that was put there since."""

    def test_what_was_made_here(self, ours):
        with atomic_folder(ours, overwrite=True) as work:
            (work / "b").write_text("new")
        assert tree(ours) == {"b": "new"}

    @pytest.mark.parametrize("name", ["precious.txt", "deep/precious.txt", "deep/down/.hidden"])
    def test_what_was_put_there_since(self, ours, name):
        (ours / name).parent.mkdir(exist_ok=True)
        (ours / name).write_text("mine")
        before = tree(ours)
        with pytest.raises(InputError, match=re.escape(f"Glasshead did not write ({name})")):
            check_writable(ours, overwrite=True)
        with pytest.raises(InputError, match="did not write"), reserve_folder(ours, overwrite=True):
            pytest.fail("reserved")
        assert tree(ours) == before

    def test_a_device_is_not_replaced(self):
        """``--out /dev/null``, as root."""
        with pytest.raises(InputError, match="is a device"):
            check_writable(Path(os.devnull), overwrite=True)

    def test_many_are_counted(self, ours):
        for number in range(1234):
            (ours / f"{number:04}").symlink_to("nowhere")
        with pytest.raises(InputError, match=r"\(0000, 0001, 0002 and 1,231 more\)"):
            check_writable(ours, overwrite=True)

    def test_what_comes_while_the_work_goes_on(self, ours):
        def work():
            with atomic_folder(ours, overwrite=True):
                (ours / "precious.txt").write_text("mine")

        with pytest.raises(InputError, match=r"precious\.txt"):
            work()
        assert tree(ours.parent) == {
            "out": None,
            "out/deep": None,
            "out/deep/a": "old",
            "out/precious.txt": "mine",
        }

    @pytest.mark.parametrize("name", ["report.html", "run.json", "card.json", MANIFEST])
    def test_a_name_alone_makes_nothing_ours(self, tmp_path, name):
        for other, content in ((name, "{}"), ("precious.txt", "mine")):
            (tmp_path / other).write_text(content)
        with pytest.raises(InputError, match="Glasshead did not create"):
            check_writable(tmp_path, overwrite=True)

    @pytest.mark.parametrize("content", ["[]", "{", '{"files": 1}'])
    def test_a_damaged_list(self, ours, content):
        (ours / MANIFEST).write_text(content)
        with pytest.raises(InputError, match="Glasshead did not create"):
            check_writable(ours, overwrite=True)


class TestReserve:
    def test_the_old_one_comes_back_if_the_new_one_cannot_stand(self, old):
        with reserve_folder(old, overwrite=True) as reserved, pytest.raises(FileNotFoundError):
            reserved.publish(old.with_name("missing"))
        assert tree(old.parent) == {"out": None, "out/run.json": RUN}

    def test_the_old_one_comes_back_if_interrupted_before_the_new_one_stands(self, ours, monkeypatch):
        real = Path.rename

        def rename(path, target):
            real(path, target)
            if path == ours:
                raise KeyboardInterrupt

        def work():
            with atomic_folder(ours, overwrite=True):
                monkeypatch.setattr(Path, "rename", rename)

        with pytest.raises(KeyboardInterrupt):
            work()
        assert tree(ours.parent) == {"out": None, "out/deep": None, "out/deep/a": "old"}

    def test_one_at_a_time(self, tmp_path):
        out = tmp_path / "out"
        with atomic_folder(out) as work:
            (work / "a").write_text("mine")
            with (
                pytest.raises(InputError, match=f"being written by process {os.getpid()} on "),
                atomic_folder(out),
            ):
                pytest.fail("entered")
            with pytest.raises(InputError, match="being written"):
                write_text(out, "theirs")
        assert tree(tmp_path) == {"out": None, "out/a": "mine"}

    def test_what_was_published_meanwhile_is_not_replaced(self, tmp_path):
        """By somebody without a lock, such as `mv`."""
        out = tmp_path / "out"

        def late():
            with atomic_folder(out):
                out.write_text("theirs")

        with pytest.raises(InputError, match="exists already"):
            late()
        assert tree(tmp_path) == {"out": "theirs"}

    def test_who_has_lost_the_lock_publishes_nothing(self, tmp_path):
        out = tmp_path / "out"

        def first():
            with atomic_folder(out):
                temp_sibling(out, "lock").unlink()
                with atomic_folder(out) as work:
                    (work / "a").write_text("of the second")
                out.rename(tmp_path / "elsewhere")

        with pytest.raises(InputError, match="another process has taken over"):
            first()
        assert tree(tmp_path) == {"elsewhere": None, "elsewhere/a": "of the second"}

    def test_what_a_kill_left_goes(self, tmp_path):
        out = tmp_path / "out"
        temp_sibling(out, "new").mkdir()
        (temp_sibling(out, "new") / "half").write_text("")
        temp_sibling(out, "lock").write_text("")
        write_text(out, "whole")
        assert tree(tmp_path) == {"out": "whole"}

    def test_a_kill_before_the_new_one_stood(self, ours):
        ours.rename(temp_sibling(ours, "old"))
        with pytest.raises(InputError, match="exists already"), atomic_folder(ours):
            pytest.fail("entered")
        assert tree(ours.parent) == {"out": None, "out/deep": None, "out/deep/a": "old"}

    def test_a_kill_before_the_old_one_went(self, ours):
        temp_sibling(ours, "old").mkdir()
        (temp_sibling(ours, "old") / "older").write_text("")
        with reserve_folder(ours, overwrite=True):
            assert tree(ours.parent).keys() == {
                "out",
                "out/deep",
                "out/deep/a",
                temp_sibling(ours, "lock").name,
            }

    def test_files_are_for_those_that_new_files_are_for(self, tmp_path):
        """Some writers, such as that of safetensors, make temporary files, which nobody else may read."""
        before = os.umask(0o027)
        try:
            with atomic_folder(tmp_path / "out") as work:
                (work / "deep").mkdir()
                for name in ("model.safetensors", "deep/model.safetensors"):
                    (work / name).touch(mode=0o600)
            write_text(tmp_path / "page", "")
        finally:
            os.umask(before)
        modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in tmp_path.rglob("*")}
        assert modes == {
            "out": 0o750, "deep": 0o750, "model.safetensors": 0o640, MANIFEST: 0o640, "page": 0o640,
        }  # fmt: skip


class TestParents:
    def test_stay_when_all_is_well(self, tmp_path):
        with make_parents(tmp_path / "a" / "b" / "out"):
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
        assert tree(old.parent) == {"out": None, "out/run.json": RUN}

    def test_a_failure_leaves_the_old_one(self, tmp_path):
        (tmp_path / "page").write_text("old")
        with pytest.raises(UnicodeEncodeError):
            write_text(tmp_path / "page", "\ud800", overwrite=True)
        assert tree(tmp_path) == {"page": "old"}
        with pytest.raises(UnicodeEncodeError):
            write_text(tmp_path / "deep" / "page", "\ud800")
        assert tree(tmp_path) == {"page": "old"}


class TestLinks:
    @pytest.mark.parametrize("overwrite", [True, False])
    @pytest.mark.parametrize("target", ["out", "nowhere"])
    def test_a_link_is_not_replaced(self, old, target, overwrite):
        link = old.with_name("link")
        link.symlink_to(old.with_name(target))
        before = tree(old.parent)
        with pytest.raises(InputError, match="is a symbolic link"):
            write_text(link, "new", overwrite=overwrite)
        with pytest.raises(InputError, match="is a symbolic link"), atomic_folder(link, overwrite=overwrite):
            pass
        assert link.is_symlink()
        assert tree(old.parent) == before


class TestDiscard:
    def test_folder_file_and_nothing(self, old):
        remove(old)
        assert not old.exists()
        remove(old)
        old.write_text("")
        remove(old)
        assert not old.exists()

    def test_a_link_goes_and_what_it_points_to_stays(self, old):
        link = old.with_name("link")
        link.symlink_to(old)
        remove(link)
        assert tree(old.parent) == {"out": None, "out/run.json": RUN}
