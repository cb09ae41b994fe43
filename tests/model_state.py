"""Everything of somebody's model and tokenizer that one could have changed."""

from dataclasses import dataclass
from typing import Any

import torch

HOOKS = ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks", "_parameters")


@dataclass
class ModelState:
    """What is compared, and copies of all numbers."""

    facts: list[Any]
    tensors: dict[str, torch.Tensor]

    def __eq__(self, other: object) -> bool:
        assert isinstance(other, ModelState)
        return self.facts == other.facts and all(
            torch.equal(tensor, other.tensors[name]) for name, tensor in self.tensors.items()
        )


def model_state(model, tokenizer=None) -> ModelState:
    """Weights, gradients and what has one; modules, hooks and modes; configuration, attention; and of a
    tokenizer all that it is."""
    parameters = dict(model.named_parameters())
    facts = [
        [(name, type(module).__name__, module.training) for name, module in model.named_modules()],
        [[list(vars(module)[kind]) for kind in HOOKS] for module in model.modules()],
        [
            (name, weight.requires_grad, weight.dtype, weight.grad is None)
            for name, weight in parameters.items()
        ],
        model.config.to_json_string(),
        model.config._attn_implementation,
        [module.config._attn_implementation for module in model.modules() if hasattr(module, "config")],
    ]
    if tokenizer is not None:
        facts += [
            (tokenizer.model_max_length, tokenizer.pad_token, tokenizer.model_input_names),
            tokenizer.backend_tokenizer.to_str(),
        ]
    gradients = {
        f"grad {name}": weight.grad for name, weight in parameters.items() if weight.grad is not None
    }
    tensors = model.state_dict() | gradients
    return ModelState(facts, {name: tensor.detach().clone() for name, tensor in tensors.items()})
