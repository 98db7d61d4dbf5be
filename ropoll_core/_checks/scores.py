"""Score arrays (..., n_judges, n_attributes) and the weights that go with them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ropoll_core._checks.options import as_plain_array

__all__ = [
    "NAN_POLICIES",
    "as_labels",
    "as_scores",
    "as_weights",
    "float_dtype",
    "raise_infinite",
    "raise_missing",
]

NAN_POLICIES = ("omit", "propagate", "raise")
_NATIVE = (np.dtype(np.float64), np.dtype(np.float32))


def as_scores(scores: Any, argument: str = "scores") -> tuple[NDArray[Any], tuple[int, ...]]:
    """Coerce to native float32 or float64 of shape (n_queries, n_judges, n_attributes).

    Native floats are viewed, never copied, whatever their strides allow; the second value is
    the leading shape, to give the result back its own. Infinities are left to the kernels,
    which see every value anyway: see :func:`raise_infinite`.
    """
    if type(scores) is np.ndarray and scores.ndim == 3 and _is_native(scores) and scores.size:
        return scores, scores.shape[:1]  # the common case, at once
    array = as_plain_array(scores, argument, fill="numpy.nan")
    kind = array.dtype.kind
    if kind == "O":
        array = _from_objects(array, argument)
    elif kind in "iub":
        array = array.astype(np.float64)
    elif kind != "f":
        raise TypeError(f"{argument} must hold real numbers, got dtype {array.dtype}")
    elif array.dtype.itemsize not in (4, 8):
        array = array.astype(float_dtype(array.dtype))
    elif not array.dtype.isnative or not array.flags.aligned:
        array = array.astype(array.dtype.newbyteorder("="))
    if array.ndim < 2:
        raise ValueError(
            f"{argument} must have at least 2 axes (..., n_judges, n_attributes), "
            f"got shape {array.shape}"
        )
    n_judges, n_attributes = array.shape[-2:]
    if n_judges == 0 or n_attributes == 0:
        raise ValueError(
            f"{argument} must have at least one judge and one attribute, got shape {array.shape}"
        )
    lead = array.shape[:-2]
    if array.ndim != 3:
        array = array.reshape(math.prod(lead), n_judges, n_attributes)
    return array, lead


def float_dtype(dtype: Any) -> np.dtype[Any]:
    """The type that scores of `dtype` are computed in: float32 for halves and singles."""
    half_or_single = dtype.kind == "f" and dtype.itemsize <= 4
    return np.dtype(np.float32 if half_or_single else np.float64)


def _is_native(array: NDArray[Any]) -> bool:
    return array.dtype in _NATIVE and array.flags.aligned


def _from_objects(array: NDArray[Any], argument: str) -> NDArray[np.float64]:
    """Objects to float64: numbers as they are, None and NA as NaN, anything else refused."""
    result = np.empty(array.shape, dtype=np.float64)
    flat = result.reshape(-1)
    for position, item in enumerate(array.reshape(-1).tolist()):
        if item is None or type(item).__name__ in {"NAType", "NaTType"}:
            flat[position] = np.nan
        elif isinstance(item, (int, float, np.integer, np.floating)):
            try:
                flat[position] = item
            except OverflowError:
                index = tuple(int(i) for i in np.unravel_index(position, array.shape))
                raise ValueError(
                    f"{argument} must hold numbers that a float64 holds, got an integer of "
                    f"{int(item).bit_length()} bits at index {index}"
                ) from None
        else:
            index = tuple(int(i) for i in np.unravel_index(position, array.shape))
            raise TypeError(
                f"{argument} must hold real numbers or None, "
                f"got {item!r} ({type(item).__name__}) at index {index}"
            )
    return result


def as_weights(
    weights: Any, scores: NDArray[Any], lead: tuple[int, ...]
) -> NDArray[np.float64] | None:
    """Weights as float64 (1 or n_queries, n_judges), contiguous; None stays None.

    Checks what does not depend on which judges are valid: shape, type, sign, finiteness and a
    positive sum. NaN is refused.
    """
    if weights is None:
        return None
    array = as_plain_array(weights, "weights")
    if array.dtype.kind not in "iubf":
        raise TypeError(f"weights must hold real numbers, got dtype {array.dtype}")
    n_judges = scores.shape[1]
    if array.shape not in {(n_judges,), (*lead, n_judges)}:
        raise ValueError(
            f"weights must have shape ({n_judges},) or {(*lead, n_judges)}, got {array.shape}"
        )
    rows = array.reshape(-1, n_judges) if array.size else array.reshape(0, n_judges)
    rows = np.ascontiguousarray(rows, dtype=np.float64)
    bad = ~(np.isfinite(rows) & (rows >= 0))
    if bad.any():
        place = tuple(int(i) for i in np.unravel_index(int(bad.argmax()), array.shape))
        raise ValueError(
            f"weights must be finite and not negative, got {array[place]} at index {place}"
        )
    empty = ~(rows > 0).any(axis=1)
    if empty.any():
        where = "" if array.ndim == 1 else f" of query {_query(int(empty.argmax()), lead)}"
        raise ValueError(f"weights{where} must not all be zero")
    return rows


def as_labels(labels: Any, scores: NDArray[Any]) -> NDArray[np.float64]:
    """Reference scores as float64 (n_queries, n_attributes); NaN where there is none."""
    array = as_plain_array(labels, "labels", fill="numpy.nan")
    if array.dtype.kind == "O":
        array = _from_objects(array, "labels")
    if array.dtype.kind not in "iubf":
        raise TypeError(f"labels must hold real numbers, got dtype {array.dtype}")
    shape = (scores.shape[0], scores.shape[2])
    if array.shape != shape:
        raise ValueError(f"labels must have shape {shape}, got {array.shape}")
    result: NDArray[np.float64] = array.astype(np.float64)
    if np.isinf(result).any():
        place = tuple(int(i) for i in np.argwhere(np.isinf(result))[0])
        raise ValueError(f"labels must be finite or NaN (no label), got inf at index {place}")
    return result


def _query(position: int, lead: tuple[int, ...]) -> int | tuple[int, ...]:
    if len(lead) <= 1:
        return position
    return tuple(int(i) for i in np.unravel_index(position, lead))


def raise_infinite(
    scores: NDArray[Any], lead: tuple[int, ...], weights: NDArray[np.float64] | None = None
) -> None:
    """Raise for the first +-inf; called once a kernel has reported that there is one.

    Judges of weight zero are passed over, as in :func:`raise_missing`.
    """
    _raise_first(np.isinf, scores, lead, weights, "scores must be finite or NaN (missing)")


def raise_missing(
    scores: NDArray[Any], lead: tuple[int, ...], weights: NDArray[np.float64] | None = None
) -> None:
    """Raise for the first NaN, under nan_policy='raise'."""
    rule = "scores must not be missing under nan_policy='raise'"
    _raise_first(np.isnan, scores, lead, weights, rule)


def _raise_first(
    test: Any,
    scores: NDArray[Any],
    lead: tuple[int, ...],
    weights: NDArray[np.float64] | None,
    rule: str,
    rows: int = 4096,
) -> None:
    for start in range(0, scores.shape[0], rows):
        found = test(scores[start : start + rows])
        if weights is not None:
            part = weights if len(weights) == 1 else weights[start : start + rows]
            found &= (part > 0)[:, :, np.newaxis]
        if found.any():
            query, judge, attribute = np.unravel_index(int(found.argmax()), found.shape)
            value = scores[start + query, judge, attribute]
            where = f"query {_query(int(start + query), lead)}, " if lead else ""
            raise ValueError(
                f"{rule}, got {value} at {where}judge {int(judge)}, attribute {int(attribute)}"
            )
