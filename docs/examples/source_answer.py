"""Which words of a source an answer rests on: a tiny T5 that names the colour of what it reads of."""

import random

import torch
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from transformers import PreTrainedTokenizerFast, T5Config, T5ForConditionalGeneration

import glasshead

random.seed(0)
torch.manual_seed(0)
colours = {"lemon": "yellow", "grass": "green", "coal": "black", "snow": "white"}
fillers = ["we", "saw", "a", "small", "old", "thing", "here", "there", "today", "again"]
words = [*colours, *colours.values(), *fillers, "it", "is"]
vocabulary = {word: index for index, word in enumerate(["<pad>", "</s>", "<unk>", *words])}
pieces = Tokenizer(models.WordLevel(vocabulary, "<unk>"))
pieces.pre_tokenizer = pre_tokenizers.Whitespace()
pieces.post_processor = processors.TemplateProcessing(single="$A </s>", special_tokens=[("</s>", 1)])
tokenizer = PreTrainedTokenizerFast(
    tokenizer_object=pieces, pad_token="<pad>", eos_token="</s>", unk_token="<unk>"
)
sizes = {"d_model": 32, "d_kv": 16, "d_ff": 64, "num_layers": 2, "num_heads": 2, "dropout_rate": 0.0}
config = T5Config(vocab_size=len(vocabulary), decoder_start_token_id=0, tie_word_embeddings=False, **sizes)
model = T5ForConditionalGeneration(config)
for parameter in model.parameters():
    if parameter.ndim > 1:
        torch.nn.init.normal_(parameter, std=1.0 if parameter is model.shared.weight else 0.4)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
for _ in range(150):
    things = random.choices(list(colours), k=32)
    sources = [" ".join(random.sample([thing, *random.sample(fillers, 4)], 5)) for thing in things]
    labels = tokenizer(text_target=[f"it is {colours[thing]}" for thing in things])["input_ids"]
    ids = tokenizer(sources)["input_ids"]
    loss = model(input_ids=torch.tensor(ids), labels=torch.tensor(labels)).loss
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
model.save_pretrained("my-t5")
tokenizer.save_pretrained("my-t5")

found = glasshead.explain(
    "my-t5", "we saw a lemon today", answer="it is yellow", method="erasure-mean-embedding"
)
for one in found:
    score, word = max(zip(one.scores, one.tokens, strict=True))
    print(f"{one.target}: p = {one.prediction:.2f}, most from {word!r}")
(one,) = glasshead.explain(
    "my-t5",
    "we saw a lemon today",
    answer="it is yellow",
    against="it is green",
    method="erasure-mean-embedding",
)
print(f"{one.target}: most from {max(zip(one.scores, one.tokens, strict=True))[1]!r}")

rows = []
for thing, colour in [*colours.items()] * 10:
    others = random.sample(fillers, 4)
    rows.append({"source": " ".join([*others[:2], thing, *others[2:]]), "target": f"it is {colour}"})
card = glasshead.audit("my-t5", rows, method="erasure-mean-embedding", audits=["faithfulness"])
print(f"log p = {card.facts['log_probability']:.2f} on average,", end=" ")
print(card.find("faithfulness.comprehensiveness").verdict)
