// The main of every test without MPI, compiled once. A run in which no test case ran, or nothing was checked, fails: a
// misspelt filter or an empty file must not pass.

#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <cstdio>

namespace {

unsigned cases_run = 0;
int checks_made = 0;

struct counter : doctest::IReporter {
    explicit counter(const doctest::ContextOptions&) {}
    void report_query(const doctest::QueryData&) override {}
    void test_run_start() override {}
    void test_run_end(const doctest::TestRunStats& stats) override {
        cases_run = stats.numTestCasesPassingFilters;
        checks_made = stats.numAsserts;
    }
    void test_case_start(const doctest::TestCaseData&) override {}
    void test_case_reenter(const doctest::TestCaseData&) override {}
    void test_case_end(const doctest::CurrentTestCaseStats&) override {}
    void test_case_exception(const doctest::TestCaseException&) override {}
    void subcase_start(const doctest::SubcaseSignature&) override {}
    void subcase_end() override {}
    void log_assert(const doctest::AssertData&) override {}
    void log_message(const doctest::MessageData&) override {}
    void test_case_skipped(const doctest::TestCaseData&) override {}
};

}  // namespace

REGISTER_LISTENER("counter", 1, counter);

int main(int argc, char** argv) {
    doctest::Context context(argc, argv);
    const int failures = context.run();
    if (context.shouldExit() || failures != 0) {
        return failures;
    }
    if (cases_run == 0 || checks_made == 0) {
        std::fputs("no test case ran, or none checked anything\n", stderr);
        return 1;
    }
    return 0;
}
