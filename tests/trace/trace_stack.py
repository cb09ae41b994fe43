"""A small attention stack of our own, and ways to see that a model is as it was."""

import torch
from torch import nn

from families import FAMILIES
from glasshead.attention import MultiHeadAttention
from glasshead.huggingface import plug


class Stack(nn.Module):
    """Layers of self-attention with residuals."""

    def __init__(self, *mechanisms, size=12, heads=3, **options):
        super().__init__()
        torch.manual_seed(0)
        self.layers = nn.ModuleList(MultiHeadAttention(size, heads, each, **options) for each in mechanisms)
        with torch.no_grad():
            for weight in self.parameters():
                weight.copy_(torch.randn_like(weight) / 2)

    def forward(self, x, mask=None, is_causal=False):
        for layer in self.layers:
            x = torch.tanh(x + layer(x, mask=mask, is_causal=is_causal).output)
        return x


def sequence(length=7, size=12, batch=2, seed=1):
    return torch.randn(batch, length, size, generator=torch.Generator().manual_seed(seed))


def padding(length=7, real=(7, 4)):
    return torch.arange(length) < torch.tensor(real)[:, None]


def plugged(name, spec="softmax", **changes):
    return plug(FAMILIES[name].build(**changes), spec)


def hooks(model):
    return sum(len(each._forward_pre_hooks) + len(each._forward_hooks) for each in model.modules())
