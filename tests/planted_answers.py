"""A tiny model of which it is known which word of a prompt decides its answer."""

from functools import cache

import numpy as np
import torch
import transformers as hf

from classifier_families import FAMILIES, WORDS

OTHERS = [word for word in WORDS.split() if word not in ("good", "bad", "warm", "dull", "funny", "so")]
FOLLOWS = {"good": "warm", "bad": "dull"}


def planted_prompts(random, count):
    """Prompts with “good”, behind which “so warm” stands, and with
    neither, behind which “so funny” stands: a model takes none of the two for granted."""
    prompts, answers, deciding = [], [], []
    for _ in range(count):
        words = [str(word) for word in random.choice(OTHERS, 5, replace=False)]
        deciding.append(("good", "bad", words[-1])[random.integers(3)])
        words.insert(int(random.integers(6)), deciding[-1])
        prompts.append(" ".join(words))
        answers.append(f" so {FOLLOWS.get(deciding[-1], 'funny')}")
    return prompts, answers, deciding


@cache
def planted():
    """A model that has learnt that, and prompts that it has not seen."""
    torch.manual_seed(0)
    config = FAMILIES["GPT2"].config(
        **FAMILIES["GPT2"].options, resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0
    )
    model, tokenizer = hf.GPT2LMHeadModel(config), FAMILIES["GPT2"].tokenizer()
    for parameter in model.parameters():
        if parameter.ndim > 1:  # content is told apart from the first step on
            torch.nn.init.normal_(parameter, std=0.4)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    random = np.random.default_rng(0)
    for _ in range(300):
        prompts, answers, _ = planted_prompts(random, 64)
        texts = [prompt + answer for prompt, answer in zip(prompts, answers, strict=True)]
        ids = torch.tensor(tokenizer(texts)["input_ids"])
        labels = ids.clone()
        labels[:, :-2] = -100
        optimizer.zero_grad()
        model(input_ids=ids, labels=labels).loss.backward()
        optimizer.step()
    return model.eval(), tokenizer, planted_prompts(random, 60)
