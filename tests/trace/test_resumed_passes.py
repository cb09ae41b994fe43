"""A pass that begins at the edited layer gives what the whole model gives."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch
from torch.testing import assert_close
from transformers import BertConfig, BertForSequenceClassification

from classifier_families import FAMILIES, TEXTS
from glasshead.data import encode, longest
from glasshead.huggingface import isolated_copy
from glasshead.opening import open_subject
from glasshead.trace import AttentionSelector, ResumedPasses, Shortcut, find_shortcut, find_site

WHOLE = {"Albert", "XLNet"}
ONE_ROW = {
    "Bert",
    "Roberta",
    "DistilBert",
    "Electra",
    "ModernBert",
    "GPT2",
    "Llama",
    "Qwen3",
    "Mistral",
    "OPT",
}
REFUSED = {"Yoso", "Longformer"}


def view_of(name, layer=None, model=None):
    """A family's model in float64, inputs, and the number of the call that is edited."""
    family = FAMILIES[name]
    subject = open_subject(model or family.build(), family.tokenizer())
    model = isolated_copy(subject.model, torch.float64)
    encoded = encode(subject.tokenizer, TEXTS)
    site = find_site(model, longest(encoded), AttentionSelector(layer=layer))
    return model, encoded.inputs(), site.layer


def drop_first_real_key(layer, weights, call):
    """No weight for key 1, and more for the others, different from head to head."""
    factors = torch.linspace(0.5, 1.5, weights.shape[1], dtype=weights.dtype)[:, None, None]
    keys = torch.arange(weights.shape[-1]) != 1
    return weights * factors * keys


@pytest.mark.parametrize("name", sorted(set(FAMILIES) - REFUSED))
def test_resumed_logits_are_those_of_the_whole_model(name):
    model, inputs, layer = view_of(name)
    shortcut = find_shortcut(model, inputs, layer)
    kind = "whole" if name in WHOLE else "row" if name in ONE_ROW else None
    assert bool(shortcut.blocks) == (kind != "whole")
    assert kind is None or (shortcut.last is not None) == (kind == "row")
    texts = torch.tensor([2, 0, 0, 1, 2])
    expected = ResumedPasses(model, inputs, Shortcut(layer)).logits(drop_first_real_key, texts)
    actual = ResumedPasses(model, inputs, shortcut).logits(drop_first_real_key, texts)
    with torch.no_grad():
        untouched = model(**inputs).logits[texts]
    assert (expected - untouched).abs().max() > 1e-4
    assert_close(actual, expected, rtol=0, atol=1e-9)


@pytest.mark.parametrize("layer", [0, 1, 2])
def test_every_layer_of_a_stack(layer):
    torch.manual_seed(0)
    sizes = {"hidden_size": 16, "num_attention_heads": 2, "intermediate_size": 32, "vocab_size": 60}
    deep = BertForSequenceClassification(BertConfig(num_hidden_layers=3, initializer_range=0.4, **sizes))
    model, inputs, number = view_of("Bert", layer, deep.eval())
    shortcut = find_shortcut(model, inputs, number)
    assert len(shortcut.blocks) == layer
    assert (shortcut.last is not None) == (layer == 2)
    texts = torch.arange(3)
    expected = ResumedPasses(model, inputs, Shortcut(number)).logits(drop_first_real_key, texts)
    assert_close(
        ResumedPasses(model, inputs, shortcut).logits(drop_first_real_key), expected, rtol=0, atol=1e-9
    )


def test_skipped_blocks_do_not_run_and_the_model_is_as_before():
    model, inputs, layer = view_of("Bert")
    shortcut = find_shortcut(model, inputs, layer)
    passes = ResumedPasses(model, inputs, shortcut)
    ran = []
    hooks = [
        block.attention.register_forward_hook(lambda *_, number=number: ran.append(number))
        for number, block in enumerate(model.bert.encoder.layer)
    ]
    passes.logits(drop_first_real_key)
    assert ran == [layer]
    ran.clear()
    with torch.no_grad():
        model(**inputs)
    assert ran == [0, 1]
    assert not any("forward" in vars(module) for module in model.modules())
    for hook in hooks:
        hook.remove()


