"""Equations that are printed with a mistake: as printed they fail, as corrected they hold.

The page "Errata of the papers" names these tests.
"""

import math

import numpy as np
import pytest
import torch
from torch import outer, tanh
from written_out import autograd_gradients, random_batch, random_parameters, score_of, texts_of

from glasshead.data.token_groups import token_groups
from glasshead.models.encoder import EncoderConfig, SinusoidalPositions
from glasshead.papers.dynamics.forms.additive import linear_terms
from glasshead.papers.dynamics.forms.form import (
    FORMS,
    Batch,
    directional_change,
    output_gradients,
    score_flow,
)
from glasshead.papers.dynamics.score_update import general_update, tanhmax_update
from tolerances import EXACT_MATHS


def same(found, expected):
    return torch.allclose(found, expected, **EXACT_MATHS)


def far(found, expected):
    """Apart by more than a tenth of what is right."""
    return float((found - expected).abs().max()) > 0.1 * float(expected.abs().max())


def change_of(name, p, batch):
    """ds_e/dτ and da_e/dτ as autograd has them: the change of both along −∂ℓ/∂θ."""
    downhill = {key: -each for key, each in autograd_gradients(name, p, batch).items()}
    return directional_change(FORMS[name], p, batch.temperature, downhill)


def occurrences(name, p, batch):
    """yβα_j, s_j − s, α_j, −∂ℓ/∂s, h and the word of every place (t, j), without the 1/m."""
    tokens = FORMS[name].tokens(p, batch.temperature)
    grads = output_gradients(FORMS[name], p, batch)
    for t, (words, _) in enumerate(texts_of(batch)):
        alpha = grads.weights[t][batch.mask[t]]
        yb = -grads.residual[t]
        s = alpha @ tokens.polarity[words]
        e = p.embeddings[words]
        h = alpha @ (e @ p.map.T if name == "DP-A" else e)
        for j, word in enumerate(words):
            yield word, e[j], alpha[j], yb, tokens.polarity[word] - s, h


@pytest.fixture(params=range(3))
def seed(request):
    return request.param


