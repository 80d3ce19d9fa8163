#include "core/predicate/predicate.h"

#include <utility>

#include <fmt/format.h>

#include "core/expression/source.h"
#include "core/predicate/code.h"
#include "core/predicate/evaluator.h"
#include "core/predicate/parser.h"

namespace ebb {

namespace predicate {

void throw_at(const std::string& source, std::size_t offset, std::string message) {
    const expression::Place place = expression::place_of(source, offset);
    throw PredicateError(std::move(message), source, place.line, place.column);
}

}  // namespace predicate

namespace {

std::string located(const std::string& message, std::string_view source, int line, int column) {
    for (int i = 1; i < line; ++i) source.remove_prefix(source.find('\n') + 1);
    source = source.substr(0, source.find('\n'));
    constexpr std::size_t kShownMax = 120;
    return fmt::format(
        "{} (Line {}, column {} of: {})",
        message,
        line,
        column,
        expression::shortened(source, kShownMax)
    );
}

void check_source(const std::string& source) {
    if (source.size() > PredicateLimits::kSourceBytesMax) {
        predicate::throw_at(
            source,
            0,
            fmt::format(
                "The condition has {} bytes; {} are allowed.",
                source.size(),
                PredicateLimits::kSourceBytesMax
            )
        );
    }
    std::size_t invalid = expression::find_invalid_utf8(source);
    if (invalid == std::string_view::npos) invalid = source.find('\0');
    if (invalid != std::string::npos) {
        throw PredicateError("The condition is not valid UTF-8 text.", "", 1, 1);
    }
}

}  // namespace

PredicateError::PredicateError(std::string message, const std::string& source, int line, int column)
    : Error(
          ErrorCode::InvalidArgument,
          source.empty() ? message : located(message, source, line, column)
      ),
      message_(std::move(message)),
      line_(line),
      column_(column) {}

Predicate Predicate::compile(std::string_view source, std::span<const predicate::Column> columns) {
    auto code = std::make_shared<predicate::Code>();
    code->source = source;
    check_source(code->source);
    code->columns.assign(columns.begin(), columns.end());
    code->reads.assign(columns.size(), false);
    predicate::Parser(*code).run();
    Predicate predicate;
    predicate.code_ = std::move(code);
    return predicate;
}

std::optional<bool> Predicate::evaluate(std::span<const predicate::Datum> row) const {
    predicate::Evaluator evaluator(*code_, row);
    return evaluator.truth(code_->root);
}

const std::string& Predicate::source() const {
    return code_->source;
}

const std::vector<bool>& Predicate::reads() const {
    return code_->reads;
}

}  // namespace ebb
