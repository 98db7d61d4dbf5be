"""Aggregation from other people's threads, processes and schedulers: right, equal, and no hang."""

import multiprocessing
import os
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import dask
import dask.array
import distributed
import joblib
import numpy as np
import pytest

from ropoll_core.scores import geometric_median

SECONDS = 60


@pytest.fixture(scope="module")
def panels():
    """Enough for several chunks, with missing judges, duplicates and ties among them."""
    rng = np.random.default_rng(11)
    scores = rng.integers(0, 5, size=(3000, 7, 4)).astype(float)
    scores[::2] += rng.normal(size=scores[::2].shape)
    scores[rng.random(scores.shape[:2]) < 0.1] = np.nan
    return scores


@pytest.fixture(scope="module")
def expected(panels):
    return geometric_median(panels, workers=1).tobytes()


def within(function, seconds=SECONDS):
    """What the function returns; a failure, not a wait, if it takes too long."""
    answer: list = []

    def call():
        try:
            answer.append((function(), None))
        except BaseException as error:  # handed to the test's own thread
            answer.append((None, error))

    thread = threading.Thread(target=call, daemon=True)
    thread.start()
    thread.join(timeout=seconds)
    if not answer:
        pytest.fail(f"hangs: no answer in {seconds} s")
    value, error = answer[0]
    if error is not None:
        raise error
    return value


@pytest.mark.parametrize("workers", [1, 2, 3, 8, -1])
def test_any_number_of_workers(panels, expected, workers):
    assert within(lambda: geometric_median(panels, workers=workers).tobytes()) == expected


@pytest.mark.parametrize("workers", [1, 4])
def test_eight_threads_at_once(panels, expected, workers):
    barrier = threading.Barrier(8)

    def caller():
        barrier.wait(timeout=SECONDS)
        return [geometric_median(panels, workers=workers).tobytes() for _ in range(12)]

    def everyone():
        with ThreadPoolExecutor(8) as pool:
            return [job.result() for job in [pool.submit(caller) for _ in range(8)]]

    for answers in within(everyone):
        assert set(answers) == {expected}


def test_eight_threads_writing_to_one_out_array(panels, expected):
    out = np.full((8, len(panels), panels.shape[2]), -1.0)

    def everyone():
        with ThreadPoolExecutor(8) as pool:
            list(pool.map(lambda k: geometric_median(panels, out=out[k], workers=2), range(8)))

    within(everyone)
    assert all(part.tobytes() == expected for part in out)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_forked_child_after_a_parallel_call(panels, expected):
    geometric_median(panels, workers=4)
    child = os.fork()
    if child == 0:
        right = geometric_median(panels, workers=4).tobytes() == expected
        os._exit(0 if right else 1)
    deadline = time.monotonic() + SECONDS
    while time.monotonic() < deadline:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            assert os.waitstatus_to_exitcode(status) == 0
            return
        time.sleep(0.01)
    os.kill(child, 9)
    os.waitpid(child, 0)
    pytest.fail("the forked child hangs")


def test_spawned_processes(panels, expected):
    geometric_median(panels, workers=2)
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        jobs = [
            pool.apply_async(geometric_median, (panels,), {"workers": workers})
            for workers in (1, 2, 4)
        ]
        answers = [job.get(timeout=SECONDS) for job in jobs]
    assert {answer.tobytes() for answer in answers} == {expected}


@pytest.mark.parametrize("backend", ["threading", "loky"])
@pytest.mark.parametrize("workers", [None, 4])
def test_joblib(panels, expected, backend, workers):
    def call():
        with joblib.parallel_config(backend=backend, n_jobs=4):
            return joblib.Parallel(timeout=SECONDS)(
                joblib.delayed(geometric_median)(panels, workers=workers) for _ in range(8)
            )

    answers = within(call)
    assert {answer.tobytes() for answer in answers} == {expected}


def test_dask_array_and_delayed(panels, expected):
    def call():
        blocks = dask.array.from_array(panels, chunks=(700, -1, -1))
        medians = blocks.map_blocks(
            geometric_median, workers=2, drop_axis=1, dtype=float, meta=np.empty((0, 0))
        )
        lazy = [dask.delayed(geometric_median)(panels, workers=2) for _ in range(4)]
        return medians.compute(scheduler="threads"), dask.compute(*lazy, scheduler="threads")

    medians, copies = within(call)
    assert medians.tobytes() == expected
    assert {copy.tobytes() for copy in copies} == {expected}


def test_inside_a_dask_worker(panels, expected):
    def call():
        cluster = distributed.LocalCluster(
            n_workers=2, threads_per_worker=2, processes=False, dashboard_address=None
        )
        with cluster, distributed.Client(cluster) as client:
            futures = [
                # Bound beforehand: submit() has a keyword `workers` of its own.
                client.submit(partial(geometric_median, workers=workers), panels, pure=False)
                for workers in (1, 2, 4, -1)
            ]
            return client.gather(futures)

    answers = within(call)
    assert {answer.tobytes() for answer in answers} == {expected}
