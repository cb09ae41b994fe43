"""Warnings of other libraries are silenced in any thread, and heard again afterwards."""

import warnings
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest

from glasshead.quiet import without_warnings


def test_threads_leave_the_filters_as_they_were():
    before, meet = list(warnings.filters), Barrier(4)

    def silent(_):
        meet.wait()
        for _ in range(50):
            with without_warnings():
                warnings.warn("nobody hears it", stacklevel=1)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(silent, range(4)))
    assert warnings.filters == before


def test_others_are_heard():
    with pytest.warns(UserWarning, match="heard"), without_warnings("silent"):
        warnings.warn("heard", stacklevel=1)
    with without_warnings("silent"):
        warnings.warn("silent as it is", stacklevel=1)
