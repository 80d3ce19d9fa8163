#include "sim/reading_mail.h"

#include <map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "sim/reading.h"

namespace ebb::sim {

namespace {

/// The mail that an event was made by; empty: none.
std::string mail_of(const HistoryEntry& entry) {
    const bool is_request = entry.type == "signal_received" || entry.type == "decision_made" ||
                            entry.type == "cancel_requested" || entry.type == "attributes_written";
    if (!is_request) return {};
    const Json payload = Json::parse(entry.payload, nullptr, false);
    if (!payload.is_object()) return {};
    for (const char* member : {"by", "mail"}) {
        const auto found = payload.find(member);
        if (found == payload.end() || !found->is_string()) continue;
        if (auto name = found->get<std::string>(); name.starts_with("mail-")) return name;
    }
    return {};
}

bool has_ended(const Evidence& evidence) {
    return evidence.status == "completed" || evidence.status == "failed" ||
           evidence.status == "cancelled" || evidence.status == "aborted";
}

}  // namespace

void check_mail(const Evidence& evidence) {
    std::map<std::string, int> decided;
    for (const HistoryEntry& entry : evidence.history) {
        if (const std::string name = mail_of(entry); !name.empty()) ++decided[name];
    }
    std::map<std::string, const Asked*> sent;
    for (const Asked& asked : evidence.requests) {
        if (!asked.mail.empty()) sent[asked.mail] = &asked;
    }
    for (const auto& [name, times] : decided) {
        if (times > 1) throw Wrong{fmt::format("{} was decided {} times", name, times)};
        if (!sent.contains(name)) throw Wrong{name + " was decided and never sent"};
    }
    if (!evidence.is_at_rest || has_ended(evidence)) return;
    for (const auto& [name, asked] : sent) {
        // Nothing refuses a cancellation, so a lost one is seen.
        const bool is_lost =
            asked->is_sent && asked->type == "cancel_requested" && evidence.status == "running";
        if (is_lost) throw Wrong{name + " asked for the cancellation, and the instance runs"};
    }
}

}  // namespace ebb::sim
