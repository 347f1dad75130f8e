// Misuses that a compiler must refuse, the first error of each being a sentence of ours, which is written above it (as
// a regular expression; with ONLY there is no other error). Without MISTAKES their positive twins, which must be
// accepted.

#define EINPARALLEL_COMPILED 1
#include <einparallel.hpp>

namespace ep = einparallel;

struct smaller_index {  // looks like a reduction, but does not say that it is associative and commutative
    template <class T>
    static constexpr T identity() {
        return T(0);
    }
    template <class T>
    T operator()(T a, T b) const {
        return a < b ? a : b;
    }
};

struct smaller_value : smaller_index {
    static constexpr bool associative_commutative = true;
};

EINPARALLEL_LABELS(i, j, k, l, d);
ep::array<double, 2> A({2, 3}), B({3, 4}), C({2, 4});
ep::array<std::complex<double>, 2> Q({2, 3});
ep::array<double, 1> v({2});
ep::array<int, 1> token({2});
ep::tensor<double, 2> X = ep::placeholder<double>({2, 3}), Y = ep::placeholder<double>({3, 4}), Z;
ep::tensor<double, 1> w;

#if MISTAKES == 1  // in what is declared

// ERROR EINPARALLEL_LABELS: at most 32 labels in one declaration
void labels_in_one_declaration() {
    EINPARALLEL_LABELS(a0, a1, a2, a3, a4, a5, a6, a7, b0, b1, b2, b3, b4, b5, b6, b7, c0, c1, c2, c3, c4, c5, c6, c7,
                       d0, d1, d2, d3, d4, d5, d6, d7, e);
}
// ERROR (conflicting declaration|redefinition of|already been declared)
void label_is_a_tensor() {
    ep::array<double, 2> C({2, 4});
    EINPARALLEL_LABELS(m, n, C);
}
// ERROR wrong number of labels
void too_few_labels() {
    C(i, k) = A(i) * B(j, k);
}
// ERROR wrong number of labels
void too_many_labels() {
    Z(i, k) = X(i, j, l) * Y(j, k);
}
// ERROR ONLY wrong number of labels
void output_label_left_out() {  // of the operand that would have it
    Z(i, k) = X(i, j) * Y(j);
}
// ERROR malformed subscript string: a label is a letter
void subscript_character() {
    C = ep::einsum<"i1,1k->ik">(A, B);
}
// ERROR malformed subscript string: an index is a sum of labels times integers
void subscript_function() {
    C = ep::einsum<"[i, j + 2*],jk->ik">(A, B);
}
// ERROR the dimensions of the output are labels, not functions of them
void subscript_of_output() {
    C = ep::einsum<"ij,jk->[i, k + 1]">(A, B);
}
// ERROR malformed subscript string: '->' stands at most once
void subscript_arrows() {
    C = ep::einsum<"ij->jk->ik">(A, B);
}
// ERROR malformed subscript string: an ellipsis is three dots
void subscript_dots() {
    C = ep::einsum<"..i,..k->ik">(A, B);
}
// ERROR more operands than subscripts
void more_operands() {
    C = ep::einsum<"ij->ij">(A, B);
}
// ERROR more subscripts than operands
void more_subscripts() {
    C = ep::einsum<"ij,jk,kl->il">(A, B);
}
// ERROR unknown reduction
void unknown_reduction() {
    C(i, k) = ep::reduce(smaller_index{}, A(i, j) * B(j, k));
}
// ERROR the number of labels in a subscript differs
void subscript_rank() {
    C = ep::einsum<"ijk,jk->ik">(A, B);
}
// ERROR ep::einsum: this output label appears in no operand
void subscript_output_unknown() {
    Z = ep::einsum<"ij,jk->il">(X, Y);
}
// ERROR ep::einsum: this output label is repeated
void subscript_output_repeated() {
    C = ep::einsum<"ij,jk->ii">(A, B);
}
// ERROR an index is an integer, a label, or a sum of labels times integers
void fraction_as_an_index() {
    C(i, k) = A(i, 0.5) * B(i, k);
}
// ERROR an index that is data is an expression of integers
void fraction_as_data() {
    C(i, k) = A(v(i), k);
}
// ERROR an index that is data is an expression of integers without reductions
void reduction_as_data() {
    C(i, k) = A(ep::argmax(j, A(i, j)), k);
}
// ERROR ONLY an index that is data is an expression of integers
void fraction_as_data_of_a_tensor() {
    Z(i, k) = X(w(i), k);
}
// ERROR an index is a sum of labels times integers
void label_beside_data() {
    C(i, k) = A(token(i) + k, k);
}
// ERROR ONLY ep::one_hot: give an expression of integers, then a label along which one element is 1
void one_hot_of_fractions() {
    C(i, k) = ep::one_hot(v(i), j) * B(j, k);
}
// ERROR this label appears in no operand of the expression
void reduced_label_unknown() {
    C(i, k) = ep::sum(l, A(i, j) * B(j, k));
}
// ERROR ONLY go along a label, which comes first
void softmax_without_label() {
    C(i, k) = ep::softmax(A(i, k));
}
// ERROR the function .const. cannot be called with one element of each expression
void function_of_too_few() {
    C(i, k) = ep::join([](double x) { return x; }, A(i, j), B(j, k));
}
// ERROR the function .const. cannot be called with one element of each expression
void function_of_text() {
    C(i, k) = ep::map([](const char* x) { return x[0]; }, A(i, k));
}
// ERROR the function returns no number
void function_to_text() {
    C(i, k) = ep::join([](double x, double y) { return x < y ? "less" : "more"; }, A(i, j), B(j, k));
}
// ERROR ONLY tensors are added and multiplied with labels
void no_labels() {
    C = A * B;
}
// ERROR ONLY tensors are added and multiplied with labels
void no_labels_on_one() {
    C(i, k) = A(i, k) + 2 * C;
}
// ERROR ONLY exp, max, sum and the like take expressions
void function_of_a_tensor() {
    Z(i, k) = exp(X);
}
// ERROR ONLY exp, max, sum and the like take expressions
void sum_of_an_array() {
    v(i) = ep::sum(A);
}
// ERROR ONLY exp, max, sum and the like take expressions
void label_behind() {
    v(i) = ep::sum(A(i, j), j);
}
// ERROR ONLY exp, max, sum and the like take expressions
void label_as_text() {
    v(i) = ep::sum("j", A(i, j));
}
// ERROR ONLY exp, max, sum and the like take expressions
void function_behind() {
    Z(i, j) = ep::map(X(i, j), [](double x) { return x; });
}
// ERROR an index is a sum of labels times integers
void fraction_of_a_label() {
    Z(i, j) = X(0.5 * i, j);
}
// ERROR an index is a sum of labels times integers
void product_of_labels() {
    C(i, j) = A(i * j, j);
}
// ERROR an index is a sum of labels times integers
void label_as_a_number() {
    C(i, j) = A(i, j) * i;
}
// ERROR this part of a tensor cannot be assigned to
void part_of_a_const_tensor_assigned() {
    const auto& fixed = Z;
    fixed(i + 1, j) = X(i + 1, j);  // of one type
}
// ERROR ONLY max, min, argmax or argmin: complex numbers have no order
void largest_complex_number() {
    ep::array<std::complex<double>, 1> u({2});
    u(i) = ep::max(j, Q(i, j));
}
// ERROR ONLY max, min, argmax or argmin: complex numbers have no order
void position_of_the_smallest_complex_number() {
    ep::array<ep::index, 1> at({2});
    at(i) = ep::argmin(j, Q(i, j));
}
// ERROR argmax, argmin or reduce over a label: this label appears in no operand
void largest_along_another_label() {
    v(i) = ep::argmax(k, A(i, j));
}
// ERROR ONLY iota: it takes one label
void iota_of_a_number() {
    v(i) = ep::iota(3);
}
// ERROR ONLY iota: it takes one label
void iota_of_two_labels() {
    C(i, j) = ep::iota(i, j);
}
// ERROR ONLY iota: it takes one label
void iota_up_to_a_fraction() {
    v(i) = ep::iota(i, 2.5);
}
// ERROR ONLY exp, max, sum and the like take expressions
void sum_of_labels() {
    v(i) = ep::sum(j, k);
}
// ERROR ONLY exp, max, sum and the like take expressions
void label_between() {
    v(i) = ep::sum(j, A(i, j), k);
}
// ERROR ONLY an index of a tensor is a label, a sum of labels and integers, or data
void element_of_a_tensor_assigned() {
    Z(0, 1) = 2.0;
}
// ERROR ONLY an index of a tensor is a label, a sum of labels and integers, or data
void element_of_a_tensor() {
    const double x = X(0, 1L);
}
// ERROR ONLY unknown reduction
void reduction_by_a_lambda() {
    v(i) = ep::reduce([](double x, double y) { return x < y ? x : y; }, A(i, j));
}
// ERROR ONLY operands without labels, all of them arrays and views or all of them tensors
void subscripts_of_both() {
    C = ep::einsum<"ij,jk->ik">(A, Y);
}
// ERROR ONLY subscripts stand in angle brackets or come first
void subscripts_missing() {
    C = ep::einsum(A, B);
}
// ERROR ONLY subscripts stand in angle brackets or come first
void subscripts_of_no_tensor() {
    C = ep::einsum("ij,jk->ik", A, 2.0);
}
// ERROR ONLY ep::generate: name the element type
void generate_without_type() {
    Z = ep::generate({2, 3}, [](auto, auto) { return 1.0; });
}
// ERROR ONLY ep::generate, placeholder: extents stand in braces
void generate_without_braces() {
    w = ep::generate<double>(3, [](auto) { return 1.0; });
}
// ERROR ONLY ep::generate, placeholder: extents stand in braces
void placeholder_without_braces() {
    Z = ep::placeholder<double>(2, 3);
}
// ERROR ONLY ep::generate: the function must be callable as const with one index for each extent
void generate_of_too_few() {
    Z = ep::generate<double>({2, 3}, [](ep::index row) { return double(row); });
}
// ERROR ONLY ep::generate: the function must be callable as const with one index for each extent
void generate_of_text() {
    Z = ep::generate<double>({2, 3}, [](auto, auto) { return "one"; });
}
// ERROR ONLY ep::concatenate, slice, reshape: ep::concatenate takes the number of a dimension
void array_behind_tensor() {
    C(i, k) = ep::concatenate(0, X, A)(i, k);
}
// ERROR ONLY ep::load_npy: name the element type and the number of dimensions
void file_of_any_rank() {
    Z = ep::load_npy<double>("z.npy");
}
// ERROR ONLY pinned: dimensions stand in a list
void pin_without_list() {
    Z.pinned({"i", 4});
}
// ERROR ONLY pinned: dimensions stand in a list
void pin_without_braces() {
    Z.pinned(i, 4);
}
// ERROR wrong number of labels
void output_labels_too_few() {
    C(l) = A(i, j) * B(j, k);
}
// ERROR ep::array: elements are float, double, std::complex of these, halves, integers or bool
void element_type() {
    ep::array<long double, 1> x;
}
// ERROR this part of a tensor cannot be assigned to: .*parts of arrays can be assigned to
void const_tensor_at_data() {
    const auto& fixed = X;
    fixed(ep::tensor<int, 1>()(i), k) += Y(i, k);
}
// ERROR ONLY cumsum along a label: this label appears in no operand of the expression
void running_sum_along_another_label() {
    C(i, k) = ep::cumsum(l, A(i, j) * B(j, k));
}
// ERROR top_k: complex numbers have no order
void largest_of_complex() {
    C(i, k) = ep::top_k(k, j, Q(i, j)).places;
}
// ERROR top_k: the label of the results is one that the expression does not have
void largest_along_their_own_label() {
    C(i, j) = ep::top_k(j, j, A(i, j)).values;
}
// ERROR (.m. was not declared in this scope|use of undeclared identifier .m.|identifier .m. is undefined)$
void undeclared_label() {  // of a name that label_class has: nothing else is offered
    C(i, k) = A(i, m) * B(m, k);
}

