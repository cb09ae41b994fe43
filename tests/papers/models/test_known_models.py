"""Either import of ours makes the folders of papers' models known to Transformers."""

import subprocess
import sys

import pytest

from glasshead.papers.models import NewsRecommender, NewsRecommenderConfig

PROGRAM = """
import sys
import {package}
from transformers import AutoModel
print(type(AutoModel.from_pretrained(sys.argv[1])).__name__)
late = ("glasshead.training", "glasshead.papers.recommend", "datasets")
print([name for name in late if name in sys.modules])
"""


@pytest.mark.parametrize("package", ["glasshead.huggingface", "glasshead.models"])
def test_a_recommender_is_known(package, tmp_path):
    sizes = {"hidden_size": 8, "num_attention_heads": 2, "head_dim": 4, "value_dim": 4}
    NewsRecommender(NewsRecommenderConfig(vocab_size=20, **sizes)).save_pretrained(tmp_path / "saved")
    command = [sys.executable, "-W", "error", "-c", PROGRAM.format(package=package), str(tmp_path / "saved")]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split("\n")[:2] == ["NewsRecommender", "[]"]
