// What both passes share: products of tiles, the exponential, who may attend to whom, and scores.
//
// Matrices are row-major. T is the type of computation, float or double; U is that of q, k and v, T or bfloat16.
#pragma once

#include <ATen/Parallel.h>
#include <ATen/core/Tensor.h>
#include <ATen/cpu/vec/functional.h>
#include <ATen/cpu/vec/vec.h>
#include <ATen/ops/addmm.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/zeros.h>
#include <c10/core/impl/alloc_cpu.h>
#include <torch/library.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

namespace {

using at::Tensor;
using at::vec::Vectorized;

constexpr int64_t kQueries = 128;  // of a tile
constexpr int64_t kKeys = 512;
constexpr int64_t kStep = kKeys + 16;  // between rows of a tile: with a power of two they share few places of a cache

// Numbers below the normal ones are 0 in this thread while this lives, in its products too: beside the largest weight
// of a row they are nothing, and one operation on them takes an Intel processor a hundred cycles.
struct NoDenormals {
#if defined(__SSE2__)
  NoDenormals() : before(_mm_getcsr()) { _mm_setcsr(before | 0x8040); }  // results and operands
  ~NoDenormals() { _mm_setcsr(before); }
  const unsigned before;
#endif
};

// ---------------------------------------------------------------------------------------------------------- memory

template <typename T>
struct Buffer {  // aligned for the widest vectors, and not initialised
  explicit Buffer(int64_t size) : data(static_cast<T*>(c10::alloc_cpu(size * sizeof(T) + 64))) {}
  operator T*() const { return data.get(); }
  struct Free {
    void operator()(T* pointer) const { c10::free_cpu(pointer); }
  };
  std::unique_ptr<T, Free> data;
};

template <typename T>
struct Matrix {  // rows that are `step` numbers apart
  T* data;
  int64_t step;
  T* row(int64_t i) const { return data + i * step; }
  Matrix from(int64_t i) const { return {row(i), step}; }
};

// With rows in one piece, whoever laid the tensor out.
inline Tensor rowwise(const Tensor& tensor) { return tensor.stride(-1) == 1 ? tensor : tensor.contiguous(); }
inline std::optional<Tensor> rowwise(const std::optional<Tensor>& tensor) {
  return tensor ? std::optional<Tensor>(rowwise(*tensor)) : std::nullopt;
}
inline std::optional<Tensor> whole(const std::optional<Tensor>& tensor) {
  return tensor ? std::optional<Tensor>(tensor->contiguous()) : std::nullopt;
}

// [batch, heads, length, size], rows in one piece.
template <typename U>
struct Heads {
  explicit Heads(const Tensor& tensor)
      : data(static_cast<U*>(tensor.data_ptr())), batch(tensor.stride(0)), head(tensor.stride(1)), step(tensor.stride(2)) {}
  Matrix<U> at(int64_t b, int64_t h, int64_t from) const { return {data + b * batch + h * head + from * step, step}; }
  U* data;
  int64_t batch, head, step;
};

// Rows in the type of computation: as they are, or converted.
template <typename T, typename U>
Matrix<T> rows_as(Matrix<U> from, int64_t rows, int64_t size, T* buffer) {
  if constexpr (std::is_same_v<T, U>) {
    return from;
  } else {
    for (int64_t i = 0; i < rows; ++i) at::vec::convert<U, T>(from.row(i), buffer + i * size, size);
    return {buffer, size};
  }
}

// The same times a number; queries are scaled before the product, as in the formula, so that scores round alike.
template <typename T, typename U>
Matrix<T> scaled_rows(Matrix<U> from, int64_t rows, int64_t size, T scale, T* buffer) {
  const auto read = rows_as<T>(from, rows, size, buffer);
  for (int64_t i = 0; i < rows; ++i)
    at::vec::map<T>([scale](auto x) { return x * decltype(x)(scale); }, buffer + i * size, read.row(i), size);
  return {buffer, size};
}

// -------------------------------------------------------------------------------------------------------- products

// C = alpha A B + beta C, where A is [rows, inner], or stored as [inner, rows], and B likewise.
enum Stored { kPlain, kTransposed };

template <typename T>
void product(int64_t rows, int64_t columns, int64_t inner, T alpha, Matrix<T> a, Stored a_is, Matrix<T> b, Stored b_is,
             T beta, Matrix<T> c) {
  const auto options = at::TensorOptions().dtype(c10::CppTypeToScalarType<T>::value);
  auto view = [&](Matrix<T> matrix, int64_t n, int64_t m, Stored is) {
    return is == kPlain ? at::from_blob(matrix.data, {n, m}, {matrix.step, 1}, options)
                        : at::from_blob(matrix.data, {n, m}, {1, matrix.step}, options);
  };
  Tensor out = view(c, rows, columns, kPlain);
  at::addmm_out(out, out, view(a, rows, inner, a_is), view(b, inner, columns, b_is), beta, alpha);
}

// --------------------------------------------------------------------------------------------------------- vectors

template <typename T>
Vectorized<T> load(const T* from, int64_t width) {
  return width == Vectorized<T>::size() ? Vectorized<T>::loadu(from) : Vectorized<T>::loadu(from, width);
}

template <typename T>
void store(T* to, Vectorized<T> values, int64_t width) {
  width == Vectorized<T>::size() ? values.store(to) : values.store(to, width);
}

template <typename T>
T sum(Vectorized<T> values) {
  return at::vec::vec_reduce_all<T>([](auto& x, auto& y) { return x + y; }, values);
}

// The larger; x where one of them is not a number.
template <typename V>
V above(V x, V least) { return at::vec::clamp_min(x, least); }

template <typename T>
T largest(Vectorized<T> values) {
  return at::vec::vec_reduce_all<T>([](auto& x, auto& y) { return above(x, y); }, values);
}

// e^x for x ≤ 0, to an ulp or two, and NaN stays. Never 0: e^−86 is nothing beside e^0, the largest of its row.
inline Vectorized<double> exp_negative(Vectorized<double> x) { return above(x, Vectorized<double>(-700)).exp(); }

inline Vectorized<float> exp_negative(Vectorized<float> x) {
  using V = Vectorized<float>;
  const V magic(12582912.f);  // 1.5 · 2^23: what is added to it is rounded to whole numbers
  const V bounded = above(x, V(-86.f));
  const V turned = at::vec::fmadd(bounded, V(1.44269504f), magic);
  const V whole = turned - magic;
  V r = at::vec::fmadd(whole, V(-0.693359375f), bounded);
  r = at::vec::fmadd(whole, V(2.12194440e-4f), r);
  V p = at::vec::fmadd(V(1.9875691e-4f), r, V(1.3981999e-3f));
  p = at::vec::fmadd(p, r, V(8.3334519e-3f));
  p = at::vec::fmadd(p, r, V(4.1665796e-2f));
  p = at::vec::fmadd(p, r, V(1.6666665e-1f));
  p = at::vec::fmadd(p, r, V(0.5f));
  p = at::vec::fmadd(p, r * r, r + V(1.f));
  const auto exponent = at::vec::cast<int32_t>(turned) << Vectorized<int32_t>(23);
  const V nothing = p - p;  // NaN for NaN, whose bits the exponent may have changed
  return at::vec::cast<float>(at::vec::cast<int32_t>(p) + exponent) + nothing;
}

// All of a vector counts, or some of it.
struct All {
  template <typename V>
  V only(V values) const { return values; }
  template <typename V>
  V or_else(V values, V) const { return values; }
};

template <typename V>
struct Some {
  V bits;
  V only(V values) const { return values & bits; }
  V or_else(V values, V other) const { return V::blendv(other, values, bits); }
};

// ------------------------------------------------------------------------------------------------------------ masks

// The keys of a tile that one query may attend to: among the first `end`, those whose bits are set, if there are bits.
template <typename T>
struct Allowed {
  int64_t end;
  const T* bits;
};

// Calls f(first column, columns, which of them count) along a row.
template <typename T, typename F>
void along(Allowed<T> allowed, const F& f) {
  using V = Vectorized<T>;
  constexpr int64_t width = V::size();
  int64_t at = 0;
  if (allowed.bits == nullptr) {
    for (; at + width <= allowed.end; at += width) f(at, width, All{});
  } else {
    for (; at + width <= allowed.end; at += width) f(at, width, Some<V>{V::loadu(allowed.bits + at)});
  }
  if (at < allowed.end) {
    const V some = V::set(V(0), V(0) == V(0), allowed.end - at);
    const V bits = allowed.bits == nullptr ? some : some & V::loadu(allowed.bits + at, allowed.end - at);
    f(at, allowed.end - at, Some<V>{bits});
  }
}

struct Span {
  int64_t from, to;
  bool empty() const { return from >= to; }
  int64_t size() const { return to - from; }
};

// What is said of places: padding [B, K], pairs [B|1, H|1, Q, K], under a causal mask the index of every query among
// the keys [Q], and for distances the positions of queries and keys [B|1, Q] and [B|1, K].
struct Parts {
  Parts(const c10::List<std::optional<Tensor>>& list, int64_t batch, int64_t heads, int64_t queries, int64_t keys) {
    padding = whole(list.get(0));
    pairs = rowwise(std::optional<Tensor>(list.get(1)));
    index = whole(list.get(2));
    query_positions = whole(list.get(3));
    key_positions = whole(list.get(4));
    auto fits = [](const std::optional<Tensor>& part, at::IntArrayRef sizes, int64_t free, const char* name) {
      if (!part) return;
      bool right = part->dim() == static_cast<int64_t>(sizes.size());
      for (int64_t d = 0; right && d < part->dim(); ++d)
        right = part->size(d) == sizes[d] || (d < free && part->size(d) == 1);
      TORCH_CHECK(right, name, " has sizes ", part->sizes(), ", not ", sizes);
    };
    fits(padding, {batch, keys}, 0, "padding");
    fits(pairs, {batch, heads, queries, keys}, 2, "the mask of pairs");
    fits(index, {queries}, 0, "the index of queries");
    fits(query_positions, {batch, queries}, 1, "positions of queries");
    fits(key_positions, {batch, keys}, 1, "positions of keys");
  }
  std::optional<Tensor> padding, pairs, index, query_positions, key_positions;
};

struct Masks {
  Masks(const Parts& mask, int64_t batches, int64_t keys) : keys(keys) {
    if (auto padding_ = mask.padding) {
      padding = padding_->data_ptr<bool>();
      for (int64_t b = 0; b < batches; ++b) {
        const bool* row = padding + b * keys;
        int64_t from = 0, to = keys;
        while (from < to && !row[from]) ++from;
        while (from < to && !row[to - 1]) --to;
        real.push_back({from, to});
      }
    }
    if (auto pairs_ = mask.pairs) {
      pairs = pairs_->data_ptr<bool>();
      pairs_batch = pairs_->size(0) == 1 ? 0 : pairs_->stride(0);
      pairs_head = pairs_->size(1) == 1 ? 0 : pairs_->stride(1);
      pairs_row = pairs_->stride(2);
    }
    if (auto index_ = mask.index) index = index_->data_ptr<int64_t>();
  }

