#include "server/remote/desk.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "server/api/problem.h"
#include "server/auth/secret.h"

namespace ebb::server {

namespace {

using nlohmann::json;

constexpr std::string_view kWorkerKind = "remote_worker";
/// After a look for work, the next commits share a look: it comes after a pause as long as the look
/// before, but no later than this.
constexpr Duration kGatherMax = std::chrono::milliseconds(2);
constexpr Duration kLongestWait = std::chrono::seconds(1);

}  // namespace

WorkerDesk::WorkerDesk(Parts parts) : parts_(std::move(parts)), thread_([this] { run(); }) {}

WorkerDesk::~WorkerDesk() {
    stop();
}

const Signer& WorkerDesk::signer() {
    const Lock lock(key_mutex_);
    if (!signer_) signer_ = std::make_unique<Signer>(load_signer(parts_.admin, parts_.box));
    return *signer_;
}

void WorkerDesk::write(LogLevel level, std::string_view event, const RemoteSession& session) {
    if (parts_.log == nullptr || !parts_.log->is_enabled(level)) return;
    const LogField fields[] = {{"worker", session.worker}, {"by", session.principal}};
    parts_.log->write(level, event, fields);
}

void WorkerDesk::check_name(const std::string& worker, const Principal& principal) {
    const auto row = parts_.admin.find(kWorkerKind, worker);
    if (row) {
        const std::string owner = json::parse(row->document).at("principal").get<std::string>();
        if (owner == principal.name || principal.may_everywhere("admin")) return;
        throw Problem(
            "not_allowed", fmt::format("The name {} belongs to a worker of {}.", worker, owner)
        );
    }
    const auto workers = parts_.store.workers();
    const bool is_taken = std::any_of(workers.begin(), workers.end(), [&](const WorkerRow& other) {
        return other.id == worker;
    });
    if (is_taken || worker == parts_.engine.worker_id()) {
        throw Problem(
            "conflict", fmt::format("A worker that is not remote has the name {}.", worker)
        );
    }
}

OpenedSession WorkerDesk::open(const WorkerRequest& request, const Principal& principal) {
    RemoteSession session{
        .worker = request.worker.empty() ? "remote-" + make_secret().substr(0, 12) : request.worker,
        .nonce = make_secret().substr(0, 22),
        .principal = principal.name,
        .handlers = request.handlers,
        .queues = request.queues,
        .slots = request.slots,
        .lease = request.lease,
    };
    check_name(session.worker, principal);
    const json document = {{"nonce", session.nonce}, {"principal", session.principal}};
    parts_.admin.put({std::string(kWorkerKind), session.worker, document.dump()});
    std::string text = sign_session(signer(), session);
    // It signs on before the worker has its session. Otherwise its first poll could reach another
    // server first, and this one would take the tasks of that one for those of a lost worker.
    add(session, false)->turn(false);
    write(LogLevel::Info, "remote_worker_opened", session);
    return {std::move(text), std::move(session)};
}

RemoteSession WorkerDesk::verify(const std::string& text, const Principal& principal) {
    auto session = read_session(signer(), text);
    if (!session) {
        throw Problem("invalid_session", "The session was not made with the key of this database.");
    }
    if (session->principal == principal.name) return std::move(*session);
    throw Problem("not_allowed", fmt::format("The session belongs to {}.", session->principal));
}

/// The newest session of a worker is in the store, so every server knows it.
void WorkerDesk::check_current(const RemoteSession& session) {
    const auto row = parts_.admin.find(kWorkerKind, session.worker);
    if (!row) throw Problem("invalid_session", "The session was closed.");
    if (json::parse(row->document).at("nonce").get<std::string>() == session.nonce) return;
    throw Problem(
        "worker_displaced", fmt::format("A newer session has the name {}.", session.worker)
    );
}

WorkerDesk::WorkerPtr WorkerDesk::find(const RemoteSession& session) {
    WorkerPtr found;
    {
        const Lock lock(mutex_);
        const auto entry = workers_.find(session.worker);
        if (entry != workers_.end()) found = entry->second.worker;
    }
    const bool is_same = found && found->session().nonce == session.nonce;
    if (is_same && !found->is_displaced()) return found;
    check_current(session);
    // It was at another server, or this one has started again.
    return add(session, true);
}

WorkerDesk::WorkerPtr WorkerDesk::add(const RemoteSession& session, bool is_continued) {
    const RemoteWorker::Parts parts{
        parts_.store, signer(), parts_.clock, parts_.log, parts_.observers
    };
    auto worker = std::make_shared<RemoteWorker>(parts, session, is_continued);
    WorkerPtr before;
    {
        const Lock lock(mutex_);
        const auto old = workers_.find(session.worker);
        if (old == workers_.end() && workers_.size() >= kWorkersMax) {
            throw Problem(
                "overloaded", fmt::format("This server serves {} remote workers.", kWorkersMax)
            );
        }
        if (old != workers_.end()) before = old->second.worker;
        workers_[session.worker] = {worker, {}};
        changed_.notify_one();
    }
    if (before && before->session().nonce != session.nonce) {
        before->refuse("worker_displaced", "A newer session has this worker's name.");
    }
    return worker;
}

void WorkerDesk::remove(const WorkerPtr& worker) {
    const Lock lock(mutex_);
    const auto found = workers_.find(worker->session().worker);
    if (found != workers_.end() && found->second.worker == worker) workers_.erase(found);
}

void WorkerDesk::poll(
    const std::string& text,
    const Principal& principal,
    PollRequest request,
    const http::Responder& respond
) {
    const RemoteSession session = verify(text, principal);
    const WorkerPtr worker = find(session);
    request.wait = std::min({request.wait, kWaitMax, session.lease / 2});
    request.free = std::min(request.free, session.slots);
    bool is_draining = false;
    {
        const Lock lock(mutex_);
        is_draining = is_draining_;
    }
    if (is_draining) worker->drain();
    const std::uint64_t known = commits_;
    const SteadyPoint next = worker->poll(std::move(request), respond);
    const Lock lock(mutex_);
    const auto entry = workers_.find(session.worker);
    if (entry == workers_.end() || entry->second.worker != worker) return;
    // What was committed before it began to wait may be work for it: its look may have missed that.
    entry->second.has_missed = worker->is_waiting() && commits_ != known;
    entry->second.next_turn = entry->second.has_missed ? SteadyPoint{} : next;
    has_new_turn_ = true;
    changed_.notify_one();
}

void WorkerDesk::close(const std::string& text, const Principal& principal) {
    const RemoteSession session = verify(text, principal);
    const WorkerPtr worker = find(session);
    worker->turn(false);
    worker->close();
    remove(worker);
    parts_.admin.remove(kWorkerKind, session.worker);
    parts_.engine.wake_workers();
    write(LogLevel::Info, "remote_worker_closed", session);
}

void WorkerDesk::learn_subscriptions() noexcept {
    try {
        const Lock reading(subscriptions_mutex_);
        const std::vector<Subscription> all = parts_.store.subscriptions();
        engine::Environment& environment = Engine::Core::of(parts_.engine).environment;
        environment.subscribers.set(all, RemoteWorker::kChangedMark);
        std::vector<WorkerPtr> workers;
        {
            const Lock lock(mutex_);
            for (const auto& [name, entry] : workers_) workers.push_back(entry.worker);
        }
        for (const WorkerPtr& worker : workers) worker->learn(all);
    } catch (const std::exception& error) {
        if (parts_.log == nullptr) return;
        const LogField fields[] = {{"error", error.what()}};
        parts_.log->write(LogLevel::Warning, "subscriptions_unread", fields);
    }
}

void WorkerDesk::note_commit() {
    ++commits_;
    const Lock lock(mutex_);
    if (has_news_ || workers_.empty()) return;
    has_news_ = true;
    changed_.notify_one();
}

void WorkerDesk::drain() {
    std::vector<WorkerPtr> workers;
    {
        const Lock lock(mutex_);
        is_draining_ = true;
        for (const auto& [name, entry] : workers_) workers.push_back(entry.worker);
    }
    for (const WorkerPtr& worker : workers) worker->drain();
}

void WorkerDesk::stop() {
    {
        const Lock lock(mutex_);
        is_stopped_ = true;
        changed_.notify_one();
    }
    if (thread_.joinable()) thread_.join();
    std::map<std::string, Entry> workers;
    const Lock lock(mutex_);
    workers.swap(workers_);
}

void WorkerDesk::run() {
    Lock lock(mutex_);
    while (!is_stopped_) {
        const bool has_news = std::exchange(has_news_, false);
        has_new_turn_ = false;
        lock.unlock();
        const SteadyPoint begun = parts_.clock.steady_now();
        const SteadyPoint next = give_turns(has_news, begun);
        const SteadyPoint ended = parts_.clock.steady_now();
        const SteadyPoint calm_until =
            has_news ? ended + std::min(ended - begun, kGatherMax) : SteadyPoint{};
        lock.lock();
        wait_for_turn(lock, next, calm_until);
    }
}

void WorkerDesk::wait_for_turn(Lock& lock, SteadyPoint next, SteadyPoint calm_until) {
    while (!is_stopped_ && !has_new_turn_) {
        const SteadyPoint end = has_news_ ? std::min(next, calm_until) : next;
        const Duration rest = end - parts_.clock.steady_now();
        if (rest <= Duration::zero()) return;
        changed_.wait_for(lock, std::min(rest, kLongestWait));
    }
}

SteadyPoint WorkerDesk::give_turns(bool has_news, SteadyPoint now) {
    std::vector<Due> due;
    {
        const Lock lock(mutex_);
        for (auto& [name, entry] : workers_) {
            // One that does not wait looks when it polls again.
            const bool hears = (has_news || entry.has_missed) && entry.worker->is_waiting();
            if (!hears && entry.next_turn > now) continue;
            due.push_back({entry.worker, hears});
            entry.next_turn = kSteadyNever;
            entry.has_missed = false;
        }
    }
    for (const Due& each : due) turn(each.worker, each.has_news);
    const Lock lock(mutex_);
    SteadyPoint next = now + kLongestWait;
    for (const auto& [name, entry] : workers_) next = std::min(next, entry.next_turn);
    return next;
}

void WorkerDesk::turn(const WorkerPtr& worker, bool has_news) {
    SteadyPoint next = parts_.clock.steady_now() + kLongestWait;
    try {
        if (worker->is_displaced()) return remove(worker);
        if (worker->is_lost()) {
            worker->close_lost();
            remove(worker);
            parts_.engine.wake_workers();
            return write(LogLevel::Warning, "remote_worker_lost", worker->session());
        }
        next = worker->turn(has_news);
    } catch (const std::exception& error) {
        if (parts_.log != nullptr) {
            const LogField fields[] = {
                {"worker", worker->session().worker}, {"error", error.what()}
            };
            parts_.log->write(LogLevel::Error, "remote_worker_failed", fields);
        }
    }
    const Lock lock(mutex_);
    const auto entry = workers_.find(worker->session().worker);
    if (entry == workers_.end() || entry->second.worker != worker) return;
    // A poll that came in the meantime may want an earlier one.
    entry->second.next_turn = std::min(entry->second.next_turn, next);
}

}  // namespace ebb::server
