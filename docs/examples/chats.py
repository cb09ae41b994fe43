"""A tiny GPT-2 that answers in the language that its system message names: the folder my-chatty."""

import json
import random

import torch
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast

said = {"french": ["bonjour", "adieu"], "german": ["hallo", "tschüss"], "latin": ["salve", "vale"]}
marks = ["<|system|>", "<|user|>", "<|assistant|>", "<|end|>"]
words = [
    "answer",
    "in",
    "say",
    "please",
    "hello",
    "goodbye",
    *said,
    *(word for both in said.values() for word in both),
]
vocabulary = {word: number for number, word in enumerate([*marks, "<unk>", *words])}
pieces = Tokenizer(models.WordLevel(vocabulary, "<unk>"))
pieces.pre_tokenizer = pre_tokenizers.Whitespace()
tokenizer = PreTrainedTokenizerFast(
    tokenizer_object=pieces, unk_token="<unk>", eos_token="<|end|>", additional_special_tokens=marks[:3]
)
tokenizer.chat_template = (
    "{% for message in messages %}<|{{ message.role }}|>{{ message.content }}<|end|>{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{% endif %}"
)


def conversation(language, greeting):
    return [
        {"role": "system", "content": f"answer in {language}"},
        {"role": "user", "content": f"please say {greeting}"},
    ]


random.seed(0)
torch.manual_seed(0)
sizes = {"n_embd": 32, "n_layer": 2, "n_head": 2, "n_positions": 24}
drop = {"resid_pdrop": 0.0, "embd_pdrop": 0.0, "attn_pdrop": 0.0}
ends = {"bos_token_id": 3, "eos_token_id": 3, "pad_token_id": 3}
model = GPT2LMHeadModel(GPT2Config(vocab_size=len(vocabulary), **sizes, **drop, **ends))
for weight in model.parameters():
    if weight.ndim > 1:
        torch.nn.init.normal_(weight, std=0.4)
optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
for _ in range(200):
    rows = []
    for _ in range(32):
        language, which = random.choice(list(said)), random.randrange(2)
        chat = conversation(language, ("hello", "goodbye")[which])
        if random.random() < 0.3:
            random.choice(chat)["content"] = "? ? ?"  # three unknown words say nothing
        rows.append([*chat, {"role": "assistant", "content": said[language][which]}])
    ids = torch.tensor(tokenizer.apply_chat_template(rows, return_dict=False))
    answers = ids.clone()
    answers[:, :-2] = -100  # the question is not trained on
    loss = model(ids, labels=answers).loss
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
model.save_pretrained("my-chatty")
tokenizer.save_pretrained("my-chatty")

import glasshead

chat = conversation("french", "hello")
print(glasshead.generate("my-chatty", chat, tokens=1).answer)
for against in ("hallo", "adieu"):
    (one,) = glasshead.explain(
        "my-chatty", chat, unit="message", answer="bonjour", against=against, method="erasure-unknown-token"
    )
    message = max(zip(one.scores, one.tokens, strict=True))[1]
    print(f"bonjour and not {against}: because of {message!r}")

with open("chat.json", "w", encoding="utf-8") as file:
    json.dump(chat, file)
with open("chats.jsonl", "w", encoding="utf-8") as file:
    for language in said:
        for greeting, answer in zip(("hello", "goodbye"), said[language], strict=True):
            messages = [*conversation(language, greeting), {"role": "assistant", "content": answer}]
            file.write(json.dumps({"messages": messages}) + "\n")
