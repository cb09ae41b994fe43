"""Train a small Llama to go on with what it has read; write three notes, and 24 questions about others."""

import json
import math
import random
from itertools import pairwise
from pathlib import Path

import torch
import transformers as hf
from tokenizers import Tokenizer, models, pre_tokenizers

NOTES = {
    "ferry.txt": "The ferry to Oslo leaves at noon.",
    "keeper.txt": "Our lighthouse keeper is called Anna.",
    "museum.txt": "A museum about whales opened in Bergen.",
}
OTHERS = [
    "There", "nothing", "here.", "bridge", "river", "winter", "market", "train",
    "hotel", "cheap", "green", "open", "seven", "under", "near",
]  # fmt: skip
FOLDER, STEPS = Path("runs/librarian"), 1600

Path("notes").mkdir(exist_ok=True)
for name, text in NOTES.items():
    Path("notes", name).write_text(f"{text}\n", encoding="utf-8")

random.seed(0)
with Path("questions.jsonl").open("w", encoding="utf-8") as file:
    for _ in range(24):
        drawn = random.sample(OTHERS, 15)
        context = [" ".join(drawn[place : place + 3]) for place in range(0, 15, 3)]
        *question, answer = random.choice(context).split()
        row = {"question": " ".join(question), "context": context, "answer": answer}
        file.write(json.dumps(row) + "\n")
torch.set_num_threads(1)  # which is fastest for so small a model
words = dict.fromkeys(["<s>", "<unk>", *NOTES, *" ".join(NOTES.values()).split(), *OTHERS])
inner = Tokenizer(models.WordLevel({word: index for index, word in enumerate(words)}, unk_token="<unk>"))
inner.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
tokenizer = hf.PreTrainedTokenizerFast(tokenizer_object=inner, unk_token="<unk>", pad_token="<s>")
config = hf.LlamaConfig(
    vocab_size=len(words), hidden_size=64, intermediate_size=64, num_hidden_layers=2, num_attention_heads=2,
    max_position_embeddings=256, pad_token_id=0, bos_token_id=None, eos_token_id=None,
)  # fmt: skip


def lesson(count, length):
    """Random words, then pieces of them in another order; the first word of a piece cannot be known."""
    ids = torch.rand(count, len(words) - 1).argsort(dim=1)[:, :length] + 1
    cuts = [*range(0, length, random.randint(2, 4)), length]
    pieces = list(pairwise(cuts))
    random.shuffle(pieces)
    again = ids[:, [place for start, stop in pieces for place in range(start, stop)]]
    begins = torch.tensor([place == start for start, stop in pieces for place in range(start, stop)])
    learned = [torch.full_like(ids, -100), again.masked_fill(begins, -100)]
    return torch.cat([ids, again], dim=1), torch.cat(learned, dim=1)


def trained(seed):
    """A model, and the probability that it gave to the next words of the last hundred lessons."""
    torch.manual_seed(seed)
    model = hf.LlamaForCausalLM(config)
    optimiser = torch.optim.AdamW(model.parameters(), lr=5e-3, weight_decay=0.01)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, 5e-3, total_steps=STEPS)
    losses = []
    for _ in range(STEPS):
        ids, learned = lesson(32, random.randint(6, 24))
        loss = model(input_ids=ids, labels=learned).loss
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        schedule.step()
        losses.append(loss.item())
    return model, math.exp(-sum(losses[-100:]) / 100)


for seed in range(1, 6):  # now and then so small a model does not find out how
    model, p = trained(seed)
    if p > 0.9:
        break
print(f"says the next word with p = {p:.2f}")
model.eval().save_pretrained(FOLDER)
tokenizer.save_pretrained(FOLDER)
