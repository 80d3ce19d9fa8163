#include "cli/event_text.h"

#include <algorithm>
#include <array>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "cli/failure_text.h"
#include "cli/text.h"
#include "support/clock.h"
#include "view/payload_json.h"

namespace ebb::cli {

namespace {

/// With the members in the order in which the event has them.
using Document = view::Json;

/// An event's payload, as its words need it.
struct Facts {
    const Document& payload;
    const EventTextOptions& options;

    /// Empty if there is no such member.
    std::string text(const char* member) const {
        const auto found = payload.find(member);
        if (found == payload.end()) return {};
        return one_line(word(*found));
    }

    /// A value as a person would type it.
    std::string value(const Document& json) const {
        return truncate(one_line(view::json_text(json)), options.value_max, options.ellipsis);
    }

    /// `by ann (too late)`.
    std::string author() const {
        const std::string by = text("by");
        const std::string reason = text("reason");
        std::string author = by.empty() ? std::string() : "by " + by;
        if (!reason.empty()) author += fmt::format("{}({})", author.empty() ? "" : " ", reason);
        return author;
    }

    /// `price = 120, note = "x"`.
    std::string values() const {
        const auto found = payload.find("values");
        if (found == payload.end() || !found->is_object()) return {};
        std::vector<std::string> all;
        for (const auto& [name, json] : found->items()) {
            all.push_back(fmt::format("{} = {}", one_line(name), value(json)));
        }
        return fmt::format("{}", fmt::join(all, ", "));
    }

    /// The names of a list.
    std::string names(const char* member) const {
        const auto found = payload.find(member);
        if (found == payload.end() || !found->is_array()) return {};
        std::vector<std::string> all;
        for (const Document& name : *found) {
            all.push_back(one_line(word(name)));
        }
        return fmt::format("{}", fmt::join(all, ", "));
    }

