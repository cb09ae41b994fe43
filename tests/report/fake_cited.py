"""Answers with sources, made by hand."""

from __future__ import annotations

from dataclasses import replace

from glasshead.results import Cited, Foretelling, Passage, PassagePair, SourceEffect, SourceSpan, Statement

NASTY = "<script>alert('x')</script> [a](javascript:alert(1)) \u202e 🙂 `|` &amp;"
PASSAGES = (
    Passage(
        "The lighthouse of Alta was built in 1871. It is painted red.",
        "Coasts",
        "https://example.org/a?b=1&c=2",
    ),
    Passage(
        "🙂 Boats need light. The keeper of Alta was Ana Ruiz, who wrote letters.",
        "Keepers",
        "javascript:alert(1)",
    ),
    Passage(f"Nothing here matters. {NASTY}", NASTY, "https://evil.example/\"onmouseover='x'"),
    Passage("Alta's keeper was Ana Ruiz.", "", "docs/keepers.txt"),
    Passage("The keeper of Alta was Ana Ruiz, who wrote letters.", "", "", repeats=None),
)
ANSWER = "It was built in 1871. The keeper was Ana Ruiz."
FACTS = {
    "method": "contextcite", "removal": "delete", "draws": 64, "placed": "in a plain text", "written": True,
    "passes": 12, "tokens": 4321, "seconds": 1.25, "seed": 7, "class": "LlamaForCausalLM",
}  # fmt: skip


def effects(values, removals, sources, exact=False):
    """Effects of all passages, with intervals of ± 0.5."""
    return tuple(
        SourceEffect(
            place,
            value,
            None if exact else (value - 0.5, value + 0.5),
            removal,
            0.5 * value,
            place in sources,
        )
        for place, (value, removal) in enumerate(zip(values, removals, strict=True))
    )


def words_of(passage: int, *words: tuple[str, float]) -> tuple[SourceSpan, ...]:
    """Spans of some words of a passage."""
    text = PASSAGES[passage].text
    starts = [(text.index(word), word, removal) for word, removal in words]
    return tuple(SourceSpan(passage, at, at + len(word), "word", fall) for at, word, fall in starts)


def statements() -> tuple[Statement, ...]:
    """The whole answer, of passages 1, 2 and 4; its first sentence of 1, its second of 2 and 4."""
    first = Statement(
        0, 21, -0.4, -6.0, -5.5,
        effects((6.1, 0.2, -0.3, 0.1, 0.1), (5.1, 0.05, -0.02, 0.01, 0.0), {0}),
        spans=(
            SourceSpan(0, 0, 41, "sentence", 5.0),
            SourceSpan(0, 42, 60, "sentence", -0.2),
            *words_of(0, ("The", 0.01), ("lighthouse", 0.8), ("Alta", 1.2), ("built", -0.4)),
            *words_of(0, ("1871.", 4.9)),
        ),
        maps={"attention": (0.1, 0.05, 0.3, 0.02, 0.02)},
        other={"replace": (4.9, 0.03, 0.0, 0.0, 0.0)},
        says=("This sentence comes from passage 1 (Coasts)", "Without it it is 1/160 as probable."),
    )  # fmt: skip
    second = Statement(
        22, 46, -0.6, -5.0, -4.4,
        effects((0.1, 2.4, -0.8, 2.2, 0.3), (0.0, 0.3, -0.2, 0.2, 0.1), {1, 3}),
        pairs=(PassagePair(1, 3, "repeat", 4.1),),
        spans=(
            SourceSpan(1, 0, 19, "sentence", 0.0),
            SourceSpan(1, 20, 70, "sentence", 0.3),
            *words_of(1, ("keeper", 0.1), ("Ana", 0.4), ("Ruiz,", 0.2)),
            SourceSpan(3, 0, 27, "sentence", 0.2),
        ),
        maps={"attention": (0.1, 0.4, 0.2, 0.1, 0.1)},
        other={"replace": (0.0, 0.3, -0.1, 0.2, 0.9)},
        says=(
            "This sentence comes from passages 2 (Keepers) and 4",
            "Without them this sentence is 1/45 as probable.",
            "Either of passages 2 (Keepers) and 4 is enough.",
        ),
        remarks=("Passage 5 matters only when it is replaced by a neutral text, not when it is deleted.",),
    )  # fmt: skip
    whole = replace(
        first,
        start=0, stop=46, log_probability=-1.0, without_any=-11.0, without_sources=-9.0,
        effects=effects((6.2, 2.6, -0.9, 2.3, 0.4), (5.1, 0.35, -0.2, 0.2, 0.1), {0, 1, 3}),
        pairs=second.pairs,
        foretells={
            "contextcite": Foretelling(0.93, (0.88, 0.96), 0.3, 64),
            "attention": Foretelling(0.2, (-0.1, 0.4), 0.35, 64),
        },
        spans=(*first.spans, *second.spans),
        says=(
            "The answer comes from passages 1 (Coasts), 2 (Keepers) and 4",
            "Without them the answer is 1/3,000 as probable.",
            "Either of passages 2 (Keepers) and 4 is enough.",
        ),
    )  # fmt: skip
    return whole, first, second


def cited(**changes) -> Cited:
    """An answer of two sentences behind five passages."""
    passages = (*PASSAGES[:4], replace(PASSAGES[4], repeats=1))
    made = Cited(
        "librarian", "When was the lighthouse built, and who kept it?", ANSWER, passages, statements(),
        "prompt", FACTS, ("a note.",),
    )  # fmt: skip
    return replace(made, **changes)


def without_sources() -> Cited:
    """One sentence that comes from no passage, by exact numbers."""
    whole = Statement(
        0, 46, -1.0, -1.05, -1.0,
        effects((0.01, 0.02, 0.0, 0.0, 0.02), (0.01, 0.02, 0.0, 0.0, 0.02), set(), exact=True),
        maps={"attention": (0.1, 0.4, 0.2, 0.1, 0.1)},
        other={"replace": (0.0, 0.0, 0.0, 0.0, 0.0)},
        says=("The answer comes from none of the passages", "Without any of them it is as probable."),
    )  # fmt: skip
    return cited(statements=(whole,), facts=FACTS | {"method": "leave-one-out"})
