"""An explainer of one's own: the longer a token, the more it matters. A control, like random numbers."""

from pathlib import Path

import torch

from glasshead.explainers import EXPLAINERS, Explainer, by_word
from glasshead.opening import load_run


class WordLength(Explainer):
    """The number of letters of every token."""

    name = "word-length"
    description = "the number of letters, a control"
    citation = "an example of the documentation"

    def importance(self, context):
        rows = [context.tokenizer.convert_ids_to_tokens(ids) for ids in context.encoded.ids.tolist()]
        return torch.tensor([[float(len(token)) for token in row] for row in rows])

    def signed(self, context):
        return False


EXPLAINERS.register(WordLength.name)(WordLength())

run = load_run(Path("runs/tanhmax"))
(attribution,) = EXPLAINERS["word-length"](run.model, run.tokenizer, ["a charming film"])
words = by_word(attribution)
print(dict(zip(words.tokens, words.scores, strict=True)))
