"""Why one news item is recommended: the clicked news that speak for it, and the words of the titles."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import torch
from jaxtyping import Float
from torch import Tensor

from glasshead.errors import InputError, ParameterError, pluralise
from glasshead.explainers import token_fields
from glasshead.papers.models import NewsRecommender
from glasshead.papers.recommend.mind import BEHAVIORS, Impression, NewsLogs
from glasshead.papers.recommend.parts import ScoreParts
from glasshead.papers.recommend.run import RecommenderRun
from glasshead.registry import did_you_mean
from glasshead.results import Attribution, Attributions
from glasshead.torch_modes import in_own_modes

Method = Literal["attention", "erasure"]
NEWS_METHODS = ("attention", "erasure")
TITLES_SHOWN = 5
MIXED_NOTE = (
    "the state of a clicked news item includes other clicks, and that of a word other words: a "
    "contribution is what the state adds, not the item alone"
)


@dataclass(frozen=True)
class Candidate:
    """One shown item of one impression, with all that its score is made of.

    ``history`` are the rows, in ``parts``, of the clicked news that are read, oldest first, ``shown`` those
    of the candidates. ``index`` is the place of the explained item among the shown ones.
    """

    impression: Impression
    parts: ScoreParts
    history: list[int]
    shown: list[int]
    index: int
    scores: Float[Tensor, " c"]
    user: Float[Tensor, " d"]
    states: Float[Tensor, "t d"]
    weights: Float[Tensor, " t"]

    @property
    def row(self) -> int:
        """The row of the explained item."""
        return self.shown[self.index]

    @property
    def vector(self) -> Float[Tensor, " d"]:
        """Its vector n."""
        return self.parts.news[self.row]

    @property
    def contributions(self) -> Float[Tensor, " t"]:
        """a_t h_t · n: what each clicked news item adds to the score."""
        return self.weights * (self.states @ self.vector)

    def falls(self) -> Float[Tensor, " t"]:
        """How much the score falls without each of the clicked news."""
        users = self.parts.without_each_click(self.parts.news[self.history])
        return self.scores[self.index] - users @ self.vector

    def words(self) -> tuple[Float[Tensor, " w"], Float[Tensor, " w"]]:
        """b_w and b_w u · g_w: the weight of each word of its title, and what it adds to the score."""
        weights, states = self.parts.words(self.row)
        return weights, weights * (states @ self.user)

    def falls_by_word(self) -> Float[Tensor, " w"]:
        """How much the score falls without each of the words."""
        return self.scores[self.index] - self.parts.without_each_word(self.row) @ self.user


@in_own_modes
def explain_recommendation(
    run: RecommenderRun,
    logs: NewsLogs,
    *,
    impression: str | None = None,
    candidate: str | None = None,
    method: Method = "attention",
    titles: int = TITLES_SHOWN,
) -> Attributions:
    """The history of a reader, coloured by news, then the title of the candidate and the ``titles`` clicked
    ones that matter most, coloured by word.

    By ``attention``, scores are the weights of the news level and of the word level. Contributions of news
    add up to the click score ŷ, and so do those of the words of the candidate; the words of a clicked title
    share its contribution in proportion to their weights. By ``erasure``, a score is the fall of ŷ without
    the news item or the word. The default ``impression`` is the first that has a history, the default
    ``candidate`` the item that ranks first.

    Raises:
        InputError: if there is no such impression or candidate, and if the impression has no history.
    """
    if method not in NEWS_METHODS:
        raise ParameterError("method", f"must be attention or erasure, not {method!r}")
    if titles < 0:
        raise ParameterError("titles", f"must not be negative, not {titles}")
    chosen = find_impression(logs, impression)
    parts = ScoreParts(run, logs, (*read_clicks(chosen, run.model), *chosen.shown))
    one = read_candidate(parts, chosen, candidate)
    by_news = one.contributions if method == "attention" else one.falls()
    order = by_news.abs().argsort(descending=True, stable=True).tolist()
    attributions = [
        history_attribution(one, logs, by_news, method),
        candidate_attribution(one, logs, run, method),
        *(attribute_clicked(one, logs, run, place, method) for place in order[:titles]),
    ]
    notes = [MIXED_NOTE] if method == "attention" else []
    if len(one.history) < len(chosen.history):
        notes.append(f"only the latest {len(one.history)} of {len(chosen.history)} clicks are read")
    return Attributions(tuple(attributions), notes=tuple(notes))


def find_impression(logs: NewsLogs, name: str | None) -> Impression:
    """The impression of that id, or the first that has a history.

    Raises:
        InputError: if there is none, or it has no history.
    """
    path = logs.folder / BEHAVIORS
    if name is None:
        impression = next((one for one in logs.impressions if one.history), None)
        if impression is None:
            raise InputError(f"no impression of {path} has a history: there is nothing to explain")
        return impression
    impression = next((one for one in logs.impressions if one.id == name), None)
    if impression is None:
        raise InputError(f"{path} has no impression {name!r}: name one by its first field")
    if not impression.history:
        raise InputError(
            f"the reader of impression {name!r} has no history, so all its news tie at 0: there is nothing "
            "to explain"
        )
    return impression


def read_candidate(parts: ScoreParts, impression: Impression, candidate: str | None = None) -> Candidate:
    """The named item of an impression, or the one that ranks first, with what its score is made of.

    Raises:
        InputError: if the impression does not show it.
    """
    if candidate is not None and candidate not in impression.shown:
        hint = did_you_mean(candidate, set(impression.shown))
        raise InputError(f"impression {impression.id!r} does not show {candidate!r}: {hint}")
    history = [parts.row[name] for name in read_clicks(impression, parts.model)]
    shown = [parts.row[name] for name in impression.shown]
    user = parts.read_histories(parts.news[history][None])
    scores = parts.news[shown] @ user.vector[0]
    index = int(scores.argmax()) if candidate is None else impression.shown.index(candidate)
    return Candidate(
        impression, parts, history, shown, index, scores,
        user=user.vector[0], states=user.states[0], weights=user.weights[0],
    )  # fmt: skip


def read_clicks(impression: Impression, model: NewsRecommender) -> tuple[str, ...]:
    """The latest clicks of a history, as many as the model reads."""
    return impression.history[-model.config.history_length :]


def history_attribution(one: Candidate, logs: NewsLogs, by_news: Tensor, method: Method) -> Attribution:
    """The clicked titles, oldest first and each on a line, as units of one text."""
    titles = [logs.news[one.parts.names[row]].title for row in one.history]
    ends = torch.tensor([len(title) + 1 for title in titles]).cumsum(0).tolist()
    starts = [0, *ends[:-1]]
    fields = {
        "tokens": tuple(titles),
        "ids": (-1,) * len(titles),
        "words": tuple(range(len(titles))),
        "offsets": tuple((start, end - 1) for start, end in zip(starts, ends, strict=True)),
    }
    rank = 1 + int((one.scores > one.scores[one.index]).sum())
    reading = (
        f"news level, {pluralise(len(titles), 'clicked news item')}, oldest first; click score "
        f"{float(one.scores[one.index]):+.3f}, rank {rank} of {len(one.shown)}"
    )
    return attribution_of(one, "\n".join(titles), fields, (one.weights, by_news), method, reading)


def candidate_attribution(one: Candidate, logs: NewsLogs, run: RecommenderRun, method: Method) -> Attribution:
    """The title of the explained item, word by word."""
    weights, contributions = one.words()
    numbers = contributions if method == "attention" else one.falls_by_word()
    name = one.parts.names[one.row]
    return attribution_of(
        one,
        logs.news[name].title,
        token_fields(run.tokenizer, one.parts.encoded, one.row),
        (weights, numbers),
        method,
        f"word level of the candidate {name}",
    )


def attribute_clicked(
    one: Candidate, logs: NewsLogs, run: RecommenderRun, place: int, method: Method
) -> Attribution:
    """The title of one of the clicked news, word by word."""
    row = one.history[place]
    weights, _ = one.parts.words(row)
    if method == "attention":
        numbers = weights * one.contributions[place]
    else:
        shorter = one.parts.without_each_word(row)
        histories = one.parts.news[one.history].repeat(len(shorter), 1, 1)
        histories[:, place] = shorter
        users = one.parts.read_histories(histories).vector
        numbers = one.scores[one.index] - users @ one.vector
    name = one.parts.names[row]
    return attribution_of(
        one,
        logs.news[name].title,
        token_fields(run.tokenizer, one.parts.encoded, row),
        (weights, numbers),
        method,
        f"word level of {name}, click {place + 1} of {len(one.history)}, with weight "
        f"{float(one.weights[place]):.3f} at the news level",
    )


def attribution_of(
    one: Candidate,
    text: str,
    fields: dict[str, Any],
    numbers: Sequence[Tensor],
    method: Method,
    reading: str,
) -> Attribution:
    """Weights and contributions, or else falls, as an attribution.

    The prediction is the probability of a click on the item among all that are shown, softmax of the scores,
    which is what the training maximises.
    """
    weights, others = (tuple(values.tolist()) for values in numbers)
    attended = method == "attention"
    return Attribution(
        text=text,
        **fields,
        scores=weights if attended else others,
        contributions=others if attended else None,
        signed=not attended,
        target=f"click on {one.parts.names[one.row]}",
        predicted=f"click on {one.parts.names[one.shown[int(one.scores.argmax())]]}",
        prediction=float(one.scores.softmax(dim=0)[one.index]),
        method=method,
        reading=reading,
    )
