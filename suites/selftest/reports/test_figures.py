"""Figures: ids that can be read back, and fields that make sense."""

import math

import pytest

from batchproof.reports.figures import Figure, figure_id

P99 = Figure("open.p99_ns[load=0.6,size=16]", 5e6, "ns", "lower", 4e6, 6e6, 1000)


def test_a_figure_survives_its_json():
    """What is written is what is read."""
    assert Figure.of(P99.facts()) == P99


def test_an_id_tells_its_name_and_its_conditions():
    """They are what a chart groups by."""
    assert P99.name == "open.p99_ns"
    assert P99.conditions == {"load": "0.6", "size": "16"}
    assert Figure("static.rows_per_s", 1, "rows/s", "higher").conditions == {}


def test_conditions_become_an_id():
    """Numbers are short, and no character of a name can end an id early."""
    assert figure_id("open.p99_ns", load=0.60, size=16) == "open.p99_ns[load=0.6,size=16]"
    assert figure_id("sweep.best", work="a b],c=d") == "sweep.best[work=a-b-c-d]"
    assert figure_id("sweep.best") == "sweep.best"


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"id": "No Id"}, "is not the id of a figure"),
        ({"id": "a[b]"}, "is not the id of a figure"),
        ({"id": "a[b=1"}, "is not the id of a figure"),
        ({"id": "a" * 201}, "is not the id of a figure"),
        ({"id": "a\n"}, "is not the id of a figure"),
        ({"value": math.nan}, "not a finite number"),
        ({"value": math.inf}, "not a finite number"),
        ({"better": "smaller"}, "higher or lower"),
        ({"low": 2.0, "high": 1.0}, "is empty"),
        ({"n": -1}, "n is -1"),
    ],
)
def test_what_no_figure_can_be_is_refused(wrong, said):
    """The message says what is wrong."""
    with pytest.raises(ValueError, match=said):
        Figure(**{**P99.facts(), **wrong})


def test_foreign_fields_are_refused():
    """A file of another format gives one error, and no figure with holes."""
    with pytest.raises(ValueError, match="not a figure"):
        Figure.of({"id": "a", "value": 1.0, "colour": "red"})
