"""PyTorch: tensors in, tensors out, through NumPy without a copy on the CPU."""

from __future__ import annotations

from typing import Any

from ropoll_core._checks.options import refuse_options
from ropoll_core.engines._lazy import needed
from ropoll_core.scores import aggregate as aggregate_scores

__all__ = ["aggregate"]


def aggregate(scores: Any, method: str = "geometric_median", **options: Any) -> Any:
    """Aggregate a tensor of panels.

    Parameters
    ----------
    scores : torch.Tensor of shape (..., n_judges, n_attributes)
        On any device; computed on the CPU. Half precision, bfloat16 too, gives float32. No
        gradient passes through.
    method : str
        A method of `scores.aggregate`.
    **options
        Of the method, but for ``out`` and ``full_output``.

    Returns
    -------
    torch.Tensor of shape (..., n_attributes)
        On the device of `scores`.

    Raises
    ------
    TypeError
        If `scores` is not a tensor of real numbers, or requires a gradient, or an option has no
        place here.
    ImportError
        If PyTorch is not installed.

    Examples
    --------
    >>> from ropoll_core.engines import torch
    >>> result = torch.aggregate(scores)  # doctest: +SKIP
    """
    torch = needed("torch", "torch")
    if not isinstance(scores, torch.Tensor):
        raise TypeError(f"scores must be a torch.Tensor, got {type(scores).__name__}")
    if scores.requires_grad:
        raise TypeError("scores requires a gradient, and none passes through: use .detach()")
    refuse_options(options, "out", "full_output")
    plain = scores.cpu().resolve_neg()
    if plain.dtype == torch.bfloat16:  # which NumPy does not have; every one is a float32
        plain = plain.float()
    result = aggregate_scores(plain.numpy(), method, **options)
    return torch.from_numpy(result).to(scores.device)
