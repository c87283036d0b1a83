"""Records as values: made by keyword, inherited, compared, copied, and never changed."""

import copy
import pickle

import pytest

from aiplan.declare import Declared, integer, listing, mapping, record, text
from aiplan.declare.fields import declared


class Part(Declared):
    count: int = integer(doc="How many", default=1)


class Named(Declared):
    name: str = text(doc="Name")
    tags: tuple[str, ...] = listing(text(), doc="Labels", default=())


class Thing(Named):
    part: Part = record(Part, doc="Part", default="empty")
    sizes: dict[str, int] = mapping(integer(), doc="Sizes", default="empty")


class Renamed(Named):
    name: str = text(doc="Another name", default="unnamed")


def test_fields_of_the_base_come_first():
    assert list(declared(Thing)) == ["name", "tags", "part", "sizes"]
    assert list(declared(Named)) == ["name", "tags"]


def test_a_field_can_be_declared_anew():
    assert list(declared(Renamed)) == ["name", "tags"]
    assert Renamed().name == "unnamed"


def test_defaults_fill_the_rest():
    thing = Thing(name="x")
    assert (thing.name, thing.tags, thing.part.count, thing.sizes) == ("x", (), 1, {})


@pytest.mark.parametrize(
    ("values", "told"),
    [
        ({"name": "x", "colour": 1, "age": 2}, "unknown fields: age, colour; missing fields: -"),
        ({"tags": ()}, "unknown fields: -; missing fields: name"),
    ],
)
def test_wrong_fields_are_refused(values, told):
    with pytest.raises(TypeError, match=f"^Thing: {told}$"):
        Thing(**values)


def test_fields_are_given_by_keyword_only():
    with pytest.raises(TypeError):
        Part(1)


def test_nothing_can_be_set_added_or_deleted():
    part = Part()
    with pytest.raises(AttributeError, match="'count' cannot be set"):
        part.count = 2
    with pytest.raises(AttributeError, match="'colour' cannot be set"):
        part.colour = 2
    with pytest.raises(AttributeError, match="'count' cannot be deleted"):
        del part.count
    assert part.count == 1


def test_records_are_equal_if_class_and_fields_are():
    assert Part(count=2) == Part(count=2) != Part(count=3)
    assert len({Part(count=2), Part(count=2), Part(count=3)}) == 2
    assert Named(name="x") != Renamed(name="x")
    assert Part(count=2) != 2


def test_a_record_shows_what_would_make_it():
    thing = Thing(name="x", tags=("a",))
    assert repr(thing) == "Thing(name='x', tags=('a',), part=Part(count=1), sizes={})"
    assert eval(repr(thing)) == thing  # noqa: S307  our own text


def test_records_survive_copy_and_pickle():
    thing = Thing(name="x", sizes={"a": 1})
    copies = [copy.copy(thing), copy.deepcopy(thing), pickle.loads(pickle.dumps(thing))]  # noqa: S301  our own bytes
    assert copies == [thing] * 3
    assert copies[1].sizes is not thing.sizes
