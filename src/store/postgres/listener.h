#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "store/hints.h"
#include "store/postgres/connection.h"
#include "support/clock.h"

namespace ebb::postgres {

/// Hints by LISTEN and NOTIFY. It listens on a connection of its own, and believes in it only when
/// it has heard itself: a pooler between may let LISTEN pass and never deliver anything. What it
/// says goes over the store's other connections, in transactions of their own.
class Listener final : public Hints {
 public:
    /// Runs send_hint with the channel and the text.
    using Send = std::function<void(const Arguments&)>;

    /// `settings` must outlive this.
    Listener(const Settings& settings, Send send);
    ~Listener() override;
    Listener(const Listener&) = delete;
    Listener& operator=(const Listener&) = delete;

    Heard receive(Duration limit) override;
    void interrupt() override;
    void send(std::string_view message) override;

    /// How long it takes at most to hear itself.
    static constexpr Duration kTestMax = std::chrono::seconds(2);

 private:
    void connect();
    /// What others have said; notes what it has said itself.
    std::vector<std::string> hear(Duration limit);
    void give_up_test();
    void say(std::string_view text);

    const Settings& settings_;
    const Send send_;
    const SystemClock clock_;
    const std::string channel_;
    const std::string name_;  // of this, before each message
    int interrupt_ = -1;      // an eventfd
    std::unique_ptr<Connection> connection_;
    bool has_heard_itself_ = false;
    TimePoint test_until_{};
};

}  // namespace ebb::postgres
