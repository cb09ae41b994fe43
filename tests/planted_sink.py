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


class Bumped(torch.nn.Module):
    """A projector that gives all image tokens a constant, and a mark to one, which may know little else."""

    def __init__(self, projector, place, constant, empty):
        super().__init__()
        self.projector, self.place, self.constant, self.empty = projector, place, constant, empty

    def forward(self, *args, **kwargs):
        vectors = self.projector(*args, **kwargs).clone()
        vectors[..., 0], vectors[..., 1] = self.constant, 0.0
        vectors[..., self.place, 1] = self.constant
        if self.empty:
            vectors[..., self.place, 2:] *= 0.01  # else it is the same for every image, and no part of it
        return vectors


def with_image_sink(model, place, empty=True, strength=0.7):
    """A LLaVA whose heads all look at one image token, through a direction that this token alone has; if
    it is ``empty``, nothing is read there."""
    language = model.model.language_model
    constant = 40 * language.embed_tokens.weight.detach().abs().max().item()
    with torch.no_grad():
        language.embed_tokens.weight[:, 0] = constant
        language.embed_tokens.weight[:, 1] = 0.0
        for layer in language.layers:
            own = layer.self_attn
            slow = own.head_dim // 2 - 1  # the pair of numbers that turns least with the distance
            for module in (own.o_proj, layer.mlp.down_proj):
                module.weight[:2] = 0.0  # both directions stay what they are
            for module in (own.v_proj, layer.mlp.gate_proj, layer.mlp.up_proj):
                module.weight[:, :2] = 0.0  # and say nothing else
            if not empty:
                own.v_proj.weight[:, 1] = torch.linspace(-1, 1, len(own.v_proj.weight))
            for module, direction in ((own.q_proj, 0), (own.k_proj, 1)):
                module.weight.view(-1, own.head_dim, module.in_features)[:, slow, direction] = strength
    projector = model.model.multi_modal_projector
    model.model.multi_modal_projector = Bumped(projector, place, constant, empty)
    return model
