"""The output projection that a trace finds is the one that makes the layer's output."""

import pytest
import torch
from torch import nn
from trace_stack import Stack, plugged, sequence
from transformers.pytorch_utils import Conv1D

from families import FAMILIES
from glasshead.attention import AttentionInputs, mechanism, run_hooked
from glasshead.errors import InputError
from glasshead.trace import record, uniform
from glasshead.trace.intervene import intervene
from readable import family
from tolerances import ONE_MODEL

PROJECTIONS = {
    "albert": "dense",
    "bart": "out_proj",
    "beit": "o_proj",
    "bert": "output.dense",
    "distilbert": "out_lin",
    "gemma2": "o_proj",
    "gpt2": "c_proj",
    "llama": "o_proj",
    "modernbert": "Wo",
    "moonshine": "o_proj",
    "nllb-moe": "out_proj",
    "opt": "out_proj",
    "qwen2": "o_proj",
    "qwen3": "o_proj",
    "roberta": "output.dense",
    "siglip-text": "out_proj",
    "siglip-vision": "out_proj",
    "t5": "o",
    "vit": "o_proj",
}


def made_by_projections(model, name):
    """What every output projection made, in the order of the calls (GPT-2's MLP has a `c_proj` too)."""
    made = []
    for path, module in model.named_modules():
        inside = "attention" in path.lower() or "attn" in path.lower()
        if inside and path.endswith(f".{name}") and isinstance(module, nn.Linear | Conv1D):
            module.register_forward_hook(lambda module, given, output: made.append((module, output.detach())))
    return made


@pytest.mark.parametrize("family", FAMILIES)
@torch.no_grad()
def test_heads_add_up_to_the_output_of_the_layer(family):
    model, given = plugged(family, "tanhmax"), FAMILIES[family].inputs([5, 8])
    made = made_by_projections(model, PROJECTIONS[family])
    with record(model) as trace:
        model(**given)
    assert len(made) == len(trace) >= 2
    for seen, (linear, output) in zip(trace, made, strict=True):
        size = model.config.to_dict().get("d_model", 16)
        assert seen.projection.shape == (len(seen.heads), seen.v.shape[3], size)
        summed = (seen.weights @ seen.projected_values).sum(dim=1)
        found = summed if linear.bias is None else summed + linear.bias
        torch.testing.assert_close(found, output.view_as(found), **ONE_MODEL)


@torch.no_grad()
def test_of_edited_weights_too():
    model, given = plugged("gpt2"), FAMILIES["gpt2"].inputs([5, 8])
    made = made_by_projections(model, "c_proj")
    with intervene(model, uniform), record(model) as trace:
        model(**given)
    for seen, (linear, output) in zip(trace, made, strict=True):
        found = (seen.weights @ seen.projected_values).sum(dim=1) + linear.bias
        torch.testing.assert_close(found, output.view_as(found), **ONE_MODEL)


class Reader(nn.Module):
    """Attention whose output goes wherever a test wants it to go."""

    def __init__(self, read):
        super().__init__()
        self.mechanism, self.read = mechanism("softmax"), read
        self.one, self.two, self.each = nn.Linear(12, 12), nn.Linear(12, 4), nn.Linear(4, 4)

    def forward(self, x):
        heads = x.unflatten(2, (3, 4)).transpose(1, 2)
        output = run_hooked(self, AttentionInputs.of(self.mechanism, heads, heads, heads))
        return self.read(self, output.transpose(1, 2).flatten(2), output)


@pytest.mark.parametrize(
    "read",
    [
        lambda self, joined, output: joined,
        lambda self, joined, output: self.one(joined * joined.sigmoid()),
        lambda self, joined, output: self.one(joined.mul_(2.0)),
        lambda self, joined, output: self.one(joined[:, 1:]),
        lambda self, joined, output: self.one(joined.clone()),
        lambda self, joined, output: self.each(output),
        lambda self, joined, output: self.one(joined)[..., :4] + self.two(joined),
    ],
    ids=["nothing", "gate", "in-place", "a-part", "copy", "per-head", "adapter"],
)
@torch.no_grad()
def test_no_projection_where_no_single_map_reads_the_heads(read):
    model = Reader(read)
    with record(model) as trace:
        model(sequence())
    assert trace[0].projection is None
    with pytest.raises(InputError, match=r"no single linear map reads the heads of layer 0 \(Reader\)"):
        _ = trace[0].projected_values


@torch.no_grad()
def test_a_quantised_map_is_what_it_does():
    model = Reader(lambda self, joined, output: self.one(joined))
    model.one.weight.data = model.one.weight.data.to(torch.float8_e4m3fn)
    model.one.forward = lambda joined: joined
    with record(model) as trace:
        model(sequence())
    whole = trace[0].projection.flatten(0, 1)
    torch.testing.assert_close(whole, torch.eye(len(whole)))


def test_added_heads_share_one():
    model = Stack("softmax", head_combination="add")
    with record(model, heads=[2, 0]) as trace:
        model(sequence())
    assert trace[0].v.shape == (2, 2, 7, 12)
    assert torch.equal(trace[0].projection, model.layers[0].output.weight.T.expand(2, 12, 12))


def test_a_kept_graph_reaches_the_projection():
    model = Stack("softmax")
    with record(model, keep_graph=True) as trace:
        model(sequence())
    (gradient,) = torch.autograd.grad(trace[0].projected_values.sum(), model.layers[0].output.weight)
    torch.testing.assert_close(gradient[0], trace[0].v.detach().sum(dim=(0, 2)).flatten())


def test_a_summary_is_no_head_that_the_classifier_projects():
    """What a learned query makes of a text is an output by itself; what reads it is the classifier."""
    kind = family("encoder")
    with torch.no_grad(), record(kind.model) as trace:
        kind.model(**kind.tokenizer(["the film was good"], return_tensors="pt"))
    heads, summary = trace.only
    assert heads.projection is not None
    assert summary.projection is None
    with pytest.raises(InputError, match="no single linear map reads the heads of layer 1"):
        _ = summary.projected_values
