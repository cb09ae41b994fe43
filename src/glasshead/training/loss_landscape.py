"""The loss around a trained model and between two: eigenvalues of the Hessian, and the line between."""

import copy
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh
from torch import Tensor, nn
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.utils import parameters_to_vector, vector_to_parameters
from transformers import PreTrainedModel

from glasshead.errors import InputError
from glasshead.results import Curvature
from glasshead.training.tensor_dataset import TensorDataset

Floats = NDArray[np.floating]
TOLERANCE = 1e-3
"""How exact an eigenvalue is, relative to itself."""
MOST_STEPS = 3000
CHUNK = 512
"""Texts of one pass."""
FEED_FORWARD = "feed_forward"


def precise_copy(model: PreTrainedModel) -> PreTrainedModel:
    """A model of its own in float64, which may be written on."""
    return copy.deepcopy(model).double().eval()


def batches_of(rows: TensorDataset) -> Iterator[tuple[dict[str, Tensor], float]]:
    """The texts, a part at a time, with the share that each part has of them."""
    for start in range(0, len(rows), CHUNK):
        places = range(start, min(start + CHUNK, len(rows)))
        yield rows.__getitems__(places), len(places) / len(rows)


def gradient(
    model: PreTrainedModel, rows: TensorDataset, *, graph: bool = False
) -> Iterator[tuple[list[Tensor], list[Tensor]]]:
    """Parameters and the gradient of each part of the mean loss."""
    parameters: list[Tensor] = [parameter for parameter in model.parameters() if parameter.requires_grad]
    for batch, share in batches_of(rows):
        loss = share * model(**batch).loss
        found = torch.autograd.grad(loss, parameters, create_graph=graph, allow_unused=True)
        used = [place for place, slope in enumerate(found) if slope is not None]
        yield (
            parameters,
            [
                slope if place in used else torch.zeros_like(parameters[place])
                for place, slope in enumerate(found)
            ],
        )


def hessian_product(model: PreTrainedModel, rows: TensorDataset) -> Callable[[Floats], Floats]:
    """v ↦ H v of the mean loss, by the derivative of gᵀ v."""

    def product(vector: Floats) -> Floats:
        direction = torch.from_numpy(np.ascontiguousarray(vector.ravel())).to(torch.float64)
        total = torch.zeros_like(direction)
        for parameters, slopes in gradient(model, rows, graph=True):
            along = torch.cat([slope.reshape(-1) for slope in slopes]) @ direction
            second = torch.autograd.grad(along, parameters, allow_unused=True)
            total += torch.cat(
                [
                    (torch.zeros_like(parameter) if each is None else each).reshape(-1)
                    for parameter, each in zip(parameters, second, strict=True)
                ]
            )
        return total.numpy()

    return product


def curvature(model: PreTrainedModel, rows: TensorDataset, *, seed: int = 0) -> Curvature:
    """The smallest and the largest eigenvalue of ∇²L by Lanczos, and ‖∇L‖, of the mean loss, in float64.

    At a minimum no eigenvalue is below 0, and the gradient is 0.

    Raises:
        InputError: if Lanczos does not converge.
    """
    model = precise_copy(model).requires_grad_(True)
    size = sum(parameter.numel() for parameter in model.parameters())
    slope = np.zeros(size)
    for _, slopes in gradient(model, rows):
        slope += parameters_to_vector(slopes).detach().numpy()
    operator: Any = LinearOperator((size, size), matvec=hessian_product(model, rows), dtype=np.float64)
    start = np.random.default_rng(seed).standard_normal(size)
    ends = []
    for which in ("SA", "LA"):
        try:
            with sdpa_kernel(SDPBackend.MATH):  # the others have no second derivative
                (value,) = eigsh(
                    operator, k=1, which=which, tol=TOLERANCE, v0=start, maxiter=MOST_STEPS,
                    return_eigenvectors=False,
                )  # fmt: skip
        except ArpackNoConvergence as error:
            raise InputError(
                "the eigenvalues of the Hessian do not converge: train longer, or read more texts"
            ) from error
        ends.append(float(value))
    return Curvature(ends[0], ends[1], float(np.linalg.norm(slope)))


@torch.no_grad()
def mean_loss(model: PreTrainedModel, rows: TensorDataset) -> float:
    """L."""
    return sum(share * float(model(**batch).loss) for batch, share in batches_of(rows))


@torch.no_grad()
def losses_between(
    first: PreTrainedModel, second: PreTrainedModel, rows: TensorDataset, points: int = 25
) -> Floats:
    """L((1 − t) θ_1 + t θ_2) at so many t from 0 to 1.

    Raises:
        InputError: if the two models have parameters of different shapes.
    """
    if [each.shape for each in first.parameters()] != [each.shape for each in second.parameters()]:
        raise InputError("these runs have parameters of different shapes: give runs of one recipe")
    between = precise_copy(first)
    ends = [parameters_to_vector(each.parameters()).double() for each in (first, second)]
    losses = []
    for t in np.linspace(0.0, 1.0, points):
        vector_to_parameters(torch.lerp(ends[0], ends[1], float(t)), between.parameters())
        losses.append(mean_loss(between, rows))
    return np.array(losses)


@torch.no_grad()
def match_hidden_units(model: PreTrainedModel, reference: PreTrainedModel) -> PreTrainedModel:
    """The same function with its hidden units in the order of those of another model that are most alike.

    Of each feed-forward layer the order π maximises Σ_k w_k·w'_π(k), with w_k all weights of a unit (in, bias
    and out), which is a linear assignment.

    Source: Ainsworth, Hayase and Srinivasa (2023), Git re-basin, section 3.2, for a single hidden layer.
    """
    matched = copy.deepcopy(model)
    for (_, before, after), (_, first, last) in zip(
        feed_forwards(matched), feed_forwards(reference), strict=True
    ):
        alike = units(first, last) @ units(before, after).T
        order = torch.from_numpy(linear_sum_assignment(alike.double().numpy(), maximize=True)[1])
        before.weight.copy_(before.weight[order])
        if before.bias is not None:
            before.bias.copy_(before.bias[order])
        after.weight.copy_(after.weight[:, order])
    return matched


def units(before: nn.Linear, after: nn.Linear) -> Float[Tensor, "units weights"]:
    """All weights of each hidden unit."""
    bias = [] if before.bias is None else [before.bias[:, None]]
    return torch.cat([before.weight, *bias, after.weight.T], dim=1)


def feed_forwards(model: PreTrainedModel) -> Iterator[tuple[str, nn.Linear, nn.Linear]]:
    """The two maps around the hidden units of each layer."""
    for name, module in model.named_modules():
        if name.endswith(FEED_FORWARD) and isinstance(module, nn.Sequential):
            linear = [each for each in module if isinstance(each, nn.Linear)]
            yield name, linear[0], linear[-1]