class TestSunAndLu:
    """Sun and Lu (2020), supplement."""

    def test_44_has_one_scale_too_many(self, seed):
        """−(∂ℓ/∂e_i)ᵀe_k = (1/m) Σ yβα (s_i − s) a_k + (1/m) Σ yβα s_k; printed: (s_i − s)/λ · a_k. The λ of
        eq. 42 is in a_k = e_kᵀV/λ already."""
        p, batch = random_parameters("DP", seed=seed), random_batch(seed=seed, scale=4.0)
        s, a = (each.squeeze() for each in FORMS["DP"].tokens(p, batch.temperature))
        printed, corrected = (torch.zeros(9, 9, dtype=torch.float64) for _ in range(2))
        for i, _, alpha, yb, lead, _ in occurrences("DP", p, batch):
            yba = yb[0] * alpha / len(batch.ids)
            printed[i] += yba * (lead[0] / batch.temperature * a + s)
            corrected[i] += yba * (lead[0] * a + s)
        right = -autograd_gradients("DP", p, batch)["embeddings"] @ p.embeddings.T
        assert same(corrected, right)
        assert not torch.allclose(printed, right, rtol=1e-2, atol=1e-3)

    def test_47_counts_m_once_more_than_45(self, seed):
        """π(e) is (1/m) Σ yβα in eqs. 45–46, and Σ yβα in eq. 47, where it has a 1/m before it."""
        p, batch = random_parameters("DP", seed=seed, bias=False), random_batch(seed=seed, scale=1e9)
        m, W = len(batch.ids), p.output[0]
        s = FORMS["DP"].tokens(p, batch.temperature).polarity[:, 0]
        plain = torch.zeros(9, dtype=torch.float64)
        for word, _, alpha, yb, _, _ in occurrences("DP", p, batch):
            plain[word] += yb[0] * alpha
        embeddings = -autograd_gradients("DP", p, batch)["embeddings"]
        right_45, right_B = embeddings @ p.embeddings.T, embeddings @ W

        def with_pi(pi):
            return [
                torch.allclose(outer(pi, s), right_45, rtol=1e-6, atol=1e-9),
                torch.allclose(W @ W * pi / m, right_B, rtol=1e-6, atol=1e-9),
            ]

        assert with_pi(plain) == [False, True]
        assert with_pi(plain / m) == [True, False]

    def test_47_leaves_out_the_coupling(self, seed):
        """ds/dτ = (A) ε VᵀW/λ + (B) + (C); printed: (B) + (C), with ≈."""
        p, batch = random_parameters("DP", seed=seed), random_batch(seed=seed, scale=1.0)
        right, flow = change_of("DP", p, batch).polarity, score_flow(FORMS["DP"], p, batch)
        m, W = len(batch.ids), p.output[0]
        B, C, A = (torch.zeros(9, dtype=torch.float64) for _ in range(3))
        for word, e, alpha, yb, lead, _ in occurrences("DP", p, batch):
            yba = yb[0] * alpha / m
            A[word] += yba * lead[0] * (p.context @ W) / batch.temperature
            B[word] += yba * (W @ W)
            C += yba * (p.embeddings @ e)
        assert same((A + B + C)[:, None], right)
        assert not torch.allclose((B + C)[:, None], right, rtol=1e-2, atol=1e-3)
        for name, term in {"A": A, "B": B, "C": C}.items():
            assert same(flow.polarity[name][:, 0], term)

    @staticmethod
    def affine_terms(p, batch, Q):
        """The five terms of eqs. 63 and 64 in their order, with a Q of one's choice."""
        m, scale, W, V = len(batch.ids), batch.temperature, p.output[0], p.context
        W_, V_ = p.map.T @ W, p.map.T @ V
        h_e = p.embeddings @ p.map.T
        s = torch.zeros(5, len(h_e), dtype=torch.float64)
        a = torch.zeros(5, len(h_e), dtype=torch.float64)
        for word, e, alpha, yb, lead, _ in occurrences("DP-A", p, batch):
            yba, alike = yb[0] * alpha / m, p.embeddings @ e
            s[0, word] += yba * (W_ @ W_)
            s[1] += yba * (h_e @ (p.map @ e))
            s[2] += yba * alike * (W @ W)
            s[3, word] += yba * lead[0] * (W_ @ V_) / scale
            s[4] += yba * lead[0] * alike * Q / scale
            a[0, word] += yba * lead[0] * (V_ @ V_) / scale**2
            a[1, word] += yba * (W_ @ V_) / scale
            a[2] += yba * alike * (W @ V) / scale
            a[3] += yba * lead[0] * alike * (V @ V) / scale**2
            a[4] += yba * lead[0] * (h_e @ (p.map @ e)) / scale**2
        return s, a

    def test_63_means_the_product_of_v_and_w(self, seed):
        """Q = VᵀW; printed: V′ᵀW, whose vectors have d_e and d numbers."""
        p, batch = (
            random_parameters("DP-A", size=4, embedded=4, seed=seed),
            random_batch(seed=seed, scale=1.0),
        )
        right, flow = change_of("DP-A", p, batch), score_flow(FORMS["DP-A"], p, batch)
        V, W = p.context, p.output[0]
        s, a = self.affine_terms(p, batch, V @ W)
        assert same(s.sum(dim=0), right.polarity[:, 0])
        assert same(a.sum(dim=0), right.score)  # 64 is right
        for name, term in zip(("B", "C", "M, W", "A", "M, V"), s, strict=True):
            assert same(flow.polarity[name][:, 0], term)
        for name, term in zip(("E", "D", "M, W", "M, V", "F"), a, strict=True):
            assert same(flow.score[name], term)
        printed, _ = self.affine_terms(p, batch, (p.map.T @ V) @ W)
        assert far(printed[4], s[4])
        assert not same(printed.sum(dim=0), right.polarity[:, 0])
        other = random_parameters("DP-A", size=5, embedded=4)
        with pytest.raises(RuntimeError, match="size"):
            (other.map.T @ other.context) @ other.output[0]

    def test_63_and_64_without_an_affine_layer(self, seed):
        """DP has them with M = I, and without the two terms of each that come from dM/dτ."""
        plain, batch = random_parameters("DP", seed=seed), random_batch(seed=seed, scale=2.0)
        right = change_of("DP", plain, batch)
        as_affine = plain.with_tensors({"map": torch.eye(4, dtype=torch.float64)})
        s, a = self.affine_terms(as_affine, batch, plain.context @ plain.output[0])
        assert same(s[[0, 1, 3]].sum(dim=0), right.polarity[:, 0])
        assert same(a[[0, 1, 4]].sum(dim=0), right.score)
        assert far(s.sum(dim=0), right.polarity[:, 0])
        assert far(a.sum(dim=0), right.score)

    def test_65_is_not_the_score_of_its_gradients(self, seed):
        """a = tanh(x)ᵀV/λ has the gradients 66–68; printed: tanh(xᵀV)/λ, which has others."""
        p, batch = random_parameters("AD", seed=seed), random_batch(seed=seed)
        found = FORMS["AD"].descent(
            p, batch.temperature, output_gradients(FORMS["AD"], p, batch)
        )  # 66–68, as test_forms has them

        def printed(name, p, scale, e):
            return tanh((p.map @ e) @ p.context) / scale

        right, wrong = autograd_gradients("AD", p, batch), autograd_gradients("AD", p, batch, printed)
        for name in ("embeddings", "context", "map"):
            assert same(-found[name], right[name])
            assert far(-found[name], wrong[name])

    def test_66_to_68_at_the_weights_of_65(self, seed):
        """Nor with the α that the printed score gives: one text, y = 1, in the letters of the paper."""
        p = random_parameters("AD", seed=seed, bias=False)
        batch = Batch(torch.arange(5)[None], torch.ones(1, 5, dtype=torch.bool), torch.tensor([1]), 1.0)

        def printed(name, p, scale, e):
            return tanh((p.map @ e) @ p.context) / scale

        for score, right in ((score_of, True), (printed, False)):
            e, V, W = p.embeddings[:5], p.context, p.output[0]
            alpha = torch.stack([score("AD", p, 1.0, each) for each in e]).softmax(dim=0)
            x, s = e @ p.map.T, e @ W
            beta = torch.sigmoid(-(alpha @ s))
            D = [torch.diag(1 - tanh(each) ** 2) for each in x]
            d_e = [-beta * a * (outer(p.map.T @ D[i] @ V, e[i] - alpha @ e) + torch.eye(4)) @ W
                   for i, a in enumerate(alpha)]  # fmt: skip
            d_V = -beta * sum(a * s[j] * (tanh(x[j]) - alpha @ tanh(x)) for j, a in enumerate(alpha))
            found = autograd_gradients("AD", p, batch, score)
            assert same(torch.stack(d_e), found["embeddings"][:5]) == right
            assert same(d_V, found["context"]) == right

    def test_70_is_a_vector(self, seed):
        """da_e/dτ = (d tanh(x_e)/dτ)ᵀV/λ + tanh(x_e)ᵀ(dV/dτ)/λ; printed: tanh(x_eᵀV), a number, times V."""
        p, batch = random_parameters("AD", seed=seed), random_batch(seed=seed)
        downhill = {key: -each for key, each in autograd_gradients("AD", p, batch).items()}
        d_e, d_M, d_V = downhill["embeddings"], downhill["map"], downhill["context"]
        x = p.embeddings @ p.map.T
        d_x = d_e @ p.map.T + p.embeddings @ d_M.T
        corrected = ((1 - tanh(x) ** 2) * d_x) @ p.context / batch.temperature + tanh(
            x
        ) @ d_V / batch.temperature
        assert same(corrected, change_of("AD", p, batch).score)
        projected = x @ p.context
        d_projected = d_x @ p.context + x @ d_V
        slope = (1 - tanh(projected) ** 2) * d_projected
        printed = (
            outer(slope, p.context) / batch.temperature + outer(tanh(projected), d_V) / batch.temperature
        )
        assert printed.shape == (9, 5)
        assert corrected.shape == (9,)

    def test_71_is_for_small_vectors(self, seed):
        """Its error against the exact terms shrinks with the square of ‖x‖; at ‖x‖ near 3 it is large."""
        p, batch = random_parameters("AD", seed=seed), random_batch(seed=seed)
        errors = []
        for size in (1.0, 0.02, 0.01):
            small = p.with_tensors({"embeddings": size * p.embeddings})
            exact = score_flow(FORMS["AD"], small, batch).score
            told = linear_terms(small, batch.temperature, output_gradients(FORMS["AD"], small, batch))
            assert list(told) == list(exact)
            errors.append(
                max(float((told[key] - exact[key]).abs().max() / exact[key].abs().max()) for key in exact)
            )
        assert errors[0] > 0.5
        assert errors[1] < 0.03
        assert errors[2] / errors[1] == pytest.approx(0.25, abs=0.03)

    def test_71_as_printed(self, seed):
        """Its four terms by loops: E, D, M, F."""
        p, batch = random_parameters("AD", seed=seed), random_batch(seed=seed)
        m, scale, V, M, W = len(batch.ids), batch.temperature, p.context, p.map, p.output[0]
        x = p.embeddings @ M.T
        terms = {name: torch.zeros(9, dtype=torch.float64) for name in "EDMF"}
        for word, e, alpha, yb, lead, _ in occurrences("AD", p, batch):
            yba = yb[0] * alpha / m
            terms["E"][word] += yba * (M.T @ V).square().sum() / scale**2 * lead[0]
            terms["D"][word] += yba * W @ M.T @ V / scale
            terms["M"] += yba * lead[0] * (p.embeddings @ e) * (V @ V) / scale**2
            terms["F"] += yba * lead[0] * (x @ (M @ e)) / scale**2
        found = linear_terms(p, batch.temperature, output_gradients(FORMS["AD"], p, batch))
        for name, term in terms.items():
            assert same(found[name], term)

    def test_82_lacks_the_weights(self, seed):
        """Terms 1 and 2 sum over places and need their α_j."""
        p = random_parameters("DP", classes=3, seed=seed)
        batch = random_batch(classes=3, seed=seed, scale=1.5)
        right, flow = change_of("DP", p, batch).polarity, score_flow(FORMS["DP"], p, batch)
        m, W, V = len(batch.ids), p.output.T, p.context
        terms = {}
        for weighted in (True, False):
            first, second, third = (torch.zeros(9, 3, dtype=torch.float64) for _ in range(3))
            for word, e, alpha, downhill, lead, _ in occurrences("DP", p, batch):
                p_hat, weight = -downhill, alpha if weighted else 1.0
                first[word] -= weight * W.T @ V * (lead @ p_hat) / (m * batch.temperature)
                second[word] -= weight * W.T @ W @ p_hat / m
                third -= outer(p.embeddings @ (alpha * e), p_hat) / m
            terms[weighted] = first, second, third
        assert same(sum(terms[True]), right)
        assert far(sum(terms[False]), right)
        for name, term in zip("ABC", terms[True], strict=True):
            assert same(flow.polarity[name], term)

    def test_83_has_another_sign_and_scale_in_its_first_term(self, seed):
        """Printed +1/(mλ), right −1/(mλ²). In the second, (s_e − s)ᵀ cannot stand behind p̂ᵀ."""
        p = random_parameters("DP", classes=3, seed=seed)
        batch = random_batch(classes=3, seed=seed, scale=1.5)
        right, flow = change_of("DP", p, batch).score, score_flow(FORMS["DP"], p, batch)
        m, scale, W, V = len(batch.ids), batch.temperature, p.output.T, p.context
        first, second, third = (torch.zeros(9, dtype=torch.float64) for _ in range(3))
        for word, e, alpha, downhill, lead, _ in occurrences("DP", p, batch):
            p_hat = -downhill
            first += alpha * (p.embeddings @ e) * (lead @ p_hat) / (m * scale)  # as printed
            second[word] -= alpha * (p_hat @ lead) * (V @ V) / scale / (m * scale)
            third[word] -= alpha * (p_hat @ W.T @ V) / (m * scale)
        assert same(-first / scale + second + third, right)
        assert far(first + second + third, right)
        for name, term in {"F": -first / scale, "E": second, "D": third}.items():
            assert same(flow.score[name], term)
        with pytest.raises(RuntimeError):
            p_hat[None] @ lead[None]  # [1, K] times [1, K]


