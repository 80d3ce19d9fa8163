// The outcome of each visit of a node.

#include <algorithm>
#include <map>
#include <utility>

#include <nlohmann/json.hpp>

#include "engine/view.h"
#include "support/json.h"

namespace ebb::engine {

namespace {

std::string_view kind_of(const Facts& facts, std::string_view name) {
    const NodeIndex index = facts.program.find(name);
    if (index == kNoNode) return {};
    switch (facts.program.node(index).op) {
        case Op::Branch:
            return facts.program.node(index).cases.size() == 2 &&
                           facts.program.node(index).cases.front().label == "then"
                       ? "condition"
                       : "switch";
        case Op::Fork:
            return "parallel";
        case Op::Timer:
            return "delay";
        case Op::Step:
        case Op::Loop:
        case Op::Decision:
        case Op::Signal:
        case Op::Savepoint:
        case Op::Fail:
        case Op::Graph:
        case Op::Sequence:
            return to_string(facts.program.node(index).op);
    }
    return {};
}

/// Builds the views while the history is read from the beginning.
class StepViews {
 public:
    explicit StepViews(const Facts& facts) : facts_(facts) {}

    void read(const HistoryEvent& event) {
        read_event(event);
        note_time(event);
    }

    void read(const Token& token) {
        if (token.compensates != 0) {
            if (StepView* undone = forward_view(token.compensates)) {
                undone->status = token.status == TokenStatus::Frozen
                                     ? StepStatus::CompensationFailed
                                     : StepStatus::Compensating;
            }
            return;
        }
        const auto known = by_visit_.find(token.visit);
        if (known == by_visit_.end() && token.status == TokenStatus::Forked) return;
        StepView& view = known != by_visit_.end() ? views_[known->second] : add(token);
        read_live(view, token);
    }

    std::vector<StepView> take() {
        for (StepView& view : views_) end_unended(view);
        return std::move(views_);
    }

 private:
    void read_event(const HistoryEvent& event) {
        if (read_compensation(event) || event.visit == 0) return;
        switch (event.type) {
            case HistoryType::InputResolved:
                view_of(event).input = event.payload;
                return;
            case HistoryType::ScopeOpened:
                return set(event, StepStatus::Running);
            case HistoryType::TimerStarted:
            case HistoryType::DecisionAwaited:
            case HistoryType::SignalAwaited:
                // A step that pauses may have begun earlier.
                if (view_of(event).started_at == TimePoint{}) view_of(event).started_at = event.at;
                return set(event, StepStatus::Waiting);
            case HistoryType::StepProgressed:
                view_of(event).progress = event.payload;
                return;
            case HistoryType::StepRetried:
                view_of(event).error = event.payload;
                return read_attempt(event, StepStatus::Retrying);
            case HistoryType::LeaseLost:
                return read_attempt(event, StepStatus::Pending);
            case HistoryType::StepFailed:
                view_of(event).error = event.payload;
                return end(event, StepStatus::Failed);
            case HistoryType::StepStopped:
                view_of(event).error = error_of_stopped(event);
                return end(event, StepStatus::Failed);
            case HistoryType::StepSkipped:
                return end(event, StepStatus::Skipped);
            case HistoryType::StepCompleted:
            case HistoryType::ScopeJoined:
            case HistoryType::LoopFinished:
            case HistoryType::TimerFired:
            case HistoryType::DecisionCompleted:
            case HistoryType::SignalCompleted:
            case HistoryType::SavepointReached:
                if (holds_output(event.type)) {
                    view_of(event).output = find_payload(facts_, event.seq);
                }
                return end(event, StepStatus::Completed);
            case HistoryType::BranchTaken:
                // It also names the edge of a graph by which a step that has already ended leaves.
                if (!has_ended(event)) end(event, StepStatus::Completed);
                return;
            default:
                return;
        }
    }

