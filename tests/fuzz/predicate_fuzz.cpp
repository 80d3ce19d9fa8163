// Fuzzes the conditions of rules: any text is compiled and evaluated on two rows. Nothing but a
// PredicateError may come out, an equal result must come out twice, and what is printed is never
// empty.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "core/predicate/predicate.h"

namespace {

using ebb::predicate::Type;

const std::vector<ebb::predicate::Column>& columns() {
    static const std::vector<ebb::predicate::Column> made{
        {"t", Type::Text},
        {"i", Type::Int8},
        {"n", Type::Numeric},
        {"d", Type::Double},
        {"at", Type::Timestamp},
        {"day", Type::Date},
        {"u", Type::Uuid},
        {"doc", Type::Json},
        {"b", Type::Boolean},
    };
    return made;
}

ebb::predicate::Row full_row() {
    const std::vector<std::string> texts{
        "a\xC3\xA4%",
        "42",
        "-1.50",
        "2.5",
        "2026-11-21",
        "2024-02-29",
        "00000000-0000-0000-0000-000000000000",
        R"({"k": [1.50, "x"]})",
        "true",
    };
    ebb::predicate::Row row;
    for (std::size_t i = 0; i < texts.size(); ++i) {
        row.push_back(ebb::predicate::parse_datum(columns()[i].type, texts[i]).datum);
    }
    return row;
}

void must_hold(bool condition) {
    if (!condition) std::abort();
}

std::string outcome(const ebb::Predicate& condition, const ebb::predicate::Row& row) {
    try {
        const std::optional<bool> value = condition.evaluate(row);
        return value ? (*value ? "true" : "false") : "unknown";
    } catch (const ebb::PredicateError& error) {
        must_hold(error.line() >= 1 && error.column() >= 1 && !error.message().empty());
        return error.message();
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    static const ebb::predicate::Row full = full_row();
    static const ebb::predicate::Row empty(columns().size());
    try {
        const ebb::Predicate condition = ebb::Predicate::compile(text, columns());
        must_hold(outcome(condition, full) == outcome(condition, full));
        must_hold(outcome(condition, empty) == outcome(condition, empty));
        must_hold(!condition.to_sql().empty());
    } catch (const ebb::PredicateError& error) {
        must_hold(error.line() >= 1 && error.column() >= 1 && !error.message().empty());
    }
    return 0;
}