// ERROR ONLY einsum: complex numbers have no order
void order_of_complex() {
    v(i) = where(Q(i, j) < Q(i, j), 1.0, 2.0);
}
// ERROR ONLY einsum: complex numbers have no order
void function_of_real_numbers() {
    Q(i, j) = log1p(Q(i, j));
}
#elif MISTAKES == 2  // in bodies of functions, which nvcc does not look at after another mistake

// ERROR einsum: this output label appears in no operand
void output_label_unknown() {
    Z(i, l) = X(i, j) * Y(j, k);
}
// ERROR ONLY einsum: this output label appears in no operand
void output_label_mistyped() {
    C(i, l) = A(i, j) * B(j, k);
}
// ERROR ONLY einsum: this output label appears in no operand of a term that is summed
void output_label_of_one_term() {
    C(i, k) += A(i, k) - 2.0 * A(i, j);
}
// ERROR ONLY einsum: this output label appears in no operand of a term that is summed
void output_label_of_another_term() {
    Z(i, k) -= X(i, j) * Y(j, k) + w(j);
}
// ERROR ONLY on the left of a statement stand labels, too
void no_labels_on_the_left() {
    C = A(i, j) * B(j, k);
}
// ERROR ONLY on the left of a statement stand labels, too
void no_labels_on_the_left_of_tensors() {
    Z = X(i, j) * Y(j, k);
}
// ERROR ONLY which ep::from_root makes of an array
void array_into_tensor() {
    Z = A;
}
// ERROR ONLY ep::tensor: extents come from what is assigned
void extents_of_a_tensor() {
    ep::tensor<double, 2> T({2, 3});
}
// ERROR ONLY ep::view: extents stand in braces
void view_without_braces() {
    ep::view<double, 2> V(A.data(), 2, 3);
}
// ERROR ONLY ep::slice: begin and end have a number for each dimension
void too_long_a_slice() {
    C(i, k) = ep::slice(A, {0, 0, 0}, {1, 1})(i, k);
}
// ERROR ONLY ep::padded: before and after have a number for each dimension
void padded_along_one_dimension() {
    Z(i, k) = ep::padded(X, {1}, {1, 1}, 0.0)(i, k);
}
// ERROR ONLY ep::view: the number of strides differs from the rank
void view_with_one_stride() {
    ep::view<double, 2> V(A.data(), {2, 3}, {1});
}
// ERROR ONLY einsum: this output label appears in no operand
void number_into_tensor() {
    Z(i, j) = 2.0;
}
// ERROR einsum: this output label is repeated
void output_label_repeated() {
    C(i, i) = A(i, j) * B(j, i);
}
// ERROR have different labels that are missing on the left
void inner_sum() {
    C(i, k) = (A(i, j) + v(i)) * B(j, k);
}
// ERROR have different labels that are missing on the left
void inner_minimum() {
    C(i, k) = ep::min(C(i, k), A(i, j) + B(j, k));
}
// ERROR have different labels that are missing on the left
void summed_maximum() {
    v(i) = ep::max(A(i, j), v(i)) * v(i);
}
// ERROR or is reduced on the right
void reduced_output_label() {
    Z(i, k) = ep::max(k, X(i, j) * Y(j, k));
}
// ERROR arrays and tensors cannot be mixed
void array_in_graph() {
    Z(i, k) = X(i, j) * B(j, k);
}
// ERROR complex values cannot be assigned to real
void complex_into_real() {
    A(i, j) = Q(i, j);
}
// ERROR floating-point values cannot be assigned to integer elements
void fraction_into_integer() {
    ep::array<int, 2> whole({2, 3});
    whole(i, j) = A(i, j);
}
// ERROR integers beyond the largest number of the left-hand side
void integer_into_half() {
    ep::array<ep::float16, 1> half({2});
    half(i) = token(i);
}
// ERROR ep::array: the number of extents differs from the rank
void extent_count() {
    ep::array<double, 2> D({1, 2, 3});
}
// ERROR the rank of the output differs
void output_rank() {
    ep::einsum_into<"ij,jk->i">(C, A, B);
}
// ERROR softmax: a label of its argument is missing on the left and would be summed outside the softmax
void softmax_of_a_product() {
    Z(i, k) = ep::softmax(k, X(i, l) * X(k, l) / 2.0);
}
// ERROR would be summed outside the softmax, or the cumprod
void running_product_of_a_product() {
    v(i) = ep::cumprod(i, A(i, j));
}
// ERROR softmax: a label of its argument is missing on the left and would be summed outside the softmax
void softmax_in_a_product() {
    C(i, j) = ep::softmax(k, A(i, d) * A(k, d)) * A(k, j);
}
// ERROR the left-hand side is const
void const_left() {
    const auto& fixed = C;
    fixed(i, j) = A(i, j);
}
// ERROR the left-hand side is const
void const_view_left() {
    const ep::view<const double, 2> seen(C);
    seen(i, k) = A(i, j) * B(j, k);
}
// ERROR softmax: a label of its argument is missing on the left and would be summed outside the softmax
void softmax_under_a_map() {
    v(i) += 2.0 * exp(ep::softmax(j, A(i, j) * A(k, j)));
}

