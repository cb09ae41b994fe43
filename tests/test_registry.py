"""Name → object."""

import pytest

from glasshead.errors import InputError
from glasshead.registry import Registry, did_you_mean, import_siblings


@pytest.fixture
def colours():
    registry = Registry("colour")
    for name in ("red", "green", "blue"):
        registry.register(name)(name.upper())
    return registry


def test_a_mapping_in_alphabetical_order(colours):
    assert list(colours.items()) == [("blue", "BLUE"), ("green", "GREEN"), ("red", "RED")]
    assert len(colours) == 3
    assert "red" in colours
    assert "pink" not in colours
    assert 3 not in colours


def test_register_gives_the_object_back():
    registry = Registry("thing")

    @registry.register("one")
    class One:
        pass

    assert registry["one"] is One


def test_a_duplicate_raises_and_changes_nothing(colours):
    with pytest.raises(ValueError, match="colour 'red' is registered twice") as caught:
        colours.register("red")("other")
    assert not isinstance(caught.value, InputError)  # a programmer's mistake, not a user's
    assert colours["red"] == "RED"


def test_did_you_mean(colours):
    with pytest.raises(InputError, match=r"unknown colour 'gren': did you mean 'green'\?"):
        colours["gren"]


def test_nothing_is_near(colours):
    with pytest.raises(InputError, match="unknown colour 'xyz': choose from: blue, green, red"):
        colours["xyz"]


@pytest.mark.parametrize("name", ["rot", "Rot", "dark_rot", "dark rot"])
def test_a_name_of_other_libraries_leads_to_ours(name):
    registry = Registry("colour", elsewhere={"rot": "red", "dark-rot": "red"})
    registry.register("red")("RED")
    registry.register("rote")("ROTE")
    with pytest.raises(InputError, match=rf"unknown colour '{name}': did you mean 'red'\?"):
        registry[name]


def test_get_of_an_unknown_name_raises_too(colours):
    with pytest.raises(InputError):
        colours.get("xyz")


def test_empty():
    registry = Registry("thing")
    assert list(registry) == []
    with pytest.raises(InputError, match="unknown thing 'a': there is none"):
        registry["a"]


def test_the_nearest_of_several():
    assert did_you_mean("gradien", ["gradient", "gradient-l1", "attention"]) == "did you mean 'gradient'?"
    assert did_you_mean("", ["b", "a"]) == "choose from: a, b"


def test_one_new_file_is_one_new_entry(tmp_path, monkeypatch):
    package = tmp_path / "shelf"
    package.mkdir()
    (package / "__init__.py").write_text(
        "from glasshead.registry import Registry, import_siblings\n"
        "THINGS = Registry('thing')\n"
        "import_siblings(__name__, __path__)\n"
    )
    for name in ("one", "two"):
        (package / f"{name}.py").write_text(
            f"from shelf import THINGS\nTHINGS.register('{name}')({name!r})\n"
        )
    monkeypatch.syspath_prepend(tmp_path)
    import shelf

    assert dict(shelf.THINGS) == {"one": "one", "two": "two"}
    import_siblings("shelf", shelf.__path__)  # once more changes nothing
    assert len(shelf.THINGS) == 2
