"""How a model is opened."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import torch

from glasshead.requests import OpeningRequest


@dataclass(frozen=True)
class OpenOptions:
    """How a model is opened: ``labels`` renames its classes (name or number → name), ``classifies`` says that
    a model needs classes to predict, ``answers`` that encoder–decoders which write one text for another are
    opened, too, ``images`` that texts may come with images, ``trust_remote_code`` lets code of its folder
    run; on which ``device`` it is read (None: where it is, the CPU for a folder), and in which precision
    (``dtype``; None: that of its weights, and float32 where these are halves, which stay as they are);
    ``task`` is its task, if its configuration does not say so."""

    labels: Mapping[str, str] = field(default_factory=dict)
    classifies: bool = True
    answers: bool = False
    images: bool = False
    trust_remote_code: bool = False
    device: str | torch.device | None = None
    dtype: str | torch.dtype | None = None
    task: str | None = None

    @classmethod
    def of(cls, request: OpeningRequest, **others: Any) -> OpenOptions:
        """The options of a request, and ``others`` that it does not have."""
        return cls(
            getattr(request, "labels", None) or {},
            trust_remote_code=request.trust_remote_code,
            device=request.device,
            task=getattr(request, "task", None),
            **others,
        )
