"""Penalties: what they are by hand, what a step with them is, what they do, where they have no meaning."""

import copy
import json
import os
import signal
from dataclasses import replace

import pytest
import torch
from transformers import TrainerCallback, TrainerState

import kinds
from glasshead.attention import SCORE_FUNCTIONS
from glasshead.data import LoadOptions, load
from glasshead.errors import InputError
from glasshead.models import PooledClassifier
from glasshead.opening import load_run
from glasshead.training import PENALTIES, TRAINING_PRESETS, TrainingConfig, penalty_of, train
from glasshead.training.build_model import build_classifier, encoded_split, label_tensor
from glasshead.training.penalties import PenaltyGradient, gradient_of, overshoot
from glasshead.training.tensor_dataset import TensorDataset
from glasshead.training.trainer import make_scaled_loss, make_trainer
from small import random_model

CONTEXT = TRAINING_PRESETS["s4"]
ENCODERS = ("none", "affine", "lstm")
SKEWED = LoadOptions(generator={"instances": 400, "polar_words": 5, "neutral_words": 40, "ratio": 3})


def with_penalties(recipe=CONTEXT, *, weights, **settings):
    return recipe.with_settings({"penalties": weights} | settings)


class TestValues:
    """By loops over plain numbers."""

    @staticmethod
    def dot(first, second):
        return sum(a * b for a, b in zip(first, second, strict=True))

    def through(self, matrix, vector):
        """Mᵀ v."""
        return [self.dot([row[column] for row in matrix], vector) for column in range(len(matrix[0]))]

    @pytest.mark.parametrize("classes", [2, 3])
    @pytest.mark.parametrize("encoder", ENCODERS)
    @pytest.mark.parametrize("score", ["context", "additive"])
    def test_context_output(self, score, encoder, classes):
        model = random_model(classes=classes, score=score, encoder=encoder).double()
        named = {name: parameter.tolist() for name, parameter in model.named_parameters()}
        (context,) = named["pooling.score.context.weight"]
        if score == "additive":
            context = self.through(named["pooling.score.key.weight"], context)
        outputs = named["classifier.weight"]
        if encoder == "affine":
            matrix = named["encoder.map.weight"]
            context, outputs = self.through(matrix, context), [self.through(matrix, w) for w in outputs]
        assert len(outputs) == (1 if classes == 2 else classes)
        expected = sum(self.dot(context, w) ** 2 for w in outputs)
        assert PENALTIES["context-output"](model).item() == pytest.approx(expected, rel=1e-12)

    def test_of_an_additive_score_it_is_what_couples_small_embeddings_to_the_output(self):
        """Eq. 71 is for tanh(x) ≈ x: there ∂s/∂e·λ = M^aᵀV, so P = (λ ∂s/∂e · ∂o/∂e)²."""
        model = random_model(score="additive", encoder="affine", temperature=4.0).double()
        embedded = torch.zeros(1, 1, 6, dtype=torch.double, requires_grad=True)
        mask = torch.ones(1, 1, dtype=torch.bool)
        output = model(inputs_embeds=embedded, attention_mask=mask, output_attentions=True)
        slopes = [torch.autograd.grad(each.sum(), embedded, retain_graph=True)[0].flatten()
                  for each in (output.scores, output.polarity)]  # fmt: skip
        expected = (4.0 * slopes[0] @ slopes[1]) ** 2
        torch.testing.assert_close(PENALTIES["context-output"](model), expected, rtol=1e-12, atol=0)

    @pytest.mark.parametrize("encoder", ENCODERS[1:])
    def test_encoder(self, encoder):
        model = random_model(encoder=encoder).double()
        squares = [
            value**2
            for name, parameter in model.named_parameters()
            if name.startswith("encoder.")
            for value in parameter.flatten().tolist()
        ]
        assert len(squares) == {"affine": 8 * 6, "lstm": 2 * (4 * 4 * (6 + 4) + 2 * 4 * 4)}[encoder]
        assert PENALTIES["encoder"](model).item() == pytest.approx(sum(squares), rel=1e-12)

    def test_the_whole_is_the_weighted_sum(self):
        model = random_model(encoder="affine").double()
        whole = penalty_of(model, {"context-output": 3.0, "encoder": 0.25})
        parts = PENALTIES["context-output"](model) * 3 + PENALTIES["encoder"](model) / 4
        torch.testing.assert_close(whole, parts, rtol=1e-12, atol=0)
        assert penalty_of(model, {}).item() == 0


