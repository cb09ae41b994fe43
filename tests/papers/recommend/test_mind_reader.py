"""Logs in the format of MIND: what is read, what is refused, and where."""

from datetime import datetime

import pytest
from mind_logs import BEHAVIORS, NEWS, write_logs

from glasshead.errors import InputError
from glasshead.papers.recommend.mind import describe_logs, rankable, read_logs, require_clicks, split_by_time


def test_reads_every_field(tmp_path):
    logs = read_logs(write_logs(tmp_path / "logs"))
    assert list(logs.news) == ["N1", "N2", "N3", "N4"]
    assert logs.news["N2"].title == 'A "simple" soup'
    assert (logs.news["N3"].category, logs.news["N3"].subcategory) == ("sports", "tennis")
    first, second, third = logs.impressions
    assert (first.id, first.user, first.line) == ("1", "U1", 1)
    assert first.time == datetime(2019, 11, 13, 8, 36, 57)
    assert second.time.hour == 13
    assert third.time.hour == 0
    assert (first.history, second.history) == (("N1", "N2"), ())
    assert (first.shown, first.clicked) == (("N3", "N4"), (True, False))
    assert third.clicked == (False, True, True)
    assert logs.skipped == ()


def test_only_line_feeds_end_a_row(tmp_path):
    news = (*NEWS[:3], NEWS[3].replace("a bakery", "a\u2028bakery\x85now") + "\r")
    logs = read_logs(write_logs(tmp_path / "logs", news=(*news, "")))
    assert logs.news["N4"].title == "Chef opens a\u2028bakery\x85now"


@pytest.mark.parametrize(
    ("row", "says"),
    [
        ("N5\tfood\tnews\tShort row", "news.tsv line 2: 4 fields where news has 8"),
        ("\tfood\tnews\tTitle\t\t\t[]\t[]", "line 2: '' is not a news id"),
        ("N 5\tfood\tnews\tTitle\t\t\t[]\t[]", "line 2: 'N 5' is not a news id"),
        ("N5\tfood\tnews\t \t\t\t[]\t[]", "line 2: the title is empty"),
        (NEWS[0], "line 2: the id N1 occurs twice"),
    ],
)
def test_bad_news(tmp_path, row, says):
    folder = write_logs(tmp_path / "logs", news=(NEWS[0], row, *NEWS[1:]))
    with pytest.raises(InputError, match=says) as caught:
        read_logs(folder)
    assert "`skip_bad_rows`" in str(caught.value)
    logs = read_logs(folder, skip_bad_rows=True)
    assert list(logs.news) == ["N1", "N2", "N3", "N4"]
    assert len(logs.skipped) == 1
    assert says in logs.skipped[0]


@pytest.mark.parametrize(
    ("row", "says"),
    [
        ("9\tU9\t11/13/2019 8:36:57 AM\tN1", "behaviors.tsv line 3: 4 fields where impressions have 5"),
        ("9\t\t11/13/2019 8:36:57 AM\tN1\tN3-1", "line 3: the id of the impression or of the user is empty"),
        ("9\tU9\t2019-11-13 08:36\tN1\tN3-1", "line 3: '2019-11-13 08:36' is not a time such as"),
        ("9\tU9\t13/13/2019 8:36:57 AM\tN1\tN3-1", "is not a time"),
        ("9\tU9\t11/13/2019 8:36:57 AM\tN1\t", "line 3: nothing is shown"),
        ("9\tU9\t11/13/2019 8:36:57 AM\tN1\tN3-1 N4-2", "line 3: 'N4-2' does not end in -0 or -1"),
        ("9\tU9\t11/13/2019 8:36:57 AM\tN1\tN3-1 N4", "line 3: 'N4' does not end in -0 or -1"),
        ("9\tU9\t11/13/2019 8:36:57 AM\tN77\tN3-1 N4-0", "line 3: 'N77' is unknown to news.tsv"),
        ("9\tU9\t11/13/2019 8:36:57 AM\tN1\tN3-1 N88-0", "line 3: 'N88' is unknown to news.tsv"),
    ],
)
def test_bad_impressions(tmp_path, row, says):
    folder = write_logs(tmp_path / "logs", behaviors=(*BEHAVIORS[:2], row, BEHAVIORS[2]))
    with pytest.raises(InputError, match=says):
        read_logs(folder)
    logs = read_logs(folder, skip_bad_rows=True)
    assert [impression.id for impression in logs.impressions] == ["1", "2", "3"]
    assert [impression.line for impression in logs.impressions] == [1, 2, 4]
    assert len(logs.skipped) == 1
    assert says in logs.skipped[0]


