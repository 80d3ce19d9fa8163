#include "sim/sql_formula.h"

#include <stdexcept>
#include <string>

namespace ebb::sim {

namespace {

class SqlFormula {
 public:
    SqlFormula(std::string_view text, const nlohmann::json& state) : rest_(text), state_(state) {}

    std::optional<bool> value() {
        if (!take("(")) return atom();
        const std::optional<bool> left = value();
        const bool is_and = take(" and ");
        if (!is_and && !take(" or ")) fail();
        const std::optional<bool> right = value();
        if (!take(")")) fail();
        const bool decisive = !is_and;
        if (left == decisive || right == decisive) return decisive;
        if (!left || !right) return std::nullopt;
        return is_and;
    }

 private:
    std::string_view rest_;
    const nlohmann::json& state_;

    bool take(std::string_view text) {
        if (!rest_.starts_with(text)) return false;
        rest_.remove_prefix(text.size());
        return true;
    }

    std::string take_until(char end) {
        const std::string text(rest_.substr(0, rest_.find(end)));
        rest_.remove_prefix(text.size() + 1);
        return text;
    }

    std::optional<bool> atom() {
        const nlohmann::json& held = state_.at(take_until(' '));
        if (take("is null")) return held.is_null();
        if (take("is not null")) return !held.is_null();
        const bool is_equal = take("= '");
        if (!is_equal && !take("<> '")) fail();
        const std::string value = take_until('\'');
        if (held.is_null()) return std::nullopt;
        return (held == value) == is_equal;
    }

    [[noreturn]] void fail() const {
        throw std::runtime_error("a condition that no one reads: " + std::string(rest_));
    }
};

}  // namespace

std::optional<bool> ask_sql(std::string_view condition, const nlohmann::json& state) {
    return SqlFormula(condition, state).value();
}

}  // namespace ebb::sim
