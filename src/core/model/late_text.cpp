#include "core/model/late_text.h"

#include <algorithm>

#include "core/expression/expression.h"
#include "core/expression/template.h"

namespace ebb::model {

bool is_late_expression(std::string_view source) {
    try {
        const Expression expression = Expression::compile(std::string(source));
        const auto& read = expression.variables_read();
        return !read.empty() && std::all_of(read.begin(), read.end(), [](const std::string& name) {
            return name == "globals" || name == "secrets" || name == "payload";
        });
    } catch (const ExpressionError&) {
        return false;
    }
}

namespace {

/// Is there a late expression at `at`, behind its `${`? `end` is where it ends.
bool is_late_at(std::string_view text, std::size_t at, std::size_t& end) {
    end = expression_end(text, at);
    return end != std::string_view::npos && is_late_expression(text.substr(at, end - at));
}

}  // namespace

std::string protect_late(std::string_view text) {
    std::string result;
    for (std::size_t at = 0; at < text.size();) {
        std::size_t end = 0;
        if (text.substr(at).starts_with("$${")) {
            result += "$${";
            at += 3;
        } else if (text.substr(at).starts_with("${") && is_late_at(text, at + 2, end)) {
            result.append("$").append(text.substr(at, end + 1 - at));
            at = end + 1;
        } else {
            result += text[at++];
        }
    }
    return result;
}

std::string expose_late(std::string_view text) {
    std::string result;
    for (std::size_t at = 0; at < text.size();) {
        std::size_t end = 0;
        if (text.substr(at).starts_with("$${") && is_late_at(text, at + 3, end)) {
            result += text.substr(at + 1, end - at);
            at = end + 1;
        } else if (text.substr(at).starts_with("$${")) {
            result += "$${";
            at += 3;
        } else {
            result += text[at++];
        }
    }
    return result;
}

namespace {

void note_late(std::vector<LateText>& found, const Json& value, const Json::json_pointer& at) {
    if (value.is_string()) {
        const auto& text = value.get_ref<const std::string&>();
        if (expose_late(text) != text) found.push_back({at, text});
    } else if (value.is_array()) {
        for (std::size_t i = 0; i < value.size(); ++i) note_late(found, value[i], at / i);
    } else if (value.is_object()) {
        for (const auto& [key, part] : value.items()) note_late(found, part, at / key);
    }
}

}  // namespace

std::vector<LateText> late_texts(const Payload& input) {
    std::vector<LateText> found;
    if (input.find("$${") == std::string::npos) return found;
    const Json value = Json::parse(input, nullptr, false);
    note_late(found, value, Json::json_pointer());
    return found;
}

}  // namespace ebb::model
