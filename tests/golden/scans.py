"""Running sums."""

import torch

from cases import LONG, SIZES, Source, case, label, op


@op
def cumsum():
    src = Source("cumsum")
    shapes = [(2, 3, 4), (7,), *((3, n) for n in SIZES if n < 4097), *((n, 3) for n in (0, 33, 257)), (1, 4097), (1, LONG)]
    for i, shape in enumerate(shapes):
        for direction in ("forward", "reverse") if i < 9 else [("forward", "reverse")[i % 2]]:
            turn = (lambda x: x.flip(-1)) if direction == "reverse" else (lambda x: x)
            fn = lambda x: turn(torch.cumsum(turn(x), -1))
            ins, static = {"x": src.real(*shape)}, {"direction": direction}
            yield case(label(shape), fn, ins, ["x"], static=static)
