#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <ebb/time.h>

namespace ebb {

/// Short messages between the processes that share a store, so that one learns at once from another
/// what it would find by looking before long. Nothing may depend on them: they get lost, and come
/// late. Made by Store::open_hints, which must outlive this.
class Hints {
 public:
    struct Heard {
        std::vector<std::string> messages;
        bool is_proven = false;  ///< what others say does arrive: this has heard itself
    };

    virtual ~Hints() = default;

    /// Waits until others have said something, until it is proven that they would be heard, until
    /// `interrupt`, or for `limit`. Throws Error when nothing can be heard now; the next call tries
    /// anew. One thread.
    virtual Heard receive(Duration limit) = 0;

    /// Ends the present `receive`, or else the next one, at once. Any thread.
    virtual void interrupt() = 0;

    /// Says something to all others who listen. Any thread. Throws Error.
    virtual void send(std::string_view message) = 0;

    /// A longer message is refused with InvalidArgument.
    static constexpr std::size_t kMessageBytesMax = 7'000;
};

}  // namespace ebb
