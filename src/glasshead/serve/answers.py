"""Questions to a model become calls of the library, and what these return becomes answers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict

from glasshead.audits import run_heads
from glasshead.data import join_pair
from glasshead.errors import InputError, ParameterError
from glasshead.escaping import in_quotes, visible
from glasshead.explainers import EXPLAINERS, FAMILIES, check_method, explain_texts
from glasshead.generation import check_methods, generate_texts, parse_strategy
from glasshead.huggingface import class_names
from glasshead.opening import OpenOptions, open_subject
from glasshead.report import align_texts, diverging, draw_text, shared_scale
from glasshead.requests import HeadsRequest, MethodRequest, WritingRequest
from glasshead.results import Attribution, Attributions, HeadReport, Written, to_json_values
from glasshead.serve.cancellation import check_current
from glasshead.serve.derive import request_of
from glasshead.serve.opened_model import OpenedModel
from glasshead.serve.python_line import explain_line, generate_line
from glasshead.serve.questions import (
    MOST_BEAMS,
    CompareAnswer,
    CompareQuestion,
    Drawing,
    ExplainAnswer,
    ExplainQuestion,
    GenerateAnswer,
    GenerateQuestion,
    HeadsQuestion,
    MethodFacts,
    OtherDrawing,
    Piece,
    Reading,
    SharedWord,
)
from glasshead.trace import Subject

MOST_DRAWN = 40
"""At most so many answers about one text, one below the other: choices, or the tokens of an answer."""


def attribute(subject: Subject, reading: Reading, text: str, pair: str | None) -> Attributions:
    """The explanation of one text, or of a pair.

    Raises:
        InputError: as `glasshead.explain`.
    """
    request = request_of(MethodRequest, reading)
    check_method(request)
    opened = open_subject(subject, options=OpenOptions(answers=request.answer is not None))
    return explain_texts(opened, [text], None if pair is None else [pair], request)


def explain_answer(opened: OpenedModel, question: ExplainQuestion) -> ExplainAnswer:
    """Explain a text, or what is left of it.

    Raises:
        InputError: as `glasshead.explain`, and if nothing is left.
    """
    text, pair = what_is_left(question)
    attributions = attribute(opened.subject, question, text, pair)
    python = explain_line(opened.source, question, text, pair)
    of_words = opened.asks_words and question.answer is None
    below = () if of_words else attributions.attributions[1:MOST_DRAWN]
    title = "The others" if question.answer is None else "Token by token"
    return as_answer(opened, attributions, python, below=below, title=title)


def as_answer(
    opened: OpenedModel,
    attributions: Attributions,
    python: str,
    scale: float | None = None,
    *,
    below: Sequence[Attribution] = (),
    title: str = "",
) -> ExplainAnswer:
    """The explanation of one text with its drawing, and ``below`` it those of what else it was asked about;
    ``scale`` is what has full colour (None: the largest number of all that are drawn)."""
    scale = shared_scale([attributions[0], *below]) if scale is None else scale
    drawing = draw_text(attributions[0], scale, len(class_names(opened.subject.model)))
    return ExplainAnswer(
        text=attributions[0].text,
        attributions=to_json_values(attributions.attributions),
        drawing=Drawing(**to_json_values(drawing)),
        others=[draw_other(one, scale) for one in below],
        others_title=title if below else "",
        remarks=[
            *(remark for remark in attributions.remarks if remark != attributions[0].caveat),
            *not_drawn(attributions, 1 + len(below), opened),
        ],
        python=python,
    )


def draw_other(attribution: Attribution, scale: float) -> OtherDrawing:
    """An attribution as it is drawn below another one."""
    drawing = to_json_values(draw_text(attribution, scale))
    return OtherDrawing(**{name: drawing[name] for name in OtherDrawing.model_fields})


def not_drawn(attributions: Attributions, drawn: int, opened: OpenedModel) -> Iterator[str]:
    """What else a text was asked about, of which the first are drawn."""
    if len(attributions) == drawn:
        return
    each = ", ".join(f"{one.asked} ({one.predicted})" for one in attributions)
    hint = ": name a word to ask about another" if opened.asks_words else ""
    shown = "the first is shown" if drawn == 1 else f"the first {drawn} are shown"
    yield f"The model was asked about {each}, and {shown}{hint}."


def what_is_left(question: ExplainQuestion) -> tuple[str, str | None]:
    """The text, or both of a pair, without what is erased.

    Raises:
        InputError: if a stretch is none of the text or goes over the end of the first of two, and if nothing
            is left of either.
    """
    text, pair = question.text, question.pair
    if pair is None:
        return erase_spans(text, question.without), None
    check_stretches(join_pair(text, pair), question.without)
    line = len(text)
    behind = [(start - line - 1, end - line - 1) for start, end in question.without if start > line]
    before = [span for span in question.without if span[0] <= line]
    for stretch in before:
        if stretch[1] > line:
            raise ParameterError("without", f"has {list(stretch)}, which spans both texts: name two")
    return erase_spans(text, before), erase_spans(pair, behind)


def erase_spans(text: str, without: Sequence[tuple[int, int]]) -> str:
    """The text without some stretches, and without the blank that would be doubled where one was.

    Raises:
        InputError: if a stretch is none of the text, or nothing is left.
    """
    check_stretches(text, without)
    for start, end in reversed(merge_spans(without)):
        before, after = text[:start], text[end:]
        doubled = (before[-1:].isspace() and after[:1].isspace()) or (not before and after[:1].isspace())
        text = before + (after[1:] if doubled else after)
    if without and not text.strip():
        raise InputError("no word is left: restore one")
    return text


def check_stretches(text: str, stretches: Sequence[tuple[int, int]]) -> None:
    """Raise InputError for what is not a stretch of a text."""
    for start, end in stretches:
        if not 0 <= start < end <= len(text):
            raise ParameterError("without", f"has {[start, end]}, which is not a part of the text")


def merge_spans(stretches: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Stretches of the same letters in order, of which no two touch."""
    merged: list[tuple[int, int]] = []
    for start, end in sorted(stretches):
        if merged and start <= merged[-1][1]:
            merged[-1] = merged[-1][0], max(end, merged[-1][1])
        else:
            merged.append((start, end))
    return merged


