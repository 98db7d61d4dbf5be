"""Threads. No other module of the package owns any.

One persistent pool serves the process. Work is cut into chunks whose borders depend on the
size and cost of the problem alone, never on the number of workers, and workers pull the next
chunk as they finish, so a result does not depend on how many there are. The caller is itself
the first worker. A call made from inside a worker runs inline: no nested pools, no dead-lock.
"""

from __future__ import annotations

import contextlib
import contextvars
import itertools
import operator
import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar

__all__ = [
    "available_cores",
    "default_workers",
    "resolve_workers",
    "run_chunks",
    "run_interruptible",
]

T = TypeVar("T")

# A chunk short enough that Ctrl-C is answered at once and cores stay evenly loaded, long
# enough that handing it out (about 1 us) costs nothing.
_SHORTEST_CHUNK_NS = 200_000
_LONGEST_CHUNK_NS = 5_000_000
_FEWEST_CHUNKS = 16

_pool: ThreadPoolExecutor | None = None
_pool_lock = threading.Lock()
_inside_worker = threading.local()
_default: contextvars.ContextVar[int | None] = contextvars.ContextVar(
    "ropoll_default_workers", default=None
)


def available_cores() -> int:
    """Number of cores this process may run on (its CPU affinity)."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _as_workers(value: Any, argument: str) -> int:
    if isinstance(value, bool):
        raise TypeError(f"{argument} must be an integer or None, got a bool ({value!r})")
    try:
        count = operator.index(value)
    except TypeError:
        raise TypeError(
            f"{argument} must be an integer or None, got {type(value).__name__} ({value!r})"
        ) from None
    if count == -1:
        return available_cores()
    if count < 1:
        raise ValueError(f"{argument} must be -1 (all cores) or at least 1, got {count}")
    return count


def resolve_workers(workers: int | None) -> int:
    """Turn a ``workers=`` argument into a count of threads.

    None means the default: what :func:`default_workers` set, else the environment variable
    ``ROPOLL_NUM_THREADS``, else 1. -1 means every core of the CPU affinity.
    """
    if workers is not None:
        return _as_workers(workers, "workers")
    chosen = _default.get()
    if chosen is not None:
        return chosen
    text = os.environ.get("ROPOLL_NUM_THREADS", "").strip()
    if not text:
        return 1
    try:
        number = int(text)
    except ValueError:
        raise ValueError(f"ROPOLL_NUM_THREADS must be an integer, got {text!r}") from None
    return _as_workers(number, "ROPOLL_NUM_THREADS")


@contextlib.contextmanager
def default_workers(workers: int) -> Iterator[None]:
    """Set how many threads calls use when they are given ``workers=None``.

    Parameters
    ----------
    workers : int
        At least 1, or -1 for every core of the CPU affinity.

    Raises
    ------
    TypeError, ValueError
        If `workers` is not such a number.

    Notes
    -----
    Applies to the current context (thread or asyncio task) until the block ends. Without it the
    environment variable ``ROPOLL_NUM_THREADS`` decides, else one thread is used.

    Examples
    --------
    >>> import ropoll_core
    >>> with ropoll_core.default_workers(2):
    ...     pass
    """
    token = _default.set(_as_workers(workers, "workers"))
    try:
        yield
    finally:
        _default.reset(token)


def _get_pool() -> ThreadPoolExecutor:
    global _pool
    with _pool_lock:
        if _pool is None:
            _pool = ThreadPoolExecutor(
                max_workers=max(available_cores(), 2) * 4, thread_name_prefix="ropoll"
            )
        return _pool


def _reset_after_fork() -> None:
    # The child has none of the parent's threads: its pool object is a husk.
    global _pool, _pool_lock, _inside_worker
    _pool = None
    _pool_lock = threading.Lock()
    _inside_worker = threading.local()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_reset_after_fork)


def chunk_size(n_items: int, cost_ns: float, lanes: int) -> int:
    """Items a chunk holds: a function of the problem alone, a multiple of `lanes`."""
    total = n_items * max(cost_ns, 1e-3)
    wanted = min(max(total / _FEWEST_CHUNKS, _SHORTEST_CHUNK_NS), _LONGEST_CHUNK_NS)
    items = max(int(wanted / max(cost_ns, 1e-3)), 1)
    return -(-items // lanes) * lanes


def run_chunks(
    kernel: Callable[..., Any],
    n_items: int,
    *,
    cost_ns: float,
    workers: int | None = None,
    lanes: int = 1,
    scratch: Callable[[], Any] | None = None,
) -> None:
    """Call ``kernel(start, stop)`` over ``range(n_items)`` in chunks, on `workers` threads.

    Parameters
    ----------
    kernel : callable
        Takes (start, stop), and a third argument if `scratch` is given. Releases the GIL.
    n_items : int
        How many items there are; nothing is called for 0.
    cost_ns : float
        Rough time of one item in nanoseconds; sets the size of a chunk.
    workers : int or None
        See :func:`resolve_workers`.
    lanes : int
        Chunks start at multiples of this.
    scratch : callable, optional
        Called once for each thread that takes part; what it returns is passed to the kernel.

    Raises
    ------
    BaseException
        The first error that a chunk raised, after every other thread has stopped.
    """
    count = resolve_workers(workers)
    if n_items <= 0:
        return
    size = chunk_size(n_items, cost_ns, lanes)
    n_chunks = -(-n_items // size)
    count = min(count, n_chunks)
    if count == 1 or getattr(_inside_worker, "flag", False):
        _serial(kernel, n_items, size, scratch)
        return
    _Job(kernel, n_items, size, n_chunks, scratch).run(count)


def _serial(
    kernel: Callable[..., Any], n_items: int, size: int, scratch: Callable[[], Any] | None
) -> None:
    extra = () if scratch is None else (scratch(),)
    for start in range(0, n_items, size):
        kernel(start, min(start + size, n_items), *extra)


class _Job:
    """One parallel call: the chunks still to do and the first error."""

    def __init__(
        self,
        kernel: Callable[..., Any],
        n_items: int,
        size: int,
        n_chunks: int,
        scratch: Callable[[], Any] | None,
    ) -> None:
        self.kernel, self.n_items, self.size = kernel, n_items, size
        self.scratch = scratch
        self.chunks = itertools.count()
        self.n_chunks = n_chunks
        self.error: BaseException | None = None

    def work(self) -> None:
        previous = getattr(_inside_worker, "flag", False)
        _inside_worker.flag = True
        try:
            extra = () if self.scratch is None else (self.scratch(),)
            # next() on itertools.count is atomic, so no chunk is done twice.
            while self.error is None and (chunk := next(self.chunks)) < self.n_chunks:
                start = chunk * self.size
                self.kernel(start, min(start + self.size, self.n_items), *extra)
        except BaseException as error:  # kept, and raised by run() in the caller
            if self.error is None:
                self.error = error
        finally:
            _inside_worker.flag = previous

    def run(self, count: int) -> None:
        pool = _get_pool()
        futures: list[Future[None]] = [pool.submit(self.work) for _ in range(count - 1)]
        self.work()
        for future in futures:
            # A helper that never got a thread has nothing left to do: do not wait for one.
            if not future.cancel():
                self._wait(future)
        if self.error is not None:
            raise self.error

    def _wait(self, future: Future[None]) -> None:
        while True:
            try:
                future.result()
                return
            except KeyboardInterrupt as error:
                # Stop handing out chunks, then wait: the arrays are still being written to.
                if self.error is None:
                    self.error = error


def run_interruptible(task: Callable[[], T], interrupt: Callable[[], None]) -> T:
    """Return ``task()``, run on a thread of its own so that Ctrl-C is answered at once.

    For work in foreign code that never looks for signals. On KeyboardInterrupt `interrupt` is
    called, from this thread; the task is waited for, and the KeyboardInterrupt raised. Away
    from the main thread, where no signal arrives, the task runs inline.
    """
    if threading.current_thread() is not threading.main_thread():
        return task()
    context = contextvars.copy_context()
    result: list[T] = []
    failure: list[BaseException] = []
    done = threading.Event()

    def work() -> None:
        try:
            result.append(context.run(task))
        except BaseException as error:  # raised again in the caller
            failure.append(error)
        finally:
            done.set()

    threading.Thread(target=work, name="ropoll-task", daemon=True).start()
    stopped: KeyboardInterrupt | None = None
    while not done.is_set():
        try:
            done.wait()
        except KeyboardInterrupt as error:
            stopped = error
            interrupt()
    if stopped is not None:
        raise stopped
    if failure:
        raise failure[0]
    return result[0]
