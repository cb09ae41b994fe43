// Products of tiles of bfloat16 with sums in float32, for processors that have units for them (AMX): PyTorch's brgemm,
// which wants its second operand in pairs of rows, [rows / 2, columns, 2]. Weights are rounded to bfloat16 for them, as
// PyTorch's own kernel does. Columns are taken in blocks of 32, so that few shapes have to be prepared.
#pragma once

#include <ATen/native/CPUBlas.h>

#include "attention.h"

namespace {

using at::BFloat16;

constexpr int64_t kBlock = 32;
inline int64_t whole_blocks(int64_t number) { return (number + kBlock - 1) / kBlock * kBlock; }

inline bool has_pair_products(const Tensor& q, const Tensor& v) {
#if defined(CPU_CAPABILITY_AVX512)
  return q.scalar_type() == at::kBFloat16 && q.size(3) % 2 == 0 && v.size(3) % 2 == 0 &&
         at::native::cpublas::could_pack(at::kBFloat16);
#else
  return false;
#endif
}

// C = A B, or C += A B; `width` is the number of columns in which the pairs are stored.
inline void pair_product(int64_t rows, int64_t columns, int64_t inner, Matrix<BFloat16> a, const BFloat16* pairs,
                         int64_t width, bool add, Matrix<float> c) {
  at::native::cpublas::brgemm(rows, columns, inner, a.step, width, c.step, add, a.data, pairs, c.data);
}

// Xᵀ in pairs: [size / 2, width, 2].
inline void pair_columns(Matrix<BFloat16> x, int64_t rows, int64_t size, BFloat16* to, int64_t width) {
  for (int64_t n = 0; n < rows; ++n)
    for (int64_t i = 0; i < size; i += 2) std::memcpy(to + i * width + 2 * n, x.row(n) + i, 2 * sizeof(BFloat16));
  for (int64_t i = 0; i < size; i += 2) std::fill(to + i * width + 2 * rows, to + (i + 2) * width, BFloat16(0));
}

// X in pairs: [width / 2, size, 2], 0 below its rows.
inline void pair_rows(Matrix<BFloat16> x, int64_t rows, int64_t size, BFloat16* to, int64_t width) {
  for (int64_t n = 0; n < rows; ++n) {
    BFloat16* row = to + (n / 2) * size * 2 + n % 2;
    for (int64_t j = 0; j < size; ++j) row[2 * j] = x.row(n)[j];
  }
  if (rows % 2 == 1)
    for (int64_t j = 0; j < size; ++j) to[(rows / 2) * size * 2 + 2 * j + 1] = 0;
  std::fill(to + (rows + 1) / 2 * 2 * size, to + width * size, BFloat16(0));
}

// scale · X in pairs, from float32 to the nearest bfloat16; [rows / 2, kKeys, 2].
inline void round_to_pairs(Matrix<float> x, int64_t rows, int64_t columns, float scale, BFloat16* to) {
  for (int64_t i = 0; i < rows; i += 2) {
    const float *one = x.row(i), *other = i + 1 < rows ? x.row(i + 1) : nullptr;
    uint32_t* pairs = reinterpret_cast<uint32_t*>(to + i * kKeys);
    auto bits = [scale](float value) {
      value *= scale;
      uint32_t found;
      std::memcpy(&found, &value, sizeof(found));
      return value == value ? found + 0x7fffu + ((found >> 16) & 1u) : 0x7fc00000u;
    };
    if (other == nullptr) {
      for (int64_t j = 0; j < columns; ++j) pairs[j] = bits(one[j]) >> 16;
    } else {
      for (int64_t j = 0; j < columns; ++j) pairs[j] = (bits(one[j]) >> 16) | (bits(other[j]) & 0xffff0000u);
    }
  }
}

// scale · X in bfloat16.
inline void round_rows(Matrix<float> x, int64_t rows, int64_t columns, float scale, BFloat16* to) {
  for (int64_t i = 0; i < rows; ++i) {
    if (scale != 1) at::vec::map<float>([scale](auto y) { return y * decltype(y)(scale); }, x.row(i), x.row(i), columns);
    at::vec::convert<float, BFloat16>(x.row(i), to + i * kStep, columns);
  }
}

// Xᵀ: [size, width], 0 beyond its rows.
inline void transpose_rows(Matrix<BFloat16> x, int64_t rows, int64_t size, BFloat16* to, int64_t width) {
  for (int64_t j = 0; j < size; ++j) {
    for (int64_t n = 0; n < rows; ++n) to[j * width + n] = x.row(n)[j];
    std::fill(to + j * width + rows, to + (j + 1) * width, BFloat16(0));
  }
}

inline void clear_columns(Matrix<float> x, int64_t rows, int64_t from, int64_t to) {
  for (int64_t i = 0; i < rows && from < to; ++i) std::fill(x.row(i) + from, x.row(i) + to, 0.f);
}

// Scores Q Kᵀ times a number: of the queries where that is exact, a power of two as for heads of 16, 64 and 256.
struct PairScores {
  PairScores(int64_t size, float scale) : size(size), scale(scale), buffer(kQueries * size) {
    int exponent;
    exact = std::frexp(scale, &exponent) == 0.5f;
  }

