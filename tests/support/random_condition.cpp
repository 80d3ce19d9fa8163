#include "support/random_condition.h"

#include <optional>
#include <stdexcept>

#include <fmt/format.h>

#include "support/drawn.h"

namespace ebb::test {

using predicate::Column;
using predicate::Type;

const std::vector<Column>& random_columns() {
    static const std::vector<Column> columns{
        {"t", Type::Text},
        {"s", Type::Text},
        {"b", Type::Boolean},
        {"i", Type::Int8},
        {"j", Type::Int8},
        {"n", Type::Numeric},
        {"m", Type::Numeric},
        {"d", Type::Double},
        {"e", Type::Double},
        {"at", Type::Timestamp},
        {"due", Type::Timestamp},
        {"day", Type::Date},
        {"u", Type::Uuid},
        {"doc", Type::Json},
    };
    return columns;
}

namespace {

using Texts = std::vector<std::string>;

const Texts kTexts{"",    "a",      "ab",   "Ab",  "b%",     "ready", "Ready",     "42",
                   "-7",  " 3.50 ", "true", "off", "ärger",  "a_b",   "x'y",       "a\\b",
                   "1e3", "zz",     "Z",    " a ", "0.0001", "aab",   "9999999999"};
const Texts kBooleans{"true", "false"};
const Texts kIntegers{
    "0",
    "1",
    "2",
    "-1",
    "7",
    "42",
    "-7",
    "1000000",
    "3000000000",
    "9223372036854775807",
    "-9223372036854775808"
};
const Texts kNumerics{
    "0",
    "1",
    "1.0",
    "1.50",
    "-1.5",
    "2.5",
    "3.50",
    "0.001",
    "1000",
    "-0.125",
    "99999999999999999999.99",
    "7.000000000000000001",
    "0.00000000000000000012"
};
const Texts kDoubles{
    "0",
    "1",
    "-1",
    "1.5",
    "2.5",
    "3.5",
    "0.1",
    "1e100",
    "-1e-10",
    "1e308",
    "1e-300",
    "42",
    "123456789.125"
};
const Texts kTimes{
    "2026-11-21 08:30:00+00",
    "2026-11-21 08:30:00.123456+00",
    "2024-02-29 00:00:00+00",
    "2025-01-31 23:59:59+00",
    "1969-12-31 23:59:59.5+00",
    "2026-11-21 00:00:00+00"
};
const Texts kDates{"2026-11-21", "2024-02-29", "2025-01-31", "1969-12-31"};
const Texts kUuids{"0192d4a6-7c3e-7b5a-9f00-2f4e6a8b0c1d", "00000000-0000-0000-0000-000000000000"};
const Texts kDocuments{
    R"({"k": "ready", "n": 1.50, "o": {"bb": 1, "a": [1, null]}})",
    R"({"k": null, "n": 100, "k2": "a"})",
    R"([1, "x"])",
    R"("a")",
    R"({"k": "a", "k": "b\n\"", "o": []})"
};

const Texts& samples(Type type) {
    switch (type) {
        case Type::Boolean:
            return kBooleans;
        case Type::Int4:
        case Type::Int8:
            return kIntegers;
        case Type::Numeric:
            return kNumerics;
        case Type::Double:
            return kDoubles;
        case Type::Timestamp:
            return kTimes;
        case Type::Date:
            return kDates;
        case Type::Uuid:
            return kUuids;
        case Type::Json:
            return kDocuments;
        default:
            return kTexts;
    }
}

std::string sql_text(std::string_view text) {
    std::string made = "'";
    for (const char c : text) {
        if (c == '\'') made += c;
        made += c;
    }
    return made + "'";
}

class Generator {
 public:
    explicit Generator(Dice& dice) : dice_(dice) {}

    std::string condition(int depth) {
        if (depth <= 0) return leaf_condition();
        switch (dice_.below(12)) {
            case 0:
                return Drawn{"({} and {})", condition(depth - 1), condition(depth - 1)};
            case 1:
                return Drawn{"({} or {})", condition(depth - 1), condition(depth - 1)};
            case 2:
                return fmt::format("not {}", condition(depth - 1));
            case 3:
                return Drawn{
                    "({}) is {}{}",
                    condition(depth - 1),
                    dice_.chance(50) ? "not " : "",
                    dice_.pick(Texts{"null", "true", "false", "unknown"})
                };
            case 4:
                return Drawn{
                    "case when {} then {} {} end",
                    condition(depth - 1),
                    condition(depth - 1),
                    dice_.chance(70) ? "else " + condition(depth - 1) : std::string()
                };
            case 5:
                return Drawn{"coalesce({}, {})", condition(depth - 1), condition(depth - 1)};
            default:
                return leaf_condition(depth);
        }
    }

 private:
    Dice& dice_;

    Type any_type() {
        return dice_.pick(std::vector<Type>{
            Type::Text,
            Type::Text,
            Type::Int8,
            Type::Numeric,
            Type::Double,
            Type::Timestamp,
            Type::Date,
            Type::Uuid,
            Type::Boolean,
            Type::Int4
        });
    }

