#include "server/remote/task_token.h"

#include <nlohmann/json.hpp>

#include <ebb/error.h>

#include "server/auth/secret.h"

namespace ebb::server {

namespace {

using nlohmann::json;

constexpr std::string_view kTaskPurpose = "task";
constexpr std::string_view kSessionPurpose = "worker-session";
constexpr std::string_view kKeyKind = "key";
constexpr std::string_view kKeyName = "signing";
constexpr std::string_view kKeyPlace = "signing key";

}  // namespace

std::string sign_task(const Signer& signer, const RemoteTask& task) {
    const AttemptRef& ref = task.attempt;
    const json text = {
        task.instance.to_string(), ref.token, ref.visit, ref.attempt, ref.pauses, task.worker
    };
    return signer.sign(kTaskPurpose, text.dump());
}

std::optional<RemoteTask> read_task(const Signer& signer, std::string_view token) {
    const auto text = signer.verify(kTaskPurpose, token);
    if (!text) return std::nullopt;
    const json parts = json::parse(*text);
    const auto instance = InstanceId::parse(parts.at(0).get<std::string>());
    if (!instance) return std::nullopt;
    return RemoteTask{
        .instance = *instance,
        .attempt =
            {.token = parts.at(1).get<TokenId>(),
             .visit = parts.at(2).get<Visit>(),
             .attempt = parts.at(3).get<std::int32_t>(),
             .pauses = parts.at(4).get<std::int32_t>()},
        .worker = parts.at(5).get<std::string>(),
    };
}

std::string sign_session(const Signer& signer, const RemoteSession& session) {
    const json text = {
        {"worker", session.worker},
        {"nonce", session.nonce},
        {"principal", session.principal},
        {"handlers", session.handlers},
        {"queues", session.queues},
        {"slots", session.slots},
        {"lease", session.lease.count()},
    };
    return signer.sign(kSessionPurpose, text.dump());
}

std::optional<RemoteSession> read_session(const Signer& signer, std::string_view text) {
    const auto plain = signer.verify(kSessionPurpose, text);
    if (!plain) return std::nullopt;
    const json parts = json::parse(*plain);
    return RemoteSession{
        .worker = parts.at("worker").get<std::string>(),
        .nonce = parts.at("nonce").get<std::string>(),
        .principal = parts.at("principal").get<std::string>(),
        .handlers = parts.at("handlers").get<std::vector<std::string>>(),
        .queues = parts.at("queues").get<std::vector<std::string>>(),
        .slots = parts.at("slots").get<int>(),
        .lease = Duration(parts.at("lease").get<Duration::rep>()),
    };
}

Signer load_signer(AdminStore& admin, const SecretBox* box) {
    // Of all servers that start at the same time, the first one decides.
    auto row = admin.find(kKeyKind, kKeyName);
    if (!row) {
        const json document = {{"secret", stored_secret(box, make_secret(), kKeyPlace)}};
        admin.add({std::string(kKeyKind), std::string(kKeyName), document.dump()});
        row = admin.find(kKeyKind, kKeyName);
    }
    if (!row) throw Error(ErrorCode::StoreError, "The signing key cannot be stored.");
    const auto secret = json::parse(row->document).at("secret").get<std::string>();
    return Signer(open_secret(box, secret, kKeyPlace));
}

}  // namespace ebb::server