def fresh(recipe, folder, data=None, **about):
    """An untrained model and the Trainer that would train it on all of train in one step."""
    data = data or kinds.data("pooled")
    torch.manual_seed(0)
    model = build_classifier(recipe, data).model
    tokenizer = build_classifier(recipe, data).tokenizer
    rows = {
        split: TensorDataset(encoded_split(tokenizer, data[split]), label_tensor(data[split]))
        for split in data
    }
    return model, rows, make_trainer(model, recipe, rows, folder, 0, [])


def one_step(weights, encoder="affine", **settings):
    return with_penalties(
        weights=weights, encoder=encoder, hidden_size=8, batch_size=128, epochs=1, **settings
    )


class TestOneStep:
    """θ − η ∂(loss + Σ c P)/∂θ."""

    WEIGHTS = {"context-output": 2.0, "encoder": 0.3}  # noqa: RUF012

    @pytest.mark.parametrize("encoder", ENCODERS)
    @pytest.mark.parametrize("score", ["context", "additive"])
    def test_follows_the_gradient_of_the_sum(self, encoder, score, tmp_path):
        weights = {name: c for name, c in self.WEIGHTS.items() if encoder != "none" or name != "encoder"}
        recipe = one_step(weights, encoder, score=score, loss_scale=5.0, learning_rate=0.4)
        model, rows, trainer = fresh(recipe, tmp_path)
        expected = copy.deepcopy(model).train()
        batch = rows["train"].__getitems__(range(128))
        output = expected(batch["input_ids"], batch["attention_mask"])
        objective = make_scaled_loss(5.0, False)(output, batch["labels"]) + penalty_of(expected, weights)
        names, parameters = zip(*expected.named_parameters(), strict=True)
        gradients = torch.autograd.grad(objective, parameters)
        bare = torch.autograd.grad(penalty_of(expected, weights), parameters, allow_unused=True)
        assert sum(each is not None and bool(each.any()) for each in bare) >= 2  # something is at stake
        trainer.train()
        assert trainer.state.global_step == 1
        for name, before, gradient in zip(names, parameters, gradients, strict=True):
            after = model.get_parameter(name)
            torch.testing.assert_close(after, before - 0.4 * gradient, rtol=1e-5, atol=1e-7, msg=name)

    def test_the_penalty_is_added_after_clipping(self, tmp_path):
        recipe = one_step(self.WEIGHTS, learning_rate=0.4)
        model, _, trainer = fresh(recipe, tmp_path)
        trainer.args.max_grad_norm = 1e-12  # nothing of the loss is left
        before = copy.deepcopy(model)
        penalty_of(before, self.WEIGHTS).backward()
        trainer.train()
        moved = 0
        for (name, old), new in zip(before.named_parameters(), model.parameters(), strict=True):
            step = torch.zeros_like(old) if old.grad is None else 0.4 * old.grad
            torch.testing.assert_close(new, old - step, rtol=1e-5, atol=1e-7, msg=name)
            moved += bool(step.any())
        assert moved == 3  # V, W and M

    def test_the_loss_that_is_told_is_that_of_the_task(self, tmp_path):
        _, rows, trainer = fresh(one_step({"encoder": 1e3}, learning_rate=1e-9), tmp_path)
        result = trainer.train()
        assert result.training_loss == pytest.approx(0.693, abs=0.05)
        assert trainer.evaluate(rows["dev"])["eval_loss"] == pytest.approx(0.693, abs=0.05)

    def test_every_batch_that_is_accumulated_adds_none(self, tmp_path):
        """One penalty per step, however many batches make it."""
        weights, models = {"encoder": 0.3}, []
        for size, batches in ((128, 1), (32, 4)):
            recipe = replace(one_step(weights, learning_rate=0.4), batch_size=size)
            model, _, trainer = fresh(recipe, tmp_path / str(size))
            trainer.args.gradient_accumulation_steps = batches
            trainer.args.max_grad_norm = 1e-12
            trainer.train()
            assert trainer.state.global_step == 1
            models.append(model)
        for first, second in zip(*(model.parameters() for model in models), strict=True):
            torch.testing.assert_close(first, second, rtol=1e-5, atol=1e-7)

    def test_on_no_batch_of_its_own(self):
        """The callback alone gives the gradient of the penalty, on top of what is there."""
        model = random_model(encoder="affine")
        weight = model.encoder.map.weight
        weight.grad = torch.ones_like(weight)
        PenaltyGradient({"encoder": 0.5}).on_pre_optimizer_step(None, None, None, model=model)
        torch.testing.assert_close(weight.grad, 1 + weight.detach())
        assert model.classifier.weight.grad is None


