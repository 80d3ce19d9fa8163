#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <ebb/completion.h>
#include <ebb/handler.h>

#include "engine/core.h"
#include "server/http/http.h"
#include "server/remote/task_token.h"
#include "support/sync.h"

namespace ebb::server {

/// One thing that a worker reports about a task.
struct TaskReport {
    enum class Kind { Completed, Failed, Paused };

    std::string token;
    Kind kind = Kind::Completed;
    StepResult result{};                ///< of Completed
    std::string message{};              ///< of Failed
    HandlerFailure::Options failure{};  ///< of Failed
};

/// What a task's handler says while it runs.
struct TaskNote {
    std::string token;
    std::optional<Payload> progress{};
    std::vector<std::pair<LogLevel, std::string>> lines{};
};

/// What has become of a report.
struct TaskResult {
    enum class Outcome {
        Recorded,  ///< it is in the instance's history
        Stale,     ///< the attempt had ended otherwise: nothing has changed
        Pending,   ///< the database does not take it now: report it again
        Refused,   ///< it is not a task of this worker
    };

    std::string token;
    Outcome outcome = Outcome::Recorded;
    std::string code{};    ///< of Refused
    std::string detail{};  ///< of Refused
};

std::string_view to_string(TaskResult::Outcome outcome);

struct PollRequest {
    int free = 0;           ///< how many more tasks the worker can take now
    Duration wait{0};       ///< how long to wait for a task
    bool has_held = false;  ///< `held` is complete; false in a report without a poll
    std::vector<std::string> held{};
    std::vector<TaskReport> done{};
    std::vector<TaskNote> notes{};
};

/// One remote worker: a worker of the store like any other, with asynchronous handlers whose calls
/// wait in a table until the program at the other end of the connection has made them. It has no
/// thread: it moves when a request comes in, or when the desk gives it a turn. Thread-safe.
class RemoteWorker {
 public:
    struct Parts {
        Store& store;
        const Signer& signer;
        const Clock& clock;
        LogSink* log = nullptr;
        std::vector<std::shared_ptr<Observer>> observers;
    };

    /// `is_continued`: this session has polled before, perhaps at another server. What it does not
    /// hold was never called, and what it holds still runs.
    RemoteWorker(const Parts& parts, RemoteSession session, bool is_continued);
    ~RemoteWorker();
    RemoteWorker(const RemoteWorker&) = delete;
    RemoteWorker& operator=(const RemoteWorker&) = delete;

    const RemoteSession& session() const { return session_; }

    /// Answers now, or later if there is nothing to say yet. Returns when it wants its next turn.
    SteadyPoint poll(PollRequest request, const http::Responder& respond);
    /// Does what is due, claims for a waiting poll, and answers it if there is something to say.
    /// Returns when it wants the next turn. Does nothing before that time unless there is news.
    SteadyPoint turn(bool has_news);
    /// The worker has not been heard of for longer than its lease.
    bool is_lost() const;

    /// A poll waits for work.
    bool is_waiting() const { return is_waiting_; }

    /// Another process, or a newer session, has the worker's name.
    bool is_displaced() const { return core_.environment.worker.is_displaced; }

    /// The mark of subscriptions that this process has read after it has changed one. A heartbeat
    /// has another one, so it reads them again.
    static constexpr const char* kChangedMark = "changed";

    /// Takes over changed subscriptions before its next heartbeat.
    void learn(const std::vector<Subscription>& all) {
        core_.environment.subscribers.set(all, kChangedMark);
    }

    /// Answers the waiting poll. From now on, no poll waits, and nothing is claimed.
    void drain();
    /// Answers the waiting poll with a problem.
    void refuse(const std::string& code, const std::string& detail);
    /// Gives everything back to the store: other workers may have it at once. What the worker may
    /// have called counts as lost.
    void close();
    /// The same, and tells subscribers that the worker is lost.
    void close_lost();

 private:
    struct Offered {
        RemoteTask task;
        engine::AttemptPtr attempt;
        detail::CompletionPtr completion;
        Payload input;
        bool is_delivered = false;
        bool is_stop_told = false;
    };

    struct Parked {
        http::Responder respond;
        SteadyPoint until{};
        int free = 0;
        std::vector<std::string> lost{};
    };

    class Confirmer;
    friend Confirmer;

    void begin(const Payload& input, const detail::CompletionPtr& completion);
    void work(int room, bool has_news);
    int run_ready();
    int undelivered() const;
    void forget_given_up();
    void take_notes(const std::vector<TaskNote>& notes);
    void take_held(const PollRequest& request);
    void confirm(const InstanceId& instance, std::span<const HistoryEntry> events);
    bool post(const TaskReport& report);
    TaskResult judge(const TaskReport& report);
    TaskResult::Outcome look_up(const std::string& token_text, const RemoteTask& task);
    bool is_leased(const TaskRef& task);
    bool is_lost_task(const std::string& token);
    std::vector<std::string> lost_of(const PollRequest& request);
    bool has_to_tell() const;
    void answer(const Parked& poll, const std::vector<TaskResult>& results);
    void answer_report(const http::Responder& respond, const std::vector<TaskResult>& results);
    void park(Parked poll);
    Parked take_parked();
    /// Decides when the next turn is wanted.
    SteadyPoint plan_turn();
    void answer_parked();
    void end_parked();

    Parts parts_;
    const RemoteSession session_;
    HandlerRegistry handlers_;
    mutable Mutex mutex_;  // everything below, and every use of the engine
    engine::AttemptPtr beginning_;
    std::map<std::string, Offered> offered_;              // by token
    std::map<std::string, engine::AttemptPtr> reported_;  // posted, and not known to be written
    std::set<std::string> confirmed_;                     // of these, what was written
    std::optional<Parked> parked_;
    std::atomic<bool> is_waiting_{false};  // there is one
    SteadyPoint heard_at_{};
    SteadyPoint next_turn_{};
    Duration pause_{};
    bool has_worked_ = false;
    bool is_draining_ = false;
    bool is_closed_ = false;
    Engine::Core core_;
};

}  // namespace ebb::server
