"""Golden values of the kernels: forward results and gradients in float64.

    python3 -m venv .venv && .venv/bin/pip install torch numpy
    .venv/bin/python make.py

writes one OP.json beside this file for each op of OPS. Every input is a
multiple of 1/32 below 4 in absolute value, which f32, f16 and bf16 hold exactly,
so the same file serves every storage type; parameters are rounded to f32.

A file holds cases: inputs and parameters by name, outputs by name, and where
the op has a gradient the cotangents of the outputs and the gradients of the
inputs. Infinities and NaN are the strings "inf", "-inf" and "nan".
"""

import json
import pathlib

import torch

import pointwise  # noqa: F401, each module fills OPS
import products  # noqa: F401
import rows  # noqa: F401
from cases import OPS


def main():
    here = pathlib.Path(__file__).parent
    for name, cases in OPS.items():
        lines = ",\n".join(json.dumps(c, separators=(",", ":")) for c in cases())
        head = json.dumps(f"PyTorch {torch.__version__.split('+')[0]}, float64")
        (here / f"{name}.json").write_text(f'{{"op":"{name}","source":{head},"cases":[\n{lines}\n]}}\n')


if __name__ == "__main__":
    main()
