#include "engine/lookout.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/kernel/notices.h"
#include "support/sha256.h"
#include "support/uuid.h"

namespace ebb::engine {

namespace {

using OrderedJson = nlohmann::ordered_json;

std::string text_of(const OrderedJson& json) {
    return json.dump(-1, ' ', false, OrderedJson::error_handler_t::replace);
}

/// The same in every process for the same text.
InstanceId id_of(const std::string& text) {
    std::string hex = sha256_hex(text).substr(0, 32);
    for (const std::size_t dash : std::array<std::size_t, 4>{8, 13, 18, 23})
        hex.insert(dash, 1, '-');
    return *InstanceId::parse(hex);
}

}  // namespace

void Lookout::tick(SteadyPoint now) {
    if (now < next_look_ || environment_.worker.is_draining) return;
    if (!environment_.subscribers.wants(kQueueBlockedType)) return blocked_.clear();
    next_look_ = now + kLookEvery;
    try {
        look_for_blocked();
    } catch (const std::exception& error) {
        environment_.warn("lookout_failed", error);
    }
}

void Lookout::look_for_blocked() {
    std::map<std::pair<std::string, std::string>, int> blocked;
    for (const Store::Unserved& tasks : environment_.store.unserved()) {
        const std::pair place{tasks.queue, tasks.handler};
        const auto before = blocked_.find(place);
        const int looks = before == blocked_.end() ? 1 : std::min(before->second + 1, kLooks + 1);
        blocked.emplace(place, looks);
        if (looks != kLooks) continue;
        const OrderedJson data{
            {"queue", tasks.queue}, {"handler", tasks.handler}, {"tasks", tasks.count}
        };
        const auto hour = environment_.store.now().time_since_epoch() / kOnce;
        const std::string what =
            fmt::format("{}\n{}\n{}\n{}", kQueueBlockedType, tasks.queue, tasks.handler, hour);
        tell(kQueueBlockedType, id_of(what), text_of(data));
    }
    blocked_ = std::move(blocked);
}

void Lookout::tell_lost(const std::vector<std::string>& workers) {
    if (workers.empty() || !environment_.subscribers.wants(kWorkerLostType)) return;
    for (const std::string& worker : workers) {
        const InstanceId id = make_instance_id(environment_.clock, environment_.store.now());
        tell(kWorkerLostType, id, text_of(OrderedJson{{"worker", worker}}));
    }
}

void Lookout::tell(std::string_view type, const InstanceId& id, const std::string& data) {
    environment_.store.add_outbox(
        environment_.subscribers.notices_of(type, id, data, environment_.store.now())
    );
    environment_.subscribers.note_written();
}

}  // namespace ebb::engine
