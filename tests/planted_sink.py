"""A GPT-2 whose attention has a sink."""

import torch

from classifier_families import FAMILIES


def with_sink(strength, empty=False):
    """A GPT-2 whose last layer attends to the first place, as strongly as its keys there are long; ``empty``:
    the first token has no value there."""
    family = FAMILIES["GPT2"]
    model = family.language_model()
    block = model.transformer.h[1]
    with torch.no_grad():
        model.transformer.wpe.weight[0] += 8.0 * torch.eye(16)[0]
        block.attn.c_attn.weight[:, :32] *= 0.1
        block.attn.c_attn.bias[:16] += strength
        block.attn.c_attn.weight[0, 16:32] += strength
        if empty:  # of one direction, which the first token alone has
            model.transformer.wpe.weight[0] += 20.0 * torch.eye(16)[0]
            block.attn.c_attn.weight[:, 32:] *= 3.0
            block.ln_1.weight.fill_(1.0)
            shown = torch.nn.functional.layer_norm(torch.eye(16)[0], (16,))
            values = block.attn.c_attn.weight[:, 32:]
            block.attn.c_attn.bias[32:] = 0.0
            values -= torch.outer(shown, shown @ values) / shown.dot(shown)
    return model, family.tokenizer()
