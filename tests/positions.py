"""Every position with every choice of its options, built small and with far from initial parameters."""

import torch

from glasshead.attention import POSITIONS, HeadSizes
from glasshead.attention.positions.distance_mappings import MAPPINGS

SIZES = HeadSizes(num_heads=3, head_dim=4, value_dim=5)
ADJUSTMENTS = ("early-multiply", "early-add", "late-multiply", "late-add", "signed-multiply")
CHOICES = {name: {"name": name} for name in POSITIONS}
CHOICES |= {
    f"distance-aware {mapping} {adjust}": {"name": "distance-aware", "mapping": mapping, "adjust": adjust}
    for mapping in MAPPINGS
    for adjust in ADJUSTMENTS
}
CHOICES |= {
    "distance-aware clip at 0.2": {"name": "distance-aware", "mapping": "clip", "threshold": 0.2},
    "transformer-xl 10": {"name": "transformer-xl", "relative_dim": 10},
    "shaw 2": {"name": "shaw", "clip": 2},
    "cosine 40": {"name": "cosine", "reach": 40},
}


def built(choice, sizes=SIZES, seed=0):
    """A position in float64 with random parameters; the distance weights of its heads keep both signs."""
    options = {key: value for key, value in CHOICES[choice].items() if key != "name"}
    with torch.random.fork_rng(), torch.no_grad():
        torch.manual_seed(seed)
        position = POSITIONS[CHOICES[choice]["name"]](sizes, **options).double()
        for parameter in position.parameters():
            parameter += 0.4 * torch.randn_like(parameter)
    return position


def tensors(batch=2, queries=7, keys=7, sizes=SIZES, seed=0):
    """Random q, k and v in float64."""
    generator = torch.Generator().manual_seed(seed)
    shapes = [(queries, sizes.head_dim), (keys, sizes.head_dim), (keys, sizes.value_dim)]
    return [
        torch.randn(batch, sizes.num_heads, *shape, generator=generator, dtype=torch.float64)
        for shape in shapes
    ]
