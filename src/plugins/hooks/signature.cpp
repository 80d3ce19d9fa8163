#include "plugins/hooks/signature.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include <fmt/format.h>

#include "engine/webhook.h"
#include "support/secret_bytes.h"
#include "support/sha256.h"

namespace ebb::hooks {

namespace {

constexpr std::size_t kDeliveryBytesMax = 256;
constexpr std::string_view kNotSigned = "The signature is not that of the hook's secret.";

Verdict refused(std::string_view why) {
    return {.problem = std::string(why)};
}

/// Takes the same time whichever of the secrets it is.
template <class Expected>
bool is_signed(
    const std::vector<std::string>& secrets, std::string_view signature, Expected expected
) {
    bool is_equal = false;
    for (const std::string& secret : secrets) {
        is_equal |= is_equal_in_constant_time(expected(secret), signature);
    }
    return is_equal;
}

/// Calls `each` for every part of a list; true if one call is.
template <class Each>
bool any_part(std::string_view list, char separator, Each each) {
    bool has_any = false;
    while (!list.empty()) {
        const std::size_t end = std::min(list.find(separator), list.size());
        has_any |= each(list.substr(0, end));
        list.remove_prefix(std::min(end + 1, list.size()));
    }
    return has_any;
}

/// What is wrong with a time in seconds; empty if nothing.
std::string time_problem(std::string_view text, TimePoint now) {
    std::int64_t seconds = 0;
    const char* last = text.data() + text.size();
    const auto [end, error] = std::from_chars(text.data(), last, seconds);
    constexpr std::int64_t kSecondsMax = std::int64_t{1} << 40;
    if (error != std::errc() || end != last || seconds < 0 || seconds > kSecondsMax) {
        return "The time of the signature is not a number of seconds.";
    }
    const Duration age = now.time_since_epoch() - std::chrono::seconds(seconds);
    if (age <= kSignatureAge && -age <= kSignatureAge) return {};
    return "The time of the signature is more than 5 minutes from the server's.";
}

/// Accepted, with the delivery that the sender names, or else the digest of the body.
Verdict accepted(std::string_view delivery, const HookRequest& request) {
    if (delivery.empty()) return {.delivery = "sha256:" + sha256_hex(request.body)};
    if (delivery.size() > kDeliveryBytesMax) {
        return refused(
            fmt::format("The id of the delivery has more than {} bytes.", kDeliveryBytesMax)
        );
    }
    return {.delivery = std::string(delivery)};
}

Verdict verify_standard(
    const std::vector<std::string>& secrets, const HookRequest& request, TimePoint now
) {
    const std::string_view id = request.header("webhook-id");
    const std::string_view stamp = request.header("webhook-timestamp");
    const std::string_view signatures = request.header("webhook-signature");
    if (id.empty() || stamp.empty() || signatures.empty()) {
        return refused("The headers webhook-id, webhook-timestamp and webhook-signature are needed."
        );
    }
    const std::string text = fmt::format("{}.{}.{}", id, stamp, request.body);
    const bool is_genuine = any_part(signatures, ' ', [&](std::string_view part) {
        return is_signed(secrets, part, [&](const std::string& secret) {
            return "v1," + base64(hmac_sha256(engine::webhook_key(secret), text));
        });
    });
    if (!is_genuine) return refused(kNotSigned);
    if (std::string why = time_problem(stamp, now); !why.empty()) return refused(why);
    return accepted(id, request);
}

Verdict verify_stripe(
    const std::vector<std::string>& secrets, const HookRequest& request, TimePoint now
) {
    const std::string_view header = request.header("Stripe-Signature");
    if (header.empty()) return refused("The header Stripe-Signature is needed.");
    std::string_view stamp;
    any_part(header, ',', [&](std::string_view part) {
        if (part.starts_with("t=")) stamp = part.substr(2);
        return false;
    });
    const std::string text = fmt::format("{}.{}", stamp, request.body);
    const bool is_genuine = any_part(header, ',', [&](std::string_view part) {
        return is_signed(secrets, part, [&](const std::string& secret) {
            return "v1=" + hex_of(hmac_sha256(secret, text));
        });
    });
    if (!is_genuine) return refused(kNotSigned);
    if (std::string why = time_problem(stamp, now); !why.empty()) return refused(why);
    // Other members of the event may change from one attempt to the next.
    const Json event = Json::parse(request.body, nullptr, false);
    const Json id = event.is_object() ? event.value("id", Json()) : Json();
    return accepted(id.is_string() ? id.get<std::string>() : std::string(), request);
}

/// `github` and `hmac`: of the body alone.
Verdict verify_body(
    const Hook& hook, const std::vector<std::string>& secrets, const HookRequest& request
) {
    const std::string name = signature_header(hook);
    const std::string_view signature = request.header(name);
    if (signature.empty()) return refused(fmt::format("The header {} is needed.", name));
    const bool is_github = hook.scheme == "github";
    const std::string prefix = is_github ? "sha256=" : hook.prefix;
    const bool is_genuine = is_signed(secrets, signature, [&](const std::string& secret) {
        const std::string mac = hmac_sha256(secret, request.body);
        return prefix + (hook.encoding == "base64" && !is_github ? base64(mac) : hex_of(mac));
    });
    if (!is_genuine) return refused(kNotSigned);
    return accepted(is_github ? request.header("X-GitHub-Delivery") : "", request);
}

Verdict verify_token(
    const Hook& hook, const std::vector<std::string>& secrets, const HookRequest& request
) {
    const std::string name = signature_header(hook);
    std::string_view token = request.header(name);
    constexpr std::string_view kBearer = "Bearer ";
    if (hook.header.empty()) {
        if (!token.starts_with(kBearer)) return refused("A bearer token is needed.");
        token.remove_prefix(kBearer.size());
    }
    // Digests, so that not even the length of the secret can be measured.
    const std::string given = sha256_hex(token);
    const bool is_genuine =
        is_signed(secrets, given, [](const std::string& secret) { return sha256_hex(secret); });
    if (!is_genuine) return refused(fmt::format("The header {} has another token.", name));
    return accepted({}, request);
}

}  // namespace

std::string signature_header(const Hook& hook) {
    if (hook.scheme == "standard") return "webhook-signature";
    if (hook.scheme == "github") return "X-Hub-Signature-256";
    if (hook.scheme == "stripe") return "Stripe-Signature";
    if (!hook.header.empty()) return hook.header;
    return hook.scheme == "token" ? "Authorization" : "X-Signature";
}

Verdict verify(
    const Hook& hook,
    const std::vector<std::string>& secrets,
    const HookRequest& request,
    TimePoint now
) {
    if (hook.scheme == "standard") return verify_standard(secrets, request, now);
    if (hook.scheme == "stripe") return verify_stripe(secrets, request, now);
    if (hook.scheme == "token") return verify_token(hook, secrets, request);
    return verify_body(hook, secrets, request);
}

}  // namespace ebb::hooks
