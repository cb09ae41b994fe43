"""The name of a card, and the facts of its run in the order in which a reviewer asks for them."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol

from glasshead.escaping import visible
from glasshead.nouns import nouns_of
from glasshead.report.document import Table, columns, table
from glasshead.report.number_format import DASH, finite, number
from glasshead.report.sign_gauge import sign_fact
from glasshead.results import (
    ATTENTION,
    USE_QUANTITIES,
    AttentionUse,
    AuditCard,
    LayerUse,
    distinct_names,
)

NAMES = {
    "run": "Run",
    "method": "Method audited",
    "data": "Data",
    "split": "Split",
    "examples": "Examples",
    "inputs": "Inputs",
    "labels": "Labels",
    "empty_texts": "Empty {texts}",
    "unknown_texts": "{Texts} of unknown {words} only",
    "accuracy": "Accuracy",
    "macro_f1": "Macro-F1",
    "perplexity": "Perplexity of the next {token}",
    "rmse": "RMSE",
    "mae": "MAE",
    "against_guessing": "Against always guessing",
    "at_chance": "Not shown to be better than guessing",
    "model": "Model",
    "attention": "Attention",
    "layers": "Layers",
    "heads": "Heads",
    "combine": "Heads combined by",
    "positions": "Positions added",
    "pooling": "Pooling",
    "reading": "Attention read",
    "level": "Units",
    "activation": "Activation",
    "signed": "Signed",
    "gauge": "Gauge",
    "score_function": "Score function",
    "encoder": "Encoder",
    "preset": "Training preset",
    "seed": "Seed",
    "truncated_to": "{Texts} cut to ({tokens})",
    "audit_seed": "Seed of the audit",
    "draws": "Draws per example",
    "top_tokens": "Largest scores compared with marks, per {text}",
    "removal": "Faithfulness: {tokens} are removed by",
    "faithfulness_texts": "Faithfulness: {texts} used",
    "random_orders": "Random orders of every {text}",
    "comparisons": "Number of comparisons that each is corrected for",
    "interval_level": "Level of each of these intervals",
    "rank_seed": "Seed of random orders and bootstrap",
    "slice_level": "Level of the intervals of slices",
    "alpha": "Significance level α",
    "date": "Date",
    "seconds": "Took",
    "versions": "Versions",
}
APART = ("name", "notes", "remarks", "attention_use")
WHEN = {"after": " of attention, by layer", "before": " before training"}
MOST_LAYERS = 6
"""So many layers are named one by one."""


class WithFacts(Protocol):
    """A card, or another value that says how it was made."""

    @property
    def facts(self) -> Mapping[str, Any]: ...


def card_names(cards: Sequence[AuditCard]) -> list[str]:
    """What each card is called on the page; a name that stands twice gets a number."""
    return distinct_names(
        [visible(str(card.facts.get("name") or f"audit {rank + 1}")) for rank, card in enumerate(cards)]
    )


def split_names(names: Sequence[str]) -> tuple[str, list[str]]:
    """What all names share, and what tells each apart: ``sst2 · seed 0``, ``[softmax, tanhmax]``."""
    parts = [name.split(" · ") for name in names]
    if len(names) < 2 or len({len(part) for part in parts}) > 1:
        return "", list(names)
    same = [len(set(column)) == 1 for column in zip(*parts, strict=True)]
    own = [" · ".join(p for p, common in zip(part, same, strict=True) if not common) for part in parts]
    shared = " · ".join(p for p, common in zip(parts[0], same, strict=True) if common)
    return (shared, own) if all(own) and len(set(own)) == len(own) else ("", list(names))


def any_signed(*cards: AuditCard) -> bool:
    """Whether weights of any card can be negative, so that their sign is a gauge; also if a card does not
    say."""
    return any(card.facts.get("signed") is not False for card in cards if card.method == ATTENTION)


def split_in_words(split: str) -> str:
    """``test split``; of data that are not split, ``all rows``."""
    return "all rows" if split == "all" else f"{split} split"


def origin(card: WithFacts) -> list[tuple[str, str]]:
    """Which model, data, version and date made a card, as far as it says so."""
    facts = card.facts
    versions = facts.get("versions")
    data = (
        f"{facts['data']} ({split_in_words(str(facts['split'])).removesuffix(' split')})"
        if facts.get("data") and facts.get("split")
        else facts.get("data")
    )
    kind = facts.get("model") or facts.get("activation")
    model = " · ".join(str(part) for part in (facts.get("run"), kind) if part)
    version = versions.get("glasshead") if isinstance(versions, dict) else None
    named = {"Model": model, "Data": data, "Glasshead": version, "Date": facts.get("date")}
    return [(name, str(value)) for name, value in named.items() if value]


def fact_rows(cards: Sequence[WithFacts]) -> list[tuple[str, list[str]]]:
    """Name and one value per card, for every fact that some card states."""
    stated = {key for card in cards for key in card.facts}
    nested = {key for card in cards for key, value in card.facts.items() if isinstance(value, dict)}
    keys = [key for key in NAMES if key in stated]
    keys += sorted(stated - set(NAMES) - set(APART) - nested)
    nouns = nouns_of(*(card.facts for card in cards))
    rows = [
        (
            nouns.fill(NAMES[key]) if key in NAMES else key,
            [_value(key, card.facts.get(key)) for card in cards],
        )
        for key in keys
    ]
    return rows + use_rows(cards)


def use_rows(cards: Sequence[WithFacts]) -> list[tuple[str, list[str]]]:
    """What attention did, layer after layer: now and, where it is known, before training."""
    uses: list[AttentionUse | None] = [card.facts.get("attention_use") for card in cards]
    rows = []
    for key, name in USE_QUANTITIES.items():
        for when, words in WHEN.items():
            values = [use[when] if use else None for use in uses]  # type: ignore[literal-required]
            if any(values):
                title = f"{name[:1].upper()}{name[1:]}{words}"
                rows.append((title, [_layers(value, key) for value in values]))
    return rows


def _layers(layers: Sequence[LayerUse] | None, key: str) -> str:
    """A number of each layer; the least and the largest of many."""
    values = [layer[key] for layer in layers or ()]  # type: ignore[literal-required]
    known = [value for value in values if value is not None]
    if len(values) <= MOST_LAYERS or not known:
        return ", ".join(map(number, values)) or DASH
    return f"{number(min(known))} to {number(max(known))} in {len(values)} layers"


def detail_rows(cards: Sequence[AuditCard]) -> list[tuple[str, list[str]]]:
    """The nested facts nobody reads first (recipe, options of the data), one row per number."""
    flat = [
        dict(
            _flat(
                "", {k: v for k, v in card.facts.items() if k not in (*NAMES, *APART) and isinstance(v, dict)}
            )
        )
        for card in cards
    ]
    keys = dict.fromkeys(key for card in flat for key in card)
    return [(key, [_value("", card.get(key)) for card in flat]) for key in keys]


def _flat(above: str, value: Any) -> Iterator[tuple[str, Any]]:
    """Leaves of nested mappings with their path; what is empty or None is left out."""
    if isinstance(value, dict):
        for key, part in value.items():
            yield from _flat(f"{above} · {key}" if above else str(key), part)
    elif value is not None:
        yield above, value


def notes(cards: Sequence[WithFacts]) -> list[str]:
    """The protocol remarks of all cards, each once."""
    return list(dict.fromkeys(str(note) for card in cards for note in card.facts.get("notes") or []))


def _value(key: str, value: Any) -> str:
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if key == "gauge" and isinstance(value, dict):
        return sign_fact(value)
    if key == "seconds":
        return f"{number(value, 1)} s"
    if key in ("alpha", "interval_level") and finite(value) is not None:
        return f"{value:.6g}"
    if isinstance(value, dict):
        return ", ".join(f"{name} {_value('', part)}" for name, part in value.items()) or "–"
    if isinstance(value, (list, tuple)):
        return ", ".join(_value(key, part) for part in value) or "–"
    if isinstance(value, float):
        return number(value) if finite(value) is not None else "–"
    if isinstance(value, int) and "seed" not in key:
        return f"{value:,}"
    return str(value)


def facts_table(rows: Sequence[tuple[str, Sequence[str]]], names: Sequence[str], title: str = "") -> Table:
    """A row for each fact, a column for each of these names."""
    return table(columns(("fact", *names), ()), [(name, *values) for name, values in rows], title)
