#include "support/pattern.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <ebb/error.h>

namespace ebb {

namespace {

constexpr std::int64_t kProgramBytesMax = std::int64_t{1} << 20;

RE2::Options options() {
    RE2::Options options;
    options.set_log_errors(false);
    options.set_max_mem(kProgramBytesMax);
    return options;
}

/// RE2 writes \uXXXX as \x{XXXX} and (?<name> as (?P<name>.
std::string from_ecma_script(std::string_view text) {
    std::string translated;
    for (std::size_t at = 0; at < text.size(); ++at) {
        const std::string_view rest = text.substr(at);
        if (rest.starts_with("\\u") && rest.size() >= 6) {
            translated += fmt::format("\\x{{{}}}", rest.substr(2, 4));
            at += 5;
        } else if (rest.front() == '\\') {
            translated += rest.substr(0, 2);
            ++at;
        } else if (rest.starts_with("(?<") && rest.size() > 3 && rest[3] != '=' && rest[3] != '!') {
            translated += "(?P<";
            at += 2;
        } else {
            translated += rest.front();
        }
    }
    return translated;
}

std::string reason_of(const RE2& expression) {
    switch (expression.error_code()) {
        case RE2::ErrorBadPerlOp:
            return fmt::format(
                "\"{}\" is not supported (look-around and back-references are not)",
                expression.error_arg()
            );
        case RE2::ErrorPatternTooLarge:
            return "it is too large";
        default:
            return expression.error();
    }
}

}  // namespace

struct Pattern::Compiled {
    explicit Compiled(const std::string& text) : expression(text, options()) {}

    RE2 expression;
};

Pattern::Pattern(std::string_view text, Dialect dialect) {
    if (text.size() > kBytesMax) {
        throw Error(
            ErrorCode::InvalidArgument,
            fmt::format("it has {} bytes; at most {} are allowed", text.size(), kBytesMax)
        );
    }
    compiled_ = std::make_unique<Compiled>(
        dialect == Dialect::EcmaScript ? from_ecma_script(text) : std::string(text)
    );
    const RE2& expression = compiled_->expression;
    if (!expression.ok()) throw Error(ErrorCode::InvalidArgument, reason_of(expression));
}

Pattern::~Pattern() = default;
Pattern::Pattern(Pattern&&) noexcept = default;
Pattern& Pattern::operator=(Pattern&&) noexcept = default;

bool Pattern::is_found_in(std::string_view text) const {
    return RE2::PartialMatch({text.data(), text.size()}, compiled_->expression);
}

}  // namespace ebb
