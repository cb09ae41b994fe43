"""The loss around a trained model and between two: eigenvalues of the Hessian, and the line between."""

import copy
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from scipy.optimize import linear_sum_assignment, minimize
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh
from torch import Tensor, nn
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.utils import parameters_to_vector, vector_to_parameters
from transformers import PreTrainedModel

from glasshead.arrays import AnyFloats
from glasshead.errors import InputError
from glasshead.papers.results import Curvature
from glasshead.training import TensorDataset

SLOPE_TOLERANCE = 1e-4
"""How exact an eigenvalue is, relative to the largest."""
VECTORS = 60
"""Lanczos vectors that are kept."""
MOST_STEPS = 1000
ROWS_PER_CHUNK = 512
"""Texts of one pass."""
FEED_FORWARD = "feed_forward"


def precise_copy(model: PreTrainedModel) -> PreTrainedModel:
    """A model of its own in float64, which may be written on."""
    return copy.deepcopy(model).double().eval()


def batches_of(rows: TensorDataset) -> Iterator[tuple[dict[str, Tensor], float]]:
    """The texts, a part at a time, with the share that each part has of them."""
    for start in range(0, len(rows), ROWS_PER_CHUNK):
        places = range(start, min(start + ROWS_PER_CHUNK, len(rows)))
        yield rows.__getitems__(places), len(places) / len(rows)


def slopes(
    model: PreTrainedModel, rows: TensorDataset, *, graph: bool = False
) -> Iterator[tuple[Tensor, Float[Tensor, " p"]]]:
    """What each part of the texts adds to the mean loss and to its gradient."""
    parameters = list(model.parameters())
    for batch, share in batches_of(rows):
        loss = share * model(**batch).loss
        derivatives = torch.autograd.grad(loss, parameters, create_graph=graph, allow_unused=True)
        yield loss.detach(), flat(derivatives, parameters)


def flat(derivatives: Sequence[Tensor | None], parameters: Sequence[Tensor]) -> Float[Tensor, " p"]:
    """Derivatives as one vector, 0 for parameters that nothing reads."""
    return torch.cat(
        [
            (torch.zeros_like(parameter) if slope is None else slope).flatten()
            for parameter, slope in zip(parameters, derivatives, strict=True)
        ]
    )


def loss_and_gradient(model: PreTrainedModel, rows: TensorDataset) -> tuple[float, AnyFloats]:
    """L and ∇L [p]."""
    losses, vectors = zip(*slopes(model, rows), strict=True)
    return float(sum(losses)), torch.stack(vectors).sum(dim=0).numpy()


def hessian_product(model: PreTrainedModel, rows: TensorDataset) -> Callable[[AnyFloats], AnyFloats]:
    """v ↦ H v of the mean loss, by the derivative of gᵀ v."""
    parameters = list(model.parameters())

    def product(vector: AnyFloats) -> AnyFloats:
        direction = torch.from_numpy(np.ascontiguousarray(vector.ravel())).to(torch.float64)
        total = torch.zeros_like(direction)
        for _, slope in slopes(model, rows, graph=True):
            second = torch.autograd.grad(slope @ direction, parameters, allow_unused=True)
            total += flat(second, parameters)
        return total.numpy()

    return product


def curvature(
    model: PreTrainedModel, rows: TensorDataset, *, limit: int | None = None, seed: int = 0
) -> Curvature:
    """L and ‖∇L‖ of the mean loss, and the smallest and the largest eigenvalue of ∇²L by Lanczos, in float64.

    Only where the gradient is 0 does the smallest eigenvalue tell a minimum from a saddle; it is at most 0
    where the loss is flat along a direction. The Hessian is that of the first ``limit`` texts.

    Raises:
        InputError: if Lanczos does not converge.
    """
    model = precise_copy(model).requires_grad_(True)
    loss, slope = loss_and_gradient(model, rows)
    product = hessian_product(model, first_rows(rows, limit))
    start = np.random.default_rng(seed).standard_normal(len(slope))
    largest = end_of_spectrum(product, start, "LA")
    # Shifted, so that it is exact relative to the largest: it may be 0.
    smallest = largest + end_of_spectrum(lambda vector: product(vector) - largest * vector, start, "SA")
    return Curvature(smallest, largest, float(np.linalg.norm(slope)), loss)


