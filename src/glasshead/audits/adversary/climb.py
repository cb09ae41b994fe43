"""From a start to the farthest weights nearby with the same prediction: any model, any number of classes."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Self

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from glasshead.audits.adversary.setting import Setting

MARGIN = 0.01
"""Share of ε that a climb stays away from what is just allowed, so that rounding does not matter."""
MEMORY = 6  # pairs of steps and changes of the slope
GAP = 1e-4
"""A climb has settled where to first order its next step gains less, in units of the largest distance, ..."""
QUIET = 30  # ... or so many passes gained less
NEARER = 0.9  # before anything feasible: a pass has gained if it leaves less than this share of the excess
SHORTEST = 1e-4  # a step that is cut below this starts again along the slope
LONGEST, RELATIVE = 1.0, 0.2  # a step is no longer than this, or than this share of where it starts
FARTHEST = 1e6  # no parameter is larger
ARMIJO = 1e-4
COMPACTED = 0.6  # variants that have settled are left out once fewer than this share climb
CHECKED = 8  # passes between two such counts
SOFTEST, HARDEST = 1.0, 0.5
"""How soft an excess is at first, and in the end, as a share of ε: in between half of the excess."""
TINY = 1e-30


class Adversary(ABC):
    """Which maps may be tried for a batch of variants, and what they do.

    Parameters and weights are [maps, ...]; ``owner`` names the variant of each map, ``mask`` [maps, n] where
    it may have weight. ``own`` [maps, n] are the weights to depart from and ``before`` the logits that they
    give.
    """

    own: Float[Tensor, "maps n"]
    before: Float[Tensor, "variants classes"]
    mask: Bool[Tensor, "maps n"]
    owner: Int[Tensor, " maps"]
    variants: int

    @abstractmethod
    def weights(self, parameters: Float[Tensor, "maps p"]) -> Float[Tensor, "maps n"]:
        """Weights of unbounded parameters."""

    @abstractmethod
    def logits(self, weights: Float[Tensor, "maps n"]) -> Float[Tensor, "variants classes"]:
        """What the model says with other weights; it can be differentiated."""

    @abstractmethod
    def distances(self, weights: Float[Tensor, "maps n"]) -> Float[Tensor, " variants"]:
        """How far the weights of every variant are from those to depart from."""

    @abstractmethod
    def some(self, variants: Int[Tensor, " some"]) -> Self:
        """The adversary of some of the variants."""

    def total(self, values: Float[Tensor, "maps p"]) -> Float[Tensor, " variants"]:
        """Sums over all parameters of each variant."""
        sums = values.sum(dim=-1)
        return sums.new_zeros(self.variants).index_add(0, self.owner, sums)

    def largest(self, values: Float[Tensor, "maps p"]) -> Float[Tensor, " variants"]:
        """The largest size of each variant."""
        sizes = values.abs().amax(dim=-1)
        return sizes.new_zeros(self.variants).scatter_reduce(0, self.owner, sizes, "amax")

    def spread(self, values: Float[Tensor, " variants"]) -> Float[Tensor, "maps 1"]:
        """A number of each variant, for its maps."""
        return values[self.owner][:, None]


@dataclass(frozen=True)
class Climbs:
    """Where climbs ended: the largest ``distances`` of a feasible map on the way, whether they ``settled``,
    and the largest ``excess`` of the prediction on the way."""

    distances: Float[Tensor, " variants"]
    settled: Bool[Tensor, " variants"]
    excess: Float[Tensor, " variants"]
    weights: Float[Tensor, "maps n"]


@dataclass
class Point:
    """Where the variants of an adversary are: distances in units of the largest, how far the prediction is
    beyond what is allowed, and the slopes of both."""

    at: Float[Tensor, "maps p"]
    distances: Float[Tensor, " variants"]
    excess: Float[Tensor, " variants"]
    rise: Float[Tensor, "maps p"]
    normal: Float[Tensor, "maps p"]

    def merit(self, price: Float[Tensor, " variants"], margin: float) -> Float[Tensor, " variants"]:
        """The distance, less what an excess costs."""
        return self.distances - price * (self.excess + margin).clamp_min(0)

    def where(self, rows: Bool[Tensor, " variants"], adversary: Adversary, other: "Point") -> "Point":
        """The other point of some variants, this one of all others."""
        maps = rows[adversary.owner][:, None]
        return Point(
            torch.where(maps, other.at, self.at),
            torch.where(rows, other.distances, self.distances),
            torch.where(rows, other.excess, self.excess),
            torch.where(maps, other.rise, self.rise),
            torch.where(maps, other.normal, self.normal),
        )

    def some(self, rows: Bool[Tensor, " variants"], maps: Bool[Tensor, " maps"]) -> "Point":
        """The point of some variants."""
        return Point(
            self.at[maps], self.distances[rows], self.excess[rows], self.rise[maps], self.normal[maps]
        )


class Curvature:
    """The inverse of the second derivatives, from the last steps of each variant (L-BFGS)."""

    def __init__(self, like: Float[Tensor, "maps p"], variants: int) -> None:
        self.steps: list[Tensor] = []
        self.changes: list[Tensor] = []
        self.inverse: list[Tensor] = []  # 1 / (step · change), 0 where a pair does not count
        self.scale = like.new_ones(variants)

    def add(self, adversary: Adversary, step: Tensor, change: Tensor, new: Bool[Tensor, " variants"]) -> None:
        """Another pair, of the variants that moved. Where the slope grows along the step, there is no such
        curvature, and the next steps are longer."""
        product, size = adversary.total(step * change), adversary.total(change.square())
        counts = new & (product > 1e-10 * (size * adversary.total(step.square())).sqrt())
        inverse = torch.where(counts, 1 / torch.where(counts, product, 1.0), 0.0)
        self.scale = torch.where(counts, product / size.clamp_min(TINY), self.scale)
        self.scale = torch.where(new & ~counts, 2 * self.scale, self.scale).clamp(
            1 / FARTHEST**2, FARTHEST**2
        )
        for pairs, pair in ((self.steps, step), (self.changes, change), (self.inverse, inverse)):
            pairs.append(pair)
            del pairs[:-MEMORY]

    def forget(self, rows: Bool[Tensor, " variants"]) -> None:
        """No pairs of some variants."""
        self.inverse = [torch.where(rows, 0.0, inverse) for inverse in self.inverse]

    def times(self, adversary: Adversary, vector: Float[Tensor, "maps p"]) -> Float[Tensor, "maps p"]:
        """The inverse times a vector."""
        shares = []
        for step, change, inverse in reversed(list(zip(self.steps, self.changes, self.inverse, strict=True))):
            share = inverse * adversary.total(step * vector)
            vector = vector - adversary.spread(share) * change
            shares.append(share)
        vector = adversary.spread(self.scale) * vector
        for step, change, inverse, share in zip(
            self.steps, self.changes, self.inverse, reversed(shares), strict=True
        ):
            back = share - inverse * adversary.total(change * vector)
            vector = vector + adversary.spread(back) * step
        return vector

    def keep(self, rows: Bool[Tensor, " variants"], maps: Bool[Tensor, " maps"]) -> None:
        """The pairs of some variants alone."""
        self.steps = [step[maps] for step in self.steps]
        self.changes = [change[maps] for change in self.changes]
        self.inverse = [inverse[rows] for inverse in self.inverse]
        self.scale = self.scale[rows]


class Climb:
    """Sequential quadratic programming for one inequality, of many variants at once.

    Maximises d over parameters with excess ≤ 0. The step is the best of a quadratic model, whose second
    derivatives of d − λ · excess are those of `Curvature`, under the linearised inequality, which gives λ in
    closed form. A step that does not raise d less the price of the excess (more than λ) is cut; every pass
    serves each variant with its next step or a cut one. Of all weights on the way the farthest feasible ones
    count, so |Δŷ| ≤ ε holds of all that is returned, exactly.

    Source: Nocedal and Wright, Numerical Optimization (2006), chapter 18, and section 7.2 for L-BFGS.
    """

    def __init__(self, setting: Setting) -> None:
        self.setting, self.largest, self.passes = setting, setting.largest, setting.search.passes
        self.margin, self.hardest = (share * setting.search.epsilon for share in (MARGIN, HARDEST))

    def __call__(self, adversary: Adversary, starts: Float[Tensor, "maps p"]) -> Climbs:
        """Climb from a start of each variant."""
        every = adversary
        count = adversary.variants
        best, best_weights = starts.new_zeros(count), every.own.clone()
        settled = torch.zeros(count, dtype=torch.bool, device=starts.device)
        most = starts.new_full((count,), -torch.inf)
        live = torch.arange(count, device=starts.device)

        def evaluate(parameters: Tensor) -> Point:
            with torch.enable_grad():
                at = parameters.detach().requires_grad_()
                weights = adversary.weights(at)
                distances = adversary.distances(weights) / self.largest
                (rise,) = torch.autograd.grad(distances.sum(), at, retain_graph=True)
                logits = adversary.logits(weights)
                excess = self.setting.soft_excess(adversary.before, logits, soft)
                (normal,) = torch.autograd.grad(excess.sum(), at)
            distances, excess = distances.detach(), excess.detach()
            beyond = self.setting.excess(adversary.before, logits.detach())
            # What has settled stays there, however long the others of its batch climb.
            climbing = ~settled[live]
            most[live] = torch.where(climbing, torch.maximum(most[live], beyond), most[live])
            better = climbing & (beyond <= 0) & (distances > best[live])
            best[live] = torch.where(better, distances, best[live])
            if better.any():
                changed = torch.zeros(count, dtype=torch.bool, device=live.device)
                changed[live[better]] = True
                best_weights[changed[every.owner]] = weights.detach()[better[adversary.owner]]
            return Point(parameters, distances, excess, rise, normal)

        soft = starts.new_full((count,), SOFTEST)
        point = evaluate(starts)
        curvature = Curvature(starts, count)
        curvature.scale = 1 / adversary.largest(point.rise).clamp_min(TINY)
        price = starts.new_zeros(count)
        step, price, multiplier, slope = self.step(adversary, point, curvature, price)
        length = starts.new_ones(count)
        quiet, high, low = starts.new_zeros(count), best.clone(), point.excess.clone()
        for number in range(1, self.passes):
            other = evaluate(point.at + adversary.spread(length) * step)
            before, after = point.merit(price, self.margin), other.merit(price, self.margin)
            moved = after >= before + ARMIJO * length * slope
            y = point.rise - other.rise + adversary.spread(multiplier) * (other.normal - point.normal)
            curvature.add(adversary, other.at - point.at, y, moved)
            cut = slope * length.square() / (2 * (before + slope * length - after)).clamp_min(TINY)
            length = torch.where(moved, 1.0, torch.minimum(torch.maximum(cut, length / 10), length / 2))
            stuck = length < SHORTEST
            curvature.forget(stuck)
            curvature.scale = torch.where(
                stuck, 0.1 / adversary.largest(point.rise).clamp_min(TINY), curvature.scale
            )
            point = point.where(moved, adversary, other)
            softer = (point.excess / 2).clamp_min(self.hardest)
            soft = torch.where(moved, torch.minimum(soft, softer), soft)
            fresh, new_price, new_multiplier, new_slope = self.step(adversary, point, curvature, price)
            again = moved | stuck
            length = torch.where(stuck, 1.0, length)
            step = torch.where(again[adversary.owner][:, None], fresh, step)
            price = torch.where(again, new_price, price)
            multiplier = torch.where(again, new_multiplier, multiplier)
            slope = torch.where(again, new_slope, slope)
            inside = best[live] > 0
            rising = torch.where(inside, best[live] > high + GAP, point.excess < NEARER * low)
            high, low = torch.where(rising, best[live], high), torch.where(rising, point.excess, low)
            quiet = torch.where(rising, 0.0, quiet + 1)
            done = ((slope < GAP) & again & (point.excess <= 0)) | (quiet >= QUIET)
            settled[live] |= done
            if number % CHECKED == 0:
                going = ~settled[live]
                if not going.any():
                    break
                if going.double().mean() < COMPACTED:
                    maps = going[adversary.owner]
                    live, adversary = live[going], adversary.some(going.nonzero()[:, 0])
                    point = point.some(going, maps)
                    curvature.keep(going, maps)
                    step, length, quiet = step[maps], length[going], quiet[going]
                    high, low = high[going], low[going]
                    price, multiplier, slope = price[going], multiplier[going], slope[going]
                    soft = soft[going]
        return Climbs(best * self.largest, settled & (best > 0), most, best_weights)

    def step(
        self, adversary: Adversary, point: Point, curvature: Curvature, price: Float[Tensor, " variants"]
    ) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """The step of every variant, the price of an excess, the multiplier, and what the merit gains to
        first order."""
        up = curvature.times(adversary, point.rise)
        out = curvature.times(adversary, point.normal)
        beyond = point.excess + self.margin
        ahead = beyond + adversary.total(point.normal * up)
        multiplier = ahead.clamp_min(0) / adversary.total(point.normal * out).clamp_min(TINY)
        step = up - adversary.spread(multiplier) * out
        size = adversary.largest(point.at)
        reach = (RELATIVE * size).clamp_min(LONGEST).minimum((FARTHEST - size).clamp_min(0))
        step = torch.nan_to_num(step, posinf=0.0, neginf=0.0)
        cut = (reach / adversary.largest(step).clamp_min(TINY)).clamp_max(1.0)
        step = adversary.spread(cut) * step
        # The multiplier of the step is large where much has to be given back; that of the Lagrangian is not.
        steepness = adversary.total(point.normal.square()).clamp_min(TINY)
        along = adversary.total(point.rise * point.normal) / steepness
        multiplier = torch.where(multiplier > 0, along.clamp_min(0), 0.0)
        slope = adversary.total(point.rise * step)
        back = -torch.where(beyond > 0, adversary.total(point.normal * step), 0.0)
        needed = torch.where(back > 0, -2 * slope / back.clamp_min(TINY), 0.0)
        price = torch.maximum(torch.maximum(1.5 * multiplier, needed), price / 2)
        return step, price, multiplier, slope + price * back
