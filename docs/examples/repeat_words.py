"""Train a small GPT-2 to repeat random words: it must look back to know what follows."""

import csv
from pathlib import Path

import torch
import transformers as hf
from tokenizers import Tokenizer, models, pre_tokenizers

WORDS = [a + b for a in "bdfgklmnprst" for b in ("a", "e", "i", "o", "u")]
LENGTH, FOLDER = 12, Path("runs/induction")

torch.manual_seed(0)
vocabulary = {word: index for index, word in enumerate(["<s>", "<unk>", *WORDS])}
inner = Tokenizer(models.WordLevel(vocabulary, unk_token="<unk>"))
inner.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
tokenizer = hf.PreTrainedTokenizerFast(
    tokenizer_object=inner, unk_token="<unk>", pad_token="<s>", eos_token="<s>"
)
config = hf.GPT2Config(
    vocab_size=len(vocabulary), n_embd=64, n_layer=2, n_head=2, n_positions=2 * LENGTH,
    bos_token_id=0, eos_token_id=0, resid_pdrop=0, embd_pdrop=0, attn_pdrop=0,
)  # fmt: skip
model = hf.GPT2LMHeadModel(config)
optimiser = torch.optim.AdamW(model.parameters(), lr=3e-3, weight_decay=0.01)
schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, 3e-3, total_steps=900)


def draw(count, length):
    """Random words, each once, and again."""
    words = torch.rand(count, len(WORDS)).argsort(dim=1)[:, :length] + 2
    return torch.cat([words, words], dim=1)


for _ in range(900):
    length = int(torch.randint(3, LENGTH + 1, ()))  # or it would learn to look so many words back
    batch = draw(64, length)
    logits = model(input_ids=batch).logits[:, length:-1]
    loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1), batch[:, length + 1 :].flatten())
    optimiser.zero_grad()
    loss.backward()
    optimiser.step()
    schedule.step()

model.eval()
with torch.no_grad():
    batch = draw(200, LENGTH)
    right = model(input_ids=batch).logits[:, LENGTH:-1].argmax(-1) == batch[:, LENGTH + 1 :]
print(f"says the next word of what it repeats: {right.float().mean():.2f}")
model.save_pretrained(FOLDER)
tokenizer.save_pretrained(FOLDER)

# Pairs: the corrupted text has another word before the one that is to be said, so nothing tells what follows;
# or another word in its place.
texts = []
with open("pairs.csv", "w", newline="") as file, open("answers.csv", "w", newline="") as other_file:
    cues, answers = csv.writer(file), csv.writer(other_file)
    for table in (cues, answers):
        table.writerow(["clean", "corrupted", "answer", "against"])
    for ids in draw(20, LENGTH):
        words = tokenizer.convert_ids_to_tokens(ids[:LENGTH])
        new = next(word for word in WORDS if word not in words)
        again = words[:5]
        texts.append(" ".join([*words, *again]))
        cues.writerow([texts[-1], " ".join([*words[:4], new, *words[5:], *again]), words[5], words[7]])
        answers.writerow([texts[-1], " ".join([*words[:5], new, *words[6:], *again]), words[5], new])
Path("texts.txt").write_text("\n".join(texts), encoding="utf-8")