  void take_queries(Matrix<BFloat16> q, int64_t rows) {
    q_tile = exact ? Matrix<BFloat16>{buffer, size} : q;
    for (int64_t i = 0; exact && i < rows; ++i) times(q.row(i), q_tile.row(i), size);
  }
  void product(int64_t rows, int64_t columns, const BFloat16* pairs, Matrix<float> s) {
    pair_product(rows, columns, size, q_tile, pairs, kKeys, false, s);
    for (int64_t i = 0; !exact && i < rows; ++i) times(s.row(i), s.row(i), columns);
  }
  template <typename T>
  void times(const T* from, T* to, int64_t number) const {
    at::vec::map<T>([factor = scale](auto x) { return x * decltype(x)(factor); }, to, from, number);
  }

  const int64_t size;
  const float scale;
  bool exact;
  Buffer<BFloat16> buffer;
  Matrix<BFloat16> q_tile{};
};

// A span that begins with a block; what it has more, a query may not attend to, and masks leave out.
inline Span from_whole_block(Span span) { return {span.from / kBlock * kBlock, span.to}; }

struct PairForward {
  PairForward(const Tensor& q_, const Tensor& k_, const Tensor& v_, float scale)
      : q(q_), size(q_.size(3)), value_size(v_.size(3)), groups(k_.size(1)), tiles((k_.size(2) + kKeys - 1) / kKeys),
        scale(scale), k_pairs(at::empty({k_.size(0) * groups * tiles * kKeys * size}, q_.options())),
        v_pairs(at::empty({k_.size(0) * groups * tiles * kKeys * value_size}, q_.options())) {
    const Heads<BFloat16> k(k_), v(v_);
    const int64_t keys = k_.size(2);
    at::parallel_for(0, k_.size(0) * groups * tiles, 1, [&](int64_t begin, int64_t end) {
      for (int64_t place = begin; place < end; ++place) {
        const int64_t from = place % tiles * kKeys, rows = std::min(kKeys, keys - from);
        const int64_t b = place / tiles / groups, g = place / tiles % groups;
        pair_columns(k.at(b, g, from), rows, size, k_pairs.data_ptr<BFloat16>() + place * kKeys * size, kKeys);
        pair_rows(v.at(b, g, from), rows, value_size, v_pairs.data_ptr<BFloat16>() + place * kKeys * value_size, kKeys);
      }
    });
  }

  Span wide(Span span) const { return from_whole_block(span); }
  int64_t place(int64_t b, int64_t g, int64_t key) const { return (b * groups + g) * tiles + key / kKeys; }

  struct Worker {
    explicit Worker(const PairForward& all) : all(all), scores(all.size, all.scale), weights(kQueries * kStep) {}
    ~Worker() { at::native::cpublas::brgemm_release(); }

    void take_queries(int64_t b, int64_t h, int64_t first, int64_t rows) {
      scores.take_queries(all.q.at(b, h, first), rows);
    }
    void score(int64_t b, int64_t g, int64_t rows, Span span, Matrix<float> s) {
      const BFloat16* pairs = all.k_pairs.data_ptr<BFloat16>() + all.place(b, g, span.from) * kKeys * all.size;
      scores.product(rows, whole_blocks(span.size()), pairs + 2 * (span.from % kKeys), s);
    }
    void add(int64_t b, int64_t g, int64_t rows, Span span, Matrix<float> s, Matrix<float> sums) {
      const BFloat16* pairs = all.v_pairs.data_ptr<BFloat16>() + all.place(b, g, span.from) * kKeys * all.value_size;
      const int64_t columns = whole_blocks(span.size());
      clear_columns(s, rows, span.size(), columns);
      round_rows(s, rows, columns, 1, weights);
      pair_product(rows, all.value_size, columns, {weights, kStep}, pairs + span.from % kKeys * all.value_size,
                   all.value_size, true, sums);
    }

    const PairForward& all;
    PairScores scores;
    Buffer<BFloat16> weights;
  };

