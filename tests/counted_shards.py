"""Shards of five inputs that are counted, and can be interrupted."""

from glasshead.audits.measuring import measure


def count_shards(monkeypatch, key):
    """Which inputs each shard asked of a measure, as ``asked``; what begins shard ``stop`` is interrupted."""
    monkeypatch.setattr(measure, "SHARD", 5)
    ask, asked = measure.Wanted.measure, []

    def counted(wanted, view):
        if wanted.key == key:
            if len(asked) == counted.stop:
                raise KeyboardInterrupt
            asked.append(view.ids.tolist())
        return ask(wanted, view)

    counted.stop, counted.asked = None, asked
    monkeypatch.setattr(measure.Wanted, "measure", counted)
    return counted