  const bool* pairs_of(int64_t b, int64_t h, int64_t q) const {
    return pairs + b * pairs_batch + h * pairs_head + q * pairs_row;
  }

  // The keys, among some, outside of which none of these queries may attend to any.
  Span reach(int64_t b, int64_t h, int64_t q, int64_t rows, Span among) const {
    Span span = among;
    if (padding != nullptr) span = {std::max(span.from, real[b].from), std::min(span.to, real[b].to)};
    if (index != nullptr) span.to = std::min(span.to, *std::max_element(index + q, index + q + rows) + 1);
    if (pairs == nullptr || span.empty()) return span;
    Span met{span.to, span.from};
    for (int64_t i = 0; i < rows; ++i) {
      const bool* row = pairs_of(b, h, q + i);
      const void* first = std::memchr(row + span.from, 1, span.to - span.from);
      if (first == nullptr) continue;
      met.from = std::min<int64_t>(met.from, static_cast<const bool*>(first) - row);
      int64_t last = span.to;
      while (!row[last - 1]) --last;
      met.to = std::max(met.to, last);
    }
    return met;
  }

  bool has_holes(int64_t b, Span span) const {
    return padding != nullptr && std::memchr(padding + b * keys + span.from, 0, span.to - span.from) != nullptr;
  }

