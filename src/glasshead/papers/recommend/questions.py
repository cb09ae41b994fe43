"""What an audit of a recommender asks, and what its findings come to."""

from typing import ClassVar

from glasshead.audits import (
    Outcome,
    Question,
    QuestionSet,
    agreement_level,
    agreement_words,
    decisive,
    shuffling_outcome,
    usable,
)
from glasshead.results import CANONICAL_GAUGE, AuditCard

ERASURE_WORDS = {
    "attention": f"attention{CANONICAL_GAUGE}",
    "contribution": "contribution a·o",
    "heaviest": "without the largest weight",
    "strongest": "without the largest contribution",
    "erasure": "erasure",
    "change": "change of the click probability",
    "fall": "fall of the click probability",
}
CLICKS, WORDS, RANKING = "clicks", "words", "ranking"
TAU, SHARE = (-1.0, 1.0), (0.0, 1.0)


def agrees_with_erasure(card: AuditCard, audit: str, subject: str) -> Outcome | None:
    """Whether the weights of a level agree with erasure."""
    finding = usable(card, f"{audit}.attention.erasure.all")
    if finding is None:
        return None
    if decisive(finding) is None:
        return Outcome("", (f"whether {subject} agrees with erasure",), (finding,))
    level = agreement_level(finding)
    return Outcome(f"{subject} {agreement_words({'erasure': level})}")


class ClickQuestions(QuestionSet):
    """About the clicked news."""

    title = "The clicked news"
    about = (
        "Does attention at the news level point to the clicked news that the recommendation depends on? "
        "Kendall τ-b with the change of the first item's click probability when each is erased; the change "
        "without the item with the largest weight; and the fall without that with the largest "
        "contribution. The null has the same numbers in random order, or erases a random other item."
    )
    place = 10
    words = ERASURE_WORDS
    questions = (
        Question(
            "attention",
            "erasure",
            title="Is attention large where erasing a clicked news item matters?",
            unit="Kendall τ-b",
            within=TAU,
        ),
        Question(
            "contribution",
            "erasure",
            title="Does the contribution of clicked news agree with erasing them?",
            unit="Kendall τ-b",
            within=TAU,
        ),
        Question(
            "heaviest",
            "change",
            title="Does the recommendation depend on the clicked news item with the largest weight?",
            unit="|Δp| without it",
            within=SHARE,
        ),
        Question("strongest", "fall", unit="fall of p without it", within=TAU),
    )

    def outcome(self, card: AuditCard) -> Outcome | None:
        """Whether attention at the news level orders the clicked news as erasing them does."""
        return agrees_with_erasure(card, CLICKS, "attention over the clicked news")


class WordQuestions(QuestionSet):
    """About the words of a title."""

    title = "The words of the title"
    about = (
        "Does attention at the word level point to the title words that the recommendation depends on? The "
        "same for the words of the item that ranks first."
    )
    place = 20
    words = ERASURE_WORDS
    questions = (
        Question(
            "attention",
            "erasure",
            title="Is attention large where erasing a word of the title matters?",
            unit="Kendall τ-b",
            within=TAU,
        ),
        Question(
            "contribution",
            "erasure",
            title="Does the contribution of words agree with erasing them?",
            unit="Kendall τ-b",
            within=TAU,
        ),
        Question(
            "heaviest",
            "change",
            title="Does the recommendation depend on the word with the largest weight?",
            unit="|Δp| without it",
            within=SHARE,
        ),
        Question("strongest", "fall", unit="fall of p without it", within=TAU),
    )

    def outcome(self, card: AuditCard) -> Outcome | None:
        """Whether attention at the word level orders the words of a title as erasing them does."""
        return agrees_with_erasure(card, WORDS, "attention over the words of the title")


class RankingQuestions(QuestionSet):
    """About the ranking."""

    title = "The ranking"
    about = (
        "Does the ranking depend on which clicked news, and which words, get which weight? How much click "
        "probabilities change (total variation, from 0 to 1) and how much AUC falls with other weights; "
        "means over the impressions."
    )
    place = 30
    words: ClassVar = {
        "shift": "how much click probabilities change",
        "auc": "AUC",
        "loss": "AUC lost",
        "uniform-pooling": "uniform weights of the clicked news",
        "permuted-pooling": "shuffled weights of the clicked news",
        "uniform-news-level": "uniform attention at the news level",
        "uniform-word-level": "uniform attention at the word level",
    }
    questions = (
        Question("auc", title="Does the model rank better than chance?", unit="AUC", within=SHARE),
        Question(
            "shift",
            "permuted-pooling",
            title="Does shuffling the weights of the clicked news change the recommendation?",
            unit="total variation",
            within=SHARE,
        ),
        Question(
            "loss",
            "uniform-news-level",
            title="Is the ranking worse with uniform attention over the clicked news?",
            unit="AUC lost",
            within=TAU,
        ),
        Question(
            "loss",
            "uniform-word-level",
            title="Is the ranking worse with uniform attention over the words?",
            unit="AUC lost",
            within=TAU,
        ),
        Question("shift", "*", unit="total variation", within=SHARE),
        Question("loss", "*", unit="AUC lost", within=TAU),
    )

    def outcome(self, card: AuditCard) -> Outcome | None:
        """Whether a recommendation depends on which clicked news item has which weight."""
        finding = usable(card, f"{RANKING}.shift.permuted-pooling.all")
        return None if finding is None else shuffling_outcome(finding, "the recommendation", 1.0)


RECOMMENDER_QUESTIONS = {CLICKS: ClickQuestions(), WORDS: WordQuestions(), RANKING: RankingQuestions()}
