#include "server/auth/sealed_rows.h"

#include <initializer_list>
#include <string>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace ebb::server {

namespace {

using nlohmann::json;

/// Seals the texts with these names in a document. False: nothing has to be written.
bool seal_members(
    std::string& document,
    std::initializer_list<const char*> names,
    const std::string& place,
    const SecretBox* box
) {
    json members = json::parse(document, nullptr, false);
    if (!members.is_object()) return false;
    bool is_changed = false;
    for (const char* name : names) {
        const auto found = members.find(name);
        if (found == members.end() || !found->is_string()) continue;
        const auto text = found->get<std::string>();
        if (box == nullptr) {
            if (is_sealed(text)) throw_no_key(place);
            continue;
        }
        if (box->is_current(text)) continue;
        *found = box->seal(open_secret(box, text, place), place);
        is_changed = true;
    }
    if (is_changed) document = members.dump();
    return is_changed;
}

int seal_kind(
    AdminStore& admin, const std::string& kind, const std::string& prefix, const SecretBox* box
) {
    int sealed = 0;
    for (AdminRow& row : admin.list(kind)) {
        const std::string place = prefix.empty() ? "signing key" : prefix + row.name;
        if (!seal_members(row.document, {"secret"}, place, box)) continue;
        if (admin.change(row)) ++sealed;
    }
    return sealed;
}

}  // namespace

int seal_rows(Store& store, AdminStore& admin, const SecretBox* box) {
    int sealed = seal_kind(admin, "key", "", box) + seal_kind(admin, "hook", "hook ", box);
    for (Subscription& row : store.subscriptions()) {
        const std::string place = "webhook " + row.name;
        if (!seal_members(row.document, {"secret", "old_secret"}, place, box)) continue;
        store.put_subscription(row);
        ++sealed;
    }
    return sealed;
}

}  // namespace ebb::server
