"""Golden values of the kernels: forward results and gradients in float64.

    python3 -m venv .venv && .venv/bin/pip install torch numpy
    .venv/bin/python make.py

writes one OP.json beside this file for each op of OPS. Every input is a
multiple of 1/64 below 4 in absolute value with at most 8 significant bits, which
f32, f16 and bf16 hold exactly, so the same file serves every storage type;
parameters are rounded to f32.

A file holds cases: inputs and parameters by name, outputs by name, and where
the op has a gradient the cotangents of the outputs and the gradients of the
inputs. Infinities and NaN are the strings "inf", "-inf" and "nan".

Long tensors are not written out. An input has the rule that gives its elements,
see values. A result has its elements at the positions that positions gives, and
four sums of all its elements, each with weights of its own: whatever array
agrees with those to the last digits of float64 is the result, but for a chance
of one in billions.
"""

import json
import pathlib

import torch

import layout  # noqa: F401, each module fills OPS
import losses  # noqa: F401
import optimisers  # noqa: F401
import pointwise  # noqa: F401
import products  # noqa: F401
import rows  # noqa: F401
import scans  # noqa: F401
from cases import OPS

# Results and gradients of these are sums of products of inputs, so that the
# absolute values of inputs give the sums of the absolute values of the terms.
LINEAR = """
add add_broadcast_2d_3d bias_add bias_grad cast concat copy dot embedding embedding_backward_accumulate
embedding_concat fill_bias global_norm_sq im2col linear lora mask_zero masked_mean matmul matmul_bias
matmul_bias_residual mean mul pack_w_to_col pad residual_add row_mean row_sum scale slice sum sum_sq transpose
""".split()


def main():
    here = pathlib.Path(__file__).parent
    for old in here.glob("*.json"):
        old.unlink()
    for name, cases in OPS.items():
        lines = ",\n".join(json.dumps(c, separators=(",", ":")) for c in cases())
        source = json.dumps(f"PyTorch {torch.__version__.split('+')[0]}, float64")
        linear = json.dumps(name in LINEAR)
        text = f'{{"op":"{name}","source":{source},"linear":{linear},"cases":[\n{lines}\n]}}\n'
        (here / f"{name}.json").write_text(text)


if __name__ == "__main__":
    main()
