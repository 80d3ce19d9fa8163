#include "core/expression/template.h"

#include <algorithm>
#include <set>
#include <utility>
#include <variant>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "support/json.h"

namespace ebb {

std::size_t expression_end(std::string_view text, std::size_t from) {
    int depth = 0;
    char quote = '\0';
    for (std::size_t at = from; at < text.size(); ++at) {
        const char c = text[at];
        if (quote != '\0') {
            if (c == '\\') {
                ++at;
            } else if (c == quote) {
                quote = '\0';
            }
        } else if (c == '"' || c == '\'') {
            quote = c;
        } else if (c == '{') {
            ++depth;
        } else if (c == '}' && depth-- == 0) {
            return at;
        }
    }
    return std::string_view::npos;
}

namespace {

/// A template's string: texts and expressions in turn.
using Parts = std::vector<std::variant<std::string, Expression>>;

Parts parse_text(std::string_view text, const std::string& path, const ExpressionLimits& limits) {
    Parts parts;
    std::string plain;
    for (std::size_t at = 0; at < text.size();) {
        if (text.compare(at, 3, "$${") == 0) {
            plain += "${";
            at += 3;
        } else if (text.compare(at, 2, "${") == 0) {
            const std::size_t end = expression_end(text, at + 2);
            if (end == std::string_view::npos) {
                throw ExpressionError(
                    fmt::format(
                        "{}: \"${{\" has no closing \"}}\"; write \"$${{\" for the text itself.",
                        path
                    ),
                    std::string(text),
                    1,
                    static_cast<int>(at) + 1
                );
            }
            if (!plain.empty()) parts.emplace_back(std::exchange(plain, {}));
            parts.emplace_back(Expression::compile(text.substr(at + 2, end - at - 2), limits));
            at = end + 1;
        } else {
            plain += text[at++];
        }
    }
    if (!plain.empty() || parts.empty()) parts.emplace_back(std::move(plain));
    return parts;
}

bool is_plain(const Parts& parts) {
    return parts.size() == 1 && parts.front().index() == 0;
}

Json render_parts(const Parts& parts, const Variables& variables, const ExpressionLimits& limits) {
    if (parts.size() == 1) {
        if (const auto* expression = std::get_if<Expression>(&parts.front()))
            return expression->evaluate(variables);
        return std::get<std::string>(parts.front());
    }
    std::string text;
    for (const auto& part : parts) {
        if (const auto* plain = std::get_if<std::string>(&part)) {
            text += *plain;
        } else {
            const Json value = std::get<Expression>(part).evaluate(variables);
            text += value.is_string() ? value.get_ref<const std::string&>() : to_text(value);
        }
        if (text.size() > limits.result_bytes_max) {
            throw ExpressionError(
                fmt::format("The text is larger than {} bytes.", limits.result_bytes_max),
                text.substr(0, 60),
                1,
                1
            );
        }
    }
    return text;
}

}  // namespace

/// The template's value with the places of its strings that contain expressions, by JSON pointer.
struct Template::Compiled {
    Json value;
    std::vector<std::pair<Json::json_pointer, Parts>> places;
    ExpressionLimits limits;
    std::vector<std::string> steps_read;
    std::vector<std::string> variables_read;

    void add(const Json& json, const Json::json_pointer& path) {
        if (json.is_string()) {
            Parts parts = parse_text(
                json.get_ref<const std::string&>(), path.empty() ? "/" : path.to_string(), limits
            );
            places.emplace_back(path, std::move(parts));
        } else if (json.is_array()) {
            for (std::size_t i = 0; i < json.size(); ++i) add(json[i], path / i);
        } else if (json.is_object()) {
            for (const auto& [key, item] : json.items()) add(item, path / key);
        }
    }

    /// Plain texts are put into the value once, so that only expressions are left to do.
    void settle() {
        std::set<std::string> steps;
        std::set<std::string> names;
        for (const auto& [path, parts] : places) {
            if (is_plain(parts)) value[path] = std::get<std::string>(parts.front());
            for (const auto& part : parts) {
                const auto* expression = std::get_if<Expression>(&part);
                if (expression == nullptr) continue;
                steps.insert(expression->steps_read().begin(), expression->steps_read().end());
                names.insert(
                    expression->variables_read().begin(), expression->variables_read().end()
                );
            }
        }
        std::erase_if(places, [](const auto& place) { return is_plain(place.second); });
        steps_read.assign(steps.begin(), steps.end());
        variables_read.assign(names.begin(), names.end());
    }
};

Template Template::compile(const Json& value, const ExpressionLimits& limits) {
    auto compiled = std::make_shared<Compiled>();
    compiled->value = value;
    compiled->limits = limits;
    compiled->add(value, Json::json_pointer());
    compiled->settle();
    Template result;
    result.compiled_ = std::move(compiled);
    return result;
}

Template Template::compile_text(std::string_view text, const ExpressionLimits& limits) {
    return compile(Json(std::string(text)), limits);
}

Json Template::render(const Variables& variables) const {
    Json value = compiled_->value;
    for (const auto& [path, parts] : compiled_->places) {
        value[path] = render_parts(parts, variables, compiled_->limits);
    }
    return value;
}

bool Template::is_constant() const {
    return compiled_->places.empty();
}

const std::vector<std::string>& Template::steps_read() const {
    return compiled_->steps_read;
}

const std::vector<std::string>& Template::variables_read() const {
    return compiled_->variables_read;
}

}  // namespace ebb
