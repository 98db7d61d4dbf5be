"""PyTorch tensors in and out, where PyTorch is installed."""

import numpy as np
import pytest
from reference.batches import panels

from ropoll_core import scores
from ropoll_core.engines import torch as torch_engine

torch = pytest.importorskip(
    "torch", reason="PyTorch is not installed: pip install 'ropoll-core[torch]'"
)


@pytest.fixture(scope="module", autouse=True)
def version():
    print(f"torch {torch.__version__}")


@pytest.mark.parametrize("method", ["geometric_median", "mean"])
def test_as_one_call_gives(method):
    values = panels()
    result = torch_engine.aggregate(torch.from_numpy(values), method, workers=2)
    assert result.dtype == torch.float64
    np.testing.assert_array_equal(result.numpy(), scores.aggregate(values, method))


def test_views_and_shapes():
    values = panels().reshape(20, 25, 5, 3)
    expected = scores.geometric_median(values)
    swapped = torch.from_numpy(np.ascontiguousarray(values.swapaxes(0, 1))).transpose(0, 1)
    np.testing.assert_array_equal(torch_engine.aggregate(swapped).numpy(), expected)
    negated = torch.complex(torch.zeros(values.shape, dtype=torch.float64),
                            torch.from_numpy(-values)).conj().imag  # fmt: skip
    assert negated.is_neg()
    np.testing.assert_array_equal(torch_engine.aggregate(negated).numpy(), expected)
    assert torch_engine.aggregate(torch.ones(5, 3)).shape == (3,)
    assert torch_engine.aggregate(torch.empty(0, 5, 3)).shape == (0, 3)


def test_types():
    tensor = torch.from_numpy(np.arange(60.0).reshape(4, 5, 3) % 7)
    expected = scores.mean(tensor.numpy())
    for given, gives in (
        (torch.float64, torch.float64), (torch.float32, torch.float32),
        (torch.float16, torch.float32), (torch.bfloat16, torch.float32),
        (torch.int8, torch.float64), (torch.int64, torch.float64),
    ):  # fmt: skip
        result = torch_engine.aggregate(tensor.to(given), "mean")
        assert result.dtype == gives
        np.testing.assert_allclose(result.numpy(), expected, rtol=1e-6)
    weights = torch.tensor([1.0, 2, 3, 4, 5], dtype=torch.float64)
    weighted = torch_engine.aggregate(tensor, "mean", weights=weights)
    np.testing.assert_array_equal(
        weighted.numpy(), scores.mean(tensor.numpy(), weights=weights.numpy())
    )


def test_what_is_refused():
    tensor = torch.ones(4, 5, 3)
    with pytest.raises(TypeError, match=r"must be a torch.Tensor, got ndarray"):
        torch_engine.aggregate(np.ones((4, 5, 3)))
    with pytest.raises(TypeError, match="requires a gradient"):
        torch_engine.aggregate(tensor.clone().requires_grad_())
    with pytest.raises(TypeError, match="real numbers, got dtype complex64"):
        torch_engine.aggregate(tensor.to(torch.complex64))
    with pytest.raises(TypeError, match="Sparse"):
        torch_engine.aggregate(tensor.to_sparse())
    with pytest.raises(TypeError, match="options must not hold 'full_output'"):
        torch_engine.aggregate(tensor, full_output=True)
    with pytest.raises(TypeError, match="options must not hold 'out'"):
        torch_engine.aggregate(tensor, out=torch.empty(4, 3))
    with pytest.raises(ValueError, match="inf"):
        torch_engine.aggregate(tensor / 0)