    /// When the token of an event came to where it is; zero = unknown.
    TimePoint due_since(const HistoryEvent& event) const {
        if (const auto own = token_at_.find(event.token); own != token_at_.end())
            return own->second;
        // The first event of its token: a branch, or the workflow, had just begun.
        if (event.path.empty()) return is_just_started_ ? facts_.row.created_at : TimePoint{};
        const std::size_t end = event.path.rfind('/');
        const auto opened =
            opened_at_.find(end == std::string::npos ? "" : event.path.substr(0, end));
        return opened == opened_at_.end() ? TimePoint{} : opened->second;
    }

    void note_time(const HistoryEvent& event) {
        is_just_started_ = event.type == HistoryType::Started;
        if (event.token != 0) token_at_[event.token] = event.at;
        if (event.type == HistoryType::ScopeOpened) opened_at_[event.path] = event.at;
    }

    StepView& view_of(const HistoryEvent& event) {
        const auto [found, is_new] = by_visit_.emplace(event.visit, views_.size());
        if (is_new) {
            StepView& view = views_.emplace_back();
            view.node = event.node;
            view.kind = kind_of(facts_, event.node);
            view.path = readable_path(facts_, event.path);
            view.visit = event.visit;
        }
        return views_[found->second];
    }

    StepView& add(const Token& token) {
        by_visit_.emplace(token.visit, views_.size());
        StepView& view = views_.emplace_back();
        view.node = facts_.program.node(token.node).name;
        view.kind = kind_of(facts_, view.node);
        view.visit = token.visit;
        view.path = path_of(token);
        return view;
    }

    std::string path_of(const Token& token) const {
        std::string path;
        const Scope* scope = facts_.state.find_scope(token.scope);
        std::int32_t branch = token.branch;
        while (scope != nullptr) {
            const ProgramNode& node = facts_.program.node(scope->node);
            std::string part = node.name + ":";
            if (branch >= 0) part += node.branches[static_cast<std::size_t>(branch)].name;
            if (!path.empty()) part.append("/").append(path);
            path = std::move(part);
            const Token* parent = facts_.state.find_token(scope->parent);
            if (parent == nullptr) break;
            branch = parent->branch;
            scope = facts_.state.find_scope(parent->scope);
        }
        return path;
    }

    bool is_live(Visit visit) const {
        const auto& tokens = facts_.state.tokens;
        return std::any_of(tokens.begin(), tokens.end(), [visit](const Token& token) {
            return token.visit == visit;
        });
    }

    /// A step that an abort or the end of an enclosing block cut off has no event of its own.
    void end_unended(StepView& view) const {
        switch (view.status) {
            case StepStatus::Waiting:
                if (!is_live(view.visit)) view.status = StepStatus::Skipped;
                return;
            case StepStatus::Pending:
            case StepStatus::Running:
            case StepStatus::Retrying:
                if (!is_live(view.visit)) view.status = StepStatus::Failed;
                return;
            default:
                return;
        }
    }

    bool has_ended(const HistoryEvent& event) {
        const StepStatus status = view_of(event).status;
        return status == StepStatus::Completed || status == StepStatus::Failed;
    }

    void set(const HistoryEvent& event, StepStatus status) { view_of(event).status = status; }

    void read_attempt(const HistoryEvent& event, StepStatus status) {
        StepView& view = view_of(event);
        view.status = status;
        view.attempts = std::max(view.attempts, event.attempt);
        if (!event.worker.empty()) view.worker = event.worker;
        if (view.started_at == TimePoint{}) {
            // A worker that died left no record of when the attempt began: not before it was due.
            const bool is_unknown =
                event.type == HistoryType::LeaseLost && event.started_at == TimePoint{};
            view.started_at = is_unknown ? due_since(event) : event.started_at;
        }
        if (event.ref != 0 && view.input.empty()) view.input = find_payload(facts_, event.ref);
    }

