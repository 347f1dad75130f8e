#pragma once
// Constants and polynomials of the elementary functions in vector_math.hpp.

#include <einparallel/notation/compiled.hpp>

namespace einparallel::EINPARALLEL_DETAIL {

/// The polynomials are minimax (Remez with 60 digits) and begin with the constant term. The comment above each one says
/// what it approximates, in which interval, and with which error relative to the function named.
template <class T>
struct math_constants;

template <>
struct math_constants<double> {
    static constexpr double ln_two_high = 0x1.62e42fefa3800p-1, ln_two_low = 0x1.ef35793c76730p-45;
    static constexpr double highest = 710, lowest = -800;  ///< exp and x · exp(x) are constant beyond
    static constexpr double tanh_limit = 20, erf_limit = 6, gelu_limit = 39;  ///< tanh, erf and gelu's tail likewise
    static constexpr double tail_centre = 5.75;
    /// (exp(r) − 1 − r) / r², |r| <= 0.347; 2⁻⁵⁵ of exp(r) − 1.
    static constexpr double exp[] = {0x1.0000000000005p-1,  0x1.555555555555cp-3,  0x1.5555555552093p-5,
                                     0x1.111111110e675p-7,  0x1.6c16c17f51f3dp-10, 0x1.a01a01b5fa8b6p-13,
                                     0x1.a019a631a0fabp-16, 0x1.71dde9b4710b3p-19, 0x1.28a3032a868bcp-22,
                                     0x1.af77320b3b7f5p-26};
    /// (2 atanh(s) / s − 2) / s² in s², |s| <= 0.1716; 2⁻⁵⁹ of atanh.
    static constexpr double log[] = {0x1.5555555555597p-1, 0x1.999999997e3f3p-2, 0x1.24924943786dbp-2,
                                     0x1.c71c50b7488c5p-3, 0x1.74668825415e7p-3, 0x1.3999fa86d0a11p-3,
                                     0x1.2f57034f79c1ap-3};
    /// (sin(r) / r − 1) / r² and (cos(r) − 1 + r² / 2) / r⁴ in r², |r| <= π/4; 2⁻⁵⁷.
    static constexpr double sin[] = {-0x1.5555555555548p-3, 0x1.111111110f7cap-7,   -0x1.a01a019bfd1a3p-13,
                                     0x1.71de3567132edp-19, -0x1.ae5e59f59fe1dp-26, 0x1.5d8fa301d55a7p-33};
    static constexpr double cos[] = {0x1.555555555554bp-5,   -0x1.6c16c16c14f8ap-10, 0x1.a01a019c839d1p-16,
                                     -0x1.27e4f7ea3f543p-22, 0x1.1ee9d7572b042p-29,  -0x1.8fa467fdaa845p-37};
    /// erf(x) / x − 1 in x², |x| <= 1; 2⁻⁵⁶ of erf.
    static constexpr double erf[] = {0x1.06eba8214db68p-3,   -0x1.812746b0379bdp-2,  0x1.ce2f21a040d16p-4,
                                     -0x1.b82ce311fa925p-6,  0x1.565bccf92af6ep-8,   -0x1.c02db03dce0d6p-11,
                                     0x1.f9a2baa81d6d6p-14,  -0x1.f4ca4d615af84p-17, 0x1.b97fd34e192e6p-20,
                                     -0x1.5c0723906b417p-23, 0x1.d71af79d9cb4dp-27,  -0x1.abae02d6c4ad1p-31};
    /// exp(w²/2) · Φ(−w) · (1 + 2 w) in (w − 5.75) / (w + 5.75), 0 <= w <= 39; 2⁻⁵⁵.
    static constexpr double tail[] = {
        0x1.afacd215df0f1p-1,   -0x1.75ae00c7e09cbp-5,  -0x1.06b9188b919f4p-5,  0x1.464d183ae1e16p-4,
        -0x1.7be3a89b6e7cfp-4,  0x1.46a37a8bcf897p-4,   -0x1.c1f6abb876458p-5,  0x1.f7c00b96bfb33p-6,
        -0x1.c0db8b707271dp-7,  0x1.27ff869c1c16cp-8,   -0x1.bb08c1b7c46fbp-11, -0x1.7996193b1abc1p-14,
        0x1.f7859f230cfa1p-14,  -0x1.e7b7cb68d4147p-16, -0x1.74d3c893baec2p-18, 0x1.4baa099f10611p-18,
        -0x1.8cddbf43daab1p-22, -0x1.3dd2101991b51p-21, 0x1.1d9c8be862723p-23,  0x1.28b4fef606d4ep-24,
        -0x1.28bb31ffe2188p-26, -0x1.03dc258b6e5cap-27};
    /// (3 atanh(s) / s − 3 − s²) / s⁴ in s², |s| <= 0.1716; 2⁻⁶⁶ of atanh.
    static constexpr double pow[] = {0x1.333333333347ap-1, 0x1.b6db6db67e488p-2, 0x1.555555a607e78p-2,
                                     0x1.1745ae00f0a3cp-2, 0x1.d8aee88349677p-3, 0x1.973348042c5b6p-3,
                                     0x1.95dbdfb856fbep-3};
};

template <>
struct math_constants<float> {
    static constexpr float ln_two_high = 0x1.62e400p-1F, ln_two_low = 0x1.7f7d1cp-20F;
    static constexpr float highest = 89, lowest = -120;
    static constexpr float tanh_limit = 10, erf_limit = 4, gelu_limit = 15;
    static constexpr float tail_centre = 3.25F;
    /// As exp of double: |r| <= 0.38; 2⁻³¹.
    static constexpr float exp[] = {0x1.000000p-1F, 0x1.555556p-3F,  0x1.555464p-5F,
                                    0x1.111056p-7F, 0x1.6dbb3ap-10F, 0x1.a1f10ap-13F};
    /// As log of double: 2⁻³⁰.
    static constexpr float log[] = {0x1.55557cp-1F, 0x1.995d84p-2F, 0x1.320630p-2F};
    /// As sin and cos of double: |r| <= 0.92, because whole multiples of π/2 up to 2²⁰ are found in float; 2⁻²⁶ and
    /// 2⁻³⁰.
    static constexpr float sin[] = {-0x1.55552cp-3F, 0x1.10fe84p-7F, -0x1.96b9e8p-13F};
    static constexpr float cos[] = {0x1.555538p-5F, -0x1.6c02acp-10F, 0x1.9796ccp-16F};
    /// As erf of double: 2⁻²⁹.
    static constexpr float erf[] = {0x1.06eba8p-3F, -0x1.81273ep-2F,  0x1.ce2cf8p-4F, -0x1.b7f918p-6F,
                                    0x1.540608p-8F, -0x1.a3f948p-11F, 0x1.496fe6p-14F};
    /// As tail of double, in (w − 3.25) / (w + 3.25), 0 <= w <= 15; 2⁻²⁹.
    static constexpr float tail[] = {0x1.b3a7eap-1F,   0x1.89aa2ep-10F, -0x1.1e5578p-3F, 0x1.1c5fb8p-3F,
                                     -0x1.134666p-4F,  0x1.58c110p-7F,  0x1.740ad4p-8F,  -0x1.246b64p-9F,
                                     -0x1.7d56d2p-11F, 0x1.3e4cc6p-12F, 0x1.0a65d0p-13F};
};

}  // namespace einparallel::EINPARALLEL_DETAIL
