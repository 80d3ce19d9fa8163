#include "handlers/output.h"

#include <fmt/format.h>

#include <ebb/error.h>
#include <ebb/handler.h>

#include "support/json.h"

namespace ebb {

namespace {

constexpr std::size_t kExcerptBytesMax = 100;

[[noreturn]] void throw_invalid_output(const Answer& answer, std::string_view why) {
    throw HandlerFailure(
        fmt::format("{} {}", answer.what, why), {.code = "invalid_output", .is_permanent = true}
    );
}

/// What is wrong with the answer, found in a copy without secrets: the sentence quotes a part.
std::string what_is_wrong(const Answer& answer) {
    try {
        const std::string text = answer.redactor.text(answer.text);
        check_payload(text, "It", {.payload_bytes_max = answer.bytes_max});
    } catch (const Error& error) {
        return error.what();
    }
    return "It is not valid JSON.";
}

Payload check_json(const Answer& answer) {
    try {
        check_payload(answer.text, "It", {.payload_bytes_max = answer.bytes_max});
    } catch (const Error&) {
        throw_invalid_output(
            answer,
            fmt::format(
                "succeeded, but its answer cannot be the step's output. {} It begins with \"{}\". "
                "An answer that is not JSON needs output: text or output: none.",
                what_is_wrong(answer),
                answer.redactor.excerpt(answer.text, kExcerptBytesMax)
            )
        );
    }
    return Payload(answer.text);
}

Payload quote_text(const Answer& answer) {
    std::string_view text = answer.text;
    if (text.ends_with('\n')) text.remove_suffix(1);
    if (text.ends_with('\r')) text.remove_suffix(1);
    if (text.find('\0') != std::string_view::npos) {
        throw_invalid_output(
            answer, "succeeded, but its answer contains a zero byte, which a text cannot contain."
        );
    }
    try {
        return Json(std::string(text)).dump();
    } catch (const Json::exception&) {
        throw_invalid_output(
            answer,
            "succeeded, but its answer is not UTF-8. Encode binary data, for example with base64."
        );
    }
}

}  // namespace

Payload make_output(OutputMode mode, const Answer& answer, const Payload& input) {
    const bool is_empty = answer.text.find_first_not_of(" \t\r\n") == std::string_view::npos;
    if (mode == OutputMode::None || (mode == OutputMode::Document && is_empty)) return input;
    return mode == OutputMode::Document ? check_json(answer) : quote_text(answer);
}

Redactor redactor_of(const CallVariables::Environment& variables) {
    std::vector<std::string> secrets;
    for (const auto& [name, value] : variables) secrets.push_back(value);
    return Redactor(secrets);
}

HandlerFailure redacted(const HandlerFailure& failure, const Redactor& redactor) {
    HandlerFailure::Options options = failure.options();
    options.details = redactor.payload(options.details);
    return HandlerFailure(redactor.text(failure.what()), std::move(options));
}

}  // namespace ebb
