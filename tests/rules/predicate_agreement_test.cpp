// The conditions of rules mean what PostgreSQL means by them: random conditions on random rows are
// evaluated here, and by a real server, which gets both the text as it was written and the text
// that Ebb prints.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <libpq-fe.h>

#include "core/predicate/guard.h"
#include "core/predicate/predicate.h"
#include "support/os_environment.h"
#include "support/postgres_server.h"
#include "support/random_condition.h"

namespace ebb::test {
namespace {

using Connection = std::unique_ptr<PGconn, decltype(&PQfinish)>;
using Result = std::unique_ptr<PGresult, decltype(&PQclear)>;

class Judge {
 public:
    Judge() : connection_(PQconnectdb(ebb::testing::postgres_server().url().c_str()), &PQfinish) {
        // Settings on which a printed condition must not depend.
        run("SET TimeZone = 'UTC'; SET jit = off; SET client_min_messages = error");
        std::string columns;
        for (const predicate::Column& column : random_columns()) {
            columns += fmt::format(", {} {}", column.name, to_string(column.type));
        }
        run("CREATE TEMP TABLE rows (id int PRIMARY KEY" + columns + ")");
        run(R"(CREATE FUNCTION pg_temp.ask(condition text, wanted int) RETURNS text
               LANGUAGE plpgsql AS $$
               DECLARE answer boolean;
               BEGIN
                 EXECUTE 'SELECT (' || condition || ') FROM rows WHERE id = ' || wanted INTO answer;
                 RETURN coalesce(answer::text, 'unknown');
               EXCEPTION WHEN OTHERS THEN RETURN 'error ' || SQLSTATE || ' ' || SQLERRM;
               END $$)");
    }

    void run(const std::string& sql) {
        const Result result(PQexec(connection_.get(), sql.c_str()), &PQclear);
        const ExecStatusType status = PQresultStatus(result.get());
        if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK) {
            throw std::runtime_error(PQerrorMessage(connection_.get()));
        }
    }

    void insert(int id, const std::vector<std::optional<std::string>>& texts) {
        std::string sql = fmt::format("INSERT INTO rows VALUES ({}", id);
        for (const auto& text : texts) sql += text ? ", " + literal(*text) : ", NULL";
        run(sql + ")");
    }

    int version() const { return PQserverVersion(connection_.get()); }

    /// What the server says of every pair of a condition and a row.
    std::vector<std::string> ask(const std::vector<std::pair<std::string, int>>& questions) {
        std::string sql = "SELECT pg_temp.ask(c, r) FROM (VALUES ";
        for (std::size_t i = 0; i < questions.size(); ++i) {
            if (i > 0) sql += ", ";
            sql += fmt::format("({}, {}, {})", i, literal(questions[i].first), questions[i].second);
        }
        sql += ") AS q (n, c, r) ORDER BY n";
        const Result result(PQexec(connection_.get(), sql.c_str()), &PQclear);
        if (PQresultStatus(result.get()) != PGRES_TUPLES_OK) {
            throw std::runtime_error(PQerrorMessage(connection_.get()));
        }
        std::vector<std::string> answers;
        for (int i = 0; i < PQntuples(result.get()); ++i) {
            answers.emplace_back(PQgetvalue(result.get(), i, 0));
        }
        return answers;
    }

 private:
    std::string literal(const std::string& text) {
        const std::unique_ptr<char, decltype(&PQfreemem)> quoted(
            PQescapeLiteral(connection_.get(), text.data(), text.size()), &PQfreemem
        );
        return quoted.get();
    }