  // What query q may attend to of these keys; its bits are written to the buffer.
  template <typename T>
  Allowed<T> allowed(int64_t b, int64_t h, int64_t q, Span span, bool holes, T* buffer) const {
    int64_t end = span.to - span.from;
    if (index != nullptr) end = std::clamp<int64_t>(index[q] + 1 - span.from, 0, end);
    if (!holes && pairs == nullptr) return {end, nullptr};
    using Bits = std::conditional_t<sizeof(T) == 4, int32_t, int64_t>;
    Bits* bits = reinterpret_cast<Bits*>(buffer);
    const bool* real_keys = holes ? padding + b * keys + span.from : nullptr;
    const bool* row = pairs == nullptr ? real_keys : pairs_of(b, h, q) + span.from;
    for (int64_t j = 0; j < end; ++j) bits[j] = -static_cast<Bits>(row[j]);
    if (holes && row != real_keys)
      for (int64_t j = 0; j < end; ++j) bits[j] &= -static_cast<Bits>(real_keys[j]);
    return {end, buffer};
  }

  int64_t keys;
  const bool* padding = nullptr;
  const bool* pairs = nullptr;
  const int64_t* index = nullptr;
  int64_t pairs_batch = 0, pairs_head = 0, pairs_row = 0;
  std::vector<Span> real;
};

// ----------------------------------------------------------------------------------------------------------- scores

// s = r, r · f, max(r, 0) · f or r + f, with r = scale · q·k and f a coefficient of the distance, and then + bias.
enum class Adjust { kNone, kSigned, kMultiply, kAdd };

// `line` [H, 2n − 1] is f of every offset from −(n − 1) to n − 1.
template <typename T>
struct Scores {
  Scores(const std::optional<Tensor>& line_, const std::optional<Tensor>& bias_,
         const Parts& mask, Adjust adjust_)
      : adjust(adjust_) {
    if (line_) {
      line = line_->data_ptr<T>();
      length = line_->size(1);
      const Tensor &queries = *mask.query_positions, &keys_ = *mask.key_positions;
      query_positions = queries.data_ptr<int64_t>();
      key_positions = keys_.data_ptr<int64_t>();
      query_batch = queries.size(0) == 1 ? 0 : queries.size(1);
      key_batch = keys_.size(0) == 1 ? 0 : keys_.size(1);
      const int64_t farthest = std::max(spread(queries, keys_), spread(keys_, queries));
      TORCH_CHECK(farthest <= length / 2, "a distance of ", farthest, " is beyond the ", length / 2, " of the line");
      for (int64_t b = 0; b < keys_.size(0); ++b) {
        const int64_t* row = key_positions + b * key_batch;
        bool steady = true;
        for (int64_t j = 1; j < keys_.size(1); ++j) steady = steady && row[j] == row[0] + j;
        consecutive.push_back(steady);
      }
    }
    if (bias_) {
      bias = bias_->data_ptr<T>();
      bias_batch = bias_->size(0) == 1 ? 0 : bias_->stride(0);
      bias_head = bias_->size(1) == 1 ? 0 : bias_->stride(1);
      bias_row = bias_->stride(2);
    }
  }