class TestOvershoot:
    """Steps of plain SGD that are too large for a penalty."""

    @staticmethod
    def step(model, weights, rate, optimizer=torch.optim.SGD):
        """One step of the penalty alone, and what was noted of it."""
        penalty, descent = PenaltyGradient(weights), optimizer(model.parameters(), lr=rate)
        about = {"model": model, "optimizer": descent}
        penalty.on_pre_optimizer_step(None, TrainerState(global_step=6), None, **about)
        descent.step()
        return penalty

    @pytest.mark.parametrize("encoder", ["none", "affine"])
    @pytest.mark.parametrize("score", ["context", "additive"])
    @pytest.mark.parametrize("rate", [1e-4, 0.02, 0.3])
    def test_the_factor_is_what_a_step_makes_of_a_small_coupling(self, score, encoder, rate):
        """V is all but perpendicular to W: then the step is one of a linear map."""
        model = random_model(score=score, encoder=encoder, hidden_size=6).double()
        with torch.no_grad():
            for parameter in model.parameters():
                parameter.mul_(4)  # as large as they get in a training
            value, direction = self.coupling(model)
            context = model.get_parameter("pooling.score.context.weight")
            context -= (1 - 1e-6) * value * direction / direction.square().sum()
        before, _ = self.coupling(model)
        penalty = 0.7 * PENALTIES["context-output"](model)
        slopes = gradient_of(model, penalty)
        factor = overshoot(penalty, slopes.values(), rate)
        self.step(model, {"context-output": 0.7}, rate)
        after, _ = self.coupling(model)
        assert (after / before).item() == pytest.approx(factor, rel=1e-3)
        if (score, encoder) == ("context", "none"):
            model = copy.deepcopy(model)
            value = PENALTIES["context-output"](model)
            v, w = model.get_parameter("pooling.score.context.weight"), model.classifier.weight
            size = (v.square().sum() + w.square().sum()).item()
            found = overshoot(value, gradient_of(model, value).values(), rate)
            assert found == pytest.approx(1 - 2 * rate * size, rel=1e-9)

    @staticmethod
    def coupling(model):
        """V′ᵀW′, and its derivative by V."""
        context = model.get_parameter("pooling.score.context.weight")
        with torch.enable_grad():
            v, w = context, model.classifier.weight
            if model.config.score == "additive":
                v = v @ model.get_parameter("pooling.score.key.weight")
            if model.config.encoder == "affine":
                v, w = (each @ model.get_parameter("encoder.map.weight") for each in (v, w))
            value = (v @ w.T).sum()
            return value.detach(), torch.autograd.grad(value, context)[0]

    def test_an_encoder_shrinks_by_the_same_factor_everywhere(self):
        model = random_model(encoder="lstm")
        for weight, factor in ((0.1, 0.6), (0.5, -1.0), (0.6, -1.4)):
            value = weight * PENALTIES["encoder"](model)
            assert overshoot(value, gradient_of(model, value).values(), 2.0) == pytest.approx(factor)

    def test_is_noted_once_in_one_line(self):
        model = random_model(encoder="affine")
        penalty = self.step(model, {"encoder": 0.6, "context-output": 1e-6}, 2.0)
        (note,) = penalty.notes
        assert note == (
            "penalty encoder overshoots at step 7: a step multiplies its root by about −1.40, and below −1 "
            "it grows; lower its weight or the learning rate"
        )
        again = {"model": model, "optimizer": torch.optim.SGD(model.parameters(), lr=2.0)}
        penalty.on_pre_optimizer_step(None, TrainerState(global_step=9), None, **again)
        assert penalty.notes == [note]

    def test_other_optimizers_and_zeros_say_nothing(self):
        model = random_model(encoder="affine")
        assert self.step(model, {"encoder": 50.0}, 2.0, torch.optim.Adagrad).notes == []
        assert self.step(model, {"encoder": 0.0}, 2.0).notes == []
        assert self.step(model, {"encoder": 0.4}, 2.0).notes == []


@pytest.fixture(scope="module")
def skewed():
    """Three positive reviews to a negative one."""
    return load("synthetic", SKEWED)


