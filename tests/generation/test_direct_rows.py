"""Direct attribution of every written token at once: that of each text that ends before it."""

import numpy as np
import pytest

from glasshead import generate, logit_attribution
from induction import induction_model, repeated_text
from tolerances import of_size
from writers import PROMPT, small_writer


@pytest.mark.parametrize("against", [None, "film"])
def test_rows_are_the_attributions_of_one_token_at_a_time(against):
    model, tokenizer = small_writer()
    written = generate(model, PROMPT, tokenizer=tokenizer, tokens=6)
    options = {"target": "logit"} if against is None else {"against": against}
    explained = written.explain("direct", **options)
    other = None if against is None else tokenizer(against)["input_ids"][0]
    names = tokenizer.convert_ids_to_tokens(list(range(len(tokenizer))))
    for number, place in enumerate(range(written.start, len(written.ids))):
        if other == written.ids[place]:
            continue
        found = logit_attribution(
            model, tokenizer.decode(written.ids[:place]), tokenizer=tokenizer,
            target=names[written.ids[place]], against=against,
        )  # fmt: skip
        expected = sum(one.effects.sum(axis=0) for one in found.heads)
        np.testing.assert_allclose(explained.matrix[number, :place], expected, **of_size(expected, 1e-4))
        assert explained.map.values[number] == pytest.approx(found.logit, rel=1e-4)


def test_a_token_of_a_copied_text_comes_from_its_first_copy():
    model, tokenizer = induction_model()
    text, _ = repeated_text(length=8, again=3)
    written = generate(model, text, tokenizer=tokenizer, tokens=4)
    matrix = written.explain("direct").matrix
    for number, place in enumerate(range(written.start, len(written.ids))):
        source = int(np.nanargmax(matrix[number]))
        assert written.ids[source] == written.ids[place]
        assert source < written.start


def test_the_whole_answer_is_the_sum_over_its_tokens():
    model, tokenizer = small_writer()
    written = generate(model, PROMPT, tokenizer=tokenizer, tokens=4)
    rows, whole = written.explain("direct").matrix, written.explain("direct", whole=True).matrix
    np.testing.assert_allclose(whole[0], np.nansum(rows, axis=0), **of_size(whole, 1e-4))
    # What was not written yet brings nothing.
    assert all(np.isnan(row[written.start + number :]).all() for number, row in enumerate(rows))
