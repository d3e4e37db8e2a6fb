"""Runs cases in one library, as lines of JSON on standard input ask for:

    peers.py torch|mlx THREADS

{"do": "prepare", "case": {"op": …, "dtype": …, "dims": […]}} makes the inputs and
computes once, {"do": "measure", "seconds": …} repeats that and answers with the
shortest time, {"do": "drop"} releases everything. main.go starts this.
"""

import gc
import importlib
import json
import math
import sys
from time import perf_counter


def measure(call, seconds):
    gc.disable()
    best = float("inf")
    end = perf_counter() + seconds
    while True:
        start = perf_counter()
        call()
        now = perf_counter()
        best = min(best, now - start)
        if now >= end:
            gc.enable()
            return best


def main():
    library = importlib.import_module(sys.argv[1] + "_ops")
    library.set_threads(int(sys.argv[2]))
    answer = lambda **fields: print(json.dumps(fields), flush=True)
    answer(version=library.VERSION)
    call = None
    for line in sys.stdin:
        request = json.loads(line)
        try:
            if request["do"] == "prepare":
                case = request["case"]
                call = library.prepare(case["op"], case["dtype"], case["dims"])
                if call is None:
                    answer(has=False)
                else:
                    # JSON has no infinity: -1, which is no magnitude, stands for what is not finite.
                    found = library.magnitudes(call())
                    answer(has=True, magnitudes=[m if math.isfinite(m) else -1 for m in found])
            elif request["do"] == "measure":
                answer(best=measure(call, request["seconds"]))
            else:
                call = None
                gc.collect()
                answer()
        except Exception as e:
            answer(error=f"{type(e).__name__}: {e}")


main()
