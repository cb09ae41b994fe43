// Activations φ(s) = g(s) / Σ h(s): what is read of a score once the largest exponent of its row so far is known.
#pragma once

#include "attention.h"

namespace {

// TanhMax: g = e^s − e^−s and h = e^s + e^−s, both times e^−m where m is the largest |s|.
template <typename T>
struct Paired {
  using V = Vectorized<T>;
  static constexpr bool kNormalised = true;
  static constexpr T kLowest = 0;
  static V exponent(V s) { return s.abs(); }

  explicit Paired(T m) : m(m), least(std::exp(-m)), twice(2 * std::exp(-m)) {}

  void weigh(V s, V& g, V& h) const {
    const V size = s.abs();
    const V up = exp_negative(size - m);
    const V down = least / up * least;  // no second exponential; e^{−2m} alone would be 0 from m = 44 on
    h = up + down;
    // 2 sinh |s|, where the difference of two nearly equal exponentials has few right digits.
    const V x = s * s;
    V series = at::vec::fmadd(x, V(T(1) / 5040), V(T(1) / 120));
    series = at::vec::fmadd(x, series, V(T(1) / 6));
    series = at::vec::fmadd(x, series, V(1)) * size * twice;
    const V small = size < V(sizeof(T) == 4 ? T(0.5) : T(0.0625));
    g = V::blendv(up - down, series, small) ^ (s & V(T(-0.0)));
  }

  void slopes(V s, V& g, V& dg, V& dh) const {
    weigh(s, g, dg);
    dh = g;
  }

  V m, least, twice;
};

// g = h = e^t with t = u(s) − log(1 + e^−|s|) or u(s), where u is made of straight lines; m is the largest u.
enum class Exponent { kSoftmax, kSigsoftmax, kSigmoid };

template <typename T, Exponent kind>
struct Exponential {
  using V = Vectorized<T>;
  static constexpr bool kNormalised = true;
  static constexpr T kLowest = -std::numeric_limits<T>::infinity();
  static V exponent(V s) {
    if constexpr (kind == Exponent::kSoftmax) return s;
    const V below = at::vec::clamp_max(s, V(0));  // NaN stays
    return kind == Exponent::kSigmoid ? below : s + below;
  }

  explicit Exponential(T m) : m(m == kLowest ? 0 : m) {}

  void weigh(V s, V& g, V& h) const {
    g = exp_negative(exponent(s) - m);
    if constexpr (kind != Exponent::kSoftmax) g = g / (V(1) + exp_negative(s.abs().neg()));
    h = g;
  }

  void slopes(V s, V& g, V& dg, V& dh) const {
    g = exp_negative(exponent(s) - m);
    dg = g;
    if constexpr (kind != Exponent::kSoftmax) {
      const V z = exp_negative(s.abs().neg()), part = V(1) / (V(1) + z);
      const V other = V::blendv(part, z * part, s > V(0));  // σ(−s) = d log σ(s) / ds
      g = g * part;
      dg = g * (kind == Exponent::kSigmoid ? other : V(1) + other);
    }
    dh = dg;
  }

  V m;
};

// g = max(s, 0), not normalised.
template <typename T>
struct Rectified {
  using V = Vectorized<T>;
  static constexpr bool kNormalised = false;
  static constexpr T kLowest = 0;
  static V exponent(V s) { return s; }

  explicit Rectified(T) {}

  void weigh(V s, V& g, V& h) const {
    g = at::vec::maximum(s, V(0));
    h = V(0);
  }

  void slopes(V s, V& g, V& dg, V& dh) const {
    g = at::vec::maximum(s, V(0));
    dg = V(1) & (s > V(0));
    dh = V(0);
  }
};

// Calls f with the activation of that name, as a type.
template <typename T, typename F>
void with_activation(const std::string& name, const F& f) {
  if (name == "tanhmax") return f(static_cast<Paired<T>*>(nullptr));
  if (name == "softmax") return f(static_cast<Exponential<T, Exponent::kSoftmax>*>(nullptr));
  if (name == "sigsoftmax") return f(static_cast<Exponential<T, Exponent::kSigsoftmax>*>(nullptr));
  if (name == "sigmoid") return f(static_cast<Exponential<T, Exponent::kSigmoid>*>(nullptr));
  TORCH_CHECK(name == "relu", "no activation ", name);
  f(static_cast<Rectified<T>*>(nullptr));
}

// Calls f with the type of q and that of computation.
template <typename F>
void with_types(at::ScalarType type, const F& f) {
  if (type == at::kFloat) return f(float(), float());
  if (type == at::kDouble) return f(double(), double());
  TORCH_CHECK(type == at::kBFloat16, "q, k and v are float32, float64 or bfloat16, not ", type);
  f(at::BFloat16(), float());
}

inline Adjust adjustment(const std::string& name) {
  if (name == "none") return Adjust::kNone;
  if (name == "signed-multiply") return Adjust::kSigned;
  if (name == "early-multiply") return Adjust::kMultiply;
  TORCH_CHECK(name == "early-add", "no adjustment ", name);
  return Adjust::kAdd;
}

}  // namespace
