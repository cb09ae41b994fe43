"""Compile the programs for a GPU that need not be there: CAPABILITY TYPE HEAD_SIZE [one] → shared bytes.

With ``one``, for one head, one query and one key: Triton makes constants of numbers that are 1.
"""

import sys

import torch
import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

from glasshead.attention.kernels.triton_programs import launch

TYPES = {"bf16": torch.bfloat16, "fp16": torch.float16, "fp32": torch.float32}
OF_INPUT = {"q", "k", "v", "out", "grad", "grad_q", "grad_k", "grad_v"}
ONES = ("heads", "groups", "queries", "keys", "first")
SINGLE = {"norm": "*fp32", "delta": "*fp32", "factor": "fp32", "scale": "fp32", "padding": "*u8"}


def compiled(tuned, configs, capability, dtype, size, ones):
    q = torch.empty(1, 1, 1, size, dtype=TYPES[dtype])
    options = launch.kind(q, q, torch.ones(1, 1, dtype=torch.bool), 0)
    fusion = options.pop("enable_fp_fusion")
    config = launch.worth_trying(configs, {"q": q, "bucket": 512}, **options)[0]
    constants = options | config.kwargs | dict.fromkeys(ones, 1)
    signature = {}
    for name in tuned.fn.arg_names:
        if name in constants:
            signature[name] = "constexpr"
        else:
            signature[name] = f"*{dtype}" if name in OF_INPUT else SINGLE.get(name, "i32")
    return triton.compile(
        ASTSource(tuned.fn, signature, constants),
        target=GPUTarget("cuda", capability, 32),
        options={"num_warps": config.num_warps, "num_stages": config.num_stages, "enable_fp_fusion": fusion},
    )


if __name__ == "__main__":
    capability, dtype, size = int(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    for tuned, configs in (
        (launch.attend_paired, launch.FORWARD),
        (launch.attend_queries, launch.QUERIES),
        (launch.attend_keys, launch.TILINGS),
    ):
        program = compiled(tuned, configs, capability, dtype, size, ONES if sys.argv[4:] else ())
        assert len(program.asm["cubin"]) > 1000
        print(program.metadata.shared)
