"""The longer a token, the more it matters: a control that no model should follow."""

import torch

from glasshead.explainers import EXPLAINERS, Explainer


class WordLength(Explainer):
    """The number of letters of every token."""

    name = "word-length"
    description = "the number of letters, a control"
    citation = "an example of the documentation"
    family = "control"

    def importance(self, context):
        rows = [context.tokenizer.convert_ids_to_tokens(ids) for ids in context.encoded.ids.tolist()]
        return torch.tensor([[float(len(token)) for token in row] for row in rows])

    def signed(self, context):
        return False


EXPLAINERS.register(WordLength.name)(WordLength())