def test_a_model_that_reads_more_than_one_row_keeps_all_rows():
    """A classifier over the mean of all rows is not read at its first row."""
    model, inputs, layer = view_of("Bert")
    pooler = model.bert.pooler
    pooler.forward = lambda hidden: pooler.activation(pooler.dense(hidden.mean(dim=1)))
    shortcut = find_shortcut(model, inputs, layer)
    assert shortcut.blocks
    assert shortcut.last is None


def test_a_row_that_is_not_where_the_mask_ends_is_found_out():
    """A model that pads with the token that ends its texts reads the row before, where a text has one."""
    model, inputs, layer = view_of("GPT2")
    shortcut = find_shortcut(model, inputs, layer)
    assert shortcut.last is not None
    model.config.pad_token_id = int(inputs["input_ids"][1, 7])
    texts = torch.tensor([1, 0, 2])
    expected = ResumedPasses(model, inputs, Shortcut(layer)).logits(drop_first_real_key, texts)
    passes = ResumedPasses(model, inputs, shortcut)
    assert passes.shortcut.last is None
    assert_close(passes.logits(drop_first_real_key, texts), expected, rtol=0, atol=1e-9)


def test_another_thread_reads_the_model_as_it_is():
    model, inputs, layer = view_of("Bert")
    passes = ResumedPasses(model, inputs, find_shortcut(model, inputs, layer))
    with torch.no_grad():
        expected = model(**inputs).logits
    differences, done = [], threading.Event()

    def read():
        while not done.is_set() or not differences:
            with torch.no_grad():
                differences.append(float((model(**inputs).logits - expected).abs().max()))

    thread = threading.Thread(target=read)
    thread.start()
    for _ in range(40):
        passes.logits(drop_first_real_key)
    done.set()
    thread.join()
    assert max(differences) < 1e-9
    assert not any("forward" in vars(module) for module in model.modules())


def test_two_threads_resume_one_model():
    model, inputs, layer = view_of("Bert")
    shortcut = find_shortcut(model, inputs, layer)
    expected = ResumedPasses(model, inputs, Shortcut(layer)).logits(drop_first_real_key)

    def resume(_):
        return ResumedPasses(model, inputs, shortcut).logits(drop_first_real_key)

    with ThreadPoolExecutor(2) as pool:
        for actual in pool.map(resume, range(40)):
            assert_close(actual, expected, rtol=0, atol=1e-9)


def test_an_exception_leaves_the_model_as_it_was():
    model, inputs, layer = view_of("Bert")
    passes = ResumedPasses(model, inputs, find_shortcut(model, inputs, layer))

    def fail(layer, weights, call):
        raise KeyError("stop")

    with pytest.raises(KeyError):
        passes.logits(fail)
    assert not any("forward" in vars(module) for module in model.modules())


def test_float32_finds_the_same_shortcut():
    family = FAMILIES["Bert"]
    model = isolated_copy(open_subject(family.build(), family.tokenizer()).model, torch.float32)
    inputs = encode(family.tokenizer(), TEXTS).inputs()
    assert find_shortcut(model, inputs, 1).last is not None


def test_a_block_that_leaks_elsewhere_is_run():
    """Where something reads a skipped block's states past the last one, nothing is skipped."""
    model, inputs, layer = view_of("Bert")
    first, last = model.bert.encoder.layer
    leaked = []
    first.intermediate.register_forward_hook(lambda module, args, output: leaked.append(output))
    last.output.register_forward_hook(lambda module, args, output: output + leaked.pop()[..., :1])
    assert not find_shortcut(model, inputs, layer).blocks
