#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <ebb/time.h>

namespace ebb {

/// Short messages between the processes that share a store. They let a process learn immediately
/// what it would soon find by polling. Nothing may depend on them, because they can get lost or
/// come late. Made by Store::open_hints; the store must outlive this object.
class Hints {
 public:
    struct Heard {
        std::vector<std::string> messages;
        bool is_proven = false;  ///< messages of others do arrive: this has received its own
    };

    virtual ~Hints() = default;

    /// Waits until a message of another process comes, until it is proven that messages would
    /// arrive, until `interrupt`, or for `limit`. Throws Error if nothing can be received now; the
    /// next call tries again. One thread.
    virtual Heard receive(Duration limit) = 0;

    /// Ends the current or the next `receive` immediately. Any thread.
    virtual void interrupt() = 0;

    /// Sends a message to all other listeners. Any thread. Throws Error.
    virtual void send(std::string_view message) = 0;

    /// A longer message is refused with InvalidArgument.
    static constexpr std::size_t kMessageBytesMax = 7'000;
};

}  // namespace ebb
