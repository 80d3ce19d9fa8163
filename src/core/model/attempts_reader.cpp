#include <charconv>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "core/model/check.h"
#include "core/model/reader.h"

namespace ebb::model {

namespace {

/// `20%` as 0.2.
std::optional<double> parse_percent(std::string_view text) {
    if (!text.ends_with('%')) return std::nullopt;
    text.remove_suffix(1);
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return value / 100;
}

double read_jitter(const MapReader& map, double otherwise) {
    const Document* value = map.find("jitter");
    if (value == nullptr) return otherwise;
    if (value->type == Document::Type::Number) return value->scalar.get<double>();
    if (value->is_text()) {
        if (const auto jitter = parse_percent(value->text())) return *jitter;
    }
    map.note(
        "wrong_type",
        "jitter",
        fmt::format(
            "\"jitter\" must be a number from 0 to 1 or a share such as 20%, but here is {}.",
            describe(*value)
        )
    );
    return otherwise;
}

Backoff read_backoff(const MapReader& outer, const Backoff& otherwise) {
    const Document* value = outer.find("backoff");
    if (value == nullptr) return otherwise;
    if (!value->is_map()) {
        outer.note(
            "wrong_type",
            "backoff",
            fmt::format(
                "\"backoff\" must be a map such as {{strategy: fixed, initial: 1s}}, but here is "
                "{}.",
                describe(*value)
            )
        );
        return otherwise;
    }
    const std::string path = outer.path_of("backoff");
    const MapReader map(outer.problems(), *value, path);
    map.allow_only({"strategy", "initial", "factor", "max", "jitter"});
    return {
        .strategy = map.word("strategy", kStrategyWords, otherwise.strategy),
        .initial = map.duration("initial", otherwise.initial),
        .factor = map.number("factor", otherwise.factor),
        .max = map.duration("max", otherwise.max),
        .jitter = read_jitter(map, otherwise.jitter),
    };
}

int read_max_attempts(const MapReader& map, int otherwise) {
    if (!map.has("max_retries")) return map.small_integer("max_attempts", otherwise);
    if (map.has("max_attempts")) {
        map.note(
            "attempts_and_retries",
            "max_retries",
            "\"max_attempts\" and \"max_retries\" say the same thing: keep one of them "
            "(max_attempts = max_retries + 1)."
        );
        return otherwise;
    }
    const int retries = map.small_integer("max_retries", otherwise - 1);
    if (retries < 0 || retries >= DefinitionLimits::kAttemptsMax) {
        map.note(
            "out_of_range",
            "max_retries",
            fmt::format(
                "\"max_retries\" is {}; it must be from 0 to {}.",
                retries,
                DefinitionLimits::kAttemptsMax - 1
            )
        );
        return otherwise;
    }
    return retries + 1;
}

}  // namespace

AttemptPolicy read_attempts(const MapReader& map, const AttemptPolicy& otherwise) {
    return {
        .max_attempts = read_max_attempts(map, otherwise.max_attempts),
        .backoff = read_backoff(map, otherwise.backoff),
        .timeout = map.duration("timeout", otherwise.timeout),
        .step_timeout = map.duration("step_timeout", otherwise.step_timeout),
    };
}

StepDefaults read_defaults(const MapReader& root) {
    const Document* value = root.find("defaults");
    if (value == nullptr) return {};
    if (!value->is_map()) {
        root.note(
            "wrong_type",
            "defaults",
            fmt::format("\"defaults\" must be a map, but here is {}.", describe(*value))
        );
        return {};
    }
    const std::string path = root.path_of("defaults");
    const MapReader map(root.problems(), *value, path);
    map.allow_only({"max_attempts", "max_retries", "backoff", "timeout", "step_timeout", "queue"});
    const std::size_t before = root.problems().all().size();
    StepDefaults defaults{.attempts = read_attempts(map, {}), .queue = map.text("queue")};
    // Judged here, once, and not at every step that they would apply to.
    Findings findings;
    check_attempts(findings, path, defaults.attempts);
    check_queue(findings, path, defaults.queue);
    for (const Finding& finding : findings.all()) {
        const Document* at = locate(*value, finding.diagnostic.path.substr(path.size())).document;
        root.problems().add(
            finding.diagnostic.code, finding.diagnostic.path, *at, finding.diagnostic.message
        );
    }
    return root.problems().all().size() == before ? defaults : StepDefaults{};
}

}  // namespace ebb::model
