#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include <ebb/json.h>

#include "store/admin_store.h"
#include "support/secret_box.h"

// What a hook is: a URL of this server at which another program reports an event, which starts or
// signals an instance.

namespace ebb::hooks {

/// Where the secret of a hook is. It is never printed, except when it is made.
struct HookSecret {
    std::string text{};      ///< in the document of the hook; it may be sealed
    std::string variable{};  ///< or in this environment variable of the server
    std::string file{};      ///< or in this file of the server's folder of secrets

    bool is_empty() const { return text.empty() && variable.empty() && file.empty(); }

    bool operator==(const HookSecret&) const = default;
};

/// A hook as a developer describes it.
struct Hook {
    static constexpr std::size_t kCountMax = 256;
    static constexpr std::size_t kNameBytesMax = 64;
    static constexpr std::size_t kTextBytesMax = 256;
    static constexpr std::size_t kSecretBytesMin = 16;
    static constexpr std::size_t kSecretBytesMax = 1'024;
    /// Of one hook, so that a rotation needs no moment at which two programs change.
    static constexpr std::size_t kSecretsMax = 4;
    static constexpr std::size_t kTemplateBytesMax = std::size_t{64} << 10;
    /// Environment variables that a hook may name begin with this.
    static constexpr std::string_view kVariablePrefix = "EBB_HOOK_";

    std::string name;
    std::string scheme;            ///< `standard`, `github`, `stripe`, `hmac` or `token`
    std::string header{};          ///< of `hmac` and `token`: which one has the signature
    std::string prefix{};          ///< of `hmac`: what precedes the signature, such as `sha256=`
    std::string encoding = "hex";  ///< of `hmac`: `hex` or `base64`
    HookSecret secret{};
    std::string workflow{};
    std::string signal{};  ///< not empty: the event is this signal to an instance
    std::string key{};     ///< a template: of the instance that is started or signaled
    std::string when{};    ///< an expression: whether the event is for us
    Json input = nullptr;  ///< a template: the input, or the payload of the signal; null = the body
    bool is_enabled = true;

    bool operator==(const Hook&) const = default;
};

/// Reads `scheme`, `secret`, `workflow`, `signal`, `key`, `when`, `input`, `header`, `prefix`,
/// `encoding` and `enabled` of a JSON object. Throws InvalidArgument for anything else, and for
/// what is wrong in it: what, where, and what is allowed.
Hook read_hook(const std::string& name, const Json& settings);

/// What may be shown: everything but a secret that is in the document.
Json hook_json(const Hook& hook);

// What a developer does, through the API or on the database.

std::vector<Hook> list_hooks(AdminStore& admin);
/// Empty if there is none. Throws CorruptState if it cannot be read.
std::optional<Hook> find_hook(AdminStore& admin, const std::string& name);
/// Adds or replaces it. Without a secret of its own it keeps the one that it has, or gets a new
/// one. Returns hook_json, with `secret` as a text if that was made now.
/// `box` seals a new secret; null = it is stored in clear text, which is refused if there are
/// sealed ones.
Json put_hook(AdminStore& admin, Hook hook, const SecretBox* box = nullptr);
/// The secret that is in the document, as it was before it was sealed. Throws Error.
std::string open_text(const Hook& hook, const SecretBox* box);
/// False: there is none.
bool remove_hook(AdminStore& admin, const std::string& name);

}  // namespace ebb::hooks
