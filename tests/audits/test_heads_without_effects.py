"""The maps of heads without the pass for every head that says what the predictions lose without it."""

import glasshead
from planted_heads import as_data, planted_model, planted_texts

WORDS = ["good", "bad", *(f"w{number}" for number in range(20))]


def test_effects_are_left_out_where_they_are_not_asked_for():
    model, tokenizer = planted_model(WORDS)
    texts = as_data(planted_texts(WORDS, 4))
    stages = {True: [], False: []}
    reports = {
        effects: glasshead.heads(
            model, texts, tokenizer=tokenizer, effects=effects,
            progress=lambda stage, share=None, said=told: said.append(stage),
        )
        for effects, told in stages.items()
    }  # fmt: skip
    known = {
        effects: {finding.statistic for head in report.heads for finding in head.findings}
        for effects, report in reports.items()
    }
    assert known[True] - known[False] >= {"removal"}
    assert not any("removal" in stage for stage in stages[False])
    assert any("removal" in stage for stage in stages[True])
    assert [head.name for head in reports[True].heads] == [head.name for head in reports[False].heads]
