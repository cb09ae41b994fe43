"""Small corpora whose text follows rules."""

import random


def sentences(count=600, seed=0):
    """Lines such as "the red fox sees a small dog ." of twelve words."""
    rng = random.Random(seed)
    colours, animals, verbs = ("red", "small", "old"), ("fox", "dog", "cat"), ("sees", "likes")
    return [
        f"the {rng.choice(colours)} {rng.choice(animals)} {rng.choice(verbs)} a {rng.choice(animals)} ."
        for _ in range(count)
    ]


def sentence_file(folder, count=600):
    """Those lines as a file."""
    path = folder / "corpus.txt"
    path.write_text("\n".join(sentences(count)) + "\n", encoding="utf-8")
    return path


TINY = {"num_hidden_layers": 1, "num_attention_heads": 2, "hidden_size": 16, "block_size": 16, "epochs": 2}