// ERROR ep::one_hot is an operand and cannot be assigned to
void one_hot_on_the_left() {
    ep::one_hot(token(i), j) = A(i, j);
}
// ERROR arrays and tensors cannot be mixed
void array_of_tokens_in_graph() {
    Z(i, k) = X(token(i), k);
}
// ERROR the left-hand side is const
void const_left_at_data() {
    const auto& fixed = C;
    fixed(token(i), k) = A(i, k);
}

#else

void accepted() {
    Z(i + 1, j) = X(i + 1, j);
    Z(i, k) = ep::softmax(k, ep::sum(d, X(i, d) * X(k, d)) / 2.0);
    Z(i, k) = ep::sum(d, ep::softmax(k, X(i, d) * X(k, d) / 2.0));
    Z(i, k) = ep::sum(ep::softmax(k, X(i, d) * X(k, d) / 2.0));
    C(i, j) = ep::softmax(k, ep::sum(d, A(i, d) * A(k, d))) * A(k, j);
    v(i) += 2.0 * exp(ep::softmax(j, A(i, j)));
    v(i) = ep::cumsum(i, A(i, j)) + ep::cumprod(i, ep::sum(j, A(i, j)));
    C(i, k) = ep::top_k(k, j, A(i, j)).places;
    C(i, k) = A(i, j) * B(j, k);
    C(i, k) = ep::reduce(smaller_value{}, A(i, j) * B(j, k));
    C(i, k) = ep::sum(j, exp(A(i, j)) * B(j, k));
    C(i, k) = ep::sum((A(i, j) + v(i)) * B(j, k));
    C = ep::einsum<"ij,jk->ik">(A, B);
    ep::einsum_into<" ij , jk -> ik ">(C, A, B);
    Z(i, k) = X(i, j) * Y(j, k);
    Z = ep::einsum<"ij,jk->ik">(X, Y);
    C(i, k) = ep::min(C(i, k), ep::min(j, A(i, j) + B(j, k)));
    v(i) = ep::max(A(i, j), A(i, j) * v(i));
    Q(i, j) = A(i, j);
    C(i, l) = v(i);  // an array knows how far l goes
    C(i, l) += ep::sum(A(i, j) * B(j, k)) - 2.0 * v(i) + 1.0;
    C(i, k) -= A(i, j) * B(j, k) + ep::sum(j, v(j)) - v(i);
    Z(i, k) = X(i, j) * Y(j, k) - ep::sum(w(j)) + w(i);
    Z = ep::generate<double>({2, 3}, [](ep::index row, int column) { return row + column; });
    ep::tensor<double, 0> one = ep::generate<double>({}, [] { return 1; });
    Z = ep::load_npy<double, 2>("z.npy");
    C(i, k) = exp(B(token(i), k));
    C(i, token(k)) += ep::one_hot(token(i), j) * B(j, k);
    Z(ep::placeholder<int>({2})(i), k) = Y(i, k);
    Z.pinned({{i, 4}, {"k", 2}}).pinned({{0, 2}}).pinned({});
}

#endif

int main() {}
