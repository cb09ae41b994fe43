"""What cannot be explained is refused before a model is loaded."""

import pytest

from glasshead.errors import InputError
from glasshead.explainers import check_method
from glasshead.requests import MethodRequest


@pytest.mark.parametrize(
    ("wish", "message"),
    [
        ({"method": "atention"}, "did you mean 'attention'"),
        (
            {"method": "gradient,attention"},
            "'gradient,attention' is more than one method: name each separately",
        ),
        ({"method": ["gradient", "attention"]}, "`method` must be a word, not .*: call once for each"),
        ({"answer": ["x", "y"]}, "`answer` must be a text, not .*one for all texts, so call once for each"),
        ({"against": "x"}, "as `target` or `answer`"),
        ({"method": "gradient", "intervals": True}, "gradient"),
        ({"intervals": True, "tolerance": -1.0}, "tolerance"),
    ],
)
def test_refusals(wish, message):
    with pytest.raises(InputError, match=message):
        check_method(MethodRequest(**wish))
