"""Threads: every item once, errors and nesting, fork, defaults."""

import os
import threading
import time

import numpy as np
import pytest

from ropoll_core import _parallel


def fill(out):
    def kernel(start, stop):
        out[start:stop] += 1

    return kernel


@pytest.mark.parametrize("workers", [1, 2, 3, 8, -1])
@pytest.mark.parametrize("n_items", [0, 1, 7, 1000, 100_003])
def test_every_item_exactly_once(workers, n_items):
    out = np.zeros(n_items, dtype=int)
    _parallel.run_chunks(fill(out), n_items, cost_ns=5000, workers=workers, lanes=4)
    assert (out == 1).all()


@pytest.mark.parametrize("workers", [1, 2, 5])
def test_borders_do_not_depend_on_workers(workers):
    seen = []
    _parallel.run_chunks(
        lambda start, stop: seen.append((start, stop)),
        9_999,
        cost_ns=3000,
        workers=workers,
        lanes=8,
    )
    expected = []
    _parallel.run_chunks(
        lambda start, stop: expected.append((start, stop)), 9_999, cost_ns=3000, workers=1, lanes=8
    )
    assert sorted(seen) == expected
    assert all(start % 8 == 0 for start, _ in seen)
    assert len(expected) > 4


@pytest.mark.parametrize("workers", [1, 3])
def test_first_error_surfaces_and_the_pool_lives_on(workers):
    def kernel(start, stop):
        raise ZeroDivisionError("from the kernel")

    with pytest.raises(ZeroDivisionError, match="from the kernel"):
        _parallel.run_chunks(kernel, 1000, cost_ns=1e6, workers=workers)
    out = np.zeros(1000)
    _parallel.run_chunks(fill(out), 1000, cost_ns=1e6, workers=workers)
    assert (out == 1).all()


def test_nested_calls_run_inline():
    threads = set()

    def inner(start, stop):
        threads.add(threading.get_ident())

    def outer(start, stop):
        before = threading.get_ident()
        threads.clear()
        _parallel.run_chunks(inner, 100, cost_ns=1e6, workers=4)
        assert threads == {before}

    _parallel.run_chunks(outer, 1, cost_ns=1e9, workers=4)
    ids = []

    def outer_many(start, stop):
        mine = set()
        _parallel.run_chunks(
            lambda a, b: mine.add(threading.get_ident()), 64, cost_ns=1e6, workers=4
        )
        ids.append((threading.get_ident(), mine))

    _parallel.run_chunks(outer_many, 32, cost_ns=1e7, workers=4)
    assert len(ids) == 32
    assert all(mine == {caller} for caller, mine in ids)


def test_many_callers_at_once():
    outs = [np.zeros(5000, dtype=int) for _ in range(8)]
    callers = [
        threading.Thread(
            target=_parallel.run_chunks,
            args=(fill(out), out.size),
            kwargs={"cost_ns": 2000, "workers": 4},
        )
        for out in outs
    ]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join(timeout=60)
    assert all((out == 1).all() for out in outs)


def test_scratch_is_one_per_thread():
    made = []

    def scratch():
        made.append(threading.get_ident())
        return object()

    used = set()
    _parallel.run_chunks(
        lambda start, stop, own: used.add((threading.get_ident(), id(own))),
        500,
        cost_ns=1e6,
        workers=3,
        scratch=scratch,
    )
    assert 1 <= len(made) <= 3
    assert len(used) <= len(made)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_forked_child_after_a_parallel_call():
    out = np.zeros(1000)
    _parallel.run_chunks(fill(out), 1000, cost_ns=1e6, workers=4)
    child = os.fork()
    if child == 0:
        again = np.zeros(1000)
        _parallel.run_chunks(fill(again), 1000, cost_ns=1e6, workers=4)
        os._exit(0 if (again == 1).all() else 1)
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            assert os.waitstatus_to_exitcode(status) == 0
            return
        time.sleep(0.01)
    os.kill(child, 9)
    pytest.fail("the forked child hangs")


def test_default_and_environment(monkeypatch):
    monkeypatch.delenv("ROPOLL_NUM_THREADS", raising=False)
    assert _parallel.resolve_workers(None) == 1
    assert _parallel.resolve_workers(-1) == _parallel.available_cores()
    monkeypatch.setenv("ROPOLL_NUM_THREADS", "3")
    assert _parallel.resolve_workers(None) == 3
    with _parallel.default_workers(2):
        assert _parallel.resolve_workers(None) == 2
        assert _parallel.resolve_workers(5) == 5
    monkeypatch.setenv("ROPOLL_NUM_THREADS", "many")
    with pytest.raises(ValueError, match="ROPOLL_NUM_THREADS must be an integer, got 'many'"):
        _parallel.resolve_workers(None)


@pytest.mark.parametrize(
    ("workers", "error", "message"),
    [
        (0, ValueError, "workers must be -1 .all cores. or at least 1, got 0"),
        (-2, ValueError, "got -2"),
        (1.5, TypeError, "got float"),
        (True, TypeError, "got a bool"),
        ("2", TypeError, "got str"),
    ],
)
def test_bad_workers(workers, error, message):
    with pytest.raises(error, match=message):
        _parallel.resolve_workers(workers)
