#include "plugins/hooks/hook.h"

#include <fmt/format.h>

#include <ebb/error.h>

#include "plugins/hooks/check.h"
#include "support/json.h"
#include "support/secret_bytes.h"

namespace ebb::hooks {

namespace {

constexpr std::string_view kKind = "hook";
constexpr std::size_t kKeyBytes = 32;

/// Only a signature by Standard Webhooks has a form for its secret.
std::string make_hook_secret(const Hook& hook) {
    const std::string bytes = secret_bytes(kKeyBytes);
    return hook.scheme == "standard" ? "whsec_" + base64(bytes) : hex_of(bytes);
}

Json settings_json(const Hook& hook) {
    Json json{
        {"scheme", hook.scheme},
        {"workflow", hook.workflow},
        {"input", hook.input},
        {"enabled", hook.is_enabled},
    };
    const auto add = [&](const char* name, const std::string& text) {
        json[name] = text.empty() ? Json(nullptr) : Json(text);
    };
    add("signal", hook.signal);
    add("key", hook.key);
    add("when", hook.when);
    add("header", hook.header);
    add("prefix", hook.prefix);
    json["encoding"] = hook.scheme == "hmac" ? Json(hook.encoding) : Json(nullptr);
    if (!hook.secret.variable.empty()) json["secret"] = {{"env", hook.secret.variable}};
    if (!hook.secret.file.empty()) json["secret"] = {{"file", hook.secret.file}};
    return json;
}

AdminRow row_of(const Hook& hook) {
    Json json = settings_json(hook);
    if (!hook.secret.text.empty()) json["secret"] = hook.secret.text;
    return {.kind = std::string(kKind), .name = hook.name, .document = to_text(json)};
}

std::string place_of(const std::string& name) {
    return "hook " + name;
}

Hook hook_of(const AdminRow& row) {
    try {
        return read_hook(row.name, Json::parse(row.document));
    } catch (const std::exception&) {
        throw Error(
            ErrorCode::CorruptState,
            fmt::format("The document of the hook \"{}\" cannot be read.", row.name)
        );
    }
}

/// Sealed. Without the key it would be the only one in clear text.
std::string stored_text(AdminStore& admin, const Hook& hook, const SecretBox* box) {
    const std::string& text = hook.secret.text;
    if (box == nullptr && !text.empty() && !is_sealed(text)) {
        for (const AdminRow& row : admin.list(kKind)) {
            if (is_sealed(hook_of(row).secret.text)) throw_no_key(place_of(row.name));
        }
    }
    return stored_secret(box, text, place_of(hook.name));
}

}  // namespace

Json hook_json(const Hook& hook) {
    Json json = settings_json(hook);
    json["name"] = hook.name;
    if (!json.contains("secret")) json["secret"] = nullptr;
    return json;
}

std::vector<Hook> list_hooks(AdminStore& admin) {
    std::vector<Hook> hooks;
    for (const AdminRow& row : admin.list(kKind)) hooks.push_back(hook_of(row));
    return hooks;
}

std::optional<Hook> find_hook(AdminStore& admin, const std::string& name) {
    const auto row = admin.find(kKind, name);
    if (!row) return std::nullopt;
    return hook_of(*row);
}

std::string open_text(const Hook& hook, const SecretBox* box) {
    return open_secret(box, hook.secret.text, place_of(hook.name));
}

Json put_hook(AdminStore& admin, Hook hook, const SecretBox* box) {
    const auto known = find_hook(admin, hook.name);
    if (!known && admin.list(kKind).size() >= Hook::kCountMax) {
        throw Error(
            ErrorCode::LimitExceeded,
            fmt::format("There are already {} hooks, which is the limit.", Hook::kCountMax)
        );
    }
    if (is_sealed(hook.secret.text)) {
        throw Error(ErrorCode::InvalidArgument, "secret: \"sealed:\" is what only a store has.");
    }
    if (hook.secret.is_empty() && known) {
        hook.secret = known->secret;
        if (box != nullptr) hook.secret.text = open_text(hook, box);
    }
    const bool is_new_secret = hook.secret.is_empty();
    if (is_new_secret) hook.secret.text = make_hook_secret(hook);
    // The one that it keeps may not fit a new scheme.
    check_hook(hook);
    Hook stored = hook;
    stored.secret.text = stored_text(admin, hook, box);
    admin.put(row_of(stored));
    Json json = hook_json(hook);
    if (is_new_secret) json["secret"] = hook.secret.text;
    return json;
}

bool remove_hook(AdminStore& admin, const std::string& name) {
    return admin.remove(kKind, name);
}

}  // namespace ebb::hooks
