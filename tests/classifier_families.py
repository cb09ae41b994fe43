"""Tiny random text classifiers of every family that people bring, and a tokenizer that fits them all."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import torch
import transformers as hf
from datasets import ClassLabel, Dataset, Features, Value
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from transformers import PreTrainedModel, PreTrainedTokenizerFast

from families import GROUPED, PAD, SIZES

SPECIAL = ["[PAD]", "[EOS]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
WORDS = "the a film warm funny dull and not very good bad is was plot one two longer text than first so that"
VOCABULARY = {
    word: index for index, word in enumerate([*SPECIAL, *WORDS.split(), *["of", "them", "padded", ","]])
}
TEXTS = ["a warm , funny film", "the plot is dull and not very good", "bad"]
NO_PADDING: dict[str, Any] = {**SIZES, "bos_token_id": 1, "eos_token_id": 1, "pad_token_id": None}
GROUPED_NO_PADDING = {**GROUPED, "bos_token_id": 1, "eos_token_id": 1, "pad_token_id": None}
GPT = {"vocab_size": 60, "n_embd": 16, "n_layer": 2, "n_head": 2, "bos_token_id": 1, "eos_token_id": 1}
BIASED = {"relative_attention": True, "pos_att_type": ["p2c", "c2p"], "max_relative_positions": 16}


@dataclass(frozen=True)
class ClassifierFamily:
    """A class of classifiers with a tiny configuration.

    ``marks`` are the special tokens around a text: ``bert``, ``end`` or none; ``pads`` is whether its
    tokenizer has a padding token. ``lacks`` names what cannot be had, and why: a part of the message.
    """

    name: str
    config: type[Any]
    options: dict[str, Any]
    marks: str = "bert"
    pads: bool = True
    lacks: dict[str, str] = field(default_factory=dict)

    def build(self, labels: int = 3, **changes: Any) -> PreTrainedModel:
        """The model, always the same, with weights large enough that attention is far from uniform."""
        cls = getattr(hf, f"{self.name}ForSequenceClassification")
        config = self.config(**{**self.options, **changes})
        config.num_labels = labels
        return widened(cls, config)

    def language_model(self, **changes: Any) -> PreTrainedModel:
        """The same with a map onto the vocabulary."""
        return widened(hf.AutoModelForCausalLM.from_config, self.config(**{**self.options, **changes}))

    def tokenizer(self) -> PreTrainedTokenizerFast:
        """A tokenizer of words, which names token types whether or not the model knows them."""
        return word_tokenizer(self.marks, pads=self.pads)


def widened(cls: Callable[[Any], Any], config: Any) -> PreTrainedModel:
    """A model with weights large enough that attention is far from uniform, always the same ones."""
    torch.manual_seed(0)
    model: PreTrainedModel = cls(config)
    with torch.no_grad():
        for weight in model.parameters():
            if weight.ndim > 1:
                weight.normal_(0.0, 0.3)
    return model.eval()


def word_tokenizer(marks: str = "bert", *, pads: bool = True, **more: Any) -> PreTrainedTokenizerFast:
    """Words split at blanks and punctuation."""
    made = Tokenizer(models.WordLevel(VOCABULARY, "[UNK]"))
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    around = {
        "bert": ("[CLS] $A [SEP]", "[CLS] $A [SEP] $B:1 [SEP]:1"),
        "roberta": ("[CLS] $A [SEP]", "[CLS] $A [SEP] [SEP] $B:1 [SEP]:1"),
        "end": ("$A [EOS]", "$A [EOS] $B:1 [EOS]:1"),
    }
    if marks in around:
        used = [(token, VOCABULARY[token]) for token in SPECIAL if token in around[marks][1]]
        made.post_processor = processors.TemplateProcessing(*around[marks], used)
    names = {"unk_token": "[UNK]", "eos_token": "[EOS]", "cls_token": "[CLS]", "sep_token": "[SEP]"}
    if pads:
        names["pad_token"] = "[PAD]"
    inputs = ["input_ids", "token_type_ids", "attention_mask"]
    names |= {"mask_token": "[MASK]", **more}
    return PreTrainedTokenizerFast(tokenizer_object=made, model_input_names=inputs, **names)


NO_VALUES = {"values": "computes its attention itself"}
BANDED = {"attention": "not as a map of tokens × tokens", "values": "not as a map of tokens × tokens"}

COMPLETE = [
    ClassifierFamily("Bert", hf.BertConfig, SIZES),
    ClassifierFamily("Roberta", hf.RobertaConfig, {**SIZES, "max_position_embeddings": 64}),
    ClassifierFamily(
        "DistilBert",
        hf.DistilBertConfig,
        {"vocab_size": 60, "dim": 16, "n_layers": 2, "n_heads": 2, "hidden_dim": 32, "pad_token_id": PAD},
    ),
    ClassifierFamily("Albert", hf.AlbertConfig, {**SIZES, "embedding_size": 8}),
    ClassifierFamily("Electra", hf.ElectraConfig, {**SIZES, "embedding_size": 8}),
    ClassifierFamily(
        "ModernBert",
        hf.ModernBertConfig,
        {**SIZES, "num_hidden_layers": 4, "local_attention": 6, "cls_token_id": 3, "sep_token_id": 4},
    ),
    ClassifierFamily("Deberta", hf.DebertaConfig, {**SIZES, **BIASED}, lacks=NO_VALUES),
    ClassifierFamily(
        "DebertaV2", hf.DebertaV2Config, {**SIZES, **BIASED, "type_vocab_size": 0}, lacks=NO_VALUES
    ),
    ClassifierFamily("MPNet", hf.MPNetConfig, SIZES, lacks=NO_VALUES),
    ClassifierFamily(
        "Bart",
        hf.BartConfig,
        {
            "vocab_size": 60,
            "d_model": 16,
            "encoder_layers": 2,
            "decoder_layers": 2,
            "encoder_attention_heads": 2,
            "decoder_attention_heads": 2,
            "encoder_ffn_dim": 32,
            "decoder_ffn_dim": 32,
            "pad_token_id": PAD,
            "bos_token_id": 3,
            "eos_token_id": 4,
            "decoder_start_token_id": 4,
            "forced_eos_token_id": None,
        },
    ),
    ClassifierFamily("GPT2", hf.GPT2Config, GPT, marks="", pads=False),
    ClassifierFamily("Llama", hf.LlamaConfig, GROUPED_NO_PADDING, marks="", pads=False),
    ClassifierFamily("Qwen3", hf.Qwen3Config, GROUPED_NO_PADDING, marks="", pads=False),
]
"""Everything that does not need values is there for these; values for those that dispatch."""

MORE = [
    ClassifierFamily("XLMRoberta", hf.XLMRobertaConfig, {**SIZES, "max_position_embeddings": 64}),
    ClassifierFamily("Camembert", hf.CamembertConfig, {**SIZES, "max_position_embeddings": 64}),
    ClassifierFamily(
        "XLNet",
        hf.XLNetConfig,
        {"vocab_size": 60, "d_model": 16, "n_layer": 2, "n_head": 2, "d_inner": 32, "pad_token_id": PAD},
        lacks=NO_VALUES,
    ),
    ClassifierFamily(
        "ConvBert",
        hf.ConvBertConfig,
        {**SIZES, "num_attention_heads": 4, "embedding_size": 16, "head_ratio": 2, "conv_kernel_size": 3},
        lacks=NO_VALUES,
    ),
    ClassifierFamily("Yoso", hf.YosoConfig, SIZES, lacks=BANDED),
    ClassifierFamily("RoFormer", hf.RoFormerConfig, SIZES, lacks=NO_VALUES),
    ClassifierFamily(
        "T5",
        hf.T5Config,
        {
            "vocab_size": 60,
            "d_model": 16,
            "d_kv": 8,
            "d_ff": 32,
            "num_layers": 2,
            "num_heads": 2,
            "pad_token_id": PAD,
            "eos_token_id": 1,
            "decoder_start_token_id": 0,
        },
        marks="end",
    ),
    ClassifierFamily(
        "GPTNeo",
        hf.GPTNeoConfig,
        {
            "vocab_size": 60,
            "hidden_size": 16,
            "num_layers": 2,
            "num_heads": 2,
            "attention_types": [[["global", "local"], 1]],
            "window_size": 4,
            "bos_token_id": 1,
            "eos_token_id": 1,
        },
        marks="",
        pads=False,
        lacks=NO_VALUES,
    ),
    ClassifierFamily("GPTNeoX", hf.GPTNeoXConfig, NO_PADDING, marks="", pads=False),
    ClassifierFamily("GPTJ", hf.GPTJConfig, {**GPT, "rotary_dim": 4}, marks="", pads=False, lacks=NO_VALUES),
    ClassifierFamily(
        "OPT",
        hf.OPTConfig,
        {
            **{name: size for name, size in SIZES.items() if name != "intermediate_size"},
            "ffn_dim": 32,
            "word_embed_proj_dim": 16,
        },
        marks="",
    ),
    ClassifierFamily("Mistral", hf.MistralConfig, GROUPED_NO_PADDING, marks="", pads=False),
    ClassifierFamily("Gemma", hf.GemmaConfig, GROUPED, marks=""),
    ClassifierFamily(
        "Gemma2",
        hf.Gemma2Config,
        {**GROUPED, "attn_logit_softcapping": 5.0, "sliding_window": 4, "query_pre_attn_scalar": 8},
        marks="",
        lacks=NO_VALUES,
    ),
    ClassifierFamily(
        "Bloom",
        hf.BloomConfig,
        {"vocab_size": 60, "hidden_size": 16, "n_layer": 2, "n_head": 2},
        marks="",
        pads=False,
        lacks=NO_VALUES,
    ),
    ClassifierFamily(
        "Falcon",
        hf.FalconConfig,
        {"vocab_size": 60, "hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2},
        marks="",
        pads=False,
        lacks=NO_VALUES,
    ),
    ClassifierFamily("Longformer", hf.LongformerConfig, {**SIZES, "attention_window": 4}, lacks=BANDED),
]
FAMILIES = {family.name: family for family in [*COMPLETE, *MORE]}


def labelled_texts(
    n: int, classes: tuple[str, str] = ("bad", "good"), seed: int = 0
) -> tuple[list[str], list[str]]:
    """Texts whose class is whether they hold the word funny, on which nothing but a planted model knows."""
    generator = torch.Generator().manual_seed(seed)
    words = [word for word in WORDS.split() if word != "funny"]
    texts, labels = [], []
    for index in range(n):
        length = int(torch.randint(4, 9, (), generator=generator))
        text = [words[int(torch.randint(len(words), (), generator=generator))] for _ in range(length)]
        if index % 3 == 0:
            text[int(torch.randint(length, (), generator=generator))] = "funny"
        texts.append(" ".join(text))
        labels.append(classes["funny" in text])
    return texts, labels


def labelled_data(n: int) -> Dataset:
    """The same as a data set whose classes are called bad and good."""
    names = ["bad", "good"]
    texts, labels = labelled_texts(n)
    features = Features({"text": Value("string"), "label": ClassLabel(names=names)})
    return Dataset.from_dict({"text": texts, "label": labels}, features=features)


def planted(token: str) -> tuple[PreTrainedModel, PreTrainedTokenizerFast]:
    """A BERT whose decision rests on one token: attention goes to it, and its vector is all that is read.

    Each place adds a vector of its own, so that the norm of the token's counts: LayerNorm would undo it.
    """
    tokenizer = word_tokenizer()
    model: Any = FAMILIES["Bert"].build(labels=2, num_hidden_layers=1)
    with torch.no_grad():
        for name, weight in model.named_parameters():
            weight.fill_(1.0 if "LayerNorm.weight" in name else 0.0)
        embeddings, attention = model.bert.embeddings, model.bert.encoder.layer[0].attention
        embeddings.word_embeddings.weight[tokenizer.convert_tokens_to_ids(token), :2] = torch.tensor(
            [1.0, -1]
        )
        embeddings.position_embeddings.weight[:, 2:4] = torch.tensor([1.0, -1])
        attention.self.query.bias[0], attention.self.key.weight[0, 0] = 1.0, 8.0
        attention.self.value.weight.copy_(torch.eye(16))
        attention.output.dense.weight.copy_(torch.eye(16))
        model.bert.pooler.dense.weight.copy_(torch.eye(16))
        model.classifier.weight[1, :2] = torch.tensor([1.0, -1])
    return model, tokenizer
