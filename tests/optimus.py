"""Numbers that the code of Mylonas et al. gives for maps of a formula.

github.com/intelligence-csd-auth-gr/Optimus-Transformers-Interpretability,
commit 194fd2997b98a03a27a43848f72eab39e7827073:
``MyExplainer.my_attention`` and ``MyEvaluation.faithful_truthfulness_penalty``.
"""

import torch

MEAN_OF_HEADS = {
    "from": [0.30662129, 0.118638, 0.11507201, 0.14532867],
    "to": [0.02698578, 0.14143693, 0.36261352, 0.22407235],
    "mean-columns": [0.17091949, 0.09681323, 0.21109841, 0.17325065],
    "mean-rows": [0.16666667, 0.16666667, 0.16666667, 0.16666667],
    "max-columns": [0.33163441, 0.21670875, 0.51224642, 0.44013272],
    "max-rows": [0.44013272, 0.51224642, 0.36261352, 0.33163441],
}
"""The mean of layers and heads, without the first and last token, by reading."""
CANDIDATES = {
    "mean of the layers, head 0, mean-columns": [0.20304758, 0.12243795, 0.18387828, 0.20589944],
    "layer 1, head 1, max-columns": [0.62543636, 0.06151389, 0.66425803, 0.73707593],
    "product of the layers, head 1, to": [0.67336168, 0.28380906, 0.24047069, 0.07191596],
    "product of the layers, mean of the heads, from": [0.17580646, 0.08468924, 0.20871572, 0.21145947],
    "layer 0, head 0, from": [0.47122164, 0.00459587, 0.02372827, 0.10603739],
}
"""Some of the candidates."""
LOGITS = [0.3, 1.1]
WITHOUT_EACH = [[0.5, 0.2], [0.1, 1.6], [0.3, 1.0], [1.4, -0.4]]
"""Of a text of four words, and without each of them."""
FAITHFULNESS = {
    (0.4, 0.1, 0.3, 0.2): [-0.4261181590615284, 0.4261181590615284],
    (-0.4, 0.1, 0.0, 0.2): [0.02744194427452462, -0.03833529875424779],
    (0.2, 0.2, 0.2, 0.2): [-0.17668178201495283, 0.17668178201495283],
    (0.3, 0.1, 0.3, 0.2): [-0.2939096600918927, 0.2939096600918927],
}
"""Of both classes, by the numbers of the words."""
CHOSEN, FAITHFULNESS_OF_CHOSEN = "mean of the layers, head 0, mean-columns", 0.655694152750068
"""The first of the best candidates for class 1."""


def maps_of_a_formula() -> torch.Tensor:
    """Attention [layer, head, n, n] of two layers and heads before six tokens."""
    places = torch.arange(2 * 2 * 6 * 6, dtype=torch.float64).view(2, 2, 6, 6)
    return torch.softmax(3 * torch.sin(1 + places**1.5), dim=-1)
