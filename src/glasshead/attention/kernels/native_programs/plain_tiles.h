// Products of tiles in the type of computation: rows as they are stored, or converted.
#pragma once

#include "attention.h"

namespace {

// What the forward pass multiplies: scale · Q Kᵀ, and weights by V.
template <typename U, typename T>
struct PlainForward {
  PlainForward(const Tensor& q, const Tensor& k, const Tensor& v, T scale)
      : q(q), k(k), v(v), size(q.size(3)), value_size(v.size(3)), scale(scale) {}

  Span wide(Span span) const { return span; }

  struct Worker {  // of one thread
    explicit Worker(const PlainForward& all)
        : all(all), q_buffer(kQueries * all.size), k_buffer(kKeys * all.size), v_buffer(kKeys * all.value_size) {}

    void take_queries(int64_t b, int64_t h, int64_t first, int64_t rows) {
      q_tile = scaled_rows<T>(all.q.at(b, h, first), rows, all.size, all.scale, q_buffer);
    }
    void score(int64_t b, int64_t g, int64_t rows, Span span, Matrix<T> s) {
      const auto k_tile = rows_as<T>(all.k.at(b, g, span.from), span.size(), all.size, k_buffer);
      product(rows, span.size(), all.size, T(1), q_tile, kPlain, k_tile, kTransposed, T(0), s);
    }
    void add(int64_t b, int64_t g, int64_t rows, Span span, Matrix<T> weights, Matrix<T> sums) {
      const auto v_tile = rows_as<T>(all.v.at(b, g, span.from), span.size(), all.value_size, v_buffer);
      product(rows, all.value_size, span.size(), T(1), weights, kPlain, v_tile, kPlain, T(1), sums);
    }

    const PlainForward& all;
    Buffer<T> q_buffer, k_buffer, v_buffer;
    Matrix<T> q_tile{};
  };

  const Heads<U> q, k, v;
  const int64_t size, value_size;
  const T scale;
};

// What the backward pass multiplies: scale · Q Kᵀ and dO Vᵀ, and then dR by K and Q and weights by dO.
template <typename U, typename T>
struct PlainBackward {
  PlainBackward(const Tensor& grad, const Tensor& q, const Tensor& k, const Tensor& v, T scale, const Tensor& dq,
                const Tensor& dk, const Tensor& dv)
      : grad(grad), q(q), k(k), v(v), dq(dq), dk(dk), dv(dv), size(q.size(3)), value_size(v.size(3)), scale(scale) {}

  Span wide(Span span) const { return span; }

  struct Worker {
    explicit Worker(const PlainBackward& all)
        : all(all), q_buffer(kQueries * all.size), grad_buffer(kQueries * all.value_size), k_buffer(kKeys * all.size),
          v_buffer(kKeys * all.value_size) {}

    void take_head(int64_t, int64_t) {}
    void take_keys(int64_t b, int64_t g, Span among) {
      start = among.from;
      k_all = rows_as<T>(all.k.at(b, g, start), among.size(), all.size, k_buffer);
      v_all = rows_as<T>(all.v.at(b, g, start), among.size(), all.value_size, v_buffer);
    }
    void score(int64_t b, int64_t h, int64_t first, int64_t rows, Span span, Matrix<T> s, Matrix<T> dp) {
      q_tile = scaled_rows<T>(all.q.at(b, h, first), rows, all.size, all.scale, q_buffer);
      grad_tile = rows_as<T>(all.grad.at(b, h, first), rows, all.value_size, grad_buffer);
      product(rows, span.size(), all.size, T(1), q_tile, kPlain, k_all.from(span.from - start), kTransposed, T(0), s);
      product(rows, span.size(), all.value_size, T(1), grad_tile, kPlain, v_all.from(span.from - start), kTransposed, T(0), dp);
    }
    void add(int64_t b, int64_t h, int64_t g, int64_t first, int64_t rows, Span span, Matrix<T> weights, Matrix<T> dr) {
      const int64_t columns = span.size();
      product(columns, all.value_size, rows, T(1), weights, kTransposed, grad_tile, kPlain, T(1), all.dv.at(b, g, span.from));
      product(rows, all.size, columns, all.scale, dr, kPlain, k_all.from(span.from - start), kPlain, T(1), all.dq.at(b, h, first));
      product(columns, all.size, rows, T(1), dr, kTransposed, q_tile, kPlain, T(1), all.dk.at(b, g, span.from));
    }
    void leave_keys(int64_t, int64_t, Span) {}

    const PlainBackward& all;
    Buffer<T> q_buffer, grad_buffer, k_buffer, v_buffer;
    Matrix<T> q_tile{}, grad_tile{}, k_all{}, v_all{};
    int64_t start = 0;
  };

  const Heads<U> grad, q, k, v;
  const Heads<T> dq, dk, dv;
  const int64_t size, value_size;
  const T scale;
};

}  // namespace
