"""φ_i(s) = (e^{s_i} − e^{−s_i}) / Σ_k (e^{s_k} + e^{−s_k}) on tiles, q·k computed once per tile and pass.

With Z = Σ_k (e^{s_k} + e^{−s_k}), p = (e^s + e^{−s})/Z and w = φ(s):

    ∂w_j/∂s_i = δ_ij p_i − w_j w_i,   so   dS_i = p_i dw_i − w_i Σ_j w_j dw_j,

where dw = dO vᵀ and Σ_j w_j dw_j = dO·O. Nothing is added atomically: one pass owns the queries,
one the keys. Scores are kept as t = s log₂ e, because the hardware knows 2^t.
"""

import triton
import triton.language as tl

LN2 = tl.constexpr(0.6931471805599453)


@triton.jit
def halves(t, peak):
    """(e^s + e^{−s}) / 2^peak and (e^s − e^{−s}) / 2^peak; the latter keeps the digits of tiny scores."""
    up, down = tl.exp2(t - peak), tl.exp2(-t - peak)
    s = t * LN2
    square = s * s
    sinh = s * (1 + square * (1 / 6 + square * (1 / 120 + square * (1 / 5040))))
    # The difference cancels near 0; the series is exact to single precision up to 1/2.
    return up + down, tl.where(tl.abs(s) < 0.5, 2 * sinh * tl.exp2(-peak), up - down)


@triton.jit
def rows(base, start, stride, length, SIZE: tl.constexpr, N: tl.constexpr, WIDE: tl.constexpr):
    """Rows start … start + N of a matrix [length, SIZE], zeros beyond it: [N, WIDE]."""
    n, d = tl.arange(0, N), tl.arange(0, WIDE)
    # 64 bits for the tile's place, 32 within the tile.
    positions = base + tl.cast(start, tl.int64) * stride + n[:, None] * stride + d[None, :]
    live = (start + n < length)[:, None]
    if SIZE != WIDE:
        live = live & (d < SIZE)[None, :]
    return tl.load(positions, mask=live, other=0.0)


@triton.jit
def put(base, start, stride, length, values, SIZE: tl.constexpr, N: tl.constexpr, WIDE: tl.constexpr):
    """The reverse of `rows`."""
    n, d = tl.arange(0, N), tl.arange(0, WIDE)
    positions = base + tl.cast(start, tl.int64) * stride + n[:, None] * stride + d[None, :]
    live = (start + n < length)[:, None]
    if SIZE != WIDE:
        live = live & (d < SIZE)[None, :]
    tl.store(positions, values.to(base.dtype.element_ty), mask=live)


@triton.jit
def real(padding, start, keys, N: tl.constexpr):
    """Whether keys start … start + N are there and no padding."""
    n = start + tl.arange(0, N)
    return tl.load(padding + n, mask=n < keys, other=0) != 0


