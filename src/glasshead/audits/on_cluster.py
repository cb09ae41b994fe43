"""What a model says of texts without some of their tokens, asked of the workers of a Ray cluster."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import torch
from jaxtyping import Bool, Int
from torch import Tensor
from transformers import PreTrainedModel, PreTrainedTokenizerFast

from glasshead.cluster import RETRIES, Cluster, check_nodes, connect, free_slots
from glasshead.errors import InputError
from glasshead.explainers import (
    ExplanationContext,
    InParts,
    PartFunction,
    in_one_part,
    not_watched,
)
from glasshead.huggingface import isolated_copy

PARTS_PER_WORKER = 4
"""Of a worker: it gets the next when one ends, so that none waits long for the last."""


@contextmanager
def workers_of(cluster: Cluster | None, context: ExplanationContext) -> Iterator[InParts]:
    """Workers that each hold the model of a context; without a cluster all is done here.

    Models are sent, so nobody else needs their folder. Ray begins a part again whose worker was killed.

    Raises:
        InputError: as `connect` and `check_nodes`, and if the model cannot be sent.
    """
    if cluster is None:
        yield in_one_part
        return
    with connect(cluster) as ray:
        check_nodes(ray)
        yield OnCluster(ray, cluster, context)


class OnCluster:
    """Variants of texts in parts, one after the other to each worker."""

    def __init__(self, ray: Any, cluster: Cluster, context: ExplanationContext) -> None:
        self.ray = ray
        try:
            model = ray.put(isolated_copy(context.model, device=torch.device("cpu")))
        except Exception as error:  # whatever its classes raise where they are pickled
            reason = " ".join(str(error).split())
            raise InputError(f"this model cannot be sent to other computers: {reason[:200]}") from None
        worker = ray.remote(Worker).options(
            num_cpus=1, num_gpus=cluster.gpus_per_task, max_restarts=RETRIES, max_task_retries=RETRIES
        )
        with_gpu = cluster.gpus_per_task > 0
        count = min(free_slots(ray, cluster), max(len(context.logits), 1))
        self.workers = [worker.remote(model, context.tokenizer, with_gpu) for _ in range(count)]

    def __call__(
        self,
        function: PartFunction,
        context: ExplanationContext,
        texts: Int[Tensor, " variants"],
        removed: Bool[Tensor, "variants tokens"],
    ) -> Tensor:
        from ray.util import ActorPool

        if not len(texts):
            return function(context, texts, removed)
        parts = torch.arange(len(texts)).tensor_split(min(PARTS_PER_WORKER * len(self.workers), len(texts)))
        tasks = [(function, *part_of(context, texts[part], removed[part])) for part in parts]
        answers = ActorPool(self.workers).map(lambda actor, task: actor.compute.remote(*task), tasks)
        results: list[Tensor] = []
        try:
            for answer in answers:
                results.append(answer)
                context.progress(len(results) * len(context.logits) // len(parts), len(context.logits))
        except self.ray.exceptions.RayTaskError as error:
            raise error.cause from None
        except self.ray.exceptions.RayError as error:
            reason = " ".join(str(error).split())
            raise InputError(
                f"a worker of the cluster did not begin, or ended too often: {reason[-200:]}"
            ) from None
        return torch.cat(results)


def part_of(
    context: ExplanationContext, texts: Int[Tensor, " variants"], removed: Bool[Tensor, "variants tokens"]
) -> tuple[ExplanationContext, torch.dtype, Tensor, Tensor]:
    """Some variants with the texts that they are of, and no more; without the model, of which the precision
    is told."""
    rows, texts = texts.unique(return_inverse=True)
    some = context.some(rows)
    stripped: Any = {"model": None, "tokenizer": None}  # the worker has both
    alone = replace(some, **stripped, progress=not_watched, in_parts=in_one_part)
    return alone, context.model.dtype, texts, removed[:, : some.encoded.ids.shape[1]]


class Worker:
    """A process that holds a model."""

    def __init__(self, model: PreTrainedModel, tokenizer: PreTrainedTokenizerFast, with_gpu: bool) -> None:
        torch.set_num_threads(1)
        if with_gpu and not torch.cuda.is_available():
            raise InputError("GPUs were asked for, and a worker sees none")
        device = torch.device("cuda" if with_gpu else "cpu")
        self.model, self.tokenizer = isolated_copy(model, device=device), tokenizer
        self.copies: dict[torch.dtype, PreTrainedModel] = {}

    def compute(
        self,
        function: PartFunction,
        context: ExplanationContext,
        dtype: torch.dtype,
        texts: Tensor,
        removed: Tensor,
    ) -> Tensor:
        """A function of variants, with the model in some precision."""
        if dtype not in self.copies:
            self.copies[dtype] = isolated_copy(self.model, dtype)
        return function(replace(context, model=self.copies[dtype], tokenizer=self.tokenizer), texts, removed)
