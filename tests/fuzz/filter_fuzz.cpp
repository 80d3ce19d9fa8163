// Fuzzes the filters of instances: any text is compiled, evaluated on two instances and written as
// SQL. Nothing but an ExpressionError may come out, and an equal result must come out twice.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "core/filter/filter.h"
#include "store/filter_sql.h"

namespace {

using namespace ebb::filter;

void must_hold(bool condition) {
    if (!condition) std::abort();
}

const ebb::Labels& labels() {
    static const ebb::Labels made{
        {"a", "x"}, {"n", 1.5}, {"vip", true}, {"due", ebb::TimePoint(ebb::Duration(1))}
    };
    return made;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const ebb::TimePoint now{ebb::Duration(1'793'000'000'000'000)};
    try {
        const Condition condition = compile(text, now);
        must_hold(condition == compile(text, now));
        const Subject full{.workflow = "order", .key = "k", .created_at = now, .labels = &labels()};
        for (const Subject& subject : {Subject{}, full}) {
            Condition negated{.kind = Condition::Kind::Not};
            negated.parts.push_back(condition);
            must_hold(holds(condition, subject) != holds(negated, subject));
        }
        for (const bool is_postgres : {false, true}) {
            const Dialect dialect{
                is_postgres, "{condition}", "{condition}", "{condition}", "{driver}"
            };
            SqlWriter writer(dialect, 0);
            must_hold(!writer.statement(condition, ebb::InstanceOrder::NewestFirst).empty());
        }
    } catch (const ebb::ExpressionError& error) {
        must_hold(error.line() >= 1 && error.column() >= 1 && !error.message().empty());
    }
    return 0;
}