class TestHuangYangAndWang:
    """Huang, Yang and Wang (2024)."""

    @staticmethod
    def one_text(seed):
        """Scores q_i·k_i of free q and k, and their change under gradient flow of −log σ(Σ a_i o_i)."""
        rng = torch.Generator().manual_seed(seed)
        query, key, polarity = (torch.randn(5, 3, generator=rng).double() for _ in range(3))
        polarity = polarity[:, 0]

        def risk(scores):
            weights = 2 * torch.sinh(scores) / (2 * torch.cosh(scores)).sum()
            return -torch.nn.functional.logsigmoid(weights @ polarity)

        scores = (query * key).sum(dim=1)
        slopes = torch.func.grad(lambda q, k: risk((q * k).sum(dim=1)), argnums=(0, 1))(query, key)
        change = -(slopes[0] * key + query * slopes[1]).sum(dim=1)
        inner = query.square().sum(dim=1) + key.square().sum(dim=1)
        total = (2 * torch.cosh(scores)).sum()
        z = 2 * torch.sinh(scores) / total @ polarity
        return scores, polarity, inner, torch.sigmoid(z) - 1, change

    def test_7_lacks_the_minus_of_4(self, seed):
        *parts, change = self.one_text(seed)
        assert same(tanhmax_update(*parts), change)
        scores, polarity, inner, slope = parts
        total = (2 * torch.cosh(scores)).sum()
        wide, signed = 2 * torch.cosh(scores) / total, 2 * torch.sinh(scores) / total
        printed = inner * (wide * polarity - signed * (signed @ polarity)) * slope
        assert same(printed, -change)
        assert same(general_update(*parts, torch.sinh, torch.cosh), change)  # eq. 4 has it

    def test_8_and_9_sum_over_k(self, seed):
        """Printed, the sum of n equal terms over k makes w̃_i = 1/n of every token."""
        scores, polarity, inner, slope, change = self.one_text(seed)
        wide = torch.stack([2 * torch.cosh(s) / sum(2 * torch.cosh(s) for _ in scores) for s in scores])
        signed = torch.stack([2 * torch.sinh(s) / sum(2 * torch.cosh(s) for _ in scores) for s in scores])
        assert same(wide, torch.full_like(wide, 1 / 5))
        assert same(signed, tanh(scores) / 5)
        printed = -inner * (wide * polarity - signed * (signed @ polarity)) * slope
        assert far(printed, change)

    def test_proposition_2_holds_in_the_limit_alone(self, seed):
        """No softmax row is a TanhMax row, not even of the same scores plus c · 1; c → ∞ comes near."""
        z = torch.randn(6, generator=torch.Generator().manual_seed(seed)).double()
        goal = z.softmax(dim=0)
        distances = []
        for c in (0.0, 2.0, 4.0, 8.0):
            row = 2 * torch.sinh(z + c) / (2 * torch.cosh(z + c)).sum()
            assert row.abs().sum() < 1
            distances.append(float((row - goal).abs().max()))
        assert distances == sorted(distances, reverse=True)
        assert distances[-1] < 1e-5

    def test_open_intervals_leave_planted_words_without_a_group(self):
        """γ ∈ (0.5, 1) excludes words that occur in one class alone, all polar words of Data I."""
        counts = np.array([[0, 30, 10], [30, 0, 10]])
        groups, gamma = token_groups(counts, ["negative", "positive"])
        assert list(groups) == ["positive", "negative", "neutral"]
        assert not ((gamma > 0.5) & (gamma < 1) | (gamma > -1) & (gamma < -0.5)).any()


