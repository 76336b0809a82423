"""The map: even, with as few moves as possible, whoever comes and goes."""

from hypothesis import given
from hypothesis import strategies as st

from gossamer.cluster.assignment import (
    EPOCH_ROOM,
    Assignment,
    decode_assignment,
    encode_assignment,
    hand_over,
    merge_held,
    move,
    new_assignment,
    rebalance,
    take_out,
)

PARTITIONS = st.sampled_from([1, 7, 16, 64, 256])
NODES = st.integers(1, 12)


def settled(value: Assignment) -> Assignment:
    """All moves ended by their owners."""
    for node in sorted(value.nodes()):
        value = hand_over(value, range(len(value.rows)), node)
    return value


def names(count: int) -> list[str]:
    return [f"n{number}" for number in range(count)]


def check_even(value: Assignment, nodes: list[str]) -> None:
    counts = [value.counts().get(name, 0) for name in nodes]
    assert sum(counts) == len(value.rows)
    assert max(counts) - min(counts) <= 1


def moved(before: Assignment, after: Assignment) -> int:
    return sum(a.settled != b.settled for a, b in zip(before.rows, after.rows, strict=True))


@given(PARTITIONS, NODES)
def test_first_assignment_is_even_and_needs_no_move(partitions: int, count: int) -> None:
    value = rebalance(new_assignment(partitions), names(count))
    check_even(value, names(count))
    assert value.moving == 0
    assert {row.epoch for row in value.rows} == {1}


@given(PARTITIONS, NODES)
def test_a_node_that_joins_takes_its_share_and_nothing_else_moves(
    partitions: int, count: int
) -> None:
    before = rebalance(new_assignment(partitions), names(count))
    after = rebalance(before, names(count + 1))
    check_even(after, names(count + 1))
    assert moved(before, after) <= partitions // (count + 1) + 1
    assert {row.to for row in after.rows if row.to} <= {f"n{count}"}
    # Until it is handed over, a partition stays its owner's.
    assert [row.owner for row in after.rows] == [row.owner for row in before.rows]


@given(PARTITIONS, st.integers(2, 12), st.data())
def test_a_node_that_dies_loses_its_own_partitions_only(
    partitions: int, count: int, data: st.DataObject
) -> None:
    before = rebalance(new_assignment(partitions), names(count))
    dead = data.draw(st.sampled_from(names(count)))
    living = [name for name in names(count) if name != dead]
    after = rebalance(take_out(before, {dead}, living), living)
    check_even(after, living)
    assert after.moving == 0
    for old, new in zip(before.rows, after.rows, strict=True):
        assert (new == old) == (old.owner != dead)
        assert new.epoch > old.epoch or old.owner != dead


@given(PARTITIONS, st.lists(st.integers(0, 9), min_size=1, max_size=30), st.randoms())
def test_any_coming_and_going_ends_even(partitions: int, steps: list[int], chance) -> None:
    """Nodes join and die in any order, some moves being ended in between."""
    value, living = new_assignment(partitions), set[str]()
    for step in steps:
        name = f"n{step}"
        before = value
        if name in living and len(living) > 1:
            living.discard(name)
            value = take_out(value, {name}, living)
        else:
            living.add(name)
        value = rebalance(value, living)
        check_even(value, sorted(living))
        assert value.nodes() <= living
        assert value.ownerless == 0
        assert value.epoch >= before.epoch
        for old, new in zip(before.rows, value.rows, strict=True):
            assert new.epoch > old.epoch or new.owner == old.owner
        some = [n for n in range(partitions) if chance.random() < 0.5]
        for one in sorted(living):
            value = hand_over(value, some, one)
    done = settled(value)
    assert done.moving == 0
    check_even(done, sorted(living))


def test_a_node_that_is_removed_hands_over_everything() -> None:
    value = rebalance(new_assignment(64), names(3))
    leaving = rebalance(value, ["n0", "n1"])
    check_even(leaving, ["n0", "n1"])
    assert {row.owner for row in leaving.rows if row.to} == {"n2"}
    done = settled(leaving)
    assert done.nodes() == {"n0", "n1"}


def test_a_move_whose_owner_dies_ends_at_its_target() -> None:
    value = rebalance(rebalance(new_assignment(8), ["a", "b"]), ["a", "b", "c"])
    after = take_out(value, {"a"}, {"b", "c"})
    for old, new in zip(value.rows, after.rows, strict=True):
        if old.owner == "a":
            assert (new.owner, new.to) == (old.to, "")


def test_moves_by_command() -> None:
    value = rebalance(new_assignment(4), ["a", "b"])
    asked = move(value, [0], "b")
    assert (asked.rows[0].owner, asked.rows[0].to) == ("a", "b")
    assert move(asked, [0], "a").rows[0].to == ""


def test_a_stale_copy_is_corrected_by_what_nodes_hold() -> None:
    copy = rebalance(new_assignment(4), ["a", "b"])
    real = settled(rebalance(copy, ["b"]))
    held = {"b": [(n, row.epoch) for n, row in real.owned("b").items()], "a": [(0, 1)]}
    merged = merge_held(copy, held)
    assert [row.owner for row in merged.rows] == ["b"] * 4
    assert merged.epoch >= real.epoch + EPOCH_ROOM


@given(PARTITIONS, NODES)
def test_stored_and_read_back(partitions: int, count: int) -> None:
    value = rebalance(rebalance(new_assignment(partitions), names(count)), names(count + 1))
    assert decode_assignment(encode_assignment(value)) == value


def test_the_largest_map_fits_into_one_message() -> None:
    value = rebalance(rebalance(new_assignment(65536), names(200)), names(201))
    assert len(encode_assignment(value)) < 1_000_000