def test_bytes_that_are_not_utf8(tmp_path):
    folder = write_logs(tmp_path / "logs")
    with (folder / "news.tsv").open("ab") as file:
        file.write("N5\tfood\tnews\tCrème\t\t\t[]\t[]\n".encode("latin-1"))
    with pytest.raises(InputError, match=r"news.tsv line 5: it is not UTF-8"):
        read_logs(folder)
    assert len(read_logs(folder, skip_bad_rows=True).news) == 4


def test_several_bad_rows_are_counted(tmp_path):
    folder = write_logs(tmp_path / "logs", behaviors=("x", *BEHAVIORS, "y", "z"))
    with pytest.raises(InputError, match=r"line 1: 1 field where .* \(and 2 more bad rows\)"):
        read_logs(folder)
    two = write_logs(tmp_path / "two", behaviors=("x", *BEHAVIORS, "y"))
    with pytest.raises(InputError, match=r"\(and 1 more bad row\)"):
        read_logs(two)
    assert describe_logs(read_logs(folder, skip_bad_rows=True))["skipped_rows"] == 3


def test_news_that_are_skipped_are_unknown(tmp_path):
    without = "4\tU4\t11/13/2019 8:36:57 AM\tN1\tN2-1 N3-0"
    folder = write_logs(tmp_path / "logs", news=(*NEWS[:3], "N4"), behaviors=(*BEHAVIORS, without))
    logs = read_logs(folder, skip_bad_rows=True)
    assert len(logs.skipped) == 4
    assert all("'N4' is unknown" in line for line in logs.skipped[1:])
    assert [each.id for each in logs.impressions] == ["4"]


@pytest.mark.parametrize("name", ["news.tsv", "behaviors.tsv"])
def test_missing_and_empty_files(tmp_path, name):
    folder = write_logs(tmp_path / "logs")
    (folder / name).write_bytes(b"\n")
    with pytest.raises(InputError, match=f"{name} has no row"):
        read_logs(folder)
    (folder / name).write_bytes(b"x\n")
    with pytest.raises(InputError, match=f"{name} has no good row"):
        read_logs(folder, skip_bad_rows=True)
    (folder / name).unlink()
    with pytest.raises(InputError, match="no such file"):
        read_logs(folder)


def test_no_folder(tmp_path):
    with pytest.raises(InputError, match="no such folder"):
        read_logs(tmp_path / "nothing")


def test_logs_without_clicks(tmp_path):
    unlabelled = BEHAVIORS[1].replace("-0", "").replace("-1", "")
    logs = read_logs(write_logs(tmp_path / "logs", behaviors=(BEHAVIORS[0], unlabelled)))
    assert logs.impressions[1].clicked is None
    assert logs.impressions[1].shown == ("N1", "N2", "N4")
    for refuse in (require_clicks, rankable):
        with pytest.raises(InputError, match=r"behaviors.tsv line 2 does not say what was clicked"):
            refuse(logs)


def test_what_cannot_be_ranked_is_counted(tmp_path):
    all_clicked = "4\tU4\t11/13/2019 8:36:57 AM\tN1\tN3-1 N4-1"
    none_clicked = "5\tU4\t11/13/2019 8:36:57 AM\tN1\tN3-0 N4-0"
    logs = read_logs(write_logs(tmp_path / "logs", behaviors=(*BEHAVIORS, all_clicked, none_clicked)))
    assert describe_logs(logs)["not_rankable"] == 2
    assert [each.id for each in rankable(logs).impressions] == ["1", "2", "3"]
    with pytest.raises(InputError, match="nothing to rank"):
        rankable(logs.only(logs.impressions[3:]))


def test_description(tmp_path):
    told = describe_logs(read_logs(write_logs(tmp_path / "logs")))
    fingerprint = told.pop("fingerprint")
    assert told == {
        "news": 4,
        "impressions": 3,
        "users": 2,
        "shown": 8,
        "clicked": 4,
        "without_history": 1,
        "not_rankable": 0,
        "skipped_rows": 0,
    }
    changed = write_logs(tmp_path / "other", behaviors=BEHAVIORS[:2])
    assert describe_logs(read_logs(changed))["fingerprint"] != fingerprint


def test_dev_is_the_latest_part(tmp_path):
    logs = read_logs(write_logs(tmp_path / "logs"))
    early, late = split_by_time(logs, 0.3)
    assert [each.id for each in early.impressions] == ["2", "3"]
    assert [each.id for each in late.impressions] == ["1"]
    early, late = split_by_time(logs, 0.99)
    assert (len(early.impressions), len(late.impressions)) == (1, 2)
    for fraction in (0, 1, float("nan")):
        with pytest.raises(InputError, match="dev fraction"):
            split_by_time(logs, fraction)
    with pytest.raises(InputError, match="a single impression"):
        split_by_time(logs.only(logs.impressions[:1]), 0.5)