    Connection connection_;
};

std::string evaluated(const Predicate& condition, const predicate::Row& row) {
    try {
        const std::optional<bool> value = condition.evaluate(row);
        return value ? (*value ? "true" : "false") : "unknown";
    } catch (const PredicateError&) {
        return "error 22";
    }
}

/// Errors are the same when both are: which of several comes first is not said. But PostgreSQL must
/// never find a name or a type at fault.
bool agrees(const std::string& here, const std::string& there) {
    if (here.starts_with("error")) return there.starts_with("error 22");
    return here == there;
}

/// Does the guard say that the condition is not true, without evaluating it?
bool is_excluded(const std::optional<predicate::Guard>& guard, const predicate::Row& row) {
    if (!guard) return false;
    const predicate::Datum& value = row[guard->column];
    if (value.is_null) return guard->excludes_null;
    return predicate::key_of(random_columns()[guard->column].type, value) != guard->key;
}

struct Case {
    std::string source;
    std::string printed;
    std::string here;
    int row = 0;
};

struct Totals {
    int pairs = 0;
    int refused = 0;
    int errors = 0;
    int unknown = 0;
    int excluded = 0;
};

constexpr int kRows = 64;
constexpr int kRowsPerCondition = 4;
constexpr int kConditionsPerBatch = 250;
constexpr int kFoldingVersion = 140'000;

void compare_batch(Judge& judge, const std::vector<Case>& cases) {
    if (cases.empty()) return;
    std::vector<std::pair<std::string, int>> questions;
    for (const Case& c : cases) {
        questions.emplace_back(c.source, c.row);
        questions.emplace_back(c.printed, c.row);
    }
    const std::vector<std::string> answers = judge.ask(questions);
    for (std::size_t i = 0; i < cases.size(); ++i) {
        const Case& c = cases[i];
        // Before version 14, PostgreSQL did not fold NULLIF of constants, and computes what stands
        // beside it. What is printed for it is folded.
        const bool is_unfolded =
            judge.version() < kFoldingVersion && answers[2 * i].starts_with("error 22");
        EXPECT_TRUE(
            (is_unfolded || agrees(c.here, answers[2 * i])) && agrees(c.here, answers[2 * i + 1])
        ) << "row "
          << c.row << "\n  source  " << c.source << "\n  printed " << c.printed << "\n  here "
          << c.here << ", the source there " << answers[2 * i] << ", the printed one there "
          << answers[2 * i + 1];
    }
}

// A case that failed is repeated by its seed, also by a program of another compiler.
TEST(RandomCondition, is_the_same_under_every_compiler) {
    Dice dice(20261128, 11);
    EXPECT_EQ(
        random_condition(dice, 2), "least((day + 143), (day + 327)) > (least(day, day) + 116)"
    );
}

TEST(PredicateAgreement, postgresql_gives_the_same_value_for_the_source_and_for_what_is_printed) {
    const int conditions = std::stoi(environment_variable("EBB_TEST_CONDITIONS").value_or("25000"));
    const auto seed =
        static_cast<std::uint64_t>(std::stoll(environment_variable("EBB_TEST_SEED").value_or("1")));
    Judge judge;
    Dice row_dice(seed, 0);
    std::vector<predicate::Row> rows;
    for (int id = 0; id < kRows; ++id) {
        const auto texts = random_row_texts(row_dice);
        judge.insert(id, texts);
        rows.push_back(row_of(texts));
    }
    Totals totals;
    std::vector<Case> batch;
    for (int number = 1; number <= conditions && !::testing::Test::HasFailure(); ++number) {
        Dice dice(seed, static_cast<std::uint64_t>(number));
        const std::string source = random_condition(dice, dice.between(0, 3));
        std::optional<Predicate> condition;
        try {
            condition = Predicate::compile(source, random_columns());
        } catch (const PredicateError& error) {
            // A constant part that fails is refused here; PostgreSQL may never get to it.
            const bool is_constant_fault =
                error.message().find("zero") != std::string::npos ||
                error.message().find("range") != std::string::npos ||
                error.message().find("cannot be cast") != std::string::npos ||
                error.message().find("negative length") != std::string::npos;
            EXPECT_TRUE(is_constant_fault) << source << "\n" << error.what();
            ++totals.refused;
            continue;
        }
        const auto guard = predicate::guard_of(*condition);
        for (int i = 0; i < kRowsPerCondition; ++i) {
            const int row = dice.below(kRows);
            Case c{source, condition->to_sql(), {}, row};
            c.here = evaluated(*condition, rows[static_cast<std::size_t>(row)]);
            if (is_excluded(guard, rows[static_cast<std::size_t>(row)])) {
                ++totals.excluded;
                EXPECT_TRUE(c.here == "false" || c.here == "unknown") << source << "\n" << c.here;
            }
            totals.errors += c.here.starts_with("error") ? 1 : 0;
            totals.unknown += c.here == "unknown" ? 1 : 0;
            batch.push_back(std::move(c));
        }
        ++totals.pairs;
        if (number % kConditionsPerBatch == 0) {
            compare_batch(judge, batch);
            batch.clear();
        }
    }
    compare_batch(judge, batch);
    RecordProperty("conditions", totals.pairs);
    RecordProperty("refused", totals.refused);
    fmt::print(
        "{} conditions on {} rows each: {} errors, {} unknown, {} excluded by a guard; {} "
        "conditions "
        "were refused\n",
        totals.pairs,
        kRowsPerCondition,
        totals.errors,
        totals.unknown,
        totals.excluded,
        totals.refused
    );
    if (!::testing::Test::HasFailure()) {
        EXPECT_GT(totals.pairs, conditions * 8 / 10);
        EXPECT_GT(totals.excluded, conditions / 1'000);
    }
}

}  // namespace
}  // namespace ebb::test
