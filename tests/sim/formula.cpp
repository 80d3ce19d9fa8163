#include "sim/formula.h"

#include <algorithm>
#include <cctype>
#include <utility>
#include <vector>

namespace ebb::sim {

namespace {

using Json = nlohmann::json;

Value known(Json value) {
    return {.kind = Value::Kind::Known, .value = std::move(value)};
}

std::vector<std::string> split(const std::string& text, const std::string& by) {
    std::vector<std::string> parts;
    std::size_t from = 0;
    for (std::size_t at = text.find(by); at != std::string::npos; at = text.find(by, from)) {
        parts.push_back(text.substr(from, at - from));
        from = at + by.size();
    }
    parts.push_back(text.substr(from));
    return parts;
}

bool is_path(const std::string& text) {
    return !text.empty() && std::isalpha(static_cast<unsigned char>(text.front())) &&
           std::all_of(text.begin(), text.end(), [](unsigned char c) {
               return std::isalnum(c) || c == '_' || c == '.';
           });
}

bool is_number(const std::string& text) {
    return !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char c) {
        return std::isdigit(c) != 0;
    });
}

bool is_literal(const std::string& text) {
    return text.size() >= 2 && text.front() == '\'' && text.find('\'', 1) == text.size() - 1;
}

/// Where a path begins, and how many of its names that takes.
Value root_of(const std::vector<std::string>& names, const Facts& facts, std::size_t& used) {
    used = 1;
    if (names[0] == "input") return known(facts.input);
    if (names[0] == "output" && facts.output) return known(*facts.output);
    if (names.size() < 2) return {};
    used = 2;
    if (names[0] == "workflow" && names[1] == "input") return known(facts.workflow_input);
    if (names[0] != "steps") return {};
    const Value output = facts.output_of(names[1]);
    return output.is_known() ? known({{"output", output.value}}) : output;
}

Value read_path(const std::string& path, const Facts& facts) {
    const std::vector<std::string> names = split(path, ".");
    std::size_t used = 0;
    Value value = root_of(names, facts, used);
    for (std::size_t i = used; value.is_known() && i < names.size(); ++i) {
        if (!value.value.is_object()) return {};
        const auto found = value.value.find(names[i]);
        if (found == value.value.end()) return {.kind = Value::Kind::Wrong};
        value = known(Json(*found));
    }
    return value;
}

Value ask_has(const std::string& path, const Facts& facts) {
    const Value value = read_path(path, facts);
    if (value.kind == Value::Kind::Unread) return value;
    const auto dot = path.rfind('.');
    // Only the last name may be missing; `steps.NAME` is one.
    const std::string holder = path.substr(0, dot);
    const bool is_step = holder == "steps";
    if (!is_step && !read_path(holder, facts).is_known()) return {.kind = Value::Kind::Wrong};
    return known(value.is_known());
}

Value compare(const std::string& left, const std::string& right, bool is_more, const Facts& facts) {
    const Value a = evaluate(left, facts);
    const Value b = evaluate(right, facts);
    if (!a.is_known()) return a;
    if (!b.is_known()) return b;
    if (!a.value.is_number_integer() || !b.value.is_number_integer())
        return {.kind = Value::Kind::Wrong};
    return known(is_more ? a.value > b.value : a.value < b.value);
}

Value all_of(const std::vector<std::string>& parts, const Facts& facts) {
    Value result = known(true);
    for (const std::string& part : parts) {
        const Value value = evaluate(part, facts);
        if (value.is_known() && value.value == false) return value;
        if (!value.is_known() && result.kind != Value::Kind::Unread) result = value;
    }
    return result;
}

Value choose(const std::string& text, std::size_t question, const Facts& facts) {
    const Value condition = evaluate(text.substr(0, question), facts);
    if (!condition.is_known()) return condition;
    const std::vector<std::string> sides = split(text.substr(question + 3), " : ");
    if (sides.size() != 2 || !condition.value.is_boolean()) return {};
    return evaluate(condition.is_true() ? sides[0] : sides[1], facts);
}

}  // namespace

Value evaluate(const std::string& expression, const Facts& facts) {
    if (const auto at = expression.find(" ? "); at != std::string::npos)
        return choose(expression, at, facts);
    if (const auto parts = split(expression, " && "); parts.size() > 1) return all_of(parts, facts);
    for (const char* comparison : {" > ", " < "}) {
        const auto sides = split(expression, comparison);
        if (sides.size() == 2) return compare(sides[0], sides[1], comparison[1] == '>', facts);
    }
    if (expression.starts_with("has(") && expression.ends_with(")")) {
        const std::string path = expression.substr(4, expression.size() - 5);
        return is_path(path) ? ask_has(path, facts) : Value{};
    }
    if (is_number(expression)) return known(std::stoll(expression));
    if (expression == "null") return known(nullptr);
    if (is_literal(expression)) return known(expression.substr(1, expression.size() - 2));
    return is_path(expression) ? read_path(expression, facts) : Value{};
}

Value render(const Json& text, const Facts& facts) {
    if (text.is_string()) {
        const auto whole = text.get<std::string>();
        if (whole.find('$') == std::string::npos) return known(text);
        const bool is_simple = whole.starts_with("${ ") && whole.ends_with(" }") &&
                               whole.find('$', 1) == std::string::npos;
        return is_simple ? evaluate(whole.substr(3, whole.size() - 5), facts) : Value{};
    }
    if (!text.is_structured()) return known(text);
    Value result = known(text);
    for (auto it = result.value.begin(); it != result.value.end(); ++it) {
        const Value part = render(*it, facts);
        if (!part.is_known() && result.kind != Value::Kind::Unread) result.kind = part.kind;
        if (part.is_known()) *it = part.value;
    }
    return result;
}

}  // namespace ebb::sim
