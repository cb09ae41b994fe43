"""The native kernel keeps the promises of all kernels; compiling it makes these tests slow."""

import pytest


def is_native(item: pytest.Item) -> bool:
    """Whether a test is about the native kernel."""
    spec = getattr(item, "callspec", None)
    return spec is not None and spec.params.get("kernel") == "native"


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Before slow tests are left out."""
    for item in filter(is_native, items):
        item.add_marker(pytest.mark.slow)


@pytest.fixture(autouse=True)
def compiled_where_needed(request: pytest.FixtureRequest) -> None:
    """Tests of the native kernel have it."""
    if is_native(request.node):
        request.getfixturevalue("native_kernel")
