"""Explain and audit on the CPU and on a device that is none, in a process of its own; prints both."""

import json
import sys
from pathlib import Path

import glasshead
from classifier_families import FAMILIES, TEXTS
from pretend_gpu import pretend_gpu  # before glasshead is imported

METHODS = (
    *("attention", "gradient", "erasure", "erasure-delete", "random"),
    *("captum:integrated-gradients", "captum:kernel-shap"),
)


def results(family, data, device):
    """Everything that is found about a family's classifier on a device."""
    model = family.build(labels=2, id2label={0: "bad", 1: "good"})
    subject = glasshead.open(model, family.tokenizer(), device=device)
    scores = [
        score
        for method in METHODS
        for attribution in glasshead.explain(subject, TEXTS, method=method)
        for score in attribution.scores
    ]
    card = glasshead.audit(subject, data, limit=8, draws=2, train=data)
    return [str(subject.model.device.type), scores, [finding.estimate for finding in card.findings]]


if __name__ == "__main__":
    data, names = Path(sys.argv[1]), sys.argv[2:]
    found = {name: [results(FAMILIES[name], data, "cpu")] for name in names}
    with pretend_gpu() as gpu:
        for name in names:
            found[name].append(results(FAMILIES[name], data, gpu))
    print(json.dumps(found))
