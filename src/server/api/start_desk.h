#pragma once

#include <exception>
#include <functional>
#include <vector>

#include <ebb/engine.h>

#include "server/auth/audit.h"
#include "support/sync.h"

namespace ebb::server {

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

/// Stores the starts that come in at the same time together: one write of the audit and one
/// transaction for all of them. It has no thread. The first of the threads that bring orders works
/// for the others, which return immediately. Thread-safe.
class StartDesk {
 public:
    static constexpr std::size_t kOrdersMax = 256;                   ///< stored together
    static constexpr std::size_t kBytesMax = std::size_t{16} << 20;  ///< of their inputs

    StartDesk(Engine& engine, Audit& audit) : engine_(engine), audit_(audit) {}

    void take(StartOrder order);

 private:
    std::vector<StartOrder> next_orders() EBB_REQUIRES(mutex_);
    void start(std::vector<StartOrder>& orders);
    void start_one(const StartOrder& order);

    Engine& engine_;
    Audit& audit_;
    Mutex mutex_;
    std::vector<StartOrder> orders_ EBB_GUARDED_BY(mutex_);
    bool is_working_ EBB_GUARDED_BY(mutex_) = false;
};

}  // namespace ebb::server
