"""A refusal names a way out, and the way leads somewhere."""

import pytest
import torch
import transformers as hf

import glasshead
from classifier_families import FAMILIES, TEXTS, widened, word_tokenizer
from glasshead.errors import InputError
from glasshead.huggingface import is_writer
from image_families import SIZES as VISION

pytestmark = pytest.mark.usefixtures("quiet")
WORDS = {"vocab_size": 60, "pad_token_id": 0, "eos_token_id": 1, "decoder_start_token_id": 0}
SIDES = {
    f"{side}_{name}": value
    for side in ("encoder", "decoder")
    for name, value in {"layers": 2, "attention_heads": 2, "ffn_dim": 16}.items()
}
LAYERS = {**WORDS, **SIDES, "d_model": 16, "max_position_embeddings": 64}
ANSWERERS = {
    "t5": lambda: widened(
        hf.T5ForConditionalGeneration,
        hf.T5Config(**WORDS, d_model=16, d_kv=8, d_ff=16, num_heads=2, num_layers=2),
    ),
    "marian": lambda: widened(hf.MarianMTModel, hf.MarianConfig(**LAYERS)),
    "pegasus": lambda: widened(hf.PegasusForConditionalGeneration, hf.PegasusConfig(**LAYERS)),
    "m2m100": lambda: widened(hf.M2M100ForConditionalGeneration, hf.M2M100Config(**LAYERS, bos_token_id=2)),
}
ROWS = [{"text": text} for text in TEXTS]


@pytest.mark.parametrize(
    ("name", "saved"),
    [
        ("t5", True),
        ("marian", False),
        *(pytest.param(name, False, marks=pytest.mark.slow) for name in ANSWERERS if name != "marian"),
    ],
)
def test_what_an_encoder_decoder_is_said_to_be_good_for_works(name, saved, tmp_path):
    model, options = ANSWERERS[name](), {"tokenizer": word_tokenizer("end")}
    if saved:
        model.save_pretrained(tmp_path)
        options.pop("tokenizer").save_pretrained(tmp_path)
        model = str(tmp_path)
    with pytest.raises(
        InputError, match=r"`glasshead\.generate`, .* `audits=\['identifiability'\]`"
    ) as refusal:
        glasshead.explain(model, TEXTS, **options)
    assert len(str(refusal.value)) <= 300
    assert glasshead.generate(model, "a warm", tokens=2, **options).with_maps(["attention"]).maps
    assert glasshead.audit(model, ROWS, audits=["identifiability"], **options).findings
    report = glasshead.heads(model, ROWS, **options)
    assert {(head.layer, head.head) for head in report.heads} == {(0, 0), (0, 1), (1, 0), (1, 1)}
    assert any("only the encoder of this" in remark for remark in report.remarks)


def llava():
    text = hf.LlamaConfig(
        vocab_size=60, hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=24,
        bos_token_id=1, eos_token_id=1, pad_token_id=0,
    )  # fmt: skip
    config = hf.LlavaConfig(
        vision_config=hf.CLIPVisionConfig(**VISION), text_config=text, image_token_index=5
    )
    return widened(hf.LlavaForConditionalGeneration, config)


def qwen_audio():
    text = hf.Qwen2Config(
        vocab_size=60, hidden_size=16, num_hidden_layers=2, num_attention_heads=2, num_key_value_heads=1,
        intermediate_size=24, bos_token_id=1, eos_token_id=1, pad_token_id=0,
    )  # fmt: skip
    sounds = {
        "d_model": 16, "encoder_layers": 1, "encoder_attention_heads": 2, "encoder_ffn_dim": 16,
        "num_mel_bins": 8, "max_source_positions": 10,
    }  # fmt: skip
    config = hf.Qwen2AudioConfig(
        audio_config=sounds, text_config=text.to_dict(), audio_token_id=59, pad_token_id=0
    )
    return widened(hf.Qwen2AudioForConditionalGeneration, config)


@pytest.mark.parametrize(
    ("make", "beside", "saved"),
    [
        (llava, "images", False),
        (qwen_audio, "sounds", True),
        pytest.param(llava, "images", True, marks=pytest.mark.slow),
        pytest.param(qwen_audio, "sounds", False, marks=pytest.mark.slow),
    ],
)
def test_a_model_that_also_reads_something_else_is_explained_and_writes_behind_texts(
    saved, make, beside, tmp_path
):
    model, options = make(), {"tokenizer": word_tokenizer("")}
    ids = options["tokenizer"](TEXTS[0], return_tensors="pt").input_ids
    with torch.no_grad():
        expected = float(model(input_ids=ids).logits[0, -1].softmax(-1).max())
        answer = model.generate(input_ids=ids, max_new_tokens=3, pad_token_id=0)[0].tolist()
    if saved:
        model.save_pretrained(tmp_path)
        options.pop("tokenizer").save_pretrained(tmp_path)
        model = str(tmp_path)
    for method in ("attention", "gradient", "erasure-delete"):
        attributions = glasshead.explain(model, TEXTS[:1], method=method, **options)
        assert attributions[0].prediction == pytest.approx(expected, rel=1e-4)
    assert any(f"also reads {beside}" in note for note in attributions.notes)
    written = glasshead.generate(model, TEXTS[0], tokens=3, **options)
    assert list(written.ids) == answer
    assert written.with_maps(["attention", "gradient"]).maps


@pytest.mark.parametrize(
    ("name", "writes"),
    [
        ("Qwen2AudioForConditionalGeneration", True),
        ("LlavaForConditionalGeneration", True),
        ("BlipForConditionalGeneration", False),  # nothing without an image
        ("CsmForConditionalGeneration", False),  # sounds
        ("OwnForConditionalGeneration", True),
        ("BertForMaskedLM", False),
    ],
)
def test_whether_a_saved_model_writes_is_a_matter_of_what_it_reads(name, writes):
    cls = getattr(hf, name, None)
    config = (hf.LlamaConfig if cls is None else cls.config_class)()
    config.architectures = [name]
    assert is_writer(config) == writes


@pytest.mark.slow
def test_columns_are_named_to_audit_as_its_messages_name_them():
    model, tokenizer = FAMILIES["Bert"].build(2), FAMILIES["Bert"].tokenizer()
    rows = [{"review": text, "stars": f"LABEL_{number % 2}"} for number, text in enumerate(TEXTS * 2)]
    with pytest.raises(InputError, match="`text_column`"):
        glasshead.audit(model, rows, tokenizer=tokenizer)
    columns = {"text_column": "review", "label_column": "stars", "tokenizer": tokenizer}
    assert glasshead.audit(model, rows, audits=["performance"], **columns).findings
    assert glasshead.rank(model, rows, ["gradient"], limit=3, **columns).methods
    assert glasshead.heads(model, rows, limit=3, **columns).heads


def test_a_model_of_two_inputs_says_so():
    config = hf.CLIPConfig(
        text_config={"vocab_size": 60, "hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2},
        vision_config=VISION,
    )
    with pytest.raises(InputError, match=r"CLIPModel compares images with captions.*pass its processor"):
        glasshead.heads(hf.CLIPModel(config), ROWS, tokenizer=word_tokenizer())
