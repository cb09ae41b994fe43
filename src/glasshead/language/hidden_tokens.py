"""The head of a masked model is asked for its hidden tokens alone."""

import torch
from jaxtyping import Float, Int
from torch import Tensor
from transformers import PreTrainedModel
from transformers.utils import ModelOutput

from glasshead.language.rows import IGNORED


def hidden_logits(
    model: PreTrainedModel, ids: Int[Tensor, "b n"], labels: Int[Tensor, "b n"]
) -> Float[Tensor, "hidden vocabulary"]:
    """Logits at the tokens to be found, in the order of the batch.

    The last layer's other rows never meet the map onto the vocabulary, which costs a small model with
    15 % of its tokens hidden more than all its layers.
    """
    wanted = labels != IGNORED

    def keep_hidden(_module: torch.nn.Module, _args: object, output: ModelOutput) -> ModelOutput:
        output["last_hidden_state"] = output["last_hidden_state"][wanted][None]
        return output

    handle = model.base_model.register_forward_hook(keep_hidden)
    try:
        logits: Tensor = model(input_ids=ids).logits
    finally:
        handle.remove()
    return logits[0]


@torch.no_grad()
def asks_hidden_alone(model: PreTrainedModel) -> bool:
    """Whether the model's head reads token by token what its layers return, tried on two short rows."""
    training = model.training
    model.eval()
    ids = torch.arange(8, device=model.device).view(2, 4) % model.config.get_text_config().vocab_size
    labels = ids.masked_fill(ids % 3 > 0, IGNORED)
    try:
        found, whole = hidden_logits(model, ids, labels), model(input_ids=ids).logits[labels != IGNORED]
    except (KeyError, IndexError, RuntimeError, TypeError, ValueError):  # a head of another kind
        return False
    finally:
        model.train(training)
    return found.shape == whole.shape and torch.allclose(found.float(), whole.float(), rtol=1e-3, atol=1e-4)