    void end(const HistoryEvent& event, StepStatus status) {
        read_attempt(event, status);
        view_of(event).finished_at = event.at;
    }

    static Payload error_of_stopped(const HistoryEvent& event) {
        const Json payload = Json::parse(event.payload, nullptr, false);
        if (payload.is_object() && payload.contains("error")) return to_text(payload["error"]);
        return R"({"code":"stopped","message":"It was stopped while it was running."})";
    }

    StepView* forward_view(Seq event_seq) {
        const HistoryEvent* forward = find_event(facts_, event_seq);
        if (forward == nullptr) return nullptr;
        const auto found = by_visit_.find(forward->visit);
        return found == by_visit_.end() ? nullptr : &views_[found->second];
    }

    bool read_compensation(const HistoryEvent& event) {
        StepStatus status{};
        switch (event.type) {
            case HistoryType::LeaseLost:
                if (event.payload.empty()) return false;
                status = StepStatus::Compensating;
                break;
            case HistoryType::CompensationRetried:
                status = StepStatus::Compensating;
                break;
            case HistoryType::StepCompensated:
                status = StepStatus::Compensated;
                break;
            case HistoryType::CompensationSkipped:
            case HistoryType::CompensationStopped:
                // A skipped one had failed for good by then. What a stopped one has undone is
                // unknown. So the step reads as before.
                return true;
            case HistoryType::CompensationFailed:
                status = StepStatus::CompensationFailed;
                break;
            default:
                return false;
        }
        if (StepView* view = forward_view(event.ref)) view->status = status;
        return true;
    }

    const TaskRow* row_of(TokenId token) const {
        const auto found =
            std::find_if(facts_.tasks.begin(), facts_.tasks.end(), [token](const TaskRow& row) {
                return row.task.token == token;
            });
        return found == facts_.tasks.end() ? nullptr : &*found;
    }

    void read_live(StepView& view, const Token& token) {
        if (view.input.empty()) view.input = find_payload(facts_, token.input);
        const TaskRow* row = row_of(token.id);
        const bool is_held = row != nullptr && !row->lease_owner.empty();
        // The task of a dead worker does not run, even if no other worker has taken it over yet.
        const bool is_running = is_held && holder_of(facts_, *row).life == Holder::Life::Alive;
        // The token of a step that waits for its next attempt has the number of that attempt.
        const bool is_due = token.status == TokenStatus::Retrying && !is_running;
        view.attempts = std::max(view.attempts, token.attempt - (is_due ? 1 : 0));
        switch (token.status) {
            case TokenStatus::Ready:
                view.status = is_running ? StepStatus::Running : StepStatus::Pending;
                if (is_held) view.worker = row->lease_owner;
                return;
            case TokenStatus::Retrying:
                view.status = is_running ? StepStatus::Running : StepStatus::Retrying;
                if (is_held) view.worker = row->lease_owner;
                return;
            case TokenStatus::WaitingTimer:
            case TokenStatus::WaitingDecision:
            case TokenStatus::WaitingSignal:
                view.status = StepStatus::Waiting;
                return;
            case TokenStatus::Forked:
                view.status = StepStatus::Running;
                return;
            case TokenStatus::Frozen:
                view.status = StepStatus::Failed;
                return;
        }
    }

    const Facts& facts_;
    std::vector<StepView> views_;
    std::map<Visit, std::size_t> by_visit_;
    std::map<TokenId, TimePoint> token_at_;       ///< of its last event
    std::map<std::string, TimePoint> opened_at_;  ///< of the last block that was opened at a path
    bool is_just_started_ = false;                ///< nothing has happened since the start
};

}  // namespace

std::vector<StepView> steps_of(const Facts& facts) {
    StepViews views(facts);
    for (const HistoryEvent& event : facts.history) views.read(event);
    for (const Token& token : facts.state.tokens) views.read(token);
    return views.take();
}

}  // namespace ebb::engine
