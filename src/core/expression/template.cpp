#include "core/expression/template.h"

#include <algorithm>
#include <utility>
#include <variant>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/expression/lexer.h"
#include "core/expression/source.h"
#include "support/json.h"

namespace ebb {

namespace {

using expression::TokenKind;

/// Where the brace closes for a reader who knows only quotes and braces: the compiler will say
/// what is wrong in between.
std::size_t rough_end(std::string_view text, std::size_t from) {
    int depth = 0;
    char quote = '\0';
    for (std::size_t at = from; at < text.size(); ++at) {
        const char c = text[at];
        if (quote != '\0') {
            if (c == '\\') ++at;
            if (c == quote) quote = '\0';
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

/// How deep a template may be nested, as with payloads.
constexpr int kTemplateDepthMax = 64;

/// A string of a template: plain texts and expressions in turn.
struct Text {
    std::vector<std::variant<std::string, Expression>> parts;
    std::string path;
};

struct Node;
using Elements = std::vector<Node>;
using Members = std::vector<std::pair<std::string, Node>>;

/// A part of a template. What has no expression inside is one constant.
struct Node {
    std::variant<Json, Text, Elements, Members> content;

    bool is_constant() const { return std::holds_alternative<Json>(content); }
};

/// The same error with the place inside of the template.
[[noreturn]] void throw_in_template(const std::string& path, const ExpressionError& error) {
    if (path.empty()) throw error;
    throw ExpressionError(
        fmt::format("At {} of the template: {}", path, error.message()),
        error.source(),
        error.line(),
        error.column()
    );
}

class Compiler {
 public:
    explicit Compiler(const ExpressionLimits& limits) : limits_(limits) {}

    Node compile(const Json& value, const std::string& path, int depth) {
        if (depth > kTemplateDepthMax) {
            throw ExpressionError(
                fmt::format("A template is nested at most {} deep.", kTemplateDepthMax), "", 1, 1
            );
        }
        if (value.is_string()) return text(value.get_ref<const std::string&>(), path);
        if (value.is_array()) return array(value, path, depth);
        if (value.is_object()) return object(value, path, depth);
        return {value};
    }

    std::vector<std::string> steps_read;
    std::vector<std::string> attempts_read;
    std::vector<std::string> variables_read;

 private:
    Node text(std::string_view text, const std::string& path) {
        Text result{.parts = {}, .path = path};
        std::string plain;
        while (!text.empty()) {
            const std::size_t dollar = std::min(text.find('$'), text.size());
            plain += text.substr(0, dollar);
            text.remove_prefix(dollar);
            if (text.starts_with("$${")) {
                plain += "${";
                text.remove_prefix(3);
            } else if (text.starts_with("${")) {
                const std::size_t end = find_end(text, path);
                if (!plain.empty()) result.parts.emplace_back(std::exchange(plain, {}));
                result.parts.emplace_back(expression(text.substr(2, end - 2), path));
                text.remove_prefix(end + 1);
            } else if (!text.empty()) {
                plain += text.front();
                text.remove_prefix(1);
            }
        }
        if (result.parts.empty()) return {Json(std::move(plain))};
        if (!plain.empty()) result.parts.emplace_back(std::move(plain));
        return {std::move(result)};
    }

    static std::size_t find_end(std::string_view text, const std::string& path) {
        const std::size_t end = expression_end(text, 2);
        if (end != std::string_view::npos) return end;
        const ExpressionError error(
            "\"${\" has no closing \"}\"; write \"$${\" for the characters themselves.",
            expression::shortened(text, 200),
            1,
            1
        );
        throw_in_template(path, error);
    }

    Expression expression(std::string_view source, const std::string& path) {
        try {
            Expression compiled = Expression::compile(source, limits_);
            append(steps_read, compiled.steps_read());
            append(attempts_read, compiled.attempts_read());
            append(variables_read, compiled.variables_read());
            return compiled;
        } catch (const ExpressionError& error) {
            throw_in_template(path, error);
        }
    }

    Node array(const Json& value, const std::string& path, int depth) {
        Elements elements;
        for (std::size_t i = 0; i < value.size(); ++i) {
            elements.push_back(compile(value[i], fmt::format("{}/{}", path, i), depth + 1));
        }
        const bool is_constant = std::all_of(elements.begin(), elements.end(), [](const Node& n) {
            return n.is_constant();
        });
        if (!is_constant) return {std::move(elements)};
        Json constant = Json::array();
        for (Node& element : elements) {
            constant.push_back(std::move(std::get<Json>(element.content)));
        }
        return {std::move(constant)};
    }

    Node object(const Json& value, const std::string& path, int depth) {
        Members members;
        for (const auto& [key, item] : value.items()) {
            members.emplace_back(key, compile(item, path + "/" + escaped(key), depth + 1));
        }
        const bool is_constant = std::all_of(members.begin(), members.end(), [](const auto& m) {
            return m.second.is_constant();
        });
        if (!is_constant) return {std::move(members)};
        Json constant = Json::object();
        for (auto& [key, item] : members) {
            constant.emplace(key, std::move(std::get<Json>(item.content)));
        }
        return {std::move(constant)};
    }

    /// A key as a part of a JSON pointer.
    static std::string escaped(std::string_view key) {
        std::string text;
        for (const char c : key) {
            if (c == '~') {
                text += "~0";
            } else if (c == '/') {
                text += "~1";
            } else {
                text += c;
            }
        }
        return text;
    }

    static void append(std::vector<std::string>& to, const std::vector<std::string>& names) {
        to.insert(to.end(), names.begin(), names.end());
        std::sort(to.begin(), to.end());
        to.erase(std::unique(to.begin(), to.end()), to.end());
    }

    const ExpressionLimits& limits_;
};

class Renderer {
 public:
    Renderer(const Variables& variables, const ExpressionLimits& limits)
        : variables_(variables), limits_(limits) {}

    Json operator()(const Json& constant) const { return constant; }

    Json operator()(const Text& text) const {
        try {
            if (text.parts.size() > 1) return joined(text);
            return std::get<Expression>(text.parts.front()).evaluate(variables_);
        } catch (const ExpressionError& error) {
            throw_in_template(text.path, error);
        }
    }

    Json operator()(const Elements& elements) const {
        Json array = Json::array();
        for (const Node& element : elements) array.push_back(std::visit(*this, element.content));
        return array;
    }

    Json operator()(const Members& members) const {
        Json object = Json::object();
        for (const auto& [key, item] : members)
            object.emplace(key, std::visit(*this, item.content));
        return object;
    }

 private:
    Json joined(const Text& text) const {
        std::string result;
        for (const auto& part : text.parts) {
            if (const auto* plain = std::get_if<std::string>(&part)) {
                result += *plain;
            } else {
                const Json value = std::get<Expression>(part).evaluate(variables_);
                result += value.is_string() ? value.get_ref<const std::string&>() : to_text(value);
            }
            if (result.size() > limits_.result_bytes_max) {
                throw ExpressionError(
                    fmt::format(
                        "The text is larger than {} bytes, which result_bytes_max allows.",
                        limits_.result_bytes_max
                    ),
                    "",
                    1,
                    1
                );
            }
        }
        return result;
    }

    const Variables& variables_;
    const ExpressionLimits& limits_;
};

}  // namespace

std::size_t expression_end(std::string_view text, std::size_t from) {
    int depth = 0;
    try {
        expression::Lexer lexer(text, from);
        while (true) {
            const TokenKind kind = lexer.next().kind;
            if (kind == TokenKind::End) return std::string_view::npos;
            if (kind == TokenKind::LeftBrace) ++depth;
            if (kind == TokenKind::RightBrace && depth-- == 0) return lexer.position() - 1;
        }
    } catch (const ExpressionError&) {
        return rough_end(text, from);
    }
}

struct Template::Compiled {
    Node root;
    ExpressionLimits limits;
    std::vector<std::string> steps_read;
    std::vector<std::string> attempts_read;
    std::vector<std::string> variables_read;
};

Template Template::compile(const Json& value, const ExpressionLimits& limits) {
    auto compiled = std::make_shared<Compiled>();
    compiled->limits = limits;
    Compiler compiler(limits);
    compiled->root = compiler.compile(value, "", 0);
    compiled->steps_read = std::move(compiler.steps_read);
    compiled->attempts_read = std::move(compiler.attempts_read);
    compiled->variables_read = std::move(compiler.variables_read);
    Template result;
    result.compiled_ = std::move(compiled);
    return result;
}

Template Template::compile_text(std::string_view text, const ExpressionLimits& limits) {
    return compile(Json(std::string(text)), limits);
}

Json Template::render(const Variables& variables) const {
    return std::visit(Renderer(variables, compiled_->limits), compiled_->root.content);
}

bool Template::is_constant() const {
    return compiled_->root.is_constant();
}

const std::vector<std::string>& Template::steps_read() const {
    return compiled_->steps_read;
}

const std::vector<std::string>& Template::attempts_read() const {
    return compiled_->attempts_read;
}

const std::vector<std::string>& Template::variables_read() const {
    return compiled_->variables_read;
}

}  // namespace ebb