def end_of_spectrum(product: Callable[[AnyFloats], AnyFloats], start: AnyFloats, which: str) -> float:
    """The largest ("LA") or the smallest ("SA") eigenvalue of a symmetric map.

    Raises:
        InputError: if Lanczos does not converge.
    """
    operator: Any = LinearOperator((len(start), len(start)), matvec=product, dtype=np.float64)
    try:
        with sdpa_kernel(SDPBackend.MATH):  # the others have no second derivative
            (value,) = eigsh(
                operator, k=1, which=which, tol=SLOPE_TOLERANCE, v0=start, maxiter=MOST_STEPS,
                ncv=min(VECTORS, len(start)), return_eigenvectors=False,
            )  # fmt: skip
    except ArpackNoConvergence as error:
        raise InputError(
            "the eigenvalues of the Hessian do not converge: train longer, or read more texts"
        ) from error
    return float(value)


def first_rows(rows: TensorDataset, limit: int | None) -> TensorDataset:
    """The first texts."""
    return TensorDataset(rows.encoded.some(slice(0, limit)), rows.labels[:limit])


def polish(
    model: PreTrainedModel, rows: TensorDataset, *, tolerance: float = 1e-5, steps: int = 1000
) -> PreTrainedModel:
    """A copy in float64, trained further on the mean loss of all texts at once by L-BFGS.

    It stops when no slope is larger than ``tolerance``, or after the maximum number of steps.
    """
    polished = precise_copy(model).requires_grad_(True)

    def loss_at(vector: AnyFloats) -> tuple[float, AnyFloats]:
        vector_to_parameters(torch.from_numpy(vector), polished.parameters())
        return loss_and_gradient(polished, rows)

    start = parameters_to_vector(polished.parameters()).detach().numpy()
    options = {"maxiter": steps, "maxfun": 2 * steps, "maxcor": 30, "gtol": tolerance, "ftol": 0.0}
    solution = minimize(loss_at, start, jac=True, method="L-BFGS-B", options=options)
    vector_to_parameters(torch.from_numpy(solution.x), polished.parameters())
    return polished


@torch.no_grad()
def mean_loss(model: PreTrainedModel, rows: TensorDataset) -> float:
    """L."""
    return sum(share * float(model(**batch).loss) for batch, share in batches_of(rows))


@torch.no_grad()
def losses_between(
    first: PreTrainedModel, second: PreTrainedModel, rows: TensorDataset, points: int = 25
) -> AnyFloats:
    """L((1 − t) θ_1 + t θ_2) at equally spaced t from 0 to 1.

    Raises:
        InputError: if the two models have parameters of different shapes.
    """
    if [part.shape for part in first.parameters()] != [part.shape for part in second.parameters()]:
        raise InputError("these runs have parameters of different shapes: give runs of one recipe")
    between = precise_copy(first)
    ends = [parameters_to_vector(end.parameters()).double() for end in (first, second)]
    losses = []
    for t in np.linspace(0.0, 1.0, points):
        vector_to_parameters(torch.lerp(ends[0], ends[1], float(t)), between.parameters())
        losses.append(mean_loss(between, rows))
    return np.array(losses)


@torch.no_grad()
def match_hidden_units(model: PreTrainedModel, reference: PreTrainedModel) -> PreTrainedModel:
    """A copy with its hidden units in the order of the most similar units of another model.

    For each feed-forward layer, the order π maximises Σ_k w_k·w'_π(k), with w_k all weights of a unit (in,
    bias and out). This is a linear assignment.

    Source: Ainsworth, Hayase and Srinivasa (2023), Git re-basin, section 3.2, for a single hidden layer.
    """
    matched = copy.deepcopy(model)
    for (_, before, after), (_, first, last) in zip(
        feed_forwards(matched), feed_forwards(reference), strict=True
    ):
        alike = unit_weights(first, last) @ unit_weights(before, after).T
        order = torch.from_numpy(linear_sum_assignment(alike.double().numpy(), maximize=True)[1])
        before.weight.copy_(before.weight[order])
        if before.bias is not None:
            before.bias.copy_(before.bias[order])
        after.weight.copy_(after.weight[:, order])
    return matched


def unit_weights(before: nn.Linear, after: nn.Linear) -> Float[Tensor, "units weights"]:
    """All weights of each hidden unit."""
    bias = [] if before.bias is None else [before.bias[:, None]]
    return torch.cat([before.weight, *bias, after.weight.T], dim=1)


def feed_forwards(model: PreTrainedModel) -> Iterator[tuple[str, nn.Linear, nn.Linear]]:
    """The two maps around the hidden units of each layer."""
    for name, module in model.named_modules():
        if name.endswith(FEED_FORWARD) and isinstance(module, nn.Sequential):
            linear = [layer for layer in module if isinstance(layer, nn.Linear)]
            yield name, linear[0], linear[-1]
