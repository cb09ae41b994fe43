"""What is observed of a classifier with one learned query: groups of tokens, dot products, and, where there
is a closed form, the terms of the flow."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from transformers import PreTrainedModel, PreTrainedTokenizerFast

from glasshead.arrays import Floats
from glasshead.data import occurrences
from glasshead.errors import InputError
from glasshead.huggingface import class_names
from glasshead.models import PooledClassifier
from glasshead.papers.dynamics.embedding_products import (
    GradientFactors,
    gradient_factors,
    mean_rates,
    product_quartiles,
)
from glasshead.papers.dynamics.forms.form import (
    Batch,
    ClosedForm,
    FormParameters,
    directional_change,
    output_gradients,
)
from glasshead.papers.dynamics.forms.select import form_of, no_closed_form_reason, read_parameters
from glasshead.papers.dynamics.sampling import choose_sample
from glasshead.papers.dynamics.snapshots import BoxRow, CurveRow, Snapshot, mean_curve
from glasshead.papers.dynamics.token_groups import TokenGroups, group_tokens
from glasshead.papers.results import Columns
from glasshead.trace import entropies, target_polarity
from glasshead.training import USUAL_LOSS, TensorDataset, TrainingConfig, penalty_descent

PROBE = 5000
"""Train texts on which weights, entropy and the flow are computed."""
READ = 1000
"""As many where the model has to read them: without a closed form."""
PENALTY = "R"
PENALTY_TERM = "the penalties of the training"
NO_TEXTS = "the texts of the training are not there"


class PooledObserver:
    """Scores, polarities and weights of token groups, VᵀW, norms, entropy, Ω, and the terms of the flow.

    A token's score and polarity are those of its embedding where there is no context (Sun and Lu 2020, eqs.
    34, 81), else means over its occurrences in the probe. Without train ``rows``, but with the ``counts``
    [classes, v] of a run, there are no weights, no entropy and no flow.

    Raises:
        InputError: without rows, where scores depend on the texts.
    """

    def __init__(
        self,
        *,
        model: PreTrainedModel,
        tokenizer: PreTrainedTokenizerFast,
        rows: TensorDataset | None,
        recipe: TrainingConfig,
        truth: Mapping[str, str] | None = None,
        counts: NDArray[np.int64] | None = None,
    ) -> None:
        assert isinstance(model, PooledClassifier)
        reason = no_closed_form_reason(model)
        if recipe.adversary_weight is not None:
            reason = "closed forms are known for cross-entropy, not for an adversary of another run"
        if recipe.loss not in (None, USUAL_LOSS):
            reason = f"closed forms are known for cross-entropy, not for the loss {recipe.loss}"
        self.penalties = dict(recipe.penalties)
        self.loss_scale = recipe.loss_scale
        self.labels = class_names(model)
        self.form: ClosedForm | None = form_of(model) if reason is None else None
        self.batch: dict[str, Tensor] = {}
        if rows is not None:
            # The mean over all texts is this times the mean over those with tokens; the others move no token.
            self.loss_scale *= float((rows.lengths > 0).double().mean())
            self.batch = rows.__getitems__(choose_sample(rows, READ if self.form is None else PROBE).tolist())
            counts = occurrences(
                rows.encoded, rows.labels, classes=len(self.labels), vocabulary=len(tokenizer)
            )
        elif self.form is None:
            raise InputError(f"{reason}; its scores depend on texts: name the data that it was trained on")
        assert counts is not None, "without rows, the counts of a run are needed"
        self.groups: TokenGroups = group_tokens(tokenizer, counts, self.labels, truth)
        self.paired = self.groups.pair_sample()
        followed = self.groups.followed
        self.token_facts: Columns = {
            "token": np.array(tokenizer.convert_ids_to_tokens(followed.tolist())),
            "group": self.groups.group_of()[followed],
            "count": counts.sum(axis=0)[followed],
        }
        self.facts: dict[str, Any] = self._facts(model, recipe, reason)

    def _facts(self, model: PooledClassifier, recipe: TrainingConfig, reason: str | None) -> dict[str, Any]:
        config = model.config
        reason = reason if self.batch else NO_TEXTS
        inexact = inexactness(recipe, config.dropout) if reason is None else reason
        terms = {} if self.form is None or not self.batch else {
            "polarity": dict(self.form.polarity_terms), "score": dict(self.form.score_terms)
        }  # fmt: skip
        if self.penalties:
            terms = {name: words | {PENALTY: PENALTY_TERM} for name, words in terms.items()}
        return {
            "kind": "pooled",
            "form": None if self.form is None else self.form.name,
            "title": f"{config.score} score" if self.form is None else self.form.title,
            "why_no_form": reason,
            "exact": inexact is None,
            "why_not_exact": inexact,
            "score": config.score,
            "encoder": config.encoder,
            "activation": config.activation,
            "signed": model.activation.signed,
            "scale": config.temperature,
            "optimizer": recipe.optimizer,
            "penalties": self.penalties,
            "probe": len(self.batch["labels"]) if self.batch else 0,
            "labels": self.labels,
            "groups": {name: len(ids) for name, ids in self.groups.members.items()},
            "grouped_by": self.groups.by,
            "terms": terms,
        }

    def snapshot(self, model: PreTrainedModel) -> Snapshot:
        """What there is to see now."""
        assert isinstance(model, PooledClassifier)
        rates: dict[str, Floats] = {}
        if self.form is None:
            score, polarity, weight, curves = self._from_forward(model)
            curves += self._coupling_and_norms(model)
        else:
            p = read_parameters(model, torch.float32)
            tokens = self.form.tokens(p, model.config.temperature)
            score, polarity = tokens.score.double().numpy(), self._class_polarity(tokens.polarity)
            weight, rates, curves = np.full_like(score, np.nan), {}, []
            if self.batch:
                weight, rates, curves = self._from_closed_form(model, p)
            for name, coupling in self.form.couplings(p).items():
                curves += self._by_class(name, coupling)
            curves += self._norms(p.context, p.output)
        of_tokens = {"score": score, "polarity": polarity, "weight": weight}
        for name, values in (of_tokens | rates).items():
            for group, ids in self.groups.members.items():
                curves += mean_curve(name, group, values[ids][~np.isnan(values[ids])])
        followed = self.groups.followed
        return Snapshot(
            curves,
            self._boxes(model),
            {name: values[followed].astype(np.float32) for name, values in of_tokens.items()},
            {name: values[followed] for name, values in rates.items()},
        )

    def _from_forward(self, model: PooledClassifier) -> tuple[Floats, Floats, Floats, list[CurveRow]]:
        """Mean score, polarity and weight of every token over its places in the probe, NaN without any."""
        ids = self.batch["input_ids"]
        with torch.no_grad():
            inputs = {
                name: tensor.to(model.device) for name, tensor in self.batch.items() if name != "labels"
            }
            output = model(**inputs, output_attentions=True)
        classes = torch.from_numpy(self.groups.class_of)[ids]
        polarity = target_polarity(output.polarity.float().cpu(), classes)
        weights = output.weights.float().cpu()
        score, polar, weight = (
            self._per_token(values) for values in (output.scores.float().cpu(), polarity, weights)
        )
        return score, polar, weight, self._losses(output.logits.float().cpu(), weights)

    def _from_closed_form(
        self, model: PooledClassifier, p: FormParameters
    ) -> tuple[Floats, dict[str, Floats], list[CurveRow]]:
        """Mean weight of every token, the rates of all terms, and the answers and the rates of Ω as curves,
        without running the model."""
        assert self.form is not None
        temperature = model.config.temperature
        mask = self.batch["attention_mask"].bool()
        batch = Batch(self.batch["input_ids"], mask, self.batch["labels"], temperature, self.loss_scale)
        grads = output_gradients(self.form, p, batch)
        flow = self.form.flow(p, temperature, grads)
        polarity, score = dict(flow.polarity), dict(flow.score)
        parts = gradient_factors(self.form, p, temperature, grads)
        if self.penalties:
            descent = penalty_descent(model, self.penalties)
            direction = read_parameters(model, torch.float32, descent.__getitem__).leaves()
            polarity[PENALTY], score[PENALTY] = directional_change(self.form, p, temperature, direction)
            parts[PENALTY] = GradientFactors(direction["embeddings"], p.embeddings)
        rates = {f"polarity {name}": self._class_polarity(term) for name, term in polarity.items()} | {
            f"score {name}": term.double().numpy() for name, term in score.items()
        }
        logits = grads.logits
        if logits.shape[1] == 1:
            logits = torch.cat([torch.zeros_like(logits), logits], dim=1)
        curves = self._losses(logits, grads.weights) + mean_rates(parts, self.paired)
        return self._per_token(grads.weights), rates, curves

    def _losses(self, logits: Tensor, weights: Tensor) -> list[CurveRow]:
        """Loss and accuracy on the probe, and how widely attention is spread there."""
        labels = self.batch["labels"]
        loss = torch.nn.functional.cross_entropy(logits, labels)
        right = (logits.argmax(dim=1) == labels).float().mean()
        entropy = entropies(weights, self.batch["attention_mask"].bool())
        return [
            ("loss", "", float(loss), float("nan"), len(labels)),
            ("accuracy", "", float(right), float("nan"), len(labels)),
            *mean_curve("entropy", "", entropy[~entropy.isnan()].numpy()),
        ]

    def _per_token(self, values: Tensor) -> Floats:
        """[texts, n] → the mean of every token over its places in the probe."""
        mask = self.batch["attention_mask"].bool()
        ids = self.batch["input_ids"][mask].numpy()
        size = len(self.groups.class_of)
        often = np.bincount(ids, minlength=size)
        sums = np.bincount(ids, weights=values[mask].double().numpy(), minlength=size)
        return np.divide(sums, often, out=np.full(size, np.nan), where=often > 0)

    def _class_polarity(self, polarity: Tensor) -> Floats:
        """[v, k] → [v]: towards class 1 of two, else a token's likeliest class against the mean."""
        classes = torch.from_numpy(self.groups.class_of)[None]
        return target_polarity(polarity[None], classes)[0].double().numpy()

    def _coupling_and_norms(self, model: PooledClassifier) -> list[CurveRow]:
        """VᵀW and norms, where V and W live in one space."""
        context = getattr(model.pooling.score, "context", None)
        output = model.classifier.weight.detach().float().cpu()
        if context is None or model.config.value_dim is not None:
            return self._by_class("‖W‖", output.norm(dim=1))
        v = context.weight[0].detach().float().cpu()
        norms = self._norms(v, output)
        return norms + (self._by_class("VᵀW", output @ v) if v.shape[0] == output.shape[1] else [])

    def _norms(self, context: Tensor, output: Tensor) -> list[CurveRow]:
        return [
            ("‖V‖", "", float(context.norm()), float("nan"), 1),
            *self._by_class("‖W‖", output.norm(dim=1)),
        ]

    def _by_class(self, name: str, values: Tensor) -> list[CurveRow]:
        """One number, or one of every class."""
        groups = [""] if len(values) == 1 else self.labels
        return [
            (name, group, float(value), float("nan"), 1) for group, value in zip(groups, values, strict=True)
        ]

    def _boxes(self, model: PooledClassifier) -> list[BoxRow]:
        """Ω between the tokens of every two groups; of h = M e too, where there is a map."""
        embeddings = model.get_parameter("embedding.weight").detach().float().cpu()
        quartiles = product_quartiles("e", embeddings, self.paired)
        if model.config.encoder == "affine":
            map_ = model.get_parameter("encoder.map.weight").detach().float().cpu()
            quartiles += product_quartiles("h", embeddings @ map_.T, self.paired)
        return quartiles


def inexactness(recipe: TrainingConfig, dropout: float) -> str | None:
    """Why the terms of the flow do not add up to the change of a score; None: they do, for small steps."""
    if recipe.optimizer != "sgd":
        return f"{recipe.optimizer} rescales the gradients: the terms describe plain gradient descent"
    if dropout:
        return f"with dropout {dropout} the trained model is not the one whose terms these are"
    return None
