// Stands in for the expression compiler until it is merged: knows names, not grammar.
#include <set>

#include "core/expression/expression.h"
#include "core/expression/template.h"

namespace ebb {
ExpressionError::ExpressionError(std::string message, std::string source, int line, int column)
    : Error(ErrorCode::InvalidArgument, message), source_(std::move(source)), line_(line), column_(column) {}

struct Expression::Compiled {
    std::string source;
    std::vector<std::string> steps, variables;
};

Expression Expression::compile(std::string_view source, const ExpressionLimits&) {
    auto c = std::make_shared<Compiled>();
    c->source = std::string(source);
    std::set<std::string> steps, variables;
    int line = 1, column = 1;
    bool wants_operand = true;
    for (std::size_t i = 0; i < source.size();) {
        const char ch = source[i];
        const std::size_t begin = i;
        if (ch == '\n') { ++line; column = 1; ++i; continue; }
        if (ch == ' ') { ++column; ++i; continue; }
        if (ch == '"' || ch == '\'') {
            ++i;
            while (i < source.size() && source[i] != ch) ++i;
            if (i == source.size()) throw ExpressionError("The string does not end.", std::string(source), line, column);
            ++i;
            wants_operand = false;
        } else if (std::isalnum(ch) || ch == '_') {
            while (i < source.size() && (std::isalnum(source[i]) || source[i] == '_' || source[i] == '.')) ++i;
            const std::string path(source.substr(begin, i - begin));
            if (!wants_operand) throw ExpressionError("Unexpected \"" + path + "\".", std::string(source), line, column);
            wants_operand = false;
            if (std::isdigit(ch)) {}
            else if (path == "true" || path == "false" || path == "null") {}
            else if (i < source.size() && source[i] == '(') { wants_operand = true; }
            else {
                const std::string root = path.substr(0, path.find('.'));
                variables.insert(root);
                if (root == "steps" && path.size() > 6) steps.insert(path.substr(6, path.find('.', 6) - 6));
            }
        } else {
            if (ch == '@') throw ExpressionError("Unexpected \"@\".", std::string(source), line, column);
            wants_operand = ch != ')' && ch != ']' && ch != '}';
            ++i;
        }
        column += static_cast<int>(i - begin);
    }
    if (wants_operand) throw ExpressionError("The expression ends too early.", std::string(source), line, column);
    c->steps.assign(steps.begin(), steps.end());
    c->variables.assign(variables.begin(), variables.end());
    Expression e;
    e.compiled_ = c;
    return e;
}
Json Expression::evaluate(const Variables& v) const { return evaluate_bool(v); }
bool Expression::evaluate_bool(const Variables&) const { return compiled_->source == "true"; }
const std::string& Expression::source() const { return compiled_->source; }
const std::vector<std::string>& Expression::steps_read() const { return compiled_->steps; }
const std::vector<std::string>& Expression::variables_read() const { return compiled_->variables; }

struct Template::Compiled {
    std::vector<std::string> steps, variables;
    bool constant = true;
};
Template Template::compile_text(std::string_view text, const ExpressionLimits&) {
    auto c = std::make_shared<Compiled>();
    std::size_t at = 0;
    while ((at = text.find("${", at)) != std::string_view::npos) {
        const auto end = text.find('}', at);
        if (end == std::string_view::npos) throw ExpressionError("The ${ has no }.", std::string(text.substr(at)), 1, 1);
        const Expression e = Expression::compile(text.substr(at + 2, end - at - 2));
        c->constant = false;
        for (const auto& s : e.steps_read()) c->steps.push_back(s);
        for (const auto& s : e.variables_read()) c->variables.push_back(s);
        at = end;
    }
    Template t;
    t.compiled_ = c;
    return t;
}
bool Template::is_constant() const { return compiled_->constant; }
const std::vector<std::string>& Template::steps_read() const { return compiled_->steps; }
const std::vector<std::string>& Template::variables_read() const { return compiled_->variables; }
}  // namespace ebb
