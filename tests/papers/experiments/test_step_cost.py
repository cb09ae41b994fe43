"""A step of a language model's training has a cost."""

from glasshead.language import BlockDataset, LanguageModelConfig, Masking, cut_blocks, pack, tokenizer_for
from glasshead.papers.experiments.step_cost import step_seconds

TEXTS = [
    f"the {size} {animal} sleeps" for size in ("small", "large") for animal in ("cat", "dog", "fox")
] * 10


def test_a_step_has_a_cost():

    recipe = LanguageModelConfig(
        num_hidden_layers=1,
        num_attention_heads=2,
        hidden_size=16,
        block_size=16,
        batch_size=4,
        model="bert",
        objective="masked",
        tokenizer="word",
    )
    tokenizer = tokenizer_for(recipe, TEXTS)
    rows = BlockDataset(cut_blocks(pack(tokenizer, TEXTS), 16, "train"), Masking.of(tokenizer, 0.15))
    assert 0 < step_seconds(recipe, tokenizer, rows) < 10