class TestTraining:
    @pytest.mark.slow
    @pytest.mark.parametrize("encoder", ["none", "affine"])
    def test_the_coupling_that_skewed_classes_bring_about_stays_small(self, skewed, encoder, tmp_path):
        """Fig. 5 and 9, on data where VᵀW grows (Fig. 7): the same accuracy without the coupling."""
        squares, accuracy = {}, {}
        for weight in (0.0, 0.01):
            recipe = with_penalties(weights={"context-output": weight}, encoder=encoder)
            run = load_run(train(skewed, recipe, tmp_path / str(weight)))
            squares[weight] = PENALTIES["context-output"](run.model).item()
            accuracy[weight] = json.loads((run.folder / "metrics.json").read_text())["test"]["accuracy"]
        assert squares[0.0] > 2
        assert squares[0.01] < squares[0.0] / 50
        assert min(accuracy.values()) > 0.95

    @pytest.mark.parametrize(
        ("weight", "optimizer", "noted"),
        [
            pytest.param(0.01, "sgd", 0, marks=pytest.mark.slow),
            (0.2, "sgd", 1),
            pytest.param(0.2, "adagrad", 0, marks=pytest.mark.slow),
        ],
    )
    def test_a_weight_too_large_for_its_steps_is_noted(self, skewed, tmp_path, weight, optimizer, noted):
        recipe = with_penalties(weights={"context-output": weight}, optimizer=optimizer)
        if optimizer == "adagrad":
            recipe = recipe.with_settings({"learning_rate": 0.05})
        run = train(skewed, recipe, tmp_path / "run")
        notes = json.loads((run / "run.json").read_text())["notes"]
        assert [note.startswith("penalty context-output overshoots at step") for note in notes] == [
            False, *[True] * noted
        ]  # fmt: skip

    @pytest.mark.slow
    def test_a_large_encoder_penalty_empties_the_encoder(self, skewed, tmp_path):
        sizes = []
        for weight in (0.0, 0.2):
            recipe = with_penalties(weights={"encoder": weight}, encoder="lstm", hidden_size=8, epochs=3)
            run = load_run(train(skewed, recipe, tmp_path / str(weight)))
            sizes.append(PENALTIES["encoder"](run.model).item())
        assert sizes[1] < 1e-3 * sizes[0]

    def test_a_weight_of_zero_changes_no_bit(self, skewed, tmp_path):
        runs = [
            train(skewed, with_penalties(weights=weights, epochs=2), tmp_path / str(len(weights)))
            for weights in ({}, {"context-output": 0.0})
        ]
        weights = [(run / "model.safetensors").read_bytes() for run in runs]
        assert weights[0] == weights[1]

    def test_the_record_tells_the_weights_and_the_values(self, skewed, tmp_path):
        run = load_run(
            train(skewed, with_penalties(weights={"context-output": 0.01}, epochs=2), tmp_path / "r")
        )
        assert run.record["recipe"]["penalties"] == {"context-output": 0.01}
        (note,) = run.record["notes"]
        value = PENALTIES["context-output"](run.model).item()
        assert note.startswith("penalty context-output: ")
        assert note.endswith(f" at first, {value:.3g} in the epoch kept")

    def test_a_penalty_that_overshoots_is_no_model(self, skewed, tmp_path):
        # η · 2c(‖V‖² + ‖W‖²) > 2: every step throws VᵀW further to the other side.
        recipe = with_penalties(weights={"context-output": 1e3}, epochs=2)
        with pytest.raises(InputError, match="lower `learning_rate` or `penalties`"):
            train(skewed, recipe, tmp_path / "run")
        assert list(tmp_path.iterdir()) == []

    @pytest.mark.slow
    def test_compiled(self, skewed, tmp_path):
        """The callback reaches the parameters behind torch.compile."""
        plain = with_penalties(weights={"encoder": 0.1}, encoder="affine", hidden_size=8, epochs=1)
        found = []
        for recipe in (plain, replace(plain, compile=True)):
            model, _, trainer = fresh(recipe, tmp_path / str(recipe.compile), skewed)
            trainer.train()
            found.append(torch.cat([each.detach().flatten() for each in model.parameters()]))
        torch.testing.assert_close(*found, rtol=1e-4, atol=1e-6)


class Stop(TrainerCallback):
    """A Ctrl-C after so many steps."""

    def __init__(self, step):
        self.step = step

    def on_step_end(self, args, state, control, **kwargs):
        if state.global_step == self.step:
            os.kill(os.getpid(), signal.SIGINT)


