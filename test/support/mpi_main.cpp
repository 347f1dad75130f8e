// The main of tests that run on several ranks: `mpiexec -n N test_program --ranks=N [doctest's own options]`.
//
// EINPARALLEL_TEST_THREADS in the environment is the level of threads, from 0 (single) to 3 (multiple): 1 where it is
// not said.
//
// Fails where the world has another size than --ranks (or EINPARALLEL_TEST_RANKS) says, for a program started by the
// wrong launcher runs as N worlds of one rank and would pass; fails where no test case ran; ends with the same status
// on every rank.
//
// A failed assertion must not take a rank out of a collective call that the others wait in. So in these tests: CHECK,
// never REQUIRE, between two collective calls; gather first, then check; what a collective call is expected to throw,
// it throws on every rank.

#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>
#include <mpi.h>

#include <array>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <sstream>
#include <string>

namespace {

unsigned cases_run = 0;

/// Counts the test cases that passed the filters: doctest's own status is 0 where none did.
struct counter : doctest::IReporter {
    explicit counter(const doctest::ContextOptions& /*options*/) {}
    void report_query(const doctest::QueryData& /*query*/) override {}
    void test_run_start() override {}
    void test_run_end(const doctest::TestRunStats& stats) override { cases_run = stats.numTestCasesPassingFilters; }
    void test_case_start(const doctest::TestCaseData& /*data*/) override {}
    void test_case_reenter(const doctest::TestCaseData& /*data*/) override {}
    void test_case_end(const doctest::CurrentTestCaseStats& /*stats*/) override {}
    void test_case_exception(const doctest::TestCaseException& /*exception*/) override {}
    void subcase_start(const doctest::SubcaseSignature& /*signature*/) override {}
    void subcase_end() override {}
    void log_assert(const doctest::AssertData& /*data*/) override {}
    void log_message(const doctest::MessageData& /*data*/) override {}
    void test_case_skipped(const doctest::TestCaseData& /*data*/) override {}
};

REGISTER_LISTENER("counter", 1, counter);

/// The number of ranks that the program was started for; 0 where nobody said.
int expected_ranks(int argc, char** argv) {
    for (int argument = 1; argument < argc; ++argument) {
        if (std::strncmp(argv[argument], "--ranks=", 8) == 0) {
            return std::atoi(argv[argument] + 8);
        }
    }
    const char* said = std::getenv("EINPARALLEL_TEST_RANKS");
    return said == nullptr ? 0 : std::atoi(said);
}

/// One write per rank, every line with the rank in front, so that ranks' lines do not mix.
void show(int rank, const std::string& output) {
    std::istringstream lines(output);
    std::string shown;
    for (std::string line; std::getline(lines, line);) {
        shown += "[rank " + std::to_string(rank) + "] " + line + "\n";
    }
    std::cerr << shown << std::flush;
}

}  // namespace

int main(int argc, char** argv) {
    int provided = 0;
    const char* const threads = std::getenv("EINPARALLEL_TEST_THREADS");
    const std::array levels{MPI_THREAD_SINGLE, MPI_THREAD_FUNNELED, MPI_THREAD_SERIALIZED, MPI_THREAD_MULTIPLE};
    MPI_Init_thread(&argc, &argv, levels[threads == nullptr ? 1 : std::size_t(std::atoi(threads)) % 4], &provided);
    int rank = 0;
    int size = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);

    const int expected = expected_ranks(argc, argv);
    if (expected != size) {
        std::cerr << "[rank " << rank << "] this world has " << size << " rank(s), and the test was started for "
                  << expected << " (--ranks=N): is mpiexec the launcher of the MPI that this was built with?\n";
        MPI_Finalize();
        return EXIT_FAILURE;
    }

    doctest::Context context(argc, argv);
    std::ostringstream output;
    context.setCout(&output);
    context.setOption("no-intro", true);
    context.setOption("no-colors", true);
    int failed = context.run() != 0 ? 1 : 0;
    if (context.shouldExit()) {  // --list-test-cases and the like
        if (rank == 0) {
            std::cout << output.str();
        }
        MPI_Finalize();
        return EXIT_SUCCESS;
    }
    if (cases_run == 0) {
        output << "no test case ran\n";
        failed = 1;
    }
    int any_failed = 0;
    MPI_Allreduce(&failed, &any_failed, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (failed != 0) {
        show(rank, output.str());
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0 && any_failed == 0) {
        std::cout << output.str() << std::flush;
    }
    MPI_Finalize();
    return any_failed != 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
