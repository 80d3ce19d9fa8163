#include "stateless/record.h"

#include <algorithm>
#include <utility>

namespace ebb::stateless {

namespace {

constexpr std::size_t kGoneMax = 32;

bool is_before(const Kept& event, Seq seq) {
    return event.seq < seq;
}

void set_ref(Kept& event, Seq ref) {
    if (event.ref == ref) return;
    event.ref = ref;
    event.written = {};
}

bool is_referred_to(const InstanceState& state, Seq seq) {
    bool is_root = false;
    each_root(state, [&](Seq root) { is_root = is_root || root == seq; });
    return is_root;
}

}  // namespace

Record::Record(const Program* program, HistoryPolicy policy) : program_(program), policy_(policy) {
    if (policy_.keep == HistoryPolicy::Keep::Last) by_node_.resize(program->nodes().size());
}

std::size_t Record::index_of(Seq seq) const {
    const bool is_last = !events_.empty() && events_.back().seq == seq;
    const auto found = is_last ? std::prev(events_.end())
                               : std::lower_bound(events_.begin(), events_.end(), seq, is_before);
    const bool is_here = found != events_.end() && found->seq == seq && !found->is_gone;
    return is_here ? static_cast<std::size_t>(found - events_.begin()) : events_.size();
}

const Kept* Record::find(Seq seq) const {
    const std::size_t index = index_of(seq);
    return index == events_.size() ? nullptr : &events_[index];
}

Kept* Record::find_mutable(Seq seq) {
    const std::size_t index = index_of(seq);
    return index == events_.size() ? nullptr : &events_[index];
}

const Kept* Record::find_payload(Seq seq) const {
    const Kept* event = find(seq);
    while (event != nullptr && event->payload.empty() && event->ref != 0 && event->ref < event->seq
    ) {
        event = find(event->ref);
    }
    return event;
}

Payload Record::payload(Seq seq) const {
    const Kept* event = find_payload(seq);
    return Payload(event == nullptr || event->payload.empty() ? "null" : event->payload.view());
}

std::optional<HistoryEvent> Record::find_event(Seq seq) const {
    const Kept* event = find(seq);
    return event == nullptr ? std::nullopt : std::optional(to_event(*event));
}

std::optional<Seq> Record::output_of(std::string_view node) const {
    const NodeIndex index = program_->find(node);
    if (index == kNoNode) return std::nullopt;
    const Seq output = newest_output(index);
    return output == 0 ? std::nullopt : std::optional(output);
}

std::optional<HistoryEvent> Record::previous_undoable(
    Seq before, Seq floor, std::string_view path_prefix
) const {
    const auto end = before == 0 ? undoable_.end()
                                 : std::lower_bound(undoable_.begin(), undoable_.end(), before);
    for (auto seq = end; seq != undoable_.begin();) {
        --seq;
        if (*seq <= floor) break;
        const Kept* event = find(*seq);
        if (event != nullptr && event->path.starts_with(path_prefix)) return to_event(*event);
    }
    return std::nullopt;
}

HistoryEvent Record::to_event(const Kept& kept) const {
    HistoryEvent event;
    event.seq = kept.seq;
    event.type = kept.type;
    if (kept.node != kNoNode) event.node = program_->node(kept.node).name;
    event.path = kept.path;
    event.visit = kept.visit;
    event.attempt = kept.attempt;
    event.ref = kept.ref;
    event.payload = Payload(kept.payload.view());
    event.at = kept.at;
    return event;
}

NodeIndex Record::find_node(const std::string& name) const {
    if (name.empty()) return kNoNode;
    // What happens next mostly happens at the node behind the last one.
    const NodeIndex next = events_.empty() ? 0 : events_.back().node + 1;
    const bool is_next = static_cast<std::size_t>(next) < program_->nodes().size() &&
                         program_->node(next).name == name;
    return is_next ? next : program_->find(name);
}

Kept Record::to_kept(HistoryEvent&& event) const {
    Kept kept;
    kept.seq = event.seq;
    kept.type = event.type;
    kept.node = find_node(event.node);
    kept.attempt = event.attempt;
    kept.visit = event.visit;
    kept.ref = event.ref;
    kept.at = event.at;
    kept.payload = KeptPayload(std::move(event.payload));
    kept.path = std::move(event.path);
    return kept;
}

void Record::absorb(std::vector<HistoryEvent> events, const InstanceState& state) {
    for (HistoryEvent& event : events) {
        if (settles_compensation(event.type)) release_undo(event.ref);
        Kept kept = to_kept(std::move(event));
        const bool says_something = !kept.payload.empty() || kept.ref != 0;
        if (!says_something && !is_referred_to(state, kept.seq)) continue;
        if (kept.payload.empty() && kept.ref != 0 &&
            (is_result(kept.type) || is_read_output(kept))) {
            // What its data came from is then of no more use.
            kept.payload = KeptPayload(payload(kept.ref));
        }
        const bool may_be_undone = is_undoable(kept.type) && kept.attempt > 0 &&
                                   kept.node != kNoNode &&
                                   program_->node(kept.node).compensate.has_value();
        kept.is_undoable = may_be_undone;
        add(std::move(kept));
    }
    sweep(state);
}

void Record::restore(
    std::vector<Kept> events, const InstanceState& state, std::shared_ptr<const char[]> text
) {
    events_ = std::move(events);
    text_ = std::move(text);
    for (Kept& event : events_) note_added(event);
    sweep(state);
}

void Record::add(Kept&& event) {
    note_added(events_.emplace_back(std::move(event)));
}

void Record::note_added(Kept& added) {
    if (is_read_output(added)) {
        outputs_.resize(program_->nodes().size());
        outputs_[static_cast<std::size_t>(added.node)] = added.seq;
    }
    if (added.is_undoable) {
        keep_for_undo(added);
    } else if (added.ref != 0 && !added.payload.empty() && !settles_compensation(added.type)) {
        set_ref(added, 0);
    }
    if (is_result(added.type)) keep_as_result(added);
    let_pass(added);
}

/// To be swept away as soon as nothing else needs it.
void Record::let_pass(const Kept& event) {
    const bool is_instance_input = event.seq == 1;  // expressions may read it at any time
    if (is_instance_input || event.is_undoable || event.is_result) return;
    passing_.push_back(event.seq);
}

bool Record::is_read_output(const Kept& event) const {
    return event.node != kNoNode && program_->is_output_read(event.node) &&
           holds_output(event.type);
}

Seq Record::newest_output(NodeIndex node) const {
    return node == kNoNode || outputs_.empty() ? 0 : outputs_[static_cast<std::size_t>(node)];
}

void Record::keep_for_undo(Kept& event) {
    undoable_.push_back(event.seq);
    const Kept* input = event.ref == 0 ? nullptr : find_payload(event.ref);
    if (input == nullptr) return;
    // Straight to the event that has the data: what lies between is of no more use.
    set_ref(event, input->seq);
    ++find_mutable(input->seq)->users;
}

void Record::keep_as_result(Kept& event) {
    switch (policy_.keep) {
        case HistoryPolicy::Keep::All:
            event.is_result = true;
            return;
        case HistoryPolicy::Keep::ErrorsOnly:
            event.is_result = is_error(event.type);
            return;
        case HistoryPolicy::Keep::Last:
            break;
    }
    event.is_result = true;
    if (event.node == kNoNode) return;
    std::vector<Seq>& results = by_node_[static_cast<std::size_t>(event.node)];
    results.push_back(event.seq);
    if (results.size() <= static_cast<std::size_t>(policy_.last)) return;
    Kept* oldest = find_mutable(results.front());
    results.erase(results.begin());
    if (oldest == nullptr) return;
    oldest->is_result = false;
    let_pass(*oldest);
}

void Record::release_undo(Seq seq) {
    const auto found = std::lower_bound(undoable_.begin(), undoable_.end(), seq);
    if (found == undoable_.end() || *found != seq) return;
    undoable_.erase(found);
    Kept* event = find_mutable(seq);
    if (event == nullptr) return;
    release_use(*event);
    set_ref(*event, 0);
    event->is_undoable = false;
    event->written = {};
    let_pass(*event);
}

void Record::release_use(Kept& event) {
    Kept* input = event.ref == 0 ? nullptr : find_mutable(event.ref);
    if (input != nullptr && input->users > 0 && --input->users == 0) let_pass(*input);
}

void Record::forget_undo() {
    while (!undoable_.empty()) release_undo(undoable_.back());
}

void Record::collect_roots(const InstanceState& state) {
    roots_.clear();
    each_root(state, [this](Seq seq) { roots_.push_back(seq); });
}

void Record::follow_roots() {
    for (std::size_t i = 0; i < roots_.size(); ++i) {
        const Kept* event = find(roots_[i]);
        const bool leads_on = event != nullptr && event->payload.empty() && event->ref != 0;
        if (leads_on) roots_.push_back(event->ref);
    }
}

bool Record::is_root(Seq seq) const {
    return std::find(roots_.begin(), roots_.end(), seq) != roots_.end();
}

void Record::sweep(const InstanceState& state) {
    const bool is_over = is_terminal(state.status);
    if (is_over) forget_undo();
    if (passing_.empty()) return;
    collect_roots(state);
    follow_roots();
    std::erase_if(passing_, [&](Seq seq) {
        Kept* event = find_mutable(seq);
        if (event == nullptr) return true;
        if (event->users > 0) return true;  // it comes back when it is released
        if (is_root(seq) || (!is_over && newest_output(event->node) == seq)) return false;
        event->is_gone = true;
        event->payload = {};
        ++gone_;
        return true;
    });
    compact();
}

void Record::compact() {
    if (gone_ < kGoneMax || gone_ * 2 < events_.size()) return;
    std::erase_if(events_, [](const Kept& event) { return event.is_gone; });
    gone_ = 0;
}

}  // namespace ebb::stateless