    std::string comparison_symbol() {
        return dice_.pick(Texts{"=", "<>", "!=", "<", "<=", ">", ">="});
    }

    std::string negation() { return dice_.chance(40) ? "not " : ""; }

    std::string leaf_condition(int depth = 0) {
        const Type type = any_type();
        switch (dice_.below(10)) {
            case 0:
                return Drawn{"{} is {}null", operand(any_type(), depth), negation()};
            case 1:
                return Drawn{
                    "{} is {}distinct from {}",
                    operand(type, depth),
                    negation(),
                    operand(type, depth)
                };
            case 2:
                return Drawn{
                    "{} {}in ({}, {})",
                    operand(type, depth),
                    negation(),
                    value(type, 0),
                    dice_.chance(20) ? "null" : value(type, depth)
                };
            case 3:
                return Drawn{
                    "{} {}between {} and {}",
                    operand(type, depth),
                    negation(),
                    operand(type, 0),
                    operand(type, depth)
                };
            case 4:
                return Drawn{
                    "{} {}{} {}",
                    operand(Type::Text, depth),
                    negation(),
                    dice_.pick(Texts{"like", "ilike"}),
                    dice_.pick(Texts{
                        "'a%'",
                        "'%b'",
                        "'_b'",
                        "'%'",
                        "'A_%'",
                        "'a\\_b'",
                        "'b!%' escape '!'",
                        "'%e%d%'",
                        "''",
                        "'_rger'",
                        "'a\\\\b' escape ''"
                    })
                };
            case 5:
                return dice_.chance(50) ? "b" : fmt::format("b = ({})", condition(0 * depth));
            default:
                break;
        }
        // Numbers of different types meet.
        const Type other = predicate::is_number(type) ? number_type() : type;
        return Drawn{"{} {} {}", operand(type, depth), comparison_symbol(), operand(other, depth)};
    }

    Type number_type() {
        return dice_.pick(
            std::vector<Type>{Type::Int4, Type::Int8, Type::Int8, Type::Numeric, Type::Double}
        );
    }

    /// A value in parentheses where its operator is weaker than a comparison.
    std::string operand(Type type, int depth) {
        const std::string made = value(type, depth);
        return type == Type::Boolean ? "(" + made + ")" : made;
    }

    std::string column(Type type) {
        Texts names;
        for (const Column& column : random_columns()) {
            if (column.type == type) names.push_back(column.name);
        }
        if (names.empty()) return "length(t)";
        return dice_.pick(names);
    }

    std::string literal(Type type) {
        switch (type) {
            case Type::Boolean:
                return dice_.pick(Texts{"true", "false"});
            case Type::Int4:
                return dice_.pick(Texts{"0", "1", "2", "3", "-1", "42", "2147483647"});
            case Type::Int8:
                return dice_.pick(Texts{"3000000000", "'7'::bigint", "1::int8", "-3000000000"});
            case Type::Numeric:
                return dice_.pick(Texts{"1.5", "2.50", ".001", "1e2", "0.0", "-1.5", "10.0"});
            case Type::Double:
                return dice_.pick(Texts{"1.5::float8", "'1e10'::double precision", "0::float8"});
            case Type::Timestamp:
                return "timestamptz " + sql_text(dice_.pick(samples(type)));
            case Type::Date:
                return "date " + sql_text(dice_.pick(samples(type)));
            case Type::Uuid:
                return sql_text(dice_.pick(samples(type))) + "::uuid";
            default:
                return text_literal();
        }
    }

    std::string text_literal() {
        const std::string text = dice_.pick(samples(Type::Text));
        if (dice_.chance(20)) return "$$" + text + "$$";
        return sql_text(text) + "::text";
    }

    std::string value(Type type, int depth) {
        if (depth <= 0) return dice_.chance(65) ? column(type) : literal(type);
        if (dice_.chance(15)) {
            return Drawn{
                "{}({}, {})",
                dice_.pick(Texts{"coalesce", "greatest", "least"}),
                value(type, depth - 1),
                value(type, depth - 1)
            };
        }
        if (dice_.chance(8)) {
            return Drawn{"nullif({}, {})", value(type, depth - 1), value(type, depth - 1)};
        }
        if (dice_.chance(10)) {
            // A literal without a type is a text here.
            const bool is_bare = type == Type::Text && dice_.chance(30);
            return Drawn{
                "(case {} when {} then {} else {} end)",
                is_bare ? dice_.pick(Texts{"null", "''", "'ab'", "(null)"}) : operand(type, 0),
                operand(type, 0),
                value(type, depth - 1),
                value(type, depth - 1)
            };
        }
        switch (type) {
            case Type::Boolean:
                return condition(depth - 1);
            case Type::Int4:
            case Type::Int8:
            case Type::Numeric:
            case Type::Double:
                return number(type, depth - 1);
            case Type::Timestamp:
                return time(depth - 1);
            case Type::Date:
                return date(depth - 1);
            case Type::Text:
                return text(depth - 1);
            default:
                return column(type);
        }
    }