  // How much the largest of some positions is above the least of others.
  static int64_t spread(const Tensor& high, const Tensor& low) {
    const int64_t *from = high.data_ptr<int64_t>(), *to = low.data_ptr<int64_t>();
    if (high.numel() == 0 || low.numel() == 0) return 0;
    return *std::max_element(from, from + high.numel()) - *std::min_element(to, to + low.numel());
  }

  bool plain() const { return line == nullptr && bias == nullptr; }
  bool steady(int64_t b) const { return consecutive[consecutive.size() == 1 ? 0 : b]; }
  int64_t offset(int64_t b, int64_t q, int64_t k) const {  // its place in the line
    return length / 2 + key_positions[b * key_batch + k] - query_positions[b * query_batch + q];
  }

  // f along a row: a piece of the line, or gathered into the buffer.
  const T* coefficients(int64_t b, int64_t h, int64_t q, Span span, T* buffer) const {
    const T* head = line + h * length;
    if (steady(b)) return head + offset(b, q, span.from);
    for (int64_t j = span.from; j < span.to; ++j) buffer[j - span.from] = head[offset(b, q, j)];
    return buffer;
  }

  // r becomes s, in place.
  void apply(T* row, int64_t b, int64_t h, int64_t q, Span span, T* buffer) const {
    using V = Vectorized<T>;
    const Allowed<T> every{span.to - span.from, nullptr};
    if (line != nullptr) {
      const T* f = coefficients(b, h, q, span, buffer);
      along(every, [&](int64_t at, int64_t width, auto) {
        const V r = load(row + at, width), c = load(f + at, width);
        store(row + at, adjust == Adjust::kAdd ? r + c : adjust == Adjust::kSigned ? r * c : at::vec::maximum(r, V(0)) * c,
              width);
      });
    }
    if (bias != nullptr) {
      const T* more = bias + b * bias_batch + h * bias_head + q * bias_row + span.from;
      along(every, [&](int64_t at, int64_t width, auto) {
        store(row + at, load(row + at, width) + load(more + at, width), width);
      });
    }
  }

