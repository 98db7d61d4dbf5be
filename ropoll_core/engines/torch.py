"""PyTorch: tensors in, tensors out, through NumPy without a copy on the CPU."""

from __future__ import annotations

from typing import Any

from ropoll_core.engines._lazy import needed
from ropoll_core.scores import aggregate as aggregate_scores

__all__ = ["aggregate"]


def aggregate(scores: Any, method: str = "geometric_median", **options: Any) -> Any:
    """Aggregate a tensor of panels.

    Parameters
    ----------
    scores : torch.Tensor of shape (..., n_judges, n_attributes)
        On any device; computed on the CPU. No gradient passes through.
    method : str
        A method of `scores.aggregate`.
    **options
        Of the method.

    Returns
    -------
    torch.Tensor of shape (..., n_attributes)
        On the device of `scores`.

    Raises
    ------
    TypeError
        If `scores` is not a tensor, or requires a gradient.
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
    result = aggregate_scores(scores.cpu().numpy(), method, **options)
    return torch.from_numpy(result).to(scores.device)
