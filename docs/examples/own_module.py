"""A classifier that is a module of one's own: BERT, the mean of its states, and a linear layer."""

import torch
from tokenizers import BertWordPieceTokenizer
from torch import nn
from transformers import BertConfig, BertModel, BertTokenizerFast

import glasshead

text = "a charming film with a dull ending"
pieces = BertWordPieceTokenizer()
pieces.train_from_iterator([text], vocab_size=60, min_frequency=1)
tokenizer = BertTokenizerFast(tokenizer_object=pieces._tokenizer, model_max_length=64)
sizes = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 64}
torch.manual_seed(0)


class MeanPooled(nn.Module):
    """It takes what a tokenizer gives, and returns the logits of each class."""

    def __init__(self) -> None:
        super().__init__()
        self.encoder = BertModel(BertConfig(vocab_size=len(tokenizer), **sizes))
        self.classify = nn.Linear(32, 2)

    def forward(self, input_ids: torch.Tensor, attention_mask: torch.Tensor) -> torch.Tensor:
        """Logits [texts, classes]."""
        states = self.encoder(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state
        mask = attention_mask[..., None].to(states.dtype)
        return self.classify((states * mask).sum(dim=1) / mask.sum(dim=1))


model = MeanPooled()  # untrained here: train it as you like
classes = {"LABEL_0": "negative", "LABEL_1": "positive"}
for method in ("attention", "gradient", "erasure-delete"):
    print(glasshead.explain(model, text, tokenizer=tokenizer, method=method, labels=classes))