@pytest.mark.slow
def test_goes_on_to_the_same_weights(skewed, tmp_path):
    weights = {"context-output": 0.02, "encoder": 0.001}
    recipe = with_penalties(
        weights=weights, encoder="affine", optimizer="adam", learning_rate=0.01, dropout=0.2
    )
    recipe = replace(recipe, epochs=4)
    whole = train(skewed, recipe, tmp_path / "whole", seed=3)
    without = train(skewed, replace(recipe, penalties={}), tmp_path / "without", seed=3)
    with pytest.raises(KeyboardInterrupt):
        train(skewed, recipe, tmp_path / "cut", seed=3, callbacks=[Stop(2 * 9 + 3)])
    other = replace(recipe, penalties=weights | {"encoder": 0.002})
    with pytest.raises(InputError, match="started with another recipe"):
        train(skewed, other, tmp_path / "cut", seed=3, resume=True)
    train(skewed, recipe, tmp_path / "cut", seed=3, resume=True)
    files = [(tmp_path / name / "model.safetensors").read_bytes() for name in ("cut", "whole", "without")]
    assert files[0] == files[1] != files[2]
    notes = [load_run(tmp_path / name).record["notes"] for name in ("cut", "whole")]
    assert notes[0] == notes[1]
    assert load_run(whole).record["recipe"]["penalties"] == weights
    assert "penalties" not in load_run(without).record["recipe"]


class TestRecipe:
    def test_without_penalties_the_record_is_what_it_was(self):
        assert "penalties" not in CONTEXT.as_dict()
        assert "penalties" not in TRAINING_PRESETS["da-transformer"].as_dict()

    def test_json_and_back(self):
        recipe = with_penalties(weights={"context-output": 1})
        assert recipe.as_dict()["penalties"] == {"context-output": 1.0}
        assert TrainingConfig(**json.loads(json.dumps(recipe.as_dict()))) == recipe

    def test_changes_keep_them(self):
        recipe = with_penalties(weights={"context-output": 0.5}).with_changes(epochs=2, temperature=3)
        assert (recipe.penalties, recipe.epochs) == ({"context-output": 0.5}, 2)

    @pytest.mark.parametrize(
        ("weights", "settings", "says"),
        [
            ({"context-outptu": 1}, {}, "unknown penalty 'context-outptu': did you mean 'context-output'"),
            ({"context-output": -0.1}, {}, "must be 0 or a positive number, not -0.1"),
            ({"context-output": float("nan")}, {}, "must be 0 or a positive number, not nan"),
            ({"context-output": float("inf")}, {}, "must be 0 or a positive number, not inf"),
            ({"context-output": "much"}, {}, "of the penalty 'context-output' must be a number, not 'much'"),
            ({"context-output": True}, {}, "must be a number, not True"),
            (["encoder"], {}, "`penalties` must be a mapping"),
            ({"encoder": 1}, {}, "there is no encoder: use `encoder` affine or lstm"),
            ({"context-output": 1}, {"score": "query-key"}, "no context vector V: use `score='context'`"),
            ({"context-output": 1}, {"value_dim": 4}, "different spaces: use `value_dim=None`"),
        ],
    )
    def test_refused(self, weights, settings, says):
        with pytest.raises(InputError, match=says) as refused:
            with_penalties(weights=weights, **settings)
        assert "\n" not in str(refused.value)

    @pytest.mark.parametrize("kind", ["encoder", "tuned"])
    def test_refused_for_other_models(self, kind):
        recipe = kinds.recipe(kind, "some/folder")
        with pytest.raises(InputError, match=r"for the model 'pooled', not '.+': leave `penalties` out"):
            recipe.with_settings({"penalties": {"encoder": 1}})

    def test_a_change_of_the_model_is_checked_against_its_penalties(self):
        with pytest.raises(InputError, match="there is no encoder"):
            with_penalties(weights={"encoder": 1}, encoder="lstm").with_changes(encoder="none")


@pytest.mark.parametrize("name", PENALTIES)
class TestEveryPenalty:
    """What a new entry has to keep."""

    CASES = tuple(
        {"encoder": encoder, "score": score, "value_dim": value_dim}
        for encoder in ENCODERS
        for score in SCORE_FUNCTIONS
        for value_dim in (None, 3)
    )

    def test_refused_or_a_differentiable_number_that_is_not_negative(self, name):
        served = 0
        for case in self.CASES:
            for classes in (2, 3):
                model = random_model(classes=classes, **case).double()
                reason = PENALTIES[name].unsupported_reason(model.config)
                if reason is not None:
                    assert "use `" in reason
                    continue
                served += 1
                value = PENALTIES[name](model)
                assert value.shape == ()
                assert value.item() > 0
                value.backward()
                assert any(each.grad is not None and each.grad.any() for each in model.parameters())
        assert served

    def test_it_is_zero_where_all_parameters_are(self, name):
        model = random_model(encoder="affine", score="context")
        with torch.no_grad():
            for parameter in model.parameters():
                parameter.zero_()
        assert isinstance(model, PooledClassifier)
        assert PENALTIES[name](model).item() == 0

    def test_it_says_what_it_is_and_where_it_comes_from(self, name):
        assert type(PENALTIES[name]).__doc__
        assert "20" in PENALTIES[name].source
