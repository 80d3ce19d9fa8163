#include "lsp/features/node_text.h"

#include <algorithm>
#include <variant>

#include <fmt/format.h>

#include "source/lint.h"
#include "support/clock.h"

namespace ebb::lsp {

namespace {

constexpr std::size_t kTextBytesMax = 2'000;

std::string limit_text(Duration duration) {
    return duration == Duration::zero() ? "none" : format_duration(duration);
}

/// ` ± 20 %`: delays are spread, so that many instances do not try again at the same time.
std::string jitter_text(const AttemptPolicy& attempts) {
    const bool has_jitter = attempts.max_attempts > 1 && attempts.backoff.jitter > 0;
    return has_jitter ? fmt::format(" ± {:.3g} %", attempts.backoff.jitter * 100) : std::string();
}

/// All attempts and the delays between them; zero if nothing limits them.
Duration longest(const AttemptPolicy& attempts) {
    if (attempts.timeout == Duration::zero()) return attempts.step_timeout;
    double total = 0;
    for (int retry = 1; retry < attempts.max_attempts; ++retry) {
        total += static_cast<double>(source::delay_before(attempts.backoff, retry).count());
    }
    total *= 1 + attempts.backoff.jitter;
    total += static_cast<double>(attempts.timeout.count()) * attempts.max_attempts;
    const auto most = static_cast<double>(
        attempts.step_timeout == Duration::zero() ? DefinitionLimits::kDurationMax.count()
                                                  : attempts.step_timeout.count()
    );
    return Duration(static_cast<Duration::rep>(std::min(total, most)));
}

}  // namespace

std::string_view beginning(std::string_view text, std::size_t bytes_max) {
    if (text.size() <= bytes_max) return text;
    while (bytes_max > 0 && (static_cast<unsigned char>(text[bytes_max]) & 0xC0U) == 0x80U) {
        --bytes_max;
    }
    return text.substr(0, bytes_max);
}

std::string fenced(std::string_view text) {
    std::string clean(beginning(text, kTextBytesMax));
    std::replace(clean.begin(), clean.end(), '`', '\'');
    return fmt::format("```\n{}\n```", clean);
}

std::string delays_text(const AttemptPolicy& attempts) {
    constexpr int kShownMax = 5;
    std::string text;
    for (int retry = 1; retry < attempts.max_attempts; ++retry) {
        if (retry > kShownMax) return text + ", ...";
        text += fmt::format(
            "{}{}",
            text.empty() ? "" : ", ",
            format_duration(source::delay_before(attempts.backoff, retry))
        );
    }
    return text;
}

std::string attempts_text(const AttemptPolicy& attempts, const Origin& origin) {
    const std::string delays = delays_text(attempts);
    std::string text = fmt::format(
        "attempts: {}{}\ndelays between attempts: {}{}\ntimeout of an attempt: {}{}\n"
        "timeout of the step: {}{}",
        attempts.max_attempts,
        origin("max_attempts"),
        delays.empty() ? "none" : delays,
        jitter_text(attempts),
        limit_text(attempts.timeout),
        origin("timeout"),
        limit_text(attempts.step_timeout),
        origin("step_timeout")
    );
    const Duration most = longest(attempts);
    if (most > Duration::zero()) text += "\nall attempts together: at most " + limit_text(most);
    return text;
}

std::string node_text(const Node& node, const Origin& origin, const std::string& registered) {
    std::string text = fmt::format("{} {}", kind_name(node), node.name);
    if (!node.description.empty()) text += "\n" + node.description;
    const auto* step = std::get_if<Step>(&node.kind);
    if (step == nullptr) return text;
    text += fmt::format(
        "\nhandler: {}\n{}{}",
        step->handler.empty() ? node.name : step->handler,
        attempts_text(step->attempts, origin),
        registered
    );
    if (step->compensate) text += "\nundone by: " + step->compensate->handler;
    if (!step->queue.empty()) text += "\nqueue: " + step->queue;
    return text;
}

}  // namespace ebb::lsp
