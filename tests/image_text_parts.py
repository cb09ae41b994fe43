"""What the tiny models of images and texts of all families share: sizes, words, and processors."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast

SENTENCE = "what is the cat dog doing sleeping at top left right bottom in image ? A : yes no one two"
WORDS = SENTENCE.split()
PATCH = 4
TEXT: dict[str, Any] = {
    "hidden_size": 16,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "num_key_value_heads": 1,
    "intermediate_size": 24,
    "pad_token_id": 0,
    "bos_token_id": 2,
    "eos_token_id": 3,
}
VISION: dict[str, Any] = {
    "hidden_size": 16,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 24,
    "patch_size": PATCH,
}
EXTRA: dict[str, dict[str, str]] = {
    "aya_vision": {"patch": "<patch>", "start": "<sof>", "end": "<eof>", "line": "<br>"},
    "gemma3": {"image_token": "<soft>", "boi_token": "<boi>", "eoi_token": "<eoi>"},
    "internvl": {
        "start_image_token": "<img>", "end_image_token": "</img>", "context_image_token": "<image>",
        "video_token": "<video>",
    },
    "lighton_ocr": {
        "image_token": "<image>", "image_break_token": "<row_1_col_1>", "image_end_token": "<row_1_col_2>",
    },
    "ernie4_5_vl_moe": {
        "image_token": "<image>", "image_start_token": "<img>", "image_end_token": "</img>",
        "video_token": "<video>", "video_start_token": "<vid>", "video_end_token": "</vid>",
    },
    "paddleocr_vl": {"image_token": "<image>"},
    "aria": {"image_token": "<image>"},
    "janus": {"image_token": "<image>", "boi_token": "<boi>", "eoi_token": "<eoi>"},
    "emu3": {
        "image_token": "<image>", "boi_token": "<boi>", "eoi_token": "<eoi>",
        "image_wrapper_token": "<wrap>", "eof_token": "<eof>",
    },
    "gemma4": {
        "image_token": "<image>", "boi_token": "<boi>", "eoi_token": "<eoi>", "audio_token": "<audio>",
        "boa_token": "<boa>", "eoa_token": "<eoa>", "other": "<|video|>",
    },
    "ovis2": {
        "start": "<IMG_START>", "atom": "<IMG_ATOM>", "grid": "<IMG_GRID>", "column": "<IMG_COL>",
        "row": "<IMG_ROW>", "end": "<IMG_END>",
    },
    "shieldgemma2": {"image_token": "<soft>", "boi_token": "<boi>", "eoi_token": "<eoi>"},
    "t5gemma2": {"image_token": "<soft>", "boi_token": "<boi>", "eoi_token": "<eoi>"},
    "mllama": {"image_token": "<|image|>", "python": "<|python_tag|>"},
    "idefics": {"fake": "<fake_token_around_image>"},
    "hunyuan_vl": {
        "image_token": "<image>", "image_start_token": "<img>", "image_end_token": "</img>",
    },
    "fuyu": {"speaker": "|SPEAKER|", "newline": "|NEWLINE|"},
    "pp_chart2table": {"start": "<img>", "end": "</img>", "part": "<imgpad>"},
    "got_ocr2": {"start": "<img>", "end": "</img>", "part": "<imgpad>"},
    "qianfan_ocr": {
        "start_image_token": "<img>", "end_image_token": "</img>", "context_image_token": "<IMG_CONTEXT>",
    },
}  # fmt: skip


def tokenizer(name: str) -> PreTrainedTokenizerFast:
    """Words split at blanks."""
    extra = EXTRA.get(name, {})
    marks = ["<image>", "<video>", *extra.values(), "<fake_token_around_image>", "<global-img>"]
    marks += [f"<row_{row}_col_{column}>" for row in range(1, 4) for column in range(1, 4)]
    marks += ["<end_of_utterance>"]
    vocabulary = ["[PAD]", "[UNK]", "<s>", "</s>", *dict.fromkeys(marks), *WORDS]
    made = Tokenizer(models.WordLevel({word: number for number, word in enumerate(vocabulary)}, "[UNK]"))
    made.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    own = PreTrainedTokenizerFast(
        tokenizer_object=made, unk_token="[UNK]", pad_token="[PAD]", bos_token="<s>", eos_token="</s>",
        extra_special_tokens=extra or None,
    )  # fmt: skip
    own.add_special_tokens({"additional_special_tokens": list(dict.fromkeys(marks))})
    return own


def no_videos(processor: type) -> type:
    """A class of processors that want a processor of videos, which needs torchvision."""

    class WithoutVideos(processor):  # type: ignore[misc,valid-type]
        def check_argument_for_proper_class(self, argument_name: str, argument: Any) -> Any:
            if argument_name == "video_processor":
                return type(argument)
            return super().check_argument_for_proper_class(argument_name, argument)

    WithoutVideos.__name__ = processor.__name__
    return WithoutVideos


VIDEOS = SimpleNamespace(merge_size=2, model_input_names=["pixel_values_videos"])


def text_config(kind: str, words: int, **more: Any) -> dict[str, Any]:
    """The configuration of a language model."""
    return {"model_type": kind, **TEXT, "vocab_size": words, **more}
