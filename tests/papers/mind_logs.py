"""Small logs in the format of MIND, written by hand."""

NEWS = (
    "N1\tsports\tsoccer\tLate goal wins the cup\tText\thttps://example.org/1\t[]\t[]",
    'N2\tfood\trecipes\tA "simple" soup\t\thttps://example.org/2\t[]\t[]',
    "N3\tsports\ttennis\tStriker out for weeks\tText\thttps://example.org/3\t[]\t[]",
    "N4\tfood\tnews\tChef opens a bakery\tText\thttps://example.org/4\t[]\t[]",
)
BEHAVIORS = (
    "1\tU1\t11/13/2019 8:36:57 AM\tN1 N2\tN3-1 N4-0",
    "2\tU2\t11/11/2019 1:03:52 PM\t\tN1-0 N2-0 N4-1",
    "3\tU1\t11/12/2019 12:00:00 AM\tN1\tN3-0 N2-1 N4-1",
)


def write_logs(folder, news=NEWS, behaviors=BEHAVIORS):
    """A folder of logs from its rows."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, rows in (("news.tsv", news), ("behaviors.tsv", behaviors)):
        (folder / name).write_bytes(b"".join(row.encode() + b"\n" for row in rows))
    return folder