  const Heads<BFloat16> q;
  const int64_t size, value_size, groups, tiles;
  const float scale;
  const Tensor k_pairs, v_pairs;
};

struct PairBackward {
  PairBackward(const Tensor& grad, const Tensor& q, const Tensor& k, const Tensor& v, float scale, const Tensor& dq,
               const Tensor& dk, const Tensor& dv)
      : grad(grad), q(q), k(k), v(v), dq(dq), dk(dk), dv(dv), size(q.size(3)), value_size(v.size(3)), queries(q.size(2)),
        scale(scale) {}

  Span wide(Span span) const { return from_whole_block(span); }

  struct Worker {
    explicit Worker(const PairBackward& all)
        : all(all), scores(all.size, all.scale), turned_q(kQueries * tiles(all) * all.size), turned_grad(kQueries * tiles(all) * all.value_size),
          k_columns(kKeys * all.size), v_columns(kKeys * all.value_size), k_rows(kKeys * all.size),
          pairs(kQueries * kKeys), rounded(kQueries * kStep), turned_dk(kKeys * all.size),
          turned_dv(kKeys * all.value_size) {}
    ~Worker() { at::native::cpublas::brgemm_release(); }
    static int64_t tiles(const PairBackward& all) { return (all.queries + kQueries - 1) / kQueries; }

    void take_head(int64_t b, int64_t h) {
      for (int64_t first = 0; first < all.queries; first += kQueries) {
        const int64_t rows = std::min(kQueries, all.queries - first);
        transpose_rows(all.q.at(b, h, first), rows, all.size, turned_q + first * all.size, kQueries);
        transpose_rows(all.grad.at(b, h, first), rows, all.value_size, turned_grad + first * all.value_size, kQueries);
      }
    }
    void take_keys(int64_t b, int64_t g, Span among) {
      const Matrix<BFloat16> k_tile = all.k.at(b, g, among.from), v_tile = all.v.at(b, g, among.from);
      pair_columns(k_tile, among.size(), all.size, k_columns, kKeys);
      pair_columns(v_tile, among.size(), all.value_size, v_columns, kKeys);
      pair_rows(k_tile, among.size(), all.size, k_rows, kKeys);
      std::fill_n(turned_dk.data.get(), kKeys * all.size, 0.f);
      std::fill_n(turned_dv.data.get(), kKeys * all.value_size, 0.f);
    }
    void score(int64_t b, int64_t h, int64_t first, int64_t rows, Span span, Matrix<float> s, Matrix<float> dp) {
      const int64_t columns = whole_blocks(span.size()), at = 2 * (span.from % kKeys);
      scores.take_queries(all.q.at(b, h, first), rows);
      scores.product(rows, columns, k_columns + at, s);
      pair_product(rows, columns, all.value_size, all.grad.at(b, h, first), v_columns + at, kKeys, false, dp);
    }
    void add(int64_t b, int64_t h, int64_t, int64_t first, int64_t rows, Span span, Matrix<float> weights, Matrix<float> dr) {
      const int64_t columns = whole_blocks(span.size()), at = span.from % kKeys, even = (rows + 1) / 2 * 2;
      clear_columns(weights, rows, span.size(), columns);
      clear_columns(dr, rows, span.size(), columns);
      round_to_pairs(weights, rows, columns, 1, pairs);
      pair_product(all.value_size, columns, even, {turned_grad + first * all.value_size, kQueries}, pairs, kKeys, true,
                   {turned_dv + at, kKeys});
      round_to_pairs(dr, rows, columns, all.scale, pairs);
      pair_product(all.size, columns, even, {turned_q + first * all.size, kQueries}, pairs, kKeys, true, {turned_dk + at, kKeys});
      round_rows(dr, rows, columns, all.scale, rounded);
      pair_product(rows, all.size, columns, {rounded, kStep}, k_rows + at * all.size, all.size, true, all.dq.at(b, h, first));
    }
    void leave_keys(int64_t b, int64_t g, Span among) {
      add_turned(turned_dk, all.size, among.size(), all.dk.at(b, g, among.from));
      add_turned(turned_dv, all.value_size, among.size(), all.dv.at(b, g, among.from));
    }
    static void add_turned(const float* turned, int64_t size, int64_t rows, Matrix<float> to) {
      for (int64_t n = 0; n < rows; ++n)
        for (int64_t j = 0; j < size; ++j) to.row(n)[j] += turned[j * kKeys + n];
    }

    const PairBackward& all;
    PairScores scores;
    Buffer<BFloat16> turned_q, turned_grad, k_columns, v_columns, k_rows, pairs, rounded;
    Buffer<float> turned_dk, turned_dv;
  };

  const Heads<BFloat16> grad, q, k, v;
  const Heads<float> dq, dk, dv;
  const int64_t size, value_size, queries;
  const float scale;
};

}  // namespace
