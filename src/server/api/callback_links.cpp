#include "server/api/callback_links.h"

#include <algorithm>

#include <fmt/format.h>

#include "server/remote/task_token.h"
#include "store/stored_definition.h"

namespace ebb::server {

std::optional<CallbackPlace> find_callback_place(Store& store, const InstanceId& id) {
    auto row = store.load(id);
    if (!row) return std::nullopt;
    const auto kept = store.find_workflow(row->workflow, row->version);
    if (!kept) throw Error(ErrorCode::CorruptState, "The workflow of the instance is missing.");
    auto program = stored_program(*kept);
    InstanceState state = decode_state(row->state, *program);
    return CallbackPlace{std::move(*row), std::move(program), std::move(state)};
}

Signer CallbackLinks::signer() {
    const Lock lock(mutex_);
    if (!signer_) signer_ = load_signer(admin_, box_);
    return *signer_;
}

std::string CallbackLinks::make(const Request& request) {
    const auto place = find_callback_place(store_, request.instance);
    if (!place) return {};
    const auto& tokens = place->state.tokens;
    const auto found = std::find_if(tokens.begin(), tokens.end(), [&](const Token& token) {
        return token.status == TokenStatus::WaitingDecision &&
               place->node(token).name == request.node;
    });
    if (found == tokens.end()) return {};
    const std::vector<std::string>& roles = place->node(*found).human.roles;
    return sign(
        {.instance = request.instance,
         .token = found->id,
         .visit = found->visit,
         .role = roles.empty() ? std::string() : roles.front(),
         .by = request.by,
         .expires_at = std::min(found->due, request.since + CallbackToken::kLifeMax)}
    );
}

std::string CallbackLinks::sign(const CallbackToken& token) {
    return sign_callback(signer(), token);
}

std::optional<CallbackToken> CallbackLinks::read(std::string_view text) {
    return read_callback(signer(), text);
}

std::string callback_path(std::string_view token) {
    return fmt::format("/api/v1/callbacks/{}", token);
}

}  // namespace ebb::server
