// The process-wide cache of compiled expressions: what it keeps, that it is bounded, and that many
// threads may compile and evaluate at once (run under the tsan preset).

#include "core/expression/cache.h"

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "unit/expression/test_variables.h"

namespace ebb {
namespace {

using expression::Code;
using expression::CodeCache;

std::shared_ptr<const Code> code_of(
    const std::string& source, const ExpressionLimits& limits = {}
) {
    auto code = std::make_shared<Code>();
    code->source = source;
    code->limits = limits;
    return code;
}

TEST(CodeCache, gives_back_what_was_kept_under_the_same_source_and_limits) {
    CodeCache cache(10, 1000);
    const auto code = code_of("a");
    EXPECT_EQ(cache.find("a", {}), nullptr);
    EXPECT_EQ(cache.keep(code), code);
    EXPECT_EQ(cache.find("a", {}), code);
    EXPECT_EQ(cache.find("b", {}), nullptr);
    EXPECT_EQ(cache.find("a", {.steps_max = 1}), nullptr);
    EXPECT_EQ(cache.keep(code_of("a")), code) << "another thread was faster";
    EXPECT_EQ(cache.size(), 1u);
}

TEST(CodeCache, drops_the_least_recently_used_above_its_number) {
    CodeCache cache(2, 1000);
    cache.keep(code_of("a"));
    cache.keep(code_of("b"));
    cache.find("a", {});
    cache.keep(code_of("c"));
    EXPECT_NE(cache.find("a", {}), nullptr);
    EXPECT_EQ(cache.find("b", {}), nullptr);
    EXPECT_NE(cache.find("c", {}), nullptr);
    EXPECT_EQ(cache.size(), 2u);
}

TEST(CodeCache, is_bounded_in_bytes) {
    CodeCache cache(100, 10);
    cache.keep(code_of("12345"));
    cache.keep(code_of("67890"));
    EXPECT_EQ(cache.size(), 2u);
    cache.keep(code_of("x"));
    EXPECT_EQ(cache.size(), 2u);
    EXPECT_EQ(cache.find("12345", {}), nullptr);
    const auto large = code_of("12345678901");
    EXPECT_EQ(cache.keep(large), large) << "too large to be kept, but usable";
    EXPECT_EQ(cache.find("12345678901", {}), nullptr);
}

TEST(CodeCache, compiles_a_source_once_per_process) {
    const Expression first = Expression::compile("41 + 1 == 42");
    const Expression second = Expression::compile("41 + 1 == 42");
    EXPECT_EQ(&first.source(), &second.source());
    const Expression other = Expression::compile("41 + 1 == 42", {.steps_max = 9});
    EXPECT_NE(&first.source(), &other.source());
}

TEST(CodeCache, serves_many_threads) {
    std::atomic<int> wrong = 0;
    {
        std::vector<std::jthread> threads;
        for (int t = 0; t < 4; ++t) {
            threads.emplace_back([&wrong, t] {
                const TestVariables variables = with({{"input", {{"n", t}}}});
                const Expression shared = Expression::compile("input.n");
                for (int i = 0; i < 300; ++i) {
                    const std::string source = "input.n + " + std::to_string(i);
                    if (evaluate(source, variables) != t + i) ++wrong;
                    if (shared.evaluate(variables) != t) ++wrong;
                }
            });
        }
    }
    EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace ebb
