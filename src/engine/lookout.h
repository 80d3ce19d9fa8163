#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/environment.h"

namespace ebb::engine {

/// Tells subscribers of what is about no instance: queues whose tasks no worker can run, and
/// workers that have died. Asks the store only while a subscription is for it.
class Lookout {
 public:
    static constexpr Duration kLookEvery = std::chrono::seconds(15);
    /// So many looks in a row find the same before it is reported: workers may just have been
    /// restarted.
    static constexpr int kLooks = 4;
    /// All processes that find the same within this time report it once.
    static constexpr Duration kOnce = std::chrono::hours(1);

    explicit Lookout(Environment& environment) : environment_(environment) {}

    /// Looks if it is time.
    void tick(SteadyPoint now);
    /// These have died: their leases were taken from them.
    void tell_lost(const std::vector<std::string>& workers);

 private:
    void look_for_blocked();
    void tell(std::string_view type, const InstanceId& id, const std::string& data);

    Environment& environment_;
    SteadyPoint next_look_{};
    /// How often in a row it was found, by queue and handler.
    std::map<std::pair<std::string, std::string>, int> blocked_;
};

}  // namespace ebb::engine
