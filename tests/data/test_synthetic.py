"""The synthetic sets hold exactly what was planted in them."""

from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from glasshead.data import DATASETS, LoadOptions, SyntheticOptions, describe, load, planted_groups
from glasshead.data.synthetic import generate_splits, groups
from glasshead.data.synthetic_vocabulary import GENRES, NEGATIVE, NEUTRAL_WORDS, POSITIVE, extend_vocabulary
from glasshead.errors import InputError

SMALL = SyntheticOptions(instances=400, polar_words=5, neutral_words=30)


def rows(options, split="train"):
    """Class number and words of each instance."""
    return [(label, text.split()) for text, label in zip(*generate_splits(options)[split], strict=True)]


def occurrences(options, split="train"):
    """How often each word occurs in each class."""
    found = Counter()
    for label, words in rows(options, split):
        found.update((label, word) for word in words)
    return found


class TestWords:
    def test_numbers_of_words(self):
        assert (len(POSITIVE), len(NEGATIVE), len(NEUTRAL_WORDS)) == (50, 50, 1000)
        assert {len(words) for words in GENRES.values()} == {10}

    def test_every_word_is_one_plain_word_of_one_group(self):
        words = [*POSITIVE, *NEGATIVE, *NEUTRAL_WORDS, *(word for genre in GENRES.values() for word in genre)]
        assert len(set(words)) == len(words)
        assert all(word.isascii() and word.isalpha() and word == word.lower() for word in words)

    def test_extended_words(self):
        assert extend_vocabulary(["a", "b"], 5) == ["a", "b", "a2", "b2", "a3"]
        assert extend_vocabulary(["a", "b"], 1) == ["a"]


class TestTruth:
    def test_two_classes(self):
        planted = planted_groups(SyntheticOptions())
        assert Counter(planted.values()) == {"negative": 50, "positive": 50, "neutral": 1000}
        assert (planted["wonderful"], planted["dreadful"], planted["about"]) == (
            "positive",
            "negative",
            "neutral",
        )

    @pytest.mark.parametrize("classes", range(3, 9))
    def test_more_classes(self, classes):
        options = SyntheticOptions(classes=classes, polar_words=25)
        planted = planted_groups(options)
        assert Counter(planted.values()) == dict.fromkeys(options.class_names, 25) | {"neutral": 1000}
        assert planted["giggle2"] == "comedy"

    def test_the_large_set_has_ten_thousand_words(self):
        planted = Counter(planted_groups(DATASETS["synthetic-large"].defaults).values())
        assert planted == {"negative": 500, "positive": 500, "neutral": 9000}


class TestInstances:
    @pytest.mark.parametrize("classes", [2, 3, 5])
    def test_two_polar_and_ten_neutral_words(self, classes):
        options = replace(SMALL, classes=classes)
        planted = planted_groups(options)
        for split in ("train", "dev", "test"):
            for label, words in rows(options, split):
                expected = {options.class_names[label]: 2, "neutral": 10}
                assert Counter(planted[word] for word in words) == expected

    @pytest.mark.parametrize(
        "options", [SMALL, replace(SMALL, noise=0.2), replace(SMALL, classes=4, noise=0.1)]
    )
    def test_balanced_and_symmetric_to_the_last_word(self, options):
        found = occurrences(options)
        classes = range(options.classes)
        planted = list(groups(options).values())
        for word in planted[-1]:
            assert len({found[label, word] for label in classes}) == 1
        for place in range(options.polar_words):
            own = {found[label, planted[label][place]] for label in classes}
            assert len(own) == 1

    def test_noise_swaps_the_share_asked_for(self):
        options = replace(SMALL, noise=0.1)
        planted = planted_groups(options)
        polar = [
            (options.class_names[label], planted[word])
            for label, words in rows(options)
            for word in words
            if planted[word] != "neutral"
        ]
        wrong = sum(name != group for name, group in polar)
        assert wrong == round(0.1 * len(polar))

    def test_noise_of_many_classes_reaches_every_other_class(self):
        options = replace(SMALL, classes=3, noise=0.5)
        planted = planted_groups(options)
        seen = {(label, planted[word]) for label, words in rows(options) for word in words}
        assert len(seen) == 3 * 4

    @pytest.mark.parametrize(("ratio", "positive"), [(1.0, 0.5), (4.0, 0.8), (0.25, 0.2)])
    def test_ratio(self, ratio, positive):
        labels = generate_splits(replace(SMALL, ratio=ratio))["train"][1]
        assert sum(labels) == round(positive * len(labels))

    def test_words_and_classes_are_shuffled(self):
        found = rows(SMALL)
        planted = planted_groups(SMALL)
        assert {planted[words[0]] for _, words in found} == {"negative", "positive", "neutral"}
        assert 0 < sum(label for label, _ in found[:40]) < 40

    @settings(deadline=None, max_examples=40)
    @given(
        options=st.builds(
            SyntheticOptions,
            instances=st.integers(20, 60),
            classes=st.integers(2, 8),
            polar_words=st.integers(1, 12),
            neutral_words=st.integers(1, 5),
            polar_per_instance=st.integers(1, 3),
            neutral_per_instance=st.integers(0, 3),
            noise=st.floats(0, 0.99),
            seed=st.integers(0, 5),
        )
    )
    def test_sizes_hold_for_all_options(self, options):
        made = generate_splits(options)
        assert sum(len(texts) for texts, _ in made.values()) == options.instances
        length = options.polar_per_instance + options.neutral_per_instance
        assert {len(text.split()) for texts, _ in made.values() for text in texts} == {length}
        assert set(made["train"][1]) == set(range(options.classes))
        assert made == generate_splits(options)

    def test_the_seed_decides(self):
        assert generate_splits(SMALL) == generate_splits(SMALL)
        assert generate_splits(SMALL) != generate_splits(replace(SMALL, seed=1))


