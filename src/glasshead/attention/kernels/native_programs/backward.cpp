// The backward pass: the weights of each tile are computed again from q, k, m and l; five products, not ten.
//
// With w = g/l, dP = dO Vᵀ and δ_i = dO_i · out_i: dV = wᵀ dO and dS = (g′ ∘ dP − h′ ∘ δ) / l; δ is 0 where nothing
// is normalised. dQ = scale · dR K and dK = dRᵀ (scale · Q), with dR the gradient of scale · q·k.

#include "activations.h"
#include "pair_tiles.h"
#include "plain_tiles.h"

namespace {

// Scores become w, and dP becomes dS; both 0 where the query may not attend.
template <typename A, typename T>
void pull_row(T* row, T* dp, int64_t keys, Allowed<T> allowed, T m, T l, T delta) {
  using V = Vectorized<T>;
  const A activation(m);
  const V inverse(!A::kNormalised ? T(1) : l == 0 ? T(0) : 1 / l), d(delta);
  along(allowed, [&](int64_t at, int64_t width, auto counts) {
    V g, dg, dh;
    activation.slopes(load(row + at, width), g, dg, dh);
    V ds = dg * load(dp + at, width);
    if constexpr (A::kNormalised) ds = (ds - dh * d) * inverse;
    store(row + at, counts.only(g * inverse), width);
    store(dp + at, counts.only(ds), width);
  });
  std::fill(row + allowed.end, row + keys, T(0));
  std::fill(dp + allowed.end, dp + keys, T(0));
}

struct Gradients {  // of q, k, v, the bias and the line, in the type of computation; those of others are not defined
  Tensor q, k, v, bias, line;
};

template <typename A, typename U, typename Products, typename T>
void backward_pass(const Products& products, const Tensor& grad, const Tensor& k, const Masks& masks,
                   const Scores<T>& scores, const Tensor& out, const Tensor& m, const Tensor& l, Gradients& to) {
  const int64_t batch = grad.size(0), heads = grad.size(1), queries = grad.size(2), value_size = grad.size(3);
  const int64_t key_heads = k.size(1), keys = k.size(2), groups = heads / key_heads;
  const Heads<U> all_out(out), all_grad(grad);
  const T *all_m = m.data_ptr<T>(), *all_l = l.data_ptr<T>();
  T* dline = to.line.defined() ? to.line.data_ptr<T>() : nullptr;
  T* dbias = to.bias.defined() ? to.bias.data_ptr<T>() : nullptr;
  const bool one_batch = dbias != nullptr && to.bias.size(0) == 1, one_head = dbias != nullptr && to.bias.size(1) == 1;

  // One batch and key head, with all that reads it.
  auto pull = [&](typename Products::Worker& worker, int64_t b, int64_t g, T* memory) {
    T *s_data = memory, *dp_data = s_data + kQueries * kStep, *one_row = dp_data + kQueries * kStep;
    T *other_row = one_row + value_size, *bits = other_row + value_size, *raw = bits + kKeys;
    T *coefficients = raw + kKeys, *delta = coefficients + 2 * kKeys;
    const Matrix<T> s{s_data, kStep}, dp{dp_data, kStep};
    for (int64_t h = g * groups; h < (g + 1) * groups; ++h) {
      const int64_t place = (b * heads + h) * queries;
      worker.take_head(b, h);
      std::fill_n(delta, queries, T(0));
      for (int64_t i = 0; A::kNormalised && i < queries; ++i) {
        const auto one = rows_as<T>(all_grad.at(b, h, i), 1, value_size, one_row);
        const auto other = rows_as<T>(all_out.at(b, h, i), 1, value_size, other_row);
        delta[i] = at::vec::map2_reduce_all<T>([](auto x, auto y) { return x * y; }, [](auto x, auto y) { return x + y; },
                                               one.data, other.data, value_size);
      }
      for (int64_t from = 0; from < keys; from += kKeys) {
        const Span among{from, std::min(keys, from + kKeys)};
        worker.take_keys(b, g, among);
        for (int64_t first = 0; first < queries; first += kQueries) {
          const int64_t rows = std::min(kQueries, queries - first);
          const Span reached = masks.reach(b, h, first, rows, among);
          if (reached.empty()) continue;
          const Span span = products.wide(reached);
          const int64_t columns = span.size();
          worker.score(b, h, first, rows, span, s, dp);
          const bool holes = masks.has_holes(b, span);
          for (int64_t i = 0; i < rows; ++i) {
            const int64_t row = first + i;
            const auto allowed = masks.allowed<T>(b, h, row, span, holes, bits);
            if (dline != nullptr) std::copy_n(s.row(i), columns, raw);
            if (!scores.plain()) scores.apply(s.row(i), b, h, row, span, coefficients);
            pull_row<A>(s.row(i), dp.row(i), columns, allowed, all_m[place + row], all_l[place + row], delta[row]);
            if (dbias != nullptr) {
              T* to_row = dbias + ((one_batch ? 0 : b * to.bias.size(1)) + (one_head ? 0 : h)) * queries * keys;
              to_row += row * keys + span.from;
              at::vec::map2<T>([](auto x, auto y) { return x + y; }, to_row, to_row, dp.row(i), columns);
            }
            if (dline != nullptr)
              scores.pull(dp.row(i), raw, dline + (b * heads + h) * scores.length, b, h, row, span, coefficients);
          }
          worker.add(b, h, g, first, rows, span, s, dp);
        }
        worker.leave_keys(b, g, among);
      }
    }
  };

  // What is summed into one place stays in one thread: a bias that all batches or all heads share.
  const int64_t outer_b = one_batch ? 1 : batch, outer_g = one_head ? 1 : key_heads;
  at::parallel_for(0, outer_b * outer_g, 1, [&](int64_t begin, int64_t end) {
    const NoDenormals faster;
    typename Products::Worker worker(products);
    Buffer<T> memory(2 * kQueries * kStep + 2 * value_size + 4 * kKeys + queries);
    for (int64_t task = begin; task < end; ++task)
      for (int64_t b = task / outer_g; b < batch; b += outer_b)
        for (int64_t g = task % outer_g; g < key_heads; g += outer_g) pull(worker, b, g, memory);
  });
}

// The gradients of q, k, v, the bias and the line; that of a bias or line that nobody asks for is empty.
std::tuple<Tensor, Tensor, Tensor, Tensor, Tensor> backward(
    const Tensor& grad_, const Tensor& q_, const Tensor& k_, const Tensor& v_, const std::optional<Tensor>& bias_,
    const std::optional<Tensor>& line_, const c10::List<std::optional<Tensor>>& mask, const Tensor& out_,
    const Tensor& m_, const Tensor& l_, double scale, const std::string& activation, const std::string& adjust,
    bool wants_bias) {
  const Tensor grad = rowwise(grad_), q = rowwise(q_), k = rowwise(k_), v = rowwise(v_), out = rowwise(out_);
  const Tensor m = m_.contiguous(), l = l_.contiguous();
  const std::optional<Tensor> bias = rowwise(bias_), line = whole(line_);
  const int64_t batch = q.size(0), heads = q.size(1);
  const Parts parts(mask, batch, heads, q.size(2), k.size(2));
  const auto wide = m.options();
  Gradients to{at::zeros(q.sizes(), wide), at::zeros(k.sizes(), wide), at::zeros(v.sizes(), wide), {}, {}};
  if (bias && wants_bias) to.bias = at::zeros(bias->sizes(), wide);
  if (line) to.line = at::zeros({batch, heads, line->size(1)}, wide);
  const Masks masks(parts, batch, k.size(2));
  with_types(q.scalar_type(), [&](auto stored, auto computed) {
    using U = decltype(stored);
    using T = decltype(computed);
    const Scores<T> scores(line, bias, parts, adjustment(adjust));
    with_activation<T>(activation, [&](auto* kind) {
      using A = std::remove_pointer_t<decltype(kind)>;
      if constexpr (std::is_same_v<U, BFloat16>) {
        if (has_pair_products(q, v)) {
          const PairBackward products(grad, q, k, v, scale, to.q, to.k, to.v);
          return backward_pass<A, U>(products, grad, k, masks, scores, out, m, l, to);
        }
      }
      const PlainBackward<U, T> products(grad, q, k, v, T(scale), to.q, to.k, to.v);
      backward_pass<A, U>(products, grad, k, masks, scores, out, m, l, to);
    });
  });
  const Tensor none = at::empty({0}, wide);
  const auto type = q.scalar_type();
  return {to.q.to(type), to.k.to(type), to.v.to(type), to.bias.defined() ? to.bias : none,
          to.line.defined() ? to.line.sum(0) : none};
}

}  // namespace

TORCH_LIBRARY_FRAGMENT(GLASSHEAD_LIBRARY, library) {
  library.def(
      "backward(Tensor grad, Tensor q, Tensor k, Tensor v, Tensor? bias, Tensor? line, Tensor?[] mask, Tensor out, "
      "Tensor m, Tensor l, float scale, str activation, str adjust, bool wants_bias) "
      "-> (Tensor, Tensor, Tensor, Tensor, Tensor)");
}

TORCH_LIBRARY_IMPL(GLASSHEAD_LIBRARY, CPU, library) { library.impl("backward", &backward); }