class TestBhardwajEtAl:
    """Bhardwaj et al. (2021); their ranks are tested with `glasshead.identifiability`."""

    def test_8_is_bounded_by_the_length(self):
        """rank(A) ≤ min(d_s, d_k); printed: min(d_e, d_k, d_q, d_e) = d_k, out of reach for a short text."""
        rng = np.random.default_rng(0)
        query, key = rng.normal(size=(3, 8)), rng.normal(size=(3, 8))
        assert np.linalg.matrix_rank(query @ key.T) == 3

    def test_logits_with_the_first_column_taken_off_have_no_full_row_rank(self):
        """c = −â_1 makes the first column zero: rank d_s − 1, where the text says full-row rank (d_s)."""
        logits = np.log(np.random.default_rng(1).dirichlet(np.ones(9), size=9))
        assert np.linalg.matrix_rank(logits) == 9
        assert np.linalg.matrix_rank(logits - logits[:, :1]) == 8


class TestTheLecture:
    """The lecture on explaining attention models, chapter 9."""

    def test_a_mask_is_added(self):
        """Multiplied with −∞, as the text has it, a negative score gets all the attention."""
        scores = torch.tensor([[1.0, 2.0, -1.0]])
        hidden = torch.tensor([[False, False, True]])
        multiplied = scores * torch.where(hidden, -torch.inf, 1.0)
        assert multiplied[0, 2] == torch.inf
        added = (scores + torch.where(hidden, -torch.inf, 0.0)).softmax(dim=1)
        assert added[0, 2] == 0
        torch.testing.assert_close(added[0, :2], scores[0, :2].softmax(dim=0))

    def test_a_mask_keeps_the_diagonal(self):
        """M_st = −∞ for s ≤ t leaves the first row without a key; the sum below it runs to u = s, and the
        text there says that s > t is hidden."""
        s, t = torch.arange(4)[:, None], torch.arange(4)
        scores = torch.randn(4, 4, generator=torch.Generator().manual_seed(0))
        printed = scores + torch.where(s <= t, -torch.inf, 1.0)
        assert printed[0].eq(-torch.inf).all()
        weights = (scores + torch.where(s < t, -torch.inf, 0.0)).softmax(dim=1)
        expected = torch.where(t <= s, scores.exp(), 0.0)
        torch.testing.assert_close(weights, expected / expected.sum(dim=1, keepdim=True))

    def test_the_normal_distribution_has_a_root(self):
        """Φ(x) = (1/√(2π)) ∫ e^{−t²/2} dt; printed 1/(2π), with which Φ(∞) is 0.399."""
        grid = torch.linspace(-12, 12, 100_001, dtype=torch.float64)
        mass = float(torch.trapezoid(torch.exp(-grid.square() / 2), grid))
        assert mass / math.sqrt(2 * math.pi) == pytest.approx(1, abs=1e-9)
        assert mass / (2 * math.pi) == pytest.approx(0.3989, abs=1e-4)

    def test_l2_is_not_l1_again(self):
        """The slide "L2-norm" repeats (1/d_e) Σ |·|."""
        gradient = torch.tensor([3.0, -4.0])
        assert float(gradient.norm()) == 5.0
        assert float(gradient.abs().mean()) == 3.5

    def test_the_fastest_wave_turns_by_one_radian_a_token(self):
        """t/T_max^{2i/d_e} with i from 1; Vaswani et al. have t/10000^{2m/d_e} with m from 0."""
        size, places = 8, torch.arange(50)
        positions = SinusoidalPositions(EncoderConfig())
        waves = positions(torch.zeros(1, 50, size, dtype=torch.float64), places[None])[0]

        def angles(base, first):
            exponents = (torch.arange(size // 2) + first).double() * 2 / size
            return places.double()[:, None] * base**-exponents

        theirs = angles(10_000.0, 0)
        torch.testing.assert_close(waves, torch.cat([theirs.sin(), theirs.cos()], dim=1))
        printed = angles(1e5, 1)
        assert float(theirs[1, 0]) == 1.0
        assert float(printed[1, 0]) == pytest.approx(1e5 ** (-2 / size))  # 0.056: neighbours look alike
        # The length of the longest text sets every wave of the printed form.
        assert float(angles(1e3, 1)[1, 0]) > 3 * float(printed[1, 0])
