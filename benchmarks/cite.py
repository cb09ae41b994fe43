"""What it costs to remove passages: leave-one-out and random ablations beside a plain loop, and sentences of
the strongest passage beside all sentences.

    python -m benchmarks.cite

20 passages of 100 tokens stand before a question and an answer of 20 tokens, before a random model of
Llama's kind. The plain loop, as it is usually written, calls the model on every prompt with its answer and
reads the answer's log-probabilities from all logits. `AnswerScorer` reads what prompts begin with in common
once, and asks the vocabulary at the answer only. Both give the same numbers. Coarse to fine removes each of
the passages, then each of the 20 sentences of one; all sentences are 400. Both go by `AnswerScorer`. What is
compared alternates; a ratio is that of times of one core, the median over rounds, with the least and the
largest.
"""

from time import process_time

import numpy as np
import torch
from numpy.typing import NDArray
from transformers import LlamaConfig, LlamaForCausalLM

from benchmarks.measuring import print_table, ratios, time_interleaved
from glasshead.sources.effects import draw_masks
from glasshead.sources.scores import AnswerScorer, Ids

PASSAGES, TOKENS, SENTENCE, ANSWER, ROUNDS = 20, 100, 5, 20, 3
SIZES = {
    "hidden_size": 256, "intermediate_size": 688, "num_hidden_layers": 4, "num_attention_heads": 4,
    "vocab_size": 32_000,
}  # fmt: skip


def prompts_of(kept: NDArray[np.bool_], random: np.random.Generator, tokens: int = TOKENS) -> list[Ids]:
    """Each subset of passages of so many tokens, between the same beginning and the same question."""
    begin, question = (tuple(map(int, random.integers(10, 30_000, size=size))) for size in (10, 15))
    passages = [tuple(map(int, random.integers(10, 30_000, size=tokens))) for _ in range(kept.shape[1])]
    return [
        (*begin, *(n for one, there in zip(passages, row, strict=True) if there for n in one), *question)
        for row in kept
    ]


def plain_loop(model: LlamaForCausalLM, prompts: list[Ids], answer: Ids) -> NDArray[np.float64]:
    """The log-probabilities of the answer behind each prompt, one by one."""
    rows = []
    with torch.no_grad():
        for prompt in prompts:
            logits = model(input_ids=torch.tensor([[*prompt, *answer]])).logits
            log_p = logits[0, len(prompt) - 1 : -1].log_softmax(-1)
            rows.append(log_p[range(len(answer)), answer].double().numpy())
    return np.stack(rows)


def main() -> None:
    torch.manual_seed(0)
    torch.set_num_threads(1)
    model = LlamaForCausalLM(LlamaConfig(**SIZES, max_position_embeddings=4096)).eval()
    random = np.random.default_rng(0)
    answer = tuple(map(int, random.integers(10, 30_000, size=ANSWER)))
    rows = []
    for name, kept in (
        ("leave-one-out, 20 prompts", ~np.eye(PASSAGES, dtype=bool)),
        ("random ablations, 64 prompts", draw_masks(PASSAGES, 64, 0)),
    ):
        prompts = prompts_of(kept, np.random.default_rng(1))
        some = prompts[:4]
        np.testing.assert_allclose(
            AnswerScorer(model, answer)(some), plain_loop(model, some, answer), atol=1e-3
        )
        times = time_interleaved(
            {
                "loop": lambda prompts=prompts: plain_loop(model, prompts, answer),
                "shared": lambda prompts=prompts: AnswerScorer(model, answer)(prompts),
            },
            rounds=ROUNDS,
            clock=process_time,
        )
        rows.append((name, str(ratios(times["loop"], times["shared"]))))
    sentences = ~np.eye(PASSAGES * TOKENS // SENTENCE, dtype=bool)
    passages = ~np.kron(np.eye(PASSAGES, dtype=bool), np.ones(TOKENS // SENTENCE, dtype=bool))
    every = prompts_of(sentences, np.random.default_rng(1), SENTENCE)
    coarse = prompts_of(passages, np.random.default_rng(1), SENTENCE)

    def coarse_to_fine() -> None:
        score = AnswerScorer(model, answer)
        most = int(score(coarse).sum(axis=1).argmin())
        score(every[most * (TOKENS // SENTENCE) : (most + 1) * (TOKENS // SENTENCE)])

    times = time_interleaved(
        {"all": lambda: AnswerScorer(model, answer)(every), "coarse to fine": coarse_to_fine},
        rounds=1,
        clock=process_time,
    )
    print_table(
        "all 400 sentences / passages, then the 20 sentences of one (one round)",
        [str(ratios(times["all"], times["coarse to fine"]))],
        {"times": str},
    )
    print_table(
        "a plain loop / prompts that share their beginnings",
        rows,
        {"work": lambda row: row[0], "times": lambda row: row[1]},
    )


if __name__ == "__main__":
    main()