    std::string number(Type type, int depth) {
        switch (dice_.below(7)) {
            case 0:
            case 1: {
                const bool has_modulo = type != Type::Double;
                const std::string symbol = dice_.pick(
                    has_modulo ? Texts{"+", "-", "*", "/", "%"} : Texts{"+", "-", "*", "/"}
                );
                return Drawn{"({} {} {})", value(type, depth), symbol, value(type, depth)};
            }
            case 2:
                return fmt::format("(- {})", value(type, depth));
            case 3:
                return fmt::format("abs({})", value(type, depth));
            case 4:
                if (type == Type::Numeric && dice_.chance(50)) {
                    return Drawn{"round({}, {})", value(type, depth), dice_.between(-2, 6)};
                }
                if (type == Type::Numeric || type == Type::Double) {
                    return Drawn{
                        "{}({})", dice_.pick(Texts{"ceil", "floor", "round"}), value(type, depth)
                    };
                }
                return type == Type::Int4 ? fmt::format("length({})", value(Type::Text, depth))
                                          : column(type);
            case 5:
                return fmt::format(
                    "({})::{}", value(number_type(), depth), predicate::to_string(type)
                );
            default:
                if (type == Type::Int4 && dice_.chance(30)) return "(day - date '2024-02-29')";
                return fmt::format(
                    "cast({} as {})",
                    dice_.chance(30) ? "t" : value(number_type(), depth),
                    predicate::to_string(type)
                );
        }
    }

    std::string time(int depth) {
        const std::string interval = dice_.pick(
            Texts{"1 mon", "3d18h", "2 hours", "-1 day", "1 year 2 mons", "00:00:00.5", "90 s"}
        );
        // Of a constant PostgreSQL would not know the result before it runs, as Ebb does: what
        // follows from it may then fail there and not here.
        if (dice_.chance(25)) return "(day)::timestamptz";
        const std::string base =
            depth > 0 && dice_.chance(30) ? time(depth - 1) : column(Type::Timestamp);
        if (dice_.chance(15)) return fmt::format("({} + '{}')", base, interval);
        if (dice_.chance(10)) return fmt::format("(interval '{}' + {})", interval, base);
        return fmt::format("({} {} interval '{}')", base, dice_.pick(Texts{"+", "-"}), interval);
    }

    std::string date(int depth) {
        if (dice_.chance(40)) return fmt::format("({})::date", time(depth));
        if (dice_.chance(10)) {
            return Drawn{"({} + {})", dice_.between(0, 400), value(Type::Date, depth)};
        }
        return Drawn{
            "({} {} {})",
            value(Type::Date, depth),
            dice_.pick(Texts{"+", "-"}),
            dice_.between(0, 400)
        };
    }

    std::string text(int depth) {
        const auto inner = [&] { return value(Type::Text, depth); };
        switch (dice_.below(10)) {
            case 0:
                return Drawn{"({} || {})", inner(), inner()};
            case 1:
                return fmt::format("lower({})", inner());
            case 2:
                return fmt::format("upper({})", inner());
            case 3:
                return Drawn{
                    "trim({}from {})",
                    dice_.pick(Texts{"both ", "leading 'a' ", "trailing 'bé' ", "'a' "}),
                    inner()
                };
            case 4:
                return Drawn{
                    "substring({} from {} for {})",
                    inner(),
                    dice_.between(-2, 3),
                    dice_.between(dice_.chance(10) ? -1 : 0, 4)
                };
            case 5:
                return Drawn{
                    "{}({}, {})", dice_.pick(Texts{"left", "right"}), inner(), dice_.between(-3, 3)
                };
            case 6:
                return fmt::format("(doc ->> {})", dice_.pick(Texts{"'k'", "'n'", "'o'", "'x'"}));
            case 7:
                return fmt::format(
                    "({})::text",
                    value(
                        dice_.pick(std::vector<Type>{
                            Type::Int8, Type::Numeric, Type::Double, Type::Uuid, Type::Boolean
                        }),
                        depth
                    )
                );
            case 8:
                return dice_.chance(50) ? "doc::text" : fmt::format("ltrim({})", inner());
            default:
                return Drawn{"btrim({}, {})", inner(), text_literal()};
        }
    }
};

}  // namespace

std::vector<std::optional<std::string>> random_row_texts(Dice& dice) {
    std::vector<std::optional<std::string>> texts;
    for (const Column& column : random_columns()) {
        if (dice.chance(20)) {
            texts.emplace_back(std::nullopt);
        } else {
            texts.emplace_back(dice.pick(samples(column.type)));
        }
    }
    return texts;
}

predicate::Row row_of(const std::vector<std::optional<std::string>>& texts) {
    predicate::Row row;
    for (std::size_t i = 0; i < texts.size(); ++i) {
        if (!texts[i]) {
            row.emplace_back();
            continue;
        }
        predicate::ParsedDatum parsed = predicate::parse_datum(random_columns()[i].type, *texts[i]);
        if (!parsed.fault.empty()) throw std::runtime_error(*texts[i] + ": " + parsed.fault);
        row.push_back(std::move(parsed.datum));
    }
    return row;
}

std::string random_condition(Dice& dice, int depth) {
    return Generator(dice).condition(depth);
}

}  // namespace ebb::test