class TestNamedSets:
    def test_all_of_them_explain_themselves(self):
        assert set(DATASETS) >= {"synthetic", "synthetic-noisy", "synthetic-large"}
        assert all(10 < len(entry.description) < 100 for entry in DATASETS.values())
        assert DATASETS["synthetic"].defaults.noise == 0
        assert DATASETS["synthetic-noisy"].defaults.noise > 0

    def test_loaded(self):
        data = load("synthetic")
        assert describe(data)["rows"] == {"train": 2800, "dev": 600, "test": 600}
        assert data["train"].features["label"].names == ["negative", "positive"]
        assert data["test"].info.description == "drawn by synthetic with seed 0"
        row = data["train"][0]
        groups_seen = {planted_groups(SyntheticOptions())[word] for word in row["text"].split()}
        assert groups_seen == {"neutral", ("negative", "positive")[row["label"]]}

    def test_the_large_one(self):
        assert describe(load("synthetic-large"))["rows"] == {"train": 35000, "dev": 7500, "test": 7500}

    def test_loaded_with_options(self):
        changed = LoadOptions(generator={"classes": 3, "instances": 300, "seed": 7, "noise": 0.1})
        data = load("synthetic", changed)
        assert data["train"].features["label"].names == ["comedy", "romance", "horror"]
        assert describe(data)["rows"] == {"train": 210, "dev": 45, "test": 45}
        assert data["dev"].info.description.endswith("seed 7")

    def test_two_genres_of_three(self):
        data = load("synthetic", LoadOptions(generator={"classes": 3}, classes=("horror", "comedy")))
        assert data["train"].features["label"].names == ["horror", "comedy"]

    @pytest.mark.parametrize(
        ("changes", "message"),
        [
            ({"nose": 0.1}, "did you mean 'noise'?"),
            ({"noise": 1.0}, "noise is 1.0"),
            ({"noise": float("nan")}, "noise is nan"),
            ({"ratio": 0}, "ratio is 0"),
            ({"ratio": 2, "classes": 3}, "for two classes"),
            ({"classes": 1}, "classes is 1: give an integer of 2 or more"),
            ({"classes": 9}, "there are words for only 8"),
            ({"instances": 5}, "instances is 5"),
            ({"instances": 100.0}, "instances is 100.0"),
            ({"polar_words": 0}, "polar_words is 0"),
            ({"seed": -1}, "seed is -1"),
        ],
    )
    def test_bad_options(self, changes, message):
        with pytest.raises(InputError) as caught:
            load("synthetic", LoadOptions(generator=changes))
        assert message in str(caught.value)
        assert "\n" not in str(caught.value)
