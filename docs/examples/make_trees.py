"""Write trees.conllu: sixty sentences with their dependency trees, as treebanks publish them."""

from pathlib import Path

ADJECTIVES = ("warm", "dull", "funny", "long")
NOUNS = ("film", "plot", "story", "ending", "cast")
VERBS = ("charms", "bores", "surprises")

sentences = []
for number in range(60):
    adjective, noun, verb = ADJECTIVES[number % 4], NOUNS[number % 5], VERBS[number % 3]
    words = [
        ("the", "DET", 3, "det"),
        (adjective, "ADJ", 3, "amod"),
        (noun, "NOUN", 4, "nsubj"),
        (verb, "VERB", 0, "root"),
        ("us", "PRON", 4, "obj"),
    ]
    lines = [f"# text = {' '.join(form for form, *_ in words)}"]
    for place, (form, kind, head, relation) in enumerate(words, start=1):
        lines.append(f"{place}\t{form}\t{form}\t{kind}\t_\t_\t{head}\t{relation}\t_\t_")
    sentences.append("\n".join(lines))
Path("trees.conllu").write_text("\n\n".join(sentences) + "\n\n", encoding="utf-8")
print("trees.conllu:", len(sentences), "sentences")
