"""Every attention mechanism by every kernel, against PyTorch's fused softmax, on this machine.

    python benchmarks/attention.py [--full] [--backward] [--device cuda] [--out results.json]

The same as ``glasshead bench attention``, whose help lists the options.
"""

import sys

from glasshead.cli import app

if __name__ == "__main__":
    app(["bench", "attention", *sys.argv[1:]])
