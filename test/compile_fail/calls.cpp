// Calls that fit no function: each gets a sentence that says what fits, and nothing else.

#define EINPARALLEL_COMPILED 1
#define EINPARALLEL_HAS_MPI 1
#include <einparallel.hpp>

namespace ep = einparallel;

EINPARALLEL_LABELS(i, j, k);

ep::context& world();
ep::plan& made();
ep::array<double, 2> a({2, 3});
ep::array<double, 1> v({2});
ep::tensor<double, 2> X, Z;
ep::tensor<double, 1> w;
ep::distributed<double, 2> z;
ep::tensor<double, 0> loss;
ep::tensor<int, 1> n;
ep::tensor<std::complex<double>, 0> c;

#if MISTAKES == 1

// ERROR ONLY ep::decompose, evaluate: a context or options come first
void options_behind() {
    ep::plan plan = ep::decompose(world(), Z, {.runs = 3});
}
// ERROR ONLY ep::decompose, evaluate: a context or options come first
void options_behind_two() {
    const ep::options asked;
    ep::plan plan = ep::decompose(world(), Z, X, asked);
}
// ERROR ONLY ep::decompose, evaluate: a context or options come first
void options_behind_the_only_tensor() {
    ep::plan plan = ep::decompose(Z, {.processes = 8});
}
// ERROR ONLY ep::decompose, evaluate: a context or options come first
void no_tensor() {
    ep::plan plan = ep::decompose(world(), {.runs = 3});
}
// ERROR ONLY ep::decompose, evaluate: a context or options come first
void number_of_ranks() {
    ep::plan plan = ep::decompose(8, Z);
}
// ERROR ONLY ep::decompose, evaluate: a context or options come first
void array_among_outputs() {
    ep::plan plan = ep::decompose(world(), Z, a);
}
// ERROR ONLY ep::decompose, evaluate: a context or options come first
void output_with_labels() {
    ep::distributed<double, 2> d = ep::evaluate(world(), Z(i, k));
}
// ERROR ONLY ep::results: print one output
void printed_results(std::ostream& there, const ep::results& all) {
    there << all;
}
// ERROR ONLY einparallel: an expression has no elements to print
void printed_expression(std::ostream& there) {
    there << Z(i, k);
}
// ERROR ONLY einparallel: an expression has no elements to print
void printed_terms(std::ostream& there) {
    there << a(i, k) + 1.0;
}
// ERROR ONLY einparallel: a label has a name
void labels_without_names() {
    ep::label m;
}
// ERROR ONLY ep::decompose, evaluate: a context or options come first
void evaluate_options_behind() {
    ep::distributed<double, 1> d = ep::evaluate(world(), w, {.runs = 3});
}
// ERROR ONLY (name .procesess. used in|no matching function|no instance of)
void misspelt_option() {
    ep::plan plan = ep::decompose({.procesess = 4}, Z);
}
// ERROR ONLY (name .run. used in|no matching function|no instance of)
void misspelt_option_on_a_context() {
    ep::plan plan = ep::decompose(world(), {.run = 3}, Z, X);
}
// ERROR ONLY (name .objectives. used in|no matching function|no instance of)
void evaluate_misspelt_option() {
    ep::distributed<double, 2> d = ep::evaluate(world(), {.objectives = ep::objective::bytes}, Z);
}
// ERROR ONLY (name .run. used in|no matching function|no instance of)
void evaluate_into_misspelt_option() {
    ep::evaluate_into(world(), {.run = 3}, ep::into(Z, z));
}
// ERROR ONLY ep::evaluate_into: a context comes first
void tensor_and_blocks() {
    ep::evaluate_into(world(), Z, z);
}
// ERROR ONLY ep::into: a tensor comes first, then an ep::distributed
void into_an_array() {
    ep::results r = made().run(world(), ep::into(Z, a));
}
// ERROR ONLY ep::into: a tensor comes first, then an ep::distributed
void into_a_view() {
    ep::evaluate_into(world(), ep::into(Z, ep::view<double, 2>(a)));
}
// ERROR ONLY ep::bind: the placeholder comes first
void bound_backwards() {
    ep::results r = made().run(world(), ep::bind(a, X));
}
// ERROR ONLY plan.run: a context comes first
void run_of_a_tensor() {
    ep::distributed<double, 2> d = made().run(world(), X);
}
// ERROR ONLY plan.run: a context comes first
void run_nowhere() {
    ep::distributed<double, 2> d = made().run();
}
// ERROR ONLY ep::from_root: the elements come first
void from_no_root() {
    X = ep::from_root(a);
}
// ERROR ONLY ep::from_root: an array, a view or another library's object comes first
void from_a_pointer() {
    X = ep::from_root(a.data(), 0);
}
// ERROR ONLY ep::from_distributed: elements on several ranks
void from_an_array() {
    X = ep::from_distributed(a);
}

