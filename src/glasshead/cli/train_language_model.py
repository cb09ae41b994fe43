"""glasshead train for language models: which options they have, and what is printed."""

import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from glasshead.cli.console import print_line
from glasshead.cli.interrupts import resume_on_interrupt
from glasshead.cli.parsing import parse_attention_option, parse_settings
from glasshead.errors import InputError

if TYPE_CHECKING:
    from glasshead.language import LanguageModelConfig

LANGUAGE_OPTIONS = {
    "model": "model",
    "objective": "objective",
    "tokenizer": "tokenizer",
    "vocab_size": "vocab_size",
    "max_length": "block_size",
    "epochs": "epochs",
    "batch_size": "batch_size",
    "learning_rate": "learning_rate",
}
"""Those of them that are settings of a `LanguageModelConfig`, by its names."""
REQUEST = (
    "data", "out", "text_column", "encoding", "separator", "dev_fraction", "seed", "watch", "watch_every",
    "resume", "overwrite",
)  # fmt: skip
SHARED_OPTIONS = {*LANGUAGE_OPTIONS, *REQUEST, "attention", "set_"}
"""Parameters of ``glasshead train`` that a language model has too."""
USUAL_ENCODER = "bert"
UNKNOWN_SHARE = 0.05
"""A share of unknown tokens above this is said."""


@dataclass(frozen=True)
class LanguageRequest:
    """Which language model is trained, on which corpus, and where it is written."""

    data: str
    out: Path
    config: "LanguageModelConfig"
    text_column: str | None = None
    encoding: str | None = None
    separator: str | None = None
    dev_fraction: float = 0.1
    seed: int = 0
    watch: str | None = None
    watch_every: int | None = None
    resume: bool = False
    overwrite: bool = False


def is_language_model(model: str | None, objective: str | None) -> bool:
    """Whether a language model is to be trained: it has an objective, or is a model type and no folder."""
    if objective is not None:
        return True
    if model is None or Path(model).exists():
        return False
    from glasshead.language import language_model_types
    from glasshead.models import IMAGE_MODELS, MODELS

    return model not in MODELS and model not in IMAGE_MODELS and model in language_model_types()


def language_request(context: Any) -> LanguageRequest:
    """What the options of ``glasshead train`` ask for.

    Raises:
        InputError: on options that classifiers alone have, and values that cannot be meant.
    """
    from glasshead.language import LanguageModelConfig

    typed = {
        option.name: context.params[option.name]
        for option in context.command.params
        if context.get_parameter_source(option.name).name == "COMMANDLINE"
    }
    for option in context.command.params:
        if option.name in typed and option.name not in SHARED_OPTIONS:
            raise InputError(f"{option.opts[0]} is for classifiers: leave it out for a language model")
    settings = {LANGUAGE_OPTIONS[name]: value for name, value in typed.items() if name in LANGUAGE_OPTIONS}
    if "attention" in typed:
        settings["attention"] = parse_attention_option(typed["attention"])
    settings |= parse_settings(typed.get("set_") or [])
    chosen = {name: settings.pop(name) for name in ("model", "objective") if name in settings}
    if chosen == {"objective": "masked"}:
        chosen["model"] = USUAL_ENCODER
    return LanguageRequest(
        config=LanguageModelConfig(**chosen).with_settings(settings),
        **{name: value for name, value in typed.items() if name in REQUEST},
    )


def run_language_training(request: LanguageRequest) -> None:
    """Train with a progress bar, and print perplexity next to its floor."""
    from glasshead.attention import to_name
    from glasshead.cli.run_training import recorder_callbacks
    from glasshead.cli.training_bar import ProgressBar
    from glasshead.files import check_writable, partial_path
    from glasshead.language import read_corpus, train_language_model

    config, out = request.config, request.out
    path = Path(request.data)
    reads = [path] if path.exists() else []
    check_writable(out, overwrite=request.overwrite, resume=request.resume, reads=reads)
    corpus = read_corpus(
        request.data,
        text_column=request.text_column,
        encoding=request.encoding,
        separator=request.separator,
        dev_fraction=request.dev_fraction,
        seed=request.seed,
    )
    mechanism = "its own attention" if config.attention is None else to_name(config.attention)
    watching = recorder_callbacks(request.watch, request.watch_every)
    bar = ProgressBar(f"{out.name} ({config.model}, {mechanism})")
    try:
        with resume_on_interrupt(partial_path(out)):
            train_language_model(
                corpus,
                config,
                out,
                seed=request.seed,
                source={"source": request.data},
                resume=request.resume,
                overwrite=request.overwrite,
                callbacks=[bar, *watching],
            )
    finally:
        bar.stop()
    print_language_results(out)
    print_line(f"Language model in {out}")
    print_line("Next: " + shlex.join(["glasshead", *next_language_command(request)]))


def print_language_results(out: Path) -> None:
    """Perplexity of each epoch, and of the one kept with its interval next to guessing by frequency."""
    from glasshead.language import LANGUAGE_RECORD
    from glasshead.opening import MEASURED, read_object

    record, measured = read_object(out / LANGUAGE_RECORD), read_object(out / MEASURED)
    tokens, blocks = record["tokens"], record["blocks"]
    print_line(
        f"{record['parameters']:,} parameters, {record['vocabulary']:,} tokens in the vocabulary; "
        f"train {tokens['train']:,} tokens in {blocks['train']:,} blocks, dev {tokens['dev']:,}"
    )
    epochs = ", ".join(f"{entry['perplexity']:.4g}" for entry in measured["epochs"])
    print_line(f"  dev perplexity per epoch: {epochs}")
    dev = measured["dev"]
    between = ""
    if dev["perplexity_interval"] is not None:
        low, high = dev["perplexity_interval"]
        between = f" [{low:.4g}, {high:.4g}]"
    print_line(
        f"  dev perplexity {dev['perplexity']:.4g}{between}, accuracy {dev['accuracy']:.3f} "
        f"({dev['tokens']:,} tokens; 95 % intervals over {dev['blocks']:,} blocks)"
    )
    if "sliding_window" in dev:
        window = dev["sliding_window"]
        print_line(
            f"  dev perplexity {window['value']:.4g} by windows of {window['window']} tokens, "
            f"{window['stride']} apart"
        )
    floor = dev["unigram"]
    print_line(
        f"  floor: perplexity {floor['perplexity']:.4g}, accuracy {floor['accuracy']:.3f} by frequency alone"
    )
    for split, share in record["unknown_tokens"].items():
        if share > UNKNOWN_SHARE:
            print_line(
                f"{100 * share:.0f} % of the tokens of {split} are unknown, which are easy to guess: do not "
                "compare this perplexity with that of another tokenizer"
            )


def next_language_command(request: LanguageRequest) -> list[str]:
    """What to do with what was trained."""
    out = str(request.out)
    if request.watch is not None:
        return ["dynamics", out, "--out", f"{out}-dynamics.html"]
    if request.config.masked:
        return ["doctor", out]
    return ["generate", out, "Once upon a time", "--strategy", "nucleus=0.9"]
