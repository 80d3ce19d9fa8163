#include "core/expression/expression.h"

#include <utility>

#include <fmt/format.h>

#include "core/expression/cache.h"
#include "core/expression/code.h"
#include "core/expression/evaluator.h"
#include "core/expression/json_result.h"
#include "core/expression/parser.h"
#include "core/expression/source.h"

namespace ebb {

namespace {

/// The message with its place and the line it is in.
std::string located(const std::string& message, std::string_view source, int line, int column) {
    if (source.empty()) return message;
    for (int i = 1; i < line; ++i) source.remove_prefix(source.find('\n') + 1);
    source = source.substr(0, source.find('\n'));
    return fmt::format(
        "{} (Line {}, column {} of: {})", message, line, column, expression::shortened(source, 120)
    );
}

}  // namespace

ExpressionError::ExpressionError(
    std::string message, std::string source, int line, int column, std::string meant
)
    : Error(ErrorCode::InvalidArgument, located(message, source, line, column)),
      message_(std::move(message)),
      source_(std::move(source)),
      line_(line),
      column_(column),
      meant_(std::move(meant)) {}

struct Expression::Compiled : expression::Code {};

Expression Expression::compile(std::string_view source, const ExpressionLimits& limits) {
    expression::CodeCache& cache = expression::process_cache();
    std::shared_ptr<const expression::Code> code = cache.find(source, limits);
    if (!code) {
        const auto compiled = std::make_shared<Compiled>();
        compiled->source = source;
        compiled->limits = limits;
        expression::Parser(*compiled).run();
        code = cache.keep(compiled);
    }
    Expression result;
    result.compiled_ = std::static_pointer_cast<const Compiled>(std::move(code));
    return result;
}

Json Expression::evaluate(const Variables& variables) const {
    expression::Evaluator evaluator(*compiled_, variables);
    const expression::Value value = evaluator.run();
    return expression::to_json(evaluator.context(), value);
}

bool Expression::evaluate_bool(const Variables& variables) const {
    expression::Evaluator evaluator(*compiled_, variables);
    const expression::Value value = evaluator.run();
    if (value.is(expression::Kind::Bool)) return value.boolean;
    if (value.is(expression::Kind::Failure)) evaluator.context().throw_failure(*value.failure);
    expression::throw_at(
        compiled_->source,
        0,
        fmt::format("A bool is needed here, but the expression yields {}.", a_type(value))
    );
}

const std::string& Expression::source() const {
    return compiled_->source;
}

const std::vector<std::string>& Expression::steps_read() const {
    return compiled_->steps_read;
}

const std::vector<std::string>& Expression::attempts_read() const {
    return compiled_->attempts_read;
}

const std::vector<std::string>& Expression::variables_read() const {
    return compiled_->variables_read;
}

const expression::Code& Expression::code() const {
    return *compiled_;
}

}  // namespace ebb