// ERROR ONLY ep::gradient: the loss is an ep::tensor of rank 0
void gradient_of_a_matrix() {
    static_cast<void>(ep::gradient(X, Z));
}
// ERROR ONLY ep::gradient: the loss is an ep::tensor of rank 0
void gradient_of_a_complex_loss() {
    static_cast<void>(ep::gradient(c, X));
}
// ERROR ONLY ep::gradient: after the loss come the tensors
void gradient_by_nothing() {
    static_cast<void>(ep::gradient(loss));
}
// ERROR ONLY ep::gradient: a loss is differentiated with respect to tensors, which stand without labels
void gradient_by_labelled() {
    static_cast<void>(ep::gradient(loss, X(i, j)));
}
// ERROR ONLY ep::gradient: integers and bool have no gradient
void gradient_by_integers() {
    static_cast<void>(ep::gradient(loss, X, n));
}

#elif MISTAKES == 2  // in bodies of functions, which nvcc does not look at after another mistake

// ERROR ONLY bind: the value is no array, view, tensor or distributed tensor of the placeholder's element type and rank
void bound_of_other_rank() {
    ep::results r = made().run(world(), ep::bind(X, v));
}
// ERROR ONLY ep::distributed: give one extent, and one index of the corner, for each dimension of the tensor
void too_few_extents() {
    ep::distributed<double, 2> d(world(), {2}, {0, 0}, ep::view<double, 2>(a));
}
// ERROR ONLY ep::distributed: give one extent, and one index of the corner, for each dimension of the tensor
void too_long_a_corner() {
    ep::array<double, 2> here = z.fetch({0, 0, 0}, {1, 1});
}
// ERROR ONLY ep::distributed: the context comes first
void distributed_nowhere() {
    ep::distributed<double, 2> d({2, 3}, {0, 0}, ep::view<double, 2>(a));
}
// ERROR ONLY ep::distributed: this rank's block needs extents
void distributed_without_extents() {
    ep::distributed<double, 2> d(world(), {2, 3}, {0, 0}, a.data());
}
// ERROR ONLY ep::context: its ranks are missing
void of_no_ranks() {
    ep::context nobody;
}
// ERROR ONLY ep::save_npy: the path comes first
void saved_backwards() {
    ep::save_npy(z, "z.npy");
}

#else

void accepted() {
    const ep::options asked;
    ep::plan plan = ep::decompose(world(), {.runs = 3}, Z, X);
    plan = ep::decompose(asked, Z);
    plan = ep::decompose(world(), asked, Z);
    ep::distributed<double, 2> d = ep::evaluate(world(), {.runs = 3}, Z);
    d = ep::evaluate(world(), Z, ep::bind(X, a));
    std::tie(d, z) = ep::evaluate(world(), {.runs = 3}, Z, ep::bind(X, a), Z);
    plan = ep::plan_with(world(), ep::rivals::sqrt(), Z);
    ep::evaluate_into(world(), asked, ep::into(Z, z), ep::bind(X, a));
    ep::results r = plan.run(world(), ep::bind(X, a), ep::into(Z, z));
    const auto here = ep::borrow(a);
    X = ep::from_root(here, 0);
    d = ep::distributed<double, 2>(world(), {2, 3L}, {0, 0U}, ep::view<double, 2>(a));
    a = z.fetch(std::array<ep::extent, 2>{0, 0}, {1, 1});
    ep::save_npy("z.npy", z);
    X = ep::gradient(loss, Z);
    std::tie(X, w) = ep::gradient(loss, Z, w);
}

#endif

int main() {}