 private:
    /// A string without its quotes.
    static std::string word(const Document& json) {
        return json.is_string() ? view::with_all_digits(json.get<std::string>())
                                : view::json_text(json);
    }
};

void add(std::string& text, const std::string& more, std::string_view between = "; ") {
    if (more.empty()) return;
    if (!text.empty()) text += between;
    text += more;
}

std::string author_text(const Facts& facts) {
    return facts.author();
}

std::string rollback_text(const Facts& facts) {
    const std::string kind = facts.text("kind");
    const std::string savepoint = facts.text("savepoint");
    const std::string aim =
        savepoint.empty() ? "to the start" : fmt::format("to the savepoint \"{}\"", savepoint);
    if (kind == "failure") return "after a failure, " + aim;
    if (kind == "cancel") return "cancelled, " + aim;
    if (kind == "recover") return "an operator takes it back";
    if (kind == "losers") return "undoes the branches that are not needed";
    if (kind == "final") {
        const auto output = facts.payload.find("output");
        const std::string with =
            output == facts.payload.end() ? "" : ", output " + facts.value(*output);
        return "a final condition holds" + with;
    }
    return kind;
}

std::string vote_text(const Facts& facts) {
    std::string text = facts.text("verdict");
    const std::string by = facts.text("by");
    const std::string role = facts.text("role");
    if (!by.empty()) text += " by " + by;
    if (!role.empty()) text += " as " + role;
    const std::string comment = facts.text("comment");
    if (!comment.empty()) text += ": " + comment;
    return text;
}

std::string due_text(const Facts& facts) {
    const auto due = parse_time(facts.text("due"));
    return due ? "until " + absolute_time(*due, facts.options.times) : std::string();
}

std::string branch_text(const Facts& facts) {
    const std::string branch = facts.text("branch");
    return branch.empty() ? std::string() : fmt::format("takes \"{}\"", branch);
}

std::string stop_text(const Facts& facts) {
    const std::string outcome = facts.text("outcome");
    std::string text;
    if (outcome == "unknown") {
        text = "it may have taken effect";
    } else if (!outcome.empty()) {
        text = "outcome: " + outcome;
    }
    const auto error = facts.payload.find("error");
    if (error != facts.payload.end()) add(text, failure_text(view::json_text(*error)));
    return text;
}

std::string loss_text(const Facts& facts) {
    const bool is_undo = facts.text("of") == "compensation";
    return is_undo ? "the worker of the compensation stopped" : "its worker stopped";
}

std::string recovery_text(const Facts& facts) {
    std::string text = "to the event " + facts.text("to");
    add(text, facts.author(), " ");
    add(text,
        facts.text("then") == "stop" ? "then an operator must act"
                                     : "then all conditions are checked");
    return text;
}

std::string migration_text(const Facts& facts) {
    std::string text =
        fmt::format("from version {} to version {}", facts.text("from"), facts.text("to"));
    add(text, facts.values());
    return text;
}

std::string move_text(const Facts& facts) {
    std::string text = facts.author();
    const std::string from = facts.text("from");
    if (!from.empty()) add(text, "it was " + from);
    return text;
}

std::string write_text(const Facts& facts) {
    std::string text = facts.values();
    add(text, facts.author());
    if (facts.payload.contains("repair")) add(text, "repair");
    const auto list = [&](const char* member, std::string_view verb) {
        const std::string names = facts.names(member);
        if (!names.empty()) add(text, fmt::format("{} {}", verb, names));
    };
    list("fired", "fires");
    list("armed", "arms");
    list("disarmed", "disarms");
    list("overwrote", "overwrote");
    const std::string final_condition = facts.text("final");
    if (!final_condition.empty()) add(text, "final condition " + final_condition);
    return text.empty() ? "changes nothing" : text;
}

std::string arrival_text(const Facts& facts) {
    std::string text = "from a snapshot";
    add(text, facts.author(), " ");
    return text;
}

std::string values_text(const Facts& facts) {
    return facts.values();
}

struct Words {
    std::string_view type;
    std::string (*say)(const Facts& facts);
};

constexpr std::array kWords{
    Words{"rollback_started", rollback_text},
    Words{"decision_made", vote_text},
    Words{"cancel_requested", author_text},
    Words{"abort_requested", author_text},
    Words{"paused", author_text},
    Words{"unpaused", author_text},
    Words{"requeued", author_text},
    Words{"compensation_skipped", author_text},
    Words{"recover_requested", recovery_text},
    Words{"timer_started", due_text},
    Words{"branch_taken", branch_text},
    Words{"step_stopped", stop_text},
    Words{"compensation_stopped", stop_text},
    Words{"lease_lost", loss_text},
    Words{"migrated", migration_text},
    Words{"moved", move_text},
    Words{"arrived", arrival_text},
    Words{"attributes_written", write_text},
    Words{"state_restored", values_text},
};

/// Those whose payload is a failure.
constexpr std::array<std::string_view, 5> kFailures{
    "step_failed",
    "step_retried",
    "compensation_failed",
    "compensation_retried",
    "exception_raised",
};

}  // namespace

std::optional<std::string> event_text(const HistoryEntry& event, const EventTextOptions& options) {
    const Document payload = view::payload_json(event.payload);
    const bool is_withheld =
        payload.is_object() && (payload.contains("$hidden") || payload.contains("$truncated"));
    if (is_withheld) return std::nullopt;
    if (std::find(kFailures.begin(), kFailures.end(), event.type) != kFailures.end()) {
        return failure_text(event.payload);
    }
    const auto words = std::find_if(kWords.begin(), kWords.end(), [&](const Words& each) {
        return each.type == event.type;
    });
    if (words == kWords.end()) return std::nullopt;
    // A lost lease of a step has no payload.
    const Document none = Document::object();
    const bool has_members = payload.is_object();
    if (!has_members && event.type != "lease_lost") return std::nullopt;
    return words->say({.payload = has_members ? payload : none, .options = options});
}

}  // namespace ebb::cli