@triton.jit
def bounds(tile, first, keys, CAUSAL: tl.constexpr, Q: tl.constexpr, K: tl.constexpr):
    """Keys up to which every query of a tile attends to all, in whole tiles; and the end of what any sees."""
    whole, end = keys // K * K, keys
    if CAUSAL:
        whole = tl.minimum(whole, (first + tile * Q + 1) // K * K)
        end = tl.minimum(end, first + (tile + 1) * Q)
    return whole, end


@triton.jit
def may_attend(at, start, padding, keys, CAUSAL: tl.constexpr, PADDED: tl.constexpr, K: tl.constexpr):
    """Which pairs of queries (at index ``at`` among the keys) and keys count: [queries, K]."""
    key = start + tl.arange(0, K)
    live = (key < keys)[None, :]
    if CAUSAL:
        live = live & (key[None, :] <= at[:, None])
    if PADDED:
        live = live & real(padding, start, keys, K)[None, :]
    return live


@triton.jit
def attend_span(
    acc, peak, total, q, k, v, padding, at, start, end, keys, k_n, v_n, factor,
    EDGE: tl.constexpr, CAUSAL: tl.constexpr, PADDED: tl.constexpr, PRECISION: tl.constexpr,
    SIZE: tl.constexpr, VALUE: tl.constexpr, WIDE: tl.constexpr, WIDE_V: tl.constexpr, K: tl.constexpr,
):  # fmt: skip
    """The online sums over keys start … end; at the ``EDGE`` pairs are masked one by one."""
    for n in range(start, end, K):
        keys_here = rows(k, n, k_n, keys, SIZE, K, WIDE)
        t = tl.dot(q, tl.trans(keys_here), input_precision=PRECISION) * factor
        if EDGE or PADDED:
            live = may_attend(at, n, padding, keys, CAUSAL and EDGE, PADDED, K)
            t = tl.where(live, t, 0.0)  # which weighs nothing
        higher = tl.maximum(peak, tl.max(tl.abs(t), 1))
        both, weight = halves(t, higher[:, None])
        if EDGE or PADDED:
            both = tl.where(live, both, 0.0)
        decay = tl.exp2(peak - higher)
        total = total * decay + tl.sum(both, 1)
        values_here = rows(v, n, v_n, keys, VALUE, K, WIDE_V)
        acc = acc * decay[:, None]
        acc = tl.dot(weight.to(values_here.dtype), values_here, acc, input_precision=PRECISION)
        peak = higher
    return acc, peak, total


@triton.jit
def forward_head(
    q, k, v, padding, out, norm, factor, first, heads, groups, queries, keys, bucket,
    q_b, q_h, q_n, k_b, k_h, k_n, v_b, v_h, v_n, o_b, o_h, o_n, p_b,
    CAUSAL: tl.constexpr, PADDED: tl.constexpr, PRECISION: tl.constexpr,
    SIZE: tl.constexpr, VALUE: tl.constexpr, WIDE: tl.constexpr, WIDE_V: tl.constexpr,
    Q: tl.constexpr, K: tl.constexpr,
):  # fmt: skip
    """Output and log₂ Z of Q queries of one head."""
    tiles = tl.cdiv(queries, Q)
    tile = tiles - 1 - tl.program_id(0) % tiles  # under a causal mask the last tiles have most to do
    head = tl.program_id(0) // tiles % heads
    batch = tl.cast(tl.program_id(0) // tiles // heads, tl.int64)
    key_head = tl.cast(head // groups, tl.int64)
    k += batch * k_b + key_head * k_h
    v += batch * v_b + key_head * v_h
    padding += batch * p_b
    mine = rows(q + batch * q_b + tl.cast(head, tl.int64) * q_h, tile * Q, q_n, queries, SIZE, Q, WIDE)

    # |s| ≥ 0, so the running maximum can start at 0: a row without keys stays finite.
    acc, peak, total = tl.zeros([Q, WIDE_V], tl.float32), tl.zeros([Q], tl.float32), tl.zeros([Q], tl.float32)
    at = first + tile * Q + tl.arange(0, Q)
    whole, end = bounds(tile, first, keys, CAUSAL, Q, K)
    acc, peak, total = attend_span(
        acc, peak, total, mine, k, v, padding, at, 0, whole, keys, k_n, v_n, factor,
        False, CAUSAL, PADDED, PRECISION, SIZE, VALUE, WIDE, WIDE_V, K,
    )  # fmt: skip
    acc, peak, total = attend_span(
        acc, peak, total, mine, k, v, padding, at, whole, end, keys, k_n, v_n, factor,
        True, CAUSAL, PADDED, PRECISION, SIZE, VALUE, WIDE, WIDE_V, K,
    )  # fmt: skip

    total = tl.where(total == 0, 1.0, total)  # a row without keys
    out += batch * o_b + tl.cast(head, tl.int64) * o_h
    put(out, tile * Q, o_n, queries, acc / total[:, None], VALUE, Q, WIDE_V)
    n = tile * Q + tl.arange(0, Q)
    norm += (batch * heads + head) * queries
    tl.store(norm + n, peak + tl.log2(total), mask=n < queries)


@triton.jit
def query_span(
    acc, q, k, v, grad, padding, norm, delta, at, start, end, keys, k_n, v_n, factor,
    EDGE: tl.constexpr, CAUSAL: tl.constexpr, PADDED: tl.constexpr, PRECISION: tl.constexpr,
    SIZE: tl.constexpr, VALUE: tl.constexpr, WIDE: tl.constexpr, WIDE_V: tl.constexpr, K: tl.constexpr,
):  # fmt: skip
    """dS K over keys start … end."""
    for n in range(start, end, K):
        keys_here = rows(k, n, k_n, keys, SIZE, K, WIDE)
        values_here = rows(v, n, v_n, keys, VALUE, K, WIDE_V)
        t = tl.dot(q, tl.trans(keys_here), input_precision=PRECISION) * factor
        both, weight = halves(t, norm[:, None])
        pull = tl.dot(grad, tl.trans(values_here), input_precision=PRECISION)
        slope = both * pull - weight * delta[:, None]
        if EDGE or PADDED:
            slope = tl.where(may_attend(at, n, padding, keys, CAUSAL and EDGE, PADDED, K), slope, 0.0)
        acc = tl.dot(slope.to(keys_here.dtype), keys_here, acc, input_precision=PRECISION)
    return acc


@triton.jit
def backward_queries(
    q, k, v, padding, out, grad, norm, delta, grad_q,
    factor, scale, first, heads, groups, queries, keys, bucket,
    q_b, q_h, q_n, k_b, k_h, k_n, v_b, v_h, v_n, o_b, o_h, o_n, g_b, g_h, g_n, r_b, r_h, r_n, p_b,
    CAUSAL: tl.constexpr, PADDED: tl.constexpr, PRECISION: tl.constexpr,
    SIZE: tl.constexpr, VALUE: tl.constexpr, WIDE: tl.constexpr, WIDE_V: tl.constexpr,
    Q: tl.constexpr, K: tl.constexpr,
):  # fmt: skip
    """dQ = scale · dS K and delta = rowsum(dO ∘ O) of Q queries of one head."""
    tiles = tl.cdiv(queries, Q)
    tile = tiles - 1 - tl.program_id(0) % tiles
    head = tl.program_id(0) // tiles % heads
    batch = tl.cast(tl.program_id(0) // tiles // heads, tl.int64)
    key_head, head = tl.cast(head // groups, tl.int64), tl.cast(head, tl.int64)
    k += batch * k_b + key_head * k_h
    v += batch * v_b + key_head * v_h
    padding += batch * p_b
    mine = rows(q + batch * q_b + head * q_h, tile * Q, q_n, queries, SIZE, Q, WIDE)
    grad_here = rows(grad + batch * g_b + head * g_h, tile * Q, g_n, queries, VALUE, Q, WIDE_V)
    out_here = rows(out + batch * o_b + head * o_h, tile * Q, o_n, queries, VALUE, Q, WIDE_V)

    n = tile * Q + tl.arange(0, Q)
    row = (batch * heads + head) * queries + n
    norm_here = tl.load(norm + row, mask=n < queries, other=0.0)
    delta_here = tl.sum(grad_here.to(tl.float32) * out_here.to(tl.float32), 1)
    tl.store(delta + row, delta_here, mask=n < queries)

    acc = tl.zeros([Q, WIDE], tl.float32)
    whole, end = bounds(tile, first, keys, CAUSAL, Q, K)
    acc = query_span(
        acc, mine, k, v, grad_here, padding, norm_here, delta_here, first + n, 0, whole,
        keys, k_n, v_n, factor,
        False, CAUSAL, PADDED, PRECISION, SIZE, VALUE, WIDE, WIDE_V, K,
    )  # fmt: skip
    acc = query_span(
        acc, mine, k, v, grad_here, padding, norm_here, delta_here, first + n, whole, end,
        keys, k_n, v_n, factor,
        True, CAUSAL, PADDED, PRECISION, SIZE, VALUE, WIDE, WIDE_V, K,
    )  # fmt: skip
    put(grad_q + batch * r_b + head * r_h, tile * Q, r_n, queries, acc * scale, SIZE, Q, WIDE)


@triton.jit
def key_span(
    acc_k, acc_v, q, k, v, grad, norm, delta, key, first, start, end, queries, q_n, g_n, factor,
    EDGE: tl.constexpr, PRECISION: tl.constexpr,
    SIZE: tl.constexpr, VALUE: tl.constexpr, WIDE: tl.constexpr, WIDE_V: tl.constexpr, Q: tl.constexpr,
):  # fmt: skip
    """dSᵀ Q and wᵀ dO over queries start … end. Rows beyond the last query are zeros and add nothing."""
    for n in range(start, end, Q):
        queries_here = rows(q, n, q_n, queries, SIZE, Q, WIDE)
        grad_here = rows(grad, n, g_n, queries, VALUE, Q, WIDE_V)
        row = n + tl.arange(0, Q)
        norm_here = tl.load(norm + row, mask=row < queries, other=0.0)
        delta_here = tl.load(delta + row, mask=row < queries, other=0.0)
        t = tl.dot(k, tl.trans(queries_here), input_precision=PRECISION) * factor  # [K, Q]
        both, weight = halves(t, norm_here[None, :])
        pull = tl.dot(v, tl.trans(grad_here), input_precision=PRECISION)
        slope = both * pull - weight * delta_here[None, :]
        if EDGE:
            live = key[:, None] <= (first + row)[None, :]
            weight, slope = tl.where(live, weight, 0.0), tl.where(live, slope, 0.0)
        acc_v = tl.dot(weight.to(grad_here.dtype), grad_here, acc_v, input_precision=PRECISION)
        acc_k = tl.dot(slope.to(queries_here.dtype), queries_here, acc_k, input_precision=PRECISION)
    return acc_k, acc_v


@triton.jit
def backward_keys(
    q, k, v, padding, grad, norm, delta, grad_k, grad_v,
    factor, scale, first, heads, groups, queries, keys, bucket,
    q_b, q_h, q_n, k_b, k_h, k_n, v_b, v_h, v_n, g_b, g_h, g_n, r_b, r_h, r_n, s_b, s_h, s_n, p_b,
    CAUSAL: tl.constexpr, PADDED: tl.constexpr, PRECISION: tl.constexpr,
    SIZE: tl.constexpr, VALUE: tl.constexpr, WIDE: tl.constexpr, WIDE_V: tl.constexpr,
    Q: tl.constexpr, K: tl.constexpr,
):  # fmt: skip
    """dK = scale · dSᵀ Q and dV = wᵀ dO of K keys of one key head, summed over its query heads."""
    tiles = tl.cdiv(keys, K)
    start = tl.program_id(0) % tiles * K
    key_head = tl.program_id(0) // tiles % (heads // groups)
    batch = tl.cast(tl.program_id(0) // tiles // (heads // groups), tl.int64)
    key_head = tl.cast(key_head, tl.int64)
    keys_here = rows(k + batch * k_b + key_head * k_h, start, k_n, keys, SIZE, K, WIDE)
    values_here = rows(v + batch * v_b + key_head * v_h, start, v_n, keys, VALUE, K, WIDE_V)
    key = start + tl.arange(0, K)

    acc_k, acc_v = tl.zeros([K, WIDE], tl.float32), tl.zeros([K, WIDE_V], tl.float32)
    for member in range(groups):
        head = key_head * groups + member
        of_head = (batch * heads + head) * queries
        q_head, g_head = q + batch * q_b + head * q_h, grad + batch * g_b + head * g_h
        edge = 0
        if CAUSAL:
            # Queries that see none of these keys are skipped; from ``edge`` on they see all of them.
            low = tl.maximum(start - first, 0) // Q * Q
            edge = tl.cdiv(tl.maximum(start + K - 1 - first, 0), Q) * Q
            acc_k, acc_v = key_span(
                acc_k, acc_v, q_head, keys_here, values_here, g_head, norm + of_head, delta + of_head, key,
                first, low, tl.minimum(edge, queries), queries, q_n, g_n, factor,
                True, PRECISION, SIZE, VALUE, WIDE, WIDE_V, Q,
            )  # fmt: skip
        acc_k, acc_v = key_span(
            acc_k, acc_v, q_head, keys_here, values_here, g_head, norm + of_head, delta + of_head, key, first,
            edge, queries, queries, q_n, g_n, factor,
            False, PRECISION, SIZE, VALUE, WIDE, WIDE_V, Q,
        )  # fmt: skip
    if PADDED:
        live = real(padding + batch * p_b, start, keys, K)[:, None]
        acc_k, acc_v = tl.where(live, acc_k, 0.0), tl.where(live, acc_v, 0.0)
    put(grad_k + batch * r_b + key_head * r_h, start, r_n, keys, acc_k * scale, SIZE, K, WIDE)
    put(grad_v + batch * s_b + key_head * s_h, start, s_n, keys, acc_v, VALUE, K, WIDE_V)
