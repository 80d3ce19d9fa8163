#include "store/filter_sql.h"

#include <array>

#include <fmt/format.h>

namespace ebb::filter {

namespace {

std::string_view operator_text(Operator op) {
    constexpr std::array<std::string_view, 6> kTexts = {"=", "<>", "<", "<=", ">", ">="};
    return kTexts[static_cast<std::size_t>(op)];
}

void replace(std::string& text, std::string_view name, std::string_view value) {
    for (std::size_t at = text.find(name); at != std::string::npos;) {
        text.replace(at, name.size(), value);
        at = text.find(name, at + value.size());
    }
}

}  // namespace

std::string fill(std::string_view text, std::string_view condition) {
    std::string filled(text);
    replace(filled, "{condition}", condition);
    return filled;
}

std::string SqlWriter::parameter(const LabelValue& value) {
    const auto number = taken_ + static_cast<int>(arguments_.size()) + 1;
    const bool is_postgres = dialect_.is_postgres;
    switch (value.type()) {
        case LabelType::Text:
            arguments_.emplace_back(value.text());
            return is_postgres ? fmt::format("${}::text", number) : fmt::format("?{}", number);
        case LabelType::Number:
            if (!is_postgres) {
                arguments_.emplace_back(value.number());
                return fmt::format("?{}", number);
            }
            arguments_.emplace_back(fmt::format("{}", value.number()));
            return fmt::format("(${}::text)::double precision", number);
        case LabelType::Bool:
            return value.boolean() ? "1" : "0";
        case LabelType::Time:
            arguments_.emplace_back(std::int64_t{value.time().time_since_epoch().count()});
            return is_postgres ? fmt::format("${}::bigint", number) : fmt::format("?{}", number);
    }
    return "NULL";
}

std::string SqlWriter::condition(const Condition& condition) {
    switch (condition.kind) {
        case Condition::Kind::Constant:
            return condition.value ? "TRUE" : "FALSE";
        case Condition::Kind::Compare:
            return comparison(condition);
        case Condition::Kind::Not:
            return fmt::format("NOT {}", this->condition(condition.parts.front()));
        case Condition::Kind::And:
        case Condition::Kind::Or:
            break;
    }
    std::string sql = "(";
    for (const Condition& part : condition.parts) {
        if (sql.size() > 1) sql += condition.kind == Condition::Kind::And ? " AND " : " OR ";
        sql += this->condition(part);
    }
    return sql + ")";
}

std::string SqlWriter::text(const Condition& condition, const std::string& column) {
    if (condition.op != Operator::StartsWith) return ordered(condition, column);
    const std::string prefix = parameter(condition.operand);
    return dialect_.is_postgres
               ? fmt::format("starts_with({}, {})", column, prefix)
               : fmt::format("substr({}, 1, length({})) = {}", column, prefix, prefix);
}

std::string SqlWriter::ordered(const Condition& condition, const std::string& column) {
    return fmt::format(
        "{} {} {}", column, operator_text(condition.op), parameter(condition.operand)
    );
}

std::string SqlWriter::label(const Condition& condition, const std::string& table) {
    std::string sql =
        fmt::format("{}.name = {}", table, parameter(LabelValue(condition.field.label)));
    if (condition.op == Operator::Exists) return sql;
    const LabelType type = condition.operand.type();
    switch (type) {
        case LabelType::Text:
            return sql + fmt::format(" AND {0}.text IS NOT NULL AND ", table) +
                   text(condition, table + ".text");
        case LabelType::Number:
        case LabelType::Bool:
            sql += fmt::format(
                " AND {0}.type = '{1}' AND {0}.number IS NOT NULL AND ", table, to_string(type)
            );
            return sql + ordered(condition, table + ".number");
        case LabelType::Time:
            return sql + fmt::format(" AND {0}.at IS NOT NULL AND ", table) +
                   ordered(condition, table + ".at");
    }
    return sql;
}

std::string SqlWriter::failure(const Condition& condition, const std::string& column) {
    const std::string there = fmt::format("f.{} IS NOT NULL", column);
    const bool only_exists = condition.op == Operator::Exists;
    return fill(dialect_.failure_exists, only_exists ? there : text(condition, "f." + column));
}

std::string SqlWriter::comparison(const Condition& condition) {
    using Kind = Field::Kind;
    const bool is_postgres = dialect_.is_postgres;
    const auto in_brackets = [](const std::string& sql) { return "(" + sql + ")"; };
    switch (condition.field.kind) {
        case Kind::Id:
            return in_brackets(ordered(condition, is_postgres ? "i.id::text" : "i.id"));
        case Kind::Workflow:
            return in_brackets(text(condition, "i.workflow"));
        case Kind::Version:
            return in_brackets(ordered(condition, "i.version"));
        case Kind::Status:
            return in_brackets(text(condition, "i.status"));
        case Kind::Key:
            return in_brackets(text(condition, "coalesce(i.key, '')"));
        case Kind::Priority:
            return in_brackets(ordered(condition, "i.priority"));
        case Kind::Created:
            return in_brackets(ordered(condition, "i.created_at"));
        case Kind::Updated:
            return in_brackets(ordered(condition, "i.updated_at"));
        case Kind::Finished:
            return fmt::format(
                "(i.finished_at IS NOT NULL AND {})", ordered(condition, "i.finished_at")
            );
        case Kind::ErrorCode:
            return failure(condition, "code");
        case Kind::ErrorStep:
            return failure(condition, "step");
        case Kind::ErrorGroup:
            return failure(condition, "grp");
        case Kind::Label:
            return fill(dialect_.label_exists, label(condition, "l"));
    }
    return "FALSE";
}

std::string SqlWriter::statement(const Condition& condition, InstanceOrder order) {
    const std::string holds = this->condition(condition);
    const Condition* const driving = driving_label(condition);
    std::string statement(driving == nullptr ? dialect_.all : dialect_.labeled);
    // The condition comes last, so nothing that was put in is looked at.
    replace(statement, "{order}", order == InstanceOrder::OldestFirst ? "ASC" : "DESC");
    if (driving != nullptr) replace(statement, "{driver}", label(*driving, "d"));
    return fill(statement, holds);
}

}  // namespace ebb::filter
