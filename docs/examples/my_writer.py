"""A small GPT-2 whose verbs agree with their subjects, trained as everybody trains one: the folder my-gpt."""

import random
from pathlib import Path

from datasets import Dataset
from tokenizers import ByteLevelBPETokenizer
from transformers import (
    DataCollatorForLanguageModeling,
    GPT2Config,
    GPT2LMHeadModel,
    GPT2TokenizerFast,
    Trainer,
    TrainingArguments,
    set_seed,
)

set_seed(0)
nouns = ["key", "door", "lamp", "shelf", "table", "drawer"]
texts = []
for _ in range(4000):
    plural, other = random.random() < 0.5, random.choice(["", "s"])
    subject = random.choice(nouns) + ("s" if plural else "")
    verb = random.choice(["are", "were"] if plural else ["is", "was"])
    texts.append(f"the {subject} of the {random.choice(nouns)}{other} {verb} {random.choice(['old', 'new'])}")
Path("texts.txt").write_text("\n".join(texts[:200]), encoding="utf-8")
pieces = ByteLevelBPETokenizer()
pieces.train_from_iterator(texts, vocab_size=320, special_tokens=["<|endoftext|>", "<|pad|>"])
tokenizer = GPT2TokenizerFast(tokenizer_object=pieces._tokenizer, pad_token="<|pad|>")
encoded = Dataset.from_list([{"input_ids": tokenizer(f"{text}<|endoftext|>")["input_ids"]} for text in texts])
end = tokenizer.eos_token_id
config = GPT2Config(
    vocab_size=len(tokenizer),
    n_positions=32,
    n_embd=64,
    n_layer=2,
    n_head=4,
    bos_token_id=end,
    eos_token_id=end,
)
model = GPT2LMHeadModel(config)
arguments = TrainingArguments(
    "my-gpt-training",
    num_train_epochs=5,
    learning_rate=3e-3,
    per_device_train_batch_size=64,
    save_strategy="no",
    report_to="none",
    disable_tqdm=True,
    dataloader_pin_memory=False,
)
collator = DataCollatorForLanguageModeling(tokenizer, mlm=False)
Trainer(model, arguments, train_dataset=encoded, data_collator=collator).train()
model.save_pretrained("my-gpt")
tokenizer.save_pretrained("my-gpt")

import glasshead

written = glasshead.generate("my-gpt", "the key of the tables", strategy="beam=2")
print(repr(written.answer), f"perplexity {written.perplexity:.1f}: {written.stop}")
for token in written.answer_tokens[:2]:
    likely = [f"{other.token} {other.probability:.2f}" for other in token.alternatives[:3]]
    print(f"rank {token.rank}:", *likely)

matrix = written.explain("attention", layer=0, head=1).matrix
print(matrix.shape, "written tokens × tokens before them")
print(written.explain("erasure-mean-embedding", against=" are").row(0))
print("the whole answer:", written.explain("erasure-mean-embedding", whole=True).matrix.round(1))
written.explain("erasure-mean-embedding").save("erasure.html")

effects = glasshead.logit_attribution("my-gpt", "the keys of the table", target=" are", against=" is")
print(effects)
print(effects.tokens_to_pandas().nlargest(3, "effect").to_string(index=False))
layers = glasshead.lens("my-gpt", "the keys of the table", target=" are")
for name, probability in zip(layers.layers, layers.target_probabilities[:, -1], strict=True):
    print(f"{name:12}{probability:.2f}")
effects.save("effects.html")