def compare_answer(
    first: Attributions, second: Attributions, question: CompareQuestion, opened: Sequence[OpenedModel]
) -> CompareAnswer:
    """Two explanations next to each other, letter by letter. One scale holds for two versions of a text; two
    models or methods have a scale each."""
    same = question.first == question.second
    scale = shared_scale([first[0], second[0]]) if same else None
    readings = (question.first, question.text), (question.second, question.second_text)
    answers = [
        as_answer(model, explained, explain_line(model.source, reading, text, question.pair), scale)
        for explained, model, (reading, text) in zip((first, second), opened, readings, strict=True)
    ]
    return CompareAnswer(
        first=answers[0],
        second=answers[1],
        pieces=[Piece(**asdict(piece)) for piece in align_texts(first[0].text, second[0].text)],
        words=match_words(*answers) if question.other_text is None else [],
        one_scale=same,
        caution=colour_caution(first[0], second[0], opened),
    )


def colour_caution(first: Attribution, second: Attribution, opened: Sequence[OpenedModel]) -> str | None:
    """Why red does not mean the same in both."""
    if first.target == second.target or not (diverging(first) and diverging(second)):
        return None
    one, other = (model.subject.labels for model in opened)
    why = "choose one class for both" if one == other else "the two models have differently named classes"
    above, below = (in_quotes(visible(one.target)) for one in (first, second))
    return f"red supports {above} above and {below} below: {why}"


