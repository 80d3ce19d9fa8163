#include "store/postgres/listener.h"

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <ebb/error.h>

#include "support/uuid.h"

namespace ebb::postgres {

namespace {

constexpr std::string_view kTest = "test";

}  // namespace

Listener::Listener(const Settings& settings, Send send)
    : settings_(settings),
      send_(std::move(send)),
      channel_("ebb_" + settings.schema),
      name_(fmt::format("{:016x}", random_bits())),
      interrupt_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    if (interrupt_ < 0) throw std::system_error(errno, std::generic_category(), "eventfd");
}

Listener::~Listener() {
    close(interrupt_);
}

void Listener::interrupt() {
    const std::uint64_t one = 1;
    // It fails only when it is already more than full, and then does not matter.
    [[maybe_unused]] const auto written = write(interrupt_, &one, sizeof one);
}

Hints::Heard Listener::receive(Duration limit) {
    try {
        if (!connection_) connect();
        if (!has_heard_itself_) limit = std::min(limit, test_until_ - clock_.now());
        Heard heard{.messages = hear(limit), .is_proven = has_heard_itself_};
        if (!has_heard_itself_ && clock_.now() >= test_until_) give_up_test();
        std::uint64_t count = 0;
        [[maybe_unused]] const auto drained = read(interrupt_, &count, sizeof count);
        return heard;
    } catch (...) {
        connection_.reset();
        throw;
    }
}

void Listener::connect() {
    if (!settings_.caches_statements) {
        throw Error(
            ErrorCode::StoreUnavailable,
            "With statement_cache=off, as for a pooler that shares sessions, LISTEN is not tried."
        );
    }
    auto connection = std::make_unique<Connection>(settings_);
    connection->listen(channel_);
    connection_ = std::move(connection);
    has_heard_itself_ = false;
    test_until_ = clock_.now() + kTestMax;
    say(kTest);
}

void Listener::give_up_test() {
    // Otherwise the session behind the pooler would listen without a reader.
    connection_->execute("UNLISTEN *");
    throw Error(
        ErrorCode::StoreUnavailable,
        fmt::format(
            "LISTEN on {} hears nothing, as behind a pooler that shares sessions.",
            settings_.target()
        )
    );
}

std::vector<std::string> Listener::hear(Duration limit) {
    std::vector<std::string> heard;
    for (std::string& text : connection_->wait_for_notifications(interrupt_, limit)) {
        if (text.size() < name_.size()) continue;
        const bool is_own = text.starts_with(name_);
        text.erase(0, name_.size());
        if (is_own) {
            has_heard_itself_ = has_heard_itself_ || text == kTest;
        } else if (text != kTest) {
            heard.push_back(std::move(text));
        }
    }
    return heard;
}

void Listener::send(std::string_view message) {
    if (message.size() > kMessageBytesMax) {
        throw Error(
            ErrorCode::InvalidArgument,
            fmt::format("A hint has at most {} bytes, not {}.", kMessageBytesMax, message.size())
        );
    }
    say(message);
}

void Listener::say(std::string_view text) {
    send_(Arguments::of(channel_, name_ + std::string(text)));
}

}  // namespace ebb::postgres
