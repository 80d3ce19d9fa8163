// Integer arithmetic against 128-bit arithmetic, and the laws of comparisons, for random numbers
// that prefer the edges. The seeds are fixed: a failure repeats itself.

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <random>
#include <string>

#include <gtest/gtest.h>

#include "unit/expression/test_variables.h"

namespace ebb {
namespace {

__extension__ typedef __int128 Wide;

constexpr int kRuns = 3000;

class Numbers {
 public:
    std::int64_t next() {
        constexpr std::array<std::int64_t, 8> kEdges = {
            0,
            1,
            -1,
            INT64_MAX,
            INT64_MIN,
            std::int64_t{1} << 32,
            std::int64_t{3037000499},
            std::int64_t{1} << 53,
        };
        const std::uint64_t random = engine_();
        const std::int64_t near = static_cast<std::int64_t>(engine_() % 5) - 2;
        const auto edge = static_cast<std::uint64_t>(kEdges[random / 4 % kEdges.size()]);
        if (random % 4 < 2)
            return static_cast<std::int64_t>(edge + static_cast<std::uint64_t>(near));
        return static_cast<std::int64_t>(engine_()) >> (random / 4 % 63);
    }

 private:
    std::mt19937_64 engine_{20261121};
};

std::optional<Wide> exact(char op, Wide a, Wide b) {
    switch (op) {
        case '+':
            return a + b;
        case '-':
            return a - b;
        case '*': {
            Wide product = 0;
            // Beyond Wide it is beyond everything else, too.
            if (__builtin_mul_overflow(a, b, &product)) return std::nullopt;
            return product;
        }
        case '/':
            return b == 0 ? std::nullopt : std::optional<Wide>(a / b);
        default:
            return b == 0 ? std::nullopt : std::optional<Wide>(a % b);
    }
}

/// What the operator gives for two JSON numbers; empty for an error.
std::optional<Wide> computed(char op, const Json& a, const Json& b) {
    const TestVariables variables = with({{"a", a}, {"b", b}});
    const std::string type = a.is_number_unsigned() ? "uint" : "int";
    try {
        const Json result = evaluate(type + "(a) " + op + " " + type + "(b)", variables);
        if (result.is_number_unsigned()) return static_cast<Wide>(result.get<std::uint64_t>());
        return static_cast<Wide>(result.get<std::int64_t>());
    } catch (const ExpressionError&) {
        return std::nullopt;
    }
}

template <typename Integer>
void check(char op, Integer a, Integer b) {
    std::optional<Wide> wanted = exact(op, a, b);
    if (wanted && (*wanted < std::numeric_limits<Integer>::min() ||
                   *wanted > std::numeric_limits<Integer>::max())) {
        wanted.reset();
    }
    // The remainder of the least int by -1 is 0, but it is an overflow in CEL's implementations.
    if (op == '%' && std::numeric_limits<Integer>::is_signed && b == static_cast<Integer>(-1) &&
        a == std::numeric_limits<Integer>::min()) {
        wanted.reset();
    }
    EXPECT_TRUE(computed(op, a, b) == wanted) << a << " " << op << " " << b;
}

TEST(Arithmetic, of_int_is_exact_or_an_error) {
    Numbers numbers;
    for (int i = 0; i < kRuns; ++i) {
        const std::int64_t a = numbers.next();
        const std::int64_t b = numbers.next();
        check("+-*/%"[i % 5], a, b);
    }
}

TEST(Arithmetic, of_uint_is_exact_or_an_error) {
    Numbers numbers;
    for (int i = 0; i < kRuns; ++i) {
        const auto a = static_cast<std::uint64_t>(numbers.next());
        const auto b = static_cast<std::uint64_t>(numbers.next());
        check("+-*/%"[i % 5], a, b);
    }
}

TEST(Arithmetic, literals_mean_the_same_as_variables) {
    Numbers numbers;
    for (int i = 0; i < kRuns; ++i) {
        const std::int64_t a = numbers.next();
        EXPECT_EQ(evaluate(std::to_string(a)), a);
        const auto b = static_cast<std::uint64_t>(a);
        EXPECT_EQ(evaluate(std::to_string(b) + "u"), b);
    }
}

TEST(Arithmetic, comparisons_of_mixed_types_agree_with_each_other) {
    Numbers numbers;
    const Expression laws = Expression::compile(
        "(a < b) == (b > a) && (a <= b) == (b >= a) && (a == b) == (b == a) && (a < b) == !(a >= "
        "b) && "
        "(a == b) == (a <= b && a >= b) && (a != b) == !(a == b)"
    );
    for (int i = 0; i < kRuns; ++i) {
        const auto random = [&]() -> Json {
            const std::int64_t number = numbers.next();
            switch (static_cast<std::uint64_t>(number) % 3) {
                case 0:
                    return number;
                case 1:
                    return static_cast<std::uint64_t>(number);
                default:
                    return static_cast<double>(number);
            }
        };
        const Json a = random();
        const Json b = random();
        EXPECT_TRUE(laws.evaluate_bool(with({{"a", a}, {"b", b}}))) << a << " and " << b;
    }
}

TEST(Arithmetic, times_move_there_and_back) {
    std::mt19937_64 engine(7);
    const Expression law = Expression::compile(
        "timestamp(t) + duration(d) - duration(d) == timestamp(t) && "
        "(timestamp(t) + duration(d)) - timestamp(t) == duration(d) && "
        "timestamp(string(timestamp(t))) == "
        "timestamp(t) && duration(string(duration(d))) == duration(d)"
    );
    for (int i = 0; i < kRuns; ++i) {
        const auto seconds =
            static_cast<std::int64_t>(engine() % 100'000'000'000) + 10'000'000'000 - 62'135'596'800;
        const auto nanoseconds =
            static_cast<std::int64_t>(engine() % 18'000'000'000'000'000'000u) / 2 -
            4'000'000'000'000'000'000;
        const TestVariables variables =
            with({{"t", seconds}, {"d", std::to_string(nanoseconds) + "ns"}});
        EXPECT_TRUE(law.evaluate_bool(variables)) << seconds << " " << nanoseconds;
    }
}

}  // namespace
}  // namespace ebb
