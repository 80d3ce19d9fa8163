#include "core/expression/expression.h"

#include <mutex>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "core/expression/ast.h"

namespace ebb {

ExpressionError::ExpressionError(std::string message, std::string source, int line, int column)
    : Error(
          ErrorCode::InvalidArgument,
          source.empty()
              ? message
              : fmt::format("{}:{}: {} In: {}", line, column, message, source.substr(0, 200))
      ),
      source_(std::move(source)),
      line_(line),
      column_(column) {}

struct Expression::Compiled {
    std::string source;
    ExpressionLimits limits;
    expression::Parsed parsed;
};

namespace {

/// Compiled expressions by source, so that a definition that is loaded again costs nothing. When
/// full it starts afresh: a process uses few definitions, and a fixed bound beats a clever one.
constexpr std::size_t kCachedMax = 10'000;

bool are_default(const ExpressionLimits& limits) {
    const ExpressionLimits usual;
    return limits.source_bytes_max == usual.source_bytes_max &&
           limits.depth_max == usual.depth_max && limits.steps_max == usual.steps_max &&
           limits.result_bytes_max == usual.result_bytes_max;
}

template <typename Compiled>
class Cache {
 public:
    std::shared_ptr<const Compiled> find(const std::string& source) {
        const std::lock_guard lock(mutex_);
        const auto found = entries_.find(source);
        return found == entries_.end() ? nullptr : found->second;
    }

    void keep(std::shared_ptr<const Compiled> compiled) {
        const std::lock_guard lock(mutex_);
        if (entries_.size() >= kCachedMax) entries_.clear();
        entries_.emplace(compiled->source, std::move(compiled));
    }

 private:
    std::mutex mutex_;
    std::unordered_map<std::string, std::shared_ptr<const Compiled>> entries_;
};

}  // namespace

Expression Expression::compile(std::string_view source, const ExpressionLimits& limits) {
    static Cache<Compiled> cache;
    Expression expression;
    const std::string text(source);
    if (are_default(limits)) expression.compiled_ = cache.find(text);
    if (expression.compiled_) return expression;
    if (source.size() > limits.source_bytes_max) {
        throw ExpressionError(
            fmt::format(
                "The expression has {} bytes; at most {} are allowed.",
                source.size(),
                limits.source_bytes_max
            ),
            text,
            1,
            1
        );
    }
    auto compiled = std::make_shared<Compiled>();
    compiled->source = text;
    compiled->limits = limits;
    compiled->parsed = expression::parse(compiled->source, limits);
    expression.compiled_ = compiled;
    if (are_default(limits)) cache.keep(std::move(compiled));
    return expression;
}

Json Expression::evaluate(const Variables& variables) const {
    const Compiled& c = *compiled_;
    return to_json(expression::evaluate(*c.parsed.root, c.parsed, c.source, variables, c.limits));
}

bool Expression::evaluate_bool(const Variables& variables) const {
    const Compiled& c = *compiled_;
    const expression::Value value =
        expression::evaluate(*c.parsed.root, c.parsed, c.source, variables, c.limits);
    if (const bool* flag = value.as<bool>()) return *flag;
    throw ExpressionError(
        fmt::format(
            "The expression must yield a bool, but yields {}.", expression::type_name(value)
        ),
        c.source,
        1,
        1
    );
}

const std::string& Expression::source() const {
    return compiled_->source;
}

const std::vector<std::string>& Expression::steps_read() const {
    return compiled_->parsed.steps_read;
}

const std::vector<std::string>& Expression::variables_read() const {
    return compiled_->parsed.variables_read;
}

}  // namespace ebb