def match_words(first: ExplainAnswer, second: ExplainAnswer) -> list[SharedWord]:
    """The words that stand at the same place in both, those whose shares of the strongest colour differ most
    first."""
    drawings = [first.drawing, second.drawing]
    shares = [
        {(span.start, span.end): span for span in drawing.spans if span.token is not None}
        for drawing in drawings
    ]
    words = []
    for place, span in shares[0].items():
        other = shares[1].get(place)
        if other is None or span.token is None or other.token is None:
            continue
        words.append(
            SharedWord(
                word=span.text,
                first=span.number or "",
                second=other.number or "",
                difference=other.share - span.share,
            )
        )
    return sorted(words, key=lambda word: -abs(word.difference))


def write_answer(subject: Subject, question: GenerateQuestion) -> Written:
    """Let a language model write, with explanations of what it wrote.

    Raises:
        InputError: as `glasshead.generate`.
    """
    request = request_of(WritingRequest, question)
    if (parse_strategy(question.strategy).num_beams or 1) > MOST_BEAMS:
        raise ParameterError("strategy", f"follows at most {MOST_BEAMS} beams here, not {question.strategy}")
    check_methods(question.methods, question.target)
    (written,) = generate_texts(subject, [question.prompt], request)
    return written.with_maps(
        question.methods, target=question.target, heads=True, progress=lambda *_: check_current()
    )


def writes_the_same(question: GenerateQuestion) -> bool:
    """Whether the same text is written each time that the question is asked.

    Raises:
        InputError: on an unknown strategy.
    """
    return question.seed is not None or not parse_strategy(question.strategy).do_sample


def generate_answer(opened: OpenedModel, question: GenerateQuestion) -> GenerateAnswer:
    """What a language model writes, as JSON.

    Raises:
        InputError: as `write_answer`.
    """
    written = write_answer(opened.subject, question)
    return GenerateAnswer(
        written=to_json_values(written.to_dict()), python=generate_line(opened.source, question)
    )


def inspect_heads(
    subject: Subject, question: HeadsQuestion, examples: Sequence[str], progress: Callable[..., None]
) -> HeadReport:
    """What the heads do before the text, and before ``examples`` of the model's own; the text is drawn.
    ``progress`` is told how far that is.

    Raises:
        InputError: as `glasshead.heads`.
    """
    rows, drawn = heads_rows(question, examples)
    request = HeadsRequest(
        subject, rows, limit=len(rows), texts=drawn, effects=question.effects, progress=progress
    )
    return run_heads(request)


def heads_rows(
    question: HeadsQuestion, examples: Sequence[str]
) -> tuple[list[dict[str, str]], tuple[str, ...]]:
    """The rows that the heads are looked at before, and the texts of them that are drawn.

    Raises:
        InputError: as `question_rows`.
    """
    rows = question_rows(question) + [{"text": text} for text in examples[: question.examples]]
    return rows, () if question.pair is not None else (rows[0]["text"],)


def question_rows(question: HeadsQuestion) -> list[dict[str, str]]:
    """The text, its lines, or the pair, as rows of data.

    Raises:
        InputError: if there is none.
    """
    if question.pair is not None:
        return [{"premise": question.text, "hypothesis": question.pair}]
    texts = (
        [line for line in question.text.splitlines() if line.strip()] if question.lines else [question.text]
    )
    if not any(text.strip() for text in texts):
        raise InputError("the text is empty: type one")
    return [{"text": text} for text in texts]


def method_facts(installed: Callable[[str], bool]) -> list[MethodFacts]:
    """Every method whose package is there, family by family."""
    methods = sorted(EXPLAINERS.items(), key=lambda entry: FAMILIES.index(entry[1].family))
    return [
        MethodFacts(
            name=name,
            family=explainer.family,
            description=explainer.description,
            reads_attention=explainer.reads_attention,
            has_intervals=explainer.reads_weights,
        )
        for name, explainer in methods
        if explainer.package is None or installed(explainer.package)
    ]
