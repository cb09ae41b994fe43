"""A small T5 that turns five words round, and what it looks at while it does: the folder turning-t5."""

import torch
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from transformers import PreTrainedTokenizerFast, T5Config, T5ForConditionalGeneration

words = ["<pad>", "</s>", *["red", "green", "blue", "black", "white", "one", "two", "three", "four", "five"]]
pieces = Tokenizer(models.WordLevel({word: number for number, word in enumerate(words)}, "<pad>"))
pieces.pre_tokenizer = pre_tokenizers.Whitespace()
pieces.post_processor = processors.TemplateProcessing("$A </s>", special_tokens=[("</s>", 1)])
tokenizer = PreTrainedTokenizerFast(tokenizer_object=pieces, pad_token="<pad>", eos_token="</s>")
torch.manual_seed(0)
sizes = {"d_model": 64, "d_kv": 16, "d_ff": 128, "num_layers": 2, "num_heads": 4, "dropout_rate": 0.0}
model = T5ForConditionalGeneration(T5Config(vocab_size=len(words), decoder_start_token_id=0, **sizes))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
end = torch.ones(64, 1, dtype=torch.long)
for _ in range(600):
    ids = torch.randint(2, len(words), (64, 5))
    loss = model(torch.cat([ids, end], dim=1), labels=torch.cat([ids.flip(1), end], dim=1)).loss
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
model.save_pretrained("turning-t5")
tokenizer.save_pretrained("turning-t5")

import glasshead

written = glasshead.generate("turning-t5", "red two blue four white")
print(written.text)
matrix = written.explain("attention").matrix[:, : written.source]
for token, row in zip(written.tokens[written.start :], matrix, strict=True):
    print(f"{token.strip():>6} was written from {written.tokens[row.argmax()]}")
