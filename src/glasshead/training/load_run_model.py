"""The model of a run of any kind."""

from pathlib import Path

from transformers import AutoConfig, AutoModel, AutoModelForSequenceClassification, PreTrainedModel

from glasshead.errors import InputError
from glasshead.huggingface import load_weights, reads_images
from glasshead.training.run import load_run, open_record


def load_run_model(folder: Path) -> PreTrainedModel:
    """The trained model of a run: a classifier, or any other that Transformers knows by its configuration.

    Raises:
        InputError: if the folder is no run, or a file of it is damaged.
    """
    open_record(folder, "glasshead.training.train")
    try:
        config = AutoConfig.from_pretrained(folder, local_files_only=True)
    except Exception as error:  # safetensors and configurations break in every way there is
        raise InputError(f"{folder} is a damaged run (config.json names no model): train again") from error
    if type(config) in AutoModelForSequenceClassification._model_mapping or reads_images(config):
        return load_run(folder).model
    try:
        return load_weights(AutoModel, folder, config=config, local_files_only=True)[0].eval()
    except Exception as error:  # so do weights
        raise InputError(f"{folder} is a damaged run (its weights do not load): train again") from error
