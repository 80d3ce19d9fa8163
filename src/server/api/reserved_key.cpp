#include "server/api/reserved_key.h"

#include <algorithm>

#include <fmt/format.h>

#include "support/sha256.h"

namespace ebb::server {

namespace {

constexpr std::string_view kHeader = "Idempotency-Key";
constexpr std::size_t kBytesMax = 128;
/// More than one workflow can have the key only if requests came at the same time.
constexpr int kRowsMax = 10;

std::string key_of(const std::string& key, std::size_t number) {
    return number == 1 ? key : fmt::format("{}.{}", key, number);
}

}  // namespace

std::string idempotency_key(const Call& call) {
    const std::string_view key = call.request.header(kHeader);
    const std::size_t count = call.request.count(kHeader);
    if (count == 0) return {};
    if (count == 1 && !key.empty() && key.size() <= kBytesMax) return std::string(key);
    throw Problem(
        "invalid_argument",
        fmt::format("{} must be one header of 1 to {} bytes.", kHeader, kBytesMax)
    );
}

std::string reserved_key(const Call& call) {
    const std::string key = idempotency_key(call);
    if (key.empty()) return {};
    return "~" + sha256_hex(fmt::format("{}\n{}", call.principal.name, key)).substr(0, 32);
}

std::vector<std::string> reserved_keys(const std::string& key, std::size_t count) {
    std::vector<std::string> keys;
    if (key.empty()) return keys;
    keys.reserve(count);
    for (std::size_t number = 1; number <= count; ++number) keys.push_back(key_of(key, number));
    return keys;
}

void check_same_request(
    Store& store, const std::string& key, const std::string& workflow, std::size_t count
) {
    const auto refuse = [](std::string_view what) {
        throw Problem(
            "idempotency_key_reused", fmt::format("The Idempotency-Key was used for {}.", what)
        );
    };
    const auto rows = store.list({.statuses = {}, .key = key, .limit = kRowsMax});
    const bool is_used = std::any_of(rows.begin(), rows.end(), [&](const InstanceRow& row) {
        return row.workflow == workflow;
    });
    if (!rows.empty() && !is_used) {
        refuse(fmt::format("an instance of the workflow \"{}\"", rows.front().workflow));
    }
    const auto exists = [&](std::size_t number) {
        return store.find_key(workflow, key_of(key, number)).has_value();
    };
    const bool is_whole = count == 1 || exists(count) == is_used;
    if (is_whole && !(is_used && exists(count + 1))) return;
    refuse("another number of instances");
}

}  // namespace ebb::server
