"""Batches of every size, threads, parameters per sample, and samples that do not disturb each other."""

from __future__ import annotations

import numpy as np
import pytest
from kernel_programs import ALL, PARAMETERS, inputs_for, kepler, nested, straight_line

from flexapod.kernels.errors import KernelStatusError
from flexapod.kernels.tape.program import Program
from flexapod.kernels.tape.signature import NONFINITE_INPUT, NONFINITE_RESULT
from support.plain import compile_kernel


@pytest.fixture(scope="module", params=ALL, ids=lambda make: make.__name__)
def kernel(request):
    return compile_kernel(request.param(), backend="llvm")


def assert_identical(one, other, part=slice(None)):
    np.testing.assert_array_equal(one.status[part], other.status)
    for name, values in one.outputs.items():
        np.testing.assert_array_equal(values[part], other.outputs[name])


@pytest.mark.parametrize("count", [0, 1, 2, 3, 4, 5, 7, 8, 1000])
def test_a_sample_does_not_depend_on_the_size_of_the_batch(kernel, count):
    inputs = inputs_for(kernel.signature)
    whole = kernel.batch(inputs, PARAMETERS)
    part = kernel.batch({name: values[:count] for name, values in inputs.items()}, PARAMETERS)
    assert len(part.status) == count
    assert_identical(whole, part, slice(count))


@pytest.mark.parametrize("threads", [2, 3, 16])
def test_threads_change_nothing(kernel, threads):
    inputs = inputs_for(kernel.signature)
    assert_identical(kernel.batch(inputs, PARAMETERS), kernel.batch(inputs, PARAMETERS, threads=threads))


@pytest.mark.parametrize("count", [1, 3, 4, 6, 5000])
def test_parameters_per_sample(kernel, count):
    inputs = inputs_for(kernel.signature, count)
    rng = np.random.default_rng(3)
    parameters = PARAMETERS * rng.uniform(0.9, 1.1, size=(count, len(PARAMETERS)))
    batch = kernel.batch(inputs, parameters)
    for k in range(0, count, max(count // 7, 1)):
        one = kernel.batch({name: values[k : k + 1] for name, values in inputs.items()}, parameters[k])
        assert_identical(batch, one, slice(k, k + 1))


@pytest.mark.parametrize("backend", ["llvm", "numpy"])
@pytest.mark.parametrize("make", [kepler, nested])
def test_neighbours_do_not_matter(make, backend):
    kernel = compile_kernel(make(), backend=backend)
    inputs = inputs_for(kernel.signature, 64)
    inputs["e"] *= 0.7
    clean = kernel.batch(inputs, PARAMETERS)
    disturbed = {name: values.copy() for name, values in inputs.items()}
    disturbed["e"][::4] = 0.9999
    disturbed["e"][1::4] = np.nan
    batch = kernel.batch(disturbed, PARAMETERS)
    assert (batch.status[1::4] == NONFINITE_INPUT).all()
    for rest in (slice(2, None, 4), slice(3, None, 4)):
        np.testing.assert_array_equal(clean.status[rest], batch.status[rest])
        for name in clean.outputs:
            np.testing.assert_array_equal(clean.outputs[name][rest], batch.outputs[name][rest])


@pytest.mark.parametrize("backend", ["llvm", "numpy"])
def test_what_is_not_finite_has_a_status_and_no_number(backend):
    b = Program("reciprocal")
    x = b.input("x", (2,))
    b.output("y", 1 / x[0])
    kernel = compile_kernel(b, backend=backend)
    batch = kernel.batch({"x": [[1, 2], [0, 1], [np.inf, 1], [1, np.nan], [2, -np.inf]]})
    assert batch.status.tolist() == [0, NONFINITE_RESULT, NONFINITE_INPUT, NONFINITE_INPUT, NONFINITE_INPUT]
    np.testing.assert_array_equal(batch.outputs["y"], [1, np.nan, np.nan, np.nan, np.nan])
    with pytest.raises(KernelStatusError, match="reciprocal: the result is not a finite number") as caught:
        kernel(x=[0, 1])
    assert caught.value.code == NONFINITE_RESULT


@pytest.mark.parametrize("backend", ["llvm", "numpy"])
def test_one_sample_and_prepared_call(backend):
    kernel = compile_kernel(straight_line(), backend=backend)
    inputs = inputs_for(kernel.signature, 5)
    batch = kernel.batch(inputs, PARAMETERS)
    fast = kernel.prepare(PARAMETERS)
    for k in range(5):
        one = kernel(**{name: values[k] for name, values in inputs.items()}, parameters=PARAMETERS)
        for name, values in inputs.items():
            fast.inputs[name][...] = values[k]
        assert fast() == 0
        for name, values in batch.outputs.items():
            np.testing.assert_array_equal(one[name], values[k])
            np.testing.assert_array_equal(fast.outputs[name], values[k])
    fast.inputs["x"][0] = np.nan
    assert fast() == NONFINITE_INPUT


def test_statuses_name_what_failed():
    from kernel_programs import map_looped

    kernel = compile_kernel(map_looped())
    with pytest.raises(KernelStatusError, match="map_looped: leg C cannot reach") as caught:
        kernel(x=np.ones(3), A=np.array([[1.5, 1.5, 9.0]] * 3), s=0.5, parameters=PARAMETERS)
    assert caught.value.fields == {"leg": "C"}


def test_given_arrays_are_written_to():
    kernel = compile_kernel(straight_line())
    inputs = inputs_for(kernel.signature, 6)
    out = {o.name: np.empty((6, *o.shape)) for o in kernel.signature.outputs}
    batch = kernel.batch(inputs, PARAMETERS, out=out)
    assert all(batch.outputs[name] is out[name] for name in out)
    assert_identical(kernel.batch(inputs, PARAMETERS), batch)


def test_arrays_that_are_not_contiguous_are_copied():
    kernel = compile_kernel(straight_line())
    inputs = inputs_for(kernel.signature, 6)
    strided = {name: np.asfortranarray(np.repeat(values, 2, axis=0))[::2] for name, values in inputs.items()}
    assert_identical(kernel.batch(inputs, PARAMETERS), kernel.batch(strided, PARAMETERS))


def test_a_kernel_without_inputs():
    b = Program("constant")
    b.output("y", 2.5)
    batch = compile_kernel(b).batch({}, samples=3)
    assert batch.outputs["y"].tolist() == [2.5, 2.5, 2.5]


def test_outputs_may_replace_inputs():
    b = Program("in_place")
    b.output("y", 2 * b.input("x", (3,)), (3,))
    kernel = compile_kernel(b)
    values = np.arange(15.0).reshape(5, 3)
    expected = 2 * values
    kernel.batch({"x": values}, out={"y": values})
    np.testing.assert_array_equal(values, expected)
