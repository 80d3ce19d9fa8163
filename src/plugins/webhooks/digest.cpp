#include "plugins/webhooks/digest.h"

#include <optional>

#include <nlohmann/json.hpp>

#include "support/json.h"

namespace ebb::webhooks {

namespace {

constexpr std::string_view kKind = "digest";
/// Rows of groups that do not fail any more go.
constexpr Duration kKept = std::chrono::hours(24);

struct Mark {
    TimePoint at{};
    std::string by{};
    bool is_sent = false;
};

AdminRow row_of(const std::string& group, const Mark& mark) {
    const Json json{
        {"at", mark.at.time_since_epoch().count()}, {"by", mark.by}, {"sent", mark.is_sent}
    };
    return {
        .kind = std::string(kKind),
        .name = group,
        .document = to_text(json),
        .expires_at = mark.at + kKept,
    };
}

std::optional<Mark> find(AdminStore& admin, const std::string& group) {
    const auto row = admin.find(kKind, group);
    if (!row) return std::nullopt;
    const Json json = Json::parse(row->document, nullptr, false);
    if (!json.is_object()) return Mark{};
    return Mark{
        .at = TimePoint(Duration(json.value("at", std::int64_t{0}))),
        .by = json.value("by", std::string()),
        .is_sent = json.value("sent", false),
    };
}

}  // namespace

Digests::Turn Digests::take(
    const std::string& group, const std::string& delivery, TimePoint event, TimePoint now
) {
    using enum Turn::Kind;
    const Mark mine{.at = now, .by = delivery};
    const auto known = find(admin_, group);
    if (!known) {
        if (admin_.add(row_of(group, mine))) return {Send};
        return {Wait, kPause};
    }
    const bool is_mine = known->by == delivery;
    if (is_mine && !known->is_sent) return {Send};
    if (is_mine || (known->is_sent && event + kSlack <= known->at)) return {Covered};
    if (now < known->at + kPause) return {Wait, known->at + kPause - now};
    // One of those whose time has come gets the turn.
    const bool has_turn = admin_.remove(kKind, group) && admin_.add(row_of(group, mine));
    return has_turn ? Turn{Send} : Turn{Wait, kPause};
}

void Digests::sent(const std::string& group, const std::string& delivery) {
    auto known = find(admin_, group);
    if (!known || known->by != delivery) return;
    known->is_sent = true;
    admin_.put(row_of(group, *known));
}

void Digests::failed(const std::string& group, const std::string& delivery) {
    const auto known = find(admin_, group);
    if (known && known->by == delivery && !known->is_sent) admin_.remove(kKind, group);
}

}  // namespace ebb::webhooks
