"""What processes keep for a build, and that it ends."""

import gc
import weakref

from cheblienet_graphs.pools import pool
from cheblienet_graphs.pools.pool import Kept, drop, with_held


class Thing:
    """Something that takes long to make."""

    def __init__(self, key: int) -> None:
        self.key = key


def test_a_thing_is_made_once_and_the_last_ones_are_kept() -> None:
    with Kept() as held:
        first = held.of(Thing, 0)
        assert held.of(Thing, 0) is first
        assert held.of(Thing, 1).key == 1
        assert held.of(str, 0) == "0"
        assert held.of(Thing, 0) is not first


def test_all_is_let_go_of_at_the_end_though_the_keeper_lives() -> None:
    with Kept() as held:
        thing = weakref.ref(held.of(Thing, 0))
        assert thing() is not None
    gc.collect()
    assert thing() is None


def keys_of(held: Kept, key: int) -> Thing:
    return held.of(Thing, key)


def test_a_worker_keeps_things_for_each_pool_until_they_are_dropped() -> None:
    before = dict(pool._HELD)
    one, other = with_held("one", keys_of, 0), with_held("other", keys_of, 0)
    assert one is not other
    assert with_held("one", keys_of, 0) is one
    drop("one")
    drop("one")  # told twice, or without having done a block
    assert with_held("other", keys_of, 0) is other
    drop("other")
    assert before == pool._HELD
