"""Does the explanation follow the length of words? Then counting letters says as much."""

import numpy as np

from glasshead.audits import AUDITS, Audit, AuditResult, Column, Measured, Outcome, Question, at, usable
from glasshead.results import TOO_FEW_EXAMPLES, Verdict
from glasshead.statistics import kendall_tau_b

NAME = "word-length"
OWN, NULL = "word-length.independence", "word-length.independence.null.random"
SMALL = 0.1
"""A difference from scores in random order that is hardly one."""


def beside_random(interval):
    """Whether the order is that of random scores, by the interval of the difference from them."""
    low, high = interval
    return "yes" if low > -SMALL else "no" if high < -SMALL else "undecided"


def verdict_on(difference):
    """One sentence for each answer."""
    if difference is None:
        return TOO_FEW_EXAMPLES
    return {
        "yes": Verdict("does not depend on the length of words"),
        "no": Verdict("depends on the length of words"),
        "undecided": Verdict("undecided: may depend on the length of words", "undecided"),
    }[beside_random(difference)]


class WordLength(Audit):
    """1 − |τ-b| of the sizes of the scores with the numbers of letters, per text."""

    title = "Word length"
    question = "does it follow the length of words?"
    about = "Do long or short {words} get large scores? 1: neither. The null has the scores in random order."
    citation = "an example of the documentation"
    by_default = False
    questions = (
        Question(
            "independence",
            title="Is {method} independent of the length of {words}?",
            unit="1 − |Kendall τ-b|",
            within=(0.0, 1.0),
            claim="{method} does not depend on the length of {words}",
            holds=lambda card, finding: beside_random(finding.over_null["random"].interval),
            claim_at=(-SMALL,),
            note=lambda card: f"less than {SMALL:g} below random order",
            borders=(at(-SMALL, minus="random"),),
        ),
    )
    columns = (Column(f"{OWN}*", "float", "1 − |τ-b|", "of the scores, or of the same in random order"),)

    def unsupported_reason(self, view):
        return None if view.explanation.encoded.in_line else f"{view.nouns.tokens} have no letters"

    def measure(self, view):
        names = map(view.explanation.tokenizer.convert_ids_to_tokens, view.explanation.encoded.ids.tolist())
        letters = view.sum_by_unit(np.array([[float(len(name)) for name in row] for row in names]))
        sizes = np.abs(view.scores)
        shuffled = np.zeros_like(sizes)
        for row, words in enumerate(view.words):  # where there are words, [texts, words]
            shuffled[row, words] = view.rng(NAME, row).permutation(sizes[row, words])
        own, null = (kendall_tau_b(scores, letters, view.words).tau for scores in (sizes, shuffled))
        return Measured({OWN: 1 - np.abs(own), NULL: 1 - np.abs(null)})

    def judge(self, table, settings):
        rng, findings = settings.rng(NAME), []
        for group in settings.groups:
            own, null = table[OWN][group.members], table[NULL][group.members]
            (summary,) = self.summarise(
                [("independence", "")], [own], [{"random": null}], rng=rng, level=group.level
            )
            verdict = verdict_on(summary.reliable_differences["random"])
            left_out = {"words or scores are all alike": int(np.isnan(own).sum())}
            about = {"group": group, "citation": self.citation, "undefined": left_out}
            findings.append(summary.finding(NAME, "independence", verdict, **about))
        return AuditResult(findings)

    def outcome(self, card):
        """What it comes to beside the other audits; "it" is what was audited."""
        finding = usable(card, f"{NAME}.independence.all")
        if finding is None:
            return None
        if finding.status == "undecided":
            return Outcome(undecided=("whether it depends on the length of words",), findings=(finding,))
        return Outcome(f"it {finding.verdict}")


AUDITS.register(NAME)(WordLength())
