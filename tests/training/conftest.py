"""What the tests of training share."""

import pytest
from transformers.utils import logging


@pytest.fixture
def quiet():
    """Loading says nothing, as `train` has it."""
    before = logging.get_verbosity()
    logging.set_verbosity_error()
    yield
    logging.set_verbosity(before)
