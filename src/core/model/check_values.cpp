#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "core/model/check.h"
#include "core/model/words.h"
#include "support/clock.h"
#include "support/json.h"

namespace ebb::model {

namespace {

bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

bool is_name_character(char c) {
    return is_letter(c) || (c >= '0' && c <= '9') || c == '.' || c == '-';
}

bool is_name(std::string_view name) {
    return is_letter(name.front()) && std::all_of(name.begin(), name.end(), is_name_character);
}

/// The name that was perhaps meant.
std::string to_name(std::string_view text) {
    std::string name(text);
    std::replace_if(name.begin(), name.end(), [](char c) { return !is_name_character(c); }, '_');
    return is_letter(name.front()) ? name : '_' + name;
}

bool is_utf8(std::string_view text) {
    const bool is_ascii = std::all_of(text.begin(), text.end(), [](char c) {
        return static_cast<unsigned char>(c) < 0x80;
    });
    return is_ascii || clean_text(text, text.size()) == text;
}

bool is_name_length_wrong(
    Findings& findings, const std::string& path, std::string_view what, std::string_view name
) {
    if (name.empty()) {
        findings.note("invalid_name", path, fmt::format("The name of the {} is empty.", what));
        return true;
    }
    if (name.size() <= DefinitionLimits::kNameBytesMax) return false;
    findings.note(
        "name_too_long",
        path,
        fmt::format(
            "The name of the {} has {} bytes; at most {} are allowed.",
            what,
            name.size(),
            DefinitionLimits::kNameBytesMax
        )
    );
    return true;
}

void check_factor(Findings& findings, const std::string& path, const Backoff& backoff) {
    if (backoff.factor >= 1 && backoff.factor <= DefinitionLimits::kFactorMax) return;
    findings.note(
        "out_of_range",
        path + "/factor",
        fmt::format(
            "\"factor\" is {}; it must be from 1 to {}.",
            backoff.factor,
            DefinitionLimits::kFactorMax
        )
    );
}

void check_backoff(Findings& findings, const std::string& path, const Backoff& backoff) {
    const std::size_t before = findings.all().size();
    check_duration(findings, path + "/initial", backoff.initial);
    check_factor(findings, path, backoff);
    check_duration(findings, path + "/max", backoff.max);
    if (findings.all().size() == before && backoff.max < backoff.initial) {
        findings.note(
            "out_of_range",
            path + "/max",
            fmt::format(
                "\"max\" is {}, which is less than \"initial\" ({}): no delay could be as long as "
                "the first one.",
                format_duration(backoff.max),
                format_duration(backoff.initial)
            )
        );
    }
    if (!(backoff.jitter >= 0 && backoff.jitter <= 1)) {
        findings.note(
            "out_of_range",
            path + "/jitter",
            fmt::format(
                "\"jitter\" is {}; it must be from 0 to 1, or from 0% to 100%.", backoff.jitter
            )
        );
    }
}

}  // namespace

void check_name(
    Findings& findings, const std::string& path, std::string_view what, std::string_view name
) {
    if (is_name_length_wrong(findings, path, what, name)) return;
    if (!is_name(name)) {
        findings.note(
            "invalid_name",
            path,
            fmt::format(
                "{} cannot be the name of a {}: it may have letters, digits, _, - and . (no "
                "spaces), and begins with a letter or _. How about {}?",
                in_quotes(name),
                what,
                in_quotes(to_name(name))
            )
        );
    }
}

void check_outside_name(
    Findings& findings, const std::string& path, std::string_view what, std::string_view name
) {
    if (is_name_length_wrong(findings, path, what, name)) return;
    const bool is_printable = std::all_of(name.begin(), name.end(), [](char c) {
        return static_cast<unsigned char>(c) > 0x20 && c != 0x7f;
    });
    if (is_printable && is_utf8(name)) return;
    findings.note(
        "invalid_name",
        path,
        fmt::format(
            "{} cannot be the name of a {}: it must not contain spaces or control characters.",
            in_quotes(name),
            what
        )
    );
}

void check_text(
    Findings& findings, const std::string& path, std::string_view text, std::size_t bytes_max
) {
    if (text.size() > bytes_max) {
        findings.note(
            "text_too_long",
            path,
            fmt::format("The text has {} bytes; at most {} are allowed.", text.size(), bytes_max)
        );
    } else if (!is_utf8(text) || text.find('\0') != std::string_view::npos) {
        findings.note("invalid_text", path, "The text must be UTF-8 without the character U+0000.");
    }
}

void check_duration(Findings& findings, const std::string& path, Duration duration) {
    if (duration >= Duration::zero() && duration <= DefinitionLimits::kDurationMax) return;
    findings.note(
        "out_of_range",
        path,
        fmt::format(
            "The duration {} is out of range: allowed is 0 to a hundred years ({}).",
            format_duration(duration),
            format_duration(DefinitionLimits::kDurationMax)
        )
    );
}

void check_attempts(Findings& findings, const std::string& path, const AttemptPolicy& attempts) {
    if (attempts.max_attempts < 1 || attempts.max_attempts > DefinitionLimits::kAttemptsMax) {
        findings.note(
            "out_of_range",
            path + "/max_attempts",
            fmt::format(
                "\"max_attempts\" is {}; it counts the first call too and must be from 1 to {}.",
                attempts.max_attempts,
                DefinitionLimits::kAttemptsMax
            )
        );
    }
    check_backoff(findings, path + "/backoff", attempts.backoff);
    check_duration(findings, path + "/timeout", attempts.timeout);
    check_duration(findings, path + "/step_timeout", attempts.step_timeout);
}

void check_queue(Findings& findings, const std::string& path, const std::string& queue) {
    if (!queue.empty()) check_name(findings, path + "/queue", "queue", queue);
}

}  // namespace ebb::model
