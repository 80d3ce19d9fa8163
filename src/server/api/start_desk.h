#pragma once

#include <exception>
#include <functional>
#include <string>
#include <vector>

#include <ebb/engine.h>

#include "server/auth/audit.h"
#include "support/sync.h"

namespace ebb::server {

/// An instance that a request wants.
struct InstanceStart {
    std::string workflow;
    Payload input = "null";
    StartOptions options{};
};

/// A start that a request asks for.
struct StartOrder {
    struct Outcome {
        StartedInstance started{};
        std::exception_ptr error{};  ///< not null: nothing was started
    };

    InstanceStart start;
    AuditEntry entry;
    std::function<void(const Outcome&)> done;  ///< called once, from any thread
};

/// Stores the starts that come in at the same time together: one write of the audit for all of
/// them, and one transaction for those that differ only in their inputs. A start with a key is
/// stored by itself, in the thread that brings it. The desk has no thread: the first of the threads
/// that bring orders works for the others, which return immediately. Thread-safe.
class StartDesk {
 public:
    static constexpr std::size_t kOrdersMax = 256;                   ///< stored together
    static constexpr std::size_t kBytesMax = std::size_t{16} << 20;  ///< of their inputs

    StartDesk(Engine& engine, Audit& audit) : engine_(engine), audit_(audit) {}

    void take(StartOrder order);

 private:
    using Orders = std::vector<StartOrder>;

    Orders next_orders() EBB_REQUIRES(mutex_);
    /// False: they could not be recorded, and have been answered.
    bool record(const Orders& orders);
    void start(const Orders& orders);
    void start_alike(const std::vector<const StartOrder*>& orders);
    void start_one(const StartOrder& order);

    Engine& engine_;
    Audit& audit_;
    Mutex mutex_;
    std::vector<StartOrder> orders_ EBB_GUARDED_BY(mutex_);
    bool is_working_ EBB_GUARDED_BY(mutex_) = false;
};

}  // namespace ebb::server