  // ds becomes dr, in place, and what f gets is added to a line of its own.
  void pull(T* ds, const T* r, T* line_grad, int64_t b, int64_t h, int64_t q, Span span, T* buffer) const {
    using V = Vectorized<T>;
    const int64_t size = span.to - span.from;
    const Allowed<T> every{size, nullptr};
    const T* f = coefficients(b, h, q, span, buffer);
    const bool in_place = steady(b);
    T* df = in_place ? line_grad + offset(b, q, span.from) : buffer + size;  // the buffer has room for two rows
    along(every, [&](int64_t at, int64_t width, auto) {
      const V d = load(ds + at, width), x = load(r + at, width);
      V by_f = d;
      if (adjust != Adjust::kAdd) {
        const V factor = load(f + at, width);
        const V by_r = d * factor;
        by_f = d * (adjust == Adjust::kMultiply ? at::vec::maximum(x, V(0)) : x);
        store(ds + at, adjust == Adjust::kMultiply ? by_r & (x > V(0)) : by_r, width);
      }
      store(df + at, in_place ? load(df + at, width) + by_f : by_f, width);
    });
    if (!in_place)
      for (int64_t j = 0; j < size; ++j) line_grad[offset(b, q, span.from + j)] += df[j];
  }

  Adjust adjust;
  const T *line = nullptr, *bias = nullptr;
  const int64_t *query_positions = nullptr, *key_positions = nullptr;
  int64_t length = 0, query_batch = 0, key_batch = 0, bias_batch = 0, bias_head = 0, bias_row = 0;
  std::vector<bool> consecutive;
};

}  // namespace
