// The forward pass: tiles of scores, of which each row keeps its largest exponent m and its sum l, and no more.
//
// A new tile with a larger m scales what was summed before: α = e^{m − m′}, l = α l + Σ h, O = α O + g V, out = O / l.

#include "activations.h"
#include "pair_tiles.h"
#include "plain_tiles.h"

namespace {

// A row of scores becomes g, 0 where the query may not attend; returns α.
template <typename A, typename T>
T weigh_row(T* row, int64_t keys, Allowed<T> allowed, T& m, T& l) {
  using V = Vectorized<T>;
  T alpha = 1;
  if constexpr (A::kNormalised) {
    V top(A::kLowest);
    along(allowed, [&](int64_t at, int64_t width, auto counts) {
      top = above(top, counts.or_else(A::exponent(load(row + at, width)), V(A::kLowest)));
    });
    const T found = largest(top);
    if (found > m) {
      alpha = std::exp(m - found);
      m = found;
    }
  }
  const A activation(m);
  V total(0);
  along(allowed, [&](int64_t at, int64_t width, auto counts) {
    V g, h;
    activation.weigh(load(row + at, width), g, h);
    total = total + counts.only(h);
    store(row + at, counts.only(g), width);
  });
  std::fill(row + allowed.end, row + keys, T(0));
  if constexpr (A::kNormalised) l = alpha * l + sum(total);
  return alpha;
}

template <typename A, typename U, typename Products, typename T>
void forward_pass(const Products& products, int64_t key_heads, int64_t keys, const Masks& masks, const Scores<T>& scores,
                  Tensor& out, Tensor& m, Tensor& l) {
  const int64_t heads = out.size(1), queries = out.size(2), value_size = out.size(3);
  const int64_t groups = heads / key_heads, blocks = (queries + kQueries - 1) / kQueries;
  const Heads<U> all_out(out);
  T *all_m = m.data_ptr<T>(), *all_l = l.data_ptr<T>();

  at::parallel_for(0, out.size(0) * heads * blocks, 1, [&](int64_t begin, int64_t end) {
    const NoDenormals faster;
    Buffer<T> tile(kQueries * kStep), sums(kQueries * value_size), bits(kKeys), coefficients(kKeys);
    typename Products::Worker worker(products);
    for (int64_t task = begin; task < end; ++task) {
      const int64_t b = task / (heads * blocks), h = task / blocks % heads, first = task % blocks * kQueries;
      const int64_t rows = std::min(kQueries, queries - first);
      worker.take_queries(b, h, first, rows);
      const Matrix<T> s{tile, kStep}, o{sums, value_size};
      T m_row[kQueries], l_row[kQueries];
      std::fill_n(m_row, rows, A::kLowest);
      std::fill_n(l_row, rows, T(0));
      std::fill_n(o.data, rows * value_size, T(0));
      for (int64_t from = 0; from < keys; from += kKeys) {
        const Span reached = masks.reach(b, h, first, rows, {from, std::min(keys, from + kKeys)});
        if (reached.empty()) continue;
        const Span span = products.wide(reached);
        worker.score(b, h / groups, rows, span, s);
        const bool holes = masks.has_holes(b, span);
        for (int64_t i = 0; i < rows; ++i) {
          const auto allowed = masks.allowed<T>(b, h, first + i, span, holes, bits);
          if (!scores.plain()) scores.apply(s.row(i), b, h, first + i, span, coefficients);
          const T alpha = weigh_row<A>(s.row(i), span.size(), allowed, m_row[i], l_row[i]);
          if (alpha != 1)
            at::vec::map<T>([alpha](auto x) { return x * decltype(x)(alpha); }, o.row(i), o.row(i), value_size);
        }
        worker.add(b, h / groups, rows, span, s, o);
      }
      const auto out_tile = all_out.at(b, h, first);
      for (int64_t i = 0; i < rows; ++i) {
        const T inverse = !A::kNormalised ? T(1) : l_row[i] == 0 ? T(0) : 1 / l_row[i];
        at::vec::map<T>([inverse](auto x) { return x * decltype(x)(inverse); }, o.row(i), o.row(i), value_size);
        at::vec::convert<T, U>(o.row(i), out_tile.row(i), value_size);
      }
      std::copy_n(m_row, rows, all_m + (b * heads + h) * queries + first);
      std::copy_n(l_row, rows, all_l + (b * heads + h) * queries + first);
    }
  });
}

// Output [B, H, Q, d_v], and m and l [B, H, Q] in the type of computation.
std::tuple<Tensor, Tensor, Tensor> forward(const Tensor& q_, const Tensor& k_, const Tensor& v_,
                                           const std::optional<Tensor>& bias_, const std::optional<Tensor>& line_,
                                           const c10::List<std::optional<Tensor>>& mask, double scale,
                                           const std::string& activation, const std::string& adjust) {
  const Tensor q = rowwise(q_), k = rowwise(k_), v = rowwise(v_);
  const std::optional<Tensor> bias = rowwise(bias_), line = whole(line_);
  const int64_t batch = q.size(0), heads = q.size(1), queries = q.size(2);
  const Parts parts(mask, batch, heads, queries, k.size(2));
  Tensor out = at::empty({batch, queries, heads, v.size(3)}, q.options()).transpose(1, 2);
  const auto wide = q.options().dtype(q.scalar_type() == at::kDouble ? at::kDouble : at::kFloat);
  Tensor m = at::empty({batch, heads, queries}, wide), l = at::empty({batch, heads, queries}, wide);
  const Masks masks(parts, batch, k.size(2));
  with_types(q.scalar_type(), [&](auto stored, auto computed) {
    using U = decltype(stored);
    using T = decltype(computed);
    const Scores<T> scores(line, bias, parts, adjustment(adjust));
    with_activation<T>(activation, [&](auto* kind) {
      using A = std::remove_pointer_t<decltype(kind)>;
      const int64_t key_heads = k.size(1), keys = k.size(2);
      if constexpr (std::is_same_v<U, BFloat16>) {
        if (has_pair_products(q, v))
          return forward_pass<A, U>(PairForward(q, k, v, scale), key_heads, keys, masks, scores, out, m, l);
      }
      forward_pass<A, U>(PlainForward<U, T>(q, k, v, T(scale)), key_heads, keys, masks, scores, out, m, l);
    });
  });
  return {out, m, l};
}

}  // namespace

TORCH_LIBRARY_FRAGMENT(GLASSHEAD_LIBRARY, library) {
  library.def(
      "forward(Tensor q, Tensor k, Tensor v, Tensor? bias, Tensor? line, Tensor?[] mask, float scale, str activation, "
      "str adjust) -> (Tensor, Tensor, Tensor)");
}

TORCH_LIBRARY_IMPL(GLASSHEAD_LIBRARY, CPU, library) { library.impl("forward", &forward); }
