#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "server/auth/access.h"
#include "server/remote/remote_worker.h"

namespace ebb::server {

/// What a worker asks for when it opens a session.
struct WorkerRequest {
    std::string worker{};  ///< empty = the server makes a name
    std::vector<std::string> handlers{};
    std::vector<std::string> queues{};
    int slots = 1;
    Duration lease = std::chrono::seconds(30);
};

struct OpenedSession {
    std::string session;  ///< signed
    RemoteSession about;
};

/// All remote workers that talk to this server. One thread moves them. Thread-safe.
class WorkerDesk {
 public:
    static constexpr int kTasksMax = 256;  ///< in one answer, and at one worker
    static constexpr std::size_t kAnswerBytesMax = std::size_t{16} << 20;  ///< of their inputs
    static constexpr std::size_t kBodyBytesMax = std::size_t{16} << 20;
    static constexpr std::size_t kHandlersMax = 256;
    static constexpr std::size_t kQueuesMax = 64;
    static constexpr std::size_t kReportsMax = 256;  ///< in one request
    static constexpr std::size_t kLinesMax = 100;    ///< of the log, with one task
    static constexpr std::size_t kWorkersMax = 1'024;
    static constexpr Duration kLeaseMin = std::chrono::seconds(1);
    static constexpr Duration kLeaseMax = std::chrono::hours(1);
    static constexpr Duration kWaitMax = std::chrono::seconds(60);

    struct Parts {
        Engine& engine;
        Store& store;
        AdminStore& admin;
        const Clock& clock;
        LogSink* log = nullptr;
        std::vector<std::shared_ptr<Observer>> observers;
        const SecretBox* box = nullptr;  ///< of the signing key
    };

    explicit WorkerDesk(Parts parts);
    ~WorkerDesk();
    WorkerDesk(const WorkerDesk&) = delete;
    WorkerDesk& operator=(const WorkerDesk&) = delete;

    /// Displaces an earlier session of the same worker. Throws Problem.
    OpenedSession open(const WorkerRequest& request, const Principal& principal);
    /// Throws Problem. Limits `wait` to half of the lease.
    void poll(
        const std::string& session,
        const Principal& principal,
        PollRequest request,
        const http::Responder& respond
    );
    /// Signs the worker off and gives back what it holds. Throws Problem.
    void close(const std::string& session, const Principal& principal);

    /// The subscriptions were changed by this process: its engine and its remote workers know them
    /// at once, and other processes with their next heartbeat. Never throws: if the store does not
    /// answer, they learn of it as others do.
    void learn_subscriptions() noexcept;
    /// Something was committed in this process. Workers whose polls wait look for work.
    void note_commit();
    /// Waiting polls are answered, and the answers say that the server drains.
    void drain();
    /// Ends the thread. Leases stay, so that workers continue at another server.
    void stop();

 private:
    using WorkerPtr = std::shared_ptr<RemoteWorker>;

    struct Entry {
        WorkerPtr worker;
        SteadyPoint next_turn{};
        bool has_missed = false;  ///< there may be news that its last look did not see
    };

    struct Due {
        WorkerPtr worker;
        bool has_news = false;
    };

    const Signer& signer();
    RemoteSession verify(const std::string& session, const Principal& principal);
    void check_current(const RemoteSession& session);
    void check_name(const std::string& worker, const Principal& principal);
    WorkerPtr find(const RemoteSession& session);
    WorkerPtr add(const RemoteSession& session, bool is_continued);
    void remove(const WorkerPtr& worker);
    void run();
    /// Until `next`, or until there is news and `calm_until` is over.
    void wait_for_turn(Lock& lock, SteadyPoint next, SteadyPoint calm_until) EBB_REQUIRES(mutex_);
    /// Returns when the next one is due.
    SteadyPoint give_turns(bool has_news, SteadyPoint now);
    void turn(const WorkerPtr& worker, bool has_news);
    void write(LogLevel level, std::string_view event, const RemoteSession& session);

    Parts parts_;
    Mutex subscriptions_mutex_;  // so that what was read last is what is known
    Mutex key_mutex_;
    std::unique_ptr<Signer> signer_ EBB_GUARDED_BY(key_mutex_);
    Mutex mutex_;
    CondVar changed_;
    std::map<std::string, Entry> workers_ EBB_GUARDED_BY(mutex_);  // by name
    std::atomic<std::uint64_t> commits_{0};                        // of this process
    bool has_news_ EBB_GUARDED_BY(mutex_) = false;
    bool has_new_turn_ EBB_GUARDED_BY(mutex_) = false;  // one may want its turn earlier
    bool is_draining_ EBB_GUARDED_BY(mutex_) = false;
    bool is_stopped_ EBB_GUARDED_BY(mutex_) = false;
    std::jthread thread_;  // last: it uses all of the above
};

}  // namespace ebb::server
