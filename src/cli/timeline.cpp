#include "cli/timeline.h"

#include <algorithm>
#include <limits>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "cli/failure_text.h"
#include "cli/text.h"

namespace ebb::cli {

namespace {

using Color = Style::Color;

/// More turns of a loop than this are folded.
constexpr int kTurnsMax = 5;
/// These limits apply if the output has no width, because it is not a terminal.
constexpr int kRemarkMax = 120;
constexpr int kErrorMax = 500;
constexpr int kErrorLinesMax = 6;
constexpr int kRemarkMin = 12;

/// The parts of the history that belong below the line of a visit: failed attempts, votes, the
/// compensation.
bool is_detail(std::string_view type) {
    return type == "step_retried" || type == "lease_lost" || type == "decision_made" ||
           type == "step_compensated" || type == "compensation_retried" ||
           type == "compensation_failed" || type == "compensation_skipped" ||
           type == "compensation_stopped";
}

bool is_of_compensation(const HistoryEntry& entry) {
    const bool is_lost = entry.type == "lease_lost" && !entry.payload.empty();
    return is_lost || entry.type.find("compensat") != std::string::npos;
}

std::string indent(int depth) {
    return std::string(static_cast<std::size_t>(2 * depth + 2), ' ');
}

bool is_trouble(const StepView& step) {
    return has_failed(step) || step.status == StepStatus::CompensationFailed ||
           step.status == StepStatus::Running || step.status == StepStatus::Retrying ||
           step.status == StepStatus::Waiting || step.status == StepStatus::Pending ||
           step.status == StepStatus::Compensating;
}

/// The sign and the color of a step.
std::string_view look_of(const StepView& step) {
    return has_failed(step) ? "failed" : to_string(step.status);
}

}  // namespace

bool has_failed(const StepView& step) {
    if (step.status == StepStatus::Failed) return true;
    const bool is_undone = step.status == StepStatus::Compensated ||
                           step.status == StepStatus::Compensating ||
                           step.status == StepStatus::CompensationFailed;
    return is_undone && step.output.empty() && !step.error.empty();
}

std::string step_status_text(const StepView& step) {
    const bool failed = has_failed(step);
    switch (step.status) {
        case StepStatus::Compensated:
            return failed ? "failed, then undone" : "compensated";
        case StepStatus::Compensating:
            return failed ? "failed, undoing" : "compensating";
        case StepStatus::CompensationFailed:
            return "undo failed";
        default:
            return std::string(to_string(step.status));
    }
}

Timeline::Timeline(
    Session& session,
    const InstanceView& view,
    const NodeIndexByName& nodes,
    const std::vector<HistoryEntry>& history,
    TimelineOptions options
)
    : session_(session), style_(session.out()), view_(view), nodes_(nodes), options_(options) {
    std::map<std::int64_t, std::int64_t> visit_of;
    for (const HistoryEntry& entry : history) {
        visit_of[entry.seq] = entry.visit;
        if (!is_detail(entry.type)) continue;
        // A compensation has its own visit; it is shown with the step that it undoes.
        const bool undoes = is_of_compensation(entry);
        details_[undoes ? visit_of[entry.ref] : entry.visit].push_back(entry);
    }
    for (const StepView& step : view.steps) add(step);
}

Timeline::Item* Timeline::last_named(Item& parent, const std::string& name) {
    for (auto item = parent.items.rbegin(); item != parent.items.rend(); ++item) {
        if ((*item)->name == name) return item->get();
    }
    return nullptr;
}

/// The branch of a block that contains a place.
Timeline::Item& Timeline::group_in(Item& block, const std::string& branch) {
    if (Item* known = last_named(block, branch)) return *known;
    block.items.push_back(std::make_unique<Item>());
    block.items.back()->name = branch;
    block.items.back()->is_branch = true;
    return *block.items.back();
}

/// The turn of a loop that contains `child`: the last one, or the next one if the last already has
/// this child.
Timeline::Item& Timeline::turn_in(Item& loop, const std::string& child, bool is_new_visit) {
    const bool is_next =
        loop.items.empty() || (is_new_visit && last_named(*loop.items.back(), child) != nullptr);
    if (is_next) {
        loop.items.push_back(std::make_unique<Item>());
        loop.items.back()->name = fmt::format("turn {}", loop.items.size());
        loop.items.back()->is_turn = true;
    }
    return *loop.items.back();
}

Timeline::Item& Timeline::place_for(const StepView& step, const NodeFacts& facts) {
    Item* place = &root_;
    for (std::size_t i = 0; i < facts.around.size(); ++i) {
        const NodeFacts::Around& around = facts.around[i];
        Item* block = last_named(*place, around.block);
        if (block == nullptr) {
            place->items.push_back(std::make_unique<Item>());
            block = place->items.back().get();
            block->name = around.block;
        }
        const auto block_facts = nodes_.find(around.block);
        const std::string kind =
            block_facts == nodes_.end() ? std::string() : block_facts->second.kind;
        if (kind == "loop") {
            const bool is_leaf = i + 1 == facts.around.size();
            const std::string& child = is_leaf ? step.node : facts.around[i + 1].block;
            // A block's own event comes before those of its content.
            place = &turn_in(*block, child, is_leaf);
        } else {
            place = around.branch.empty() ? block : &group_in(*block, around.branch);
        }
    }
    return *place;
}

void Timeline::add(const StepView& step) {
    static const NodeFacts unknown;
    const auto found = nodes_.find(step.node);
    const NodeFacts& facts = found == nodes_.end() ? unknown : found->second;
    Item& place = place_for(step, facts);
    // A loop has an event only at its end. By then, its content has already created its line.
    Item* known = last_named(place, step.node);
    if (known != nullptr && known->step == nullptr) {
        known->step = &step;
        return;
    }
    auto item = std::make_unique<Item>();
    item->step = &step;
    item->name = step.node;
    place.items.push_back(std::move(item));
}

std::string Timeline::at_text(TimePoint at) const {
    if (at == TimePoint{}) return {};
    if (options_.times != Times::Relative) return absolute_time(at, options_.times);
    return "+" + elapsed(at - view_.summary.created_at);
}

std::string Timeline::remark_of(const StepView& step) const {
    const TimePoint now = session_.now();
    std::string text;
    const std::string_view what = step.kind == "loop" ? "turns" : "attempts";
    if (step.attempts > 1) text = fmt::format("{} {}", step.attempts, what);
    for (const WaitingFor& wait : view_.waiting_for) {
        if (wait.node != step.node || wait.until == kNever) continue;
        if (step.status != StepStatus::Waiting && step.status != StepStatus::Retrying) continue;
        text += (text.empty() ? "" : "  ") + until_text(wait.until, now);
    }
    const bool is_under_way =
        step.status == StepStatus::Running || step.status == StepStatus::Retrying;
    if (is_under_way && !step.progress.empty()) {
        text += (text.empty() ? "" : "  ") +
                payload_text(step.progress, session_.text_limit(kRemarkMax), "");
    }
    if (step.output.empty() || options_.with_payloads) return text;
    return text + (text.empty() ? "" : "  ") +
           payload_text(step.output, session_.text_limit(kRemarkMax), "");
}

Timeline::Line Timeline::line_of(const StepView& step, int depth) const {
    const Color color = Style::color_of_status(look_of(step));
    const std::string sign = style_.paint(color, style_.sign(look_of(step)));
    const bool has_run = step.started_at != TimePoint{} && step.finished_at != TimePoint{};
    Line line{
        .name = fmt::format("{}{} {}", indent(depth), sign, one_line(step.node)),
        .status = style_.paint(color, step_status_text(step)),
        .at = at_text(step.started_at == TimePoint{} ? step.finished_at : step.started_at),
        .took = has_run ? elapsed(step.finished_at - step.started_at) : "",
    };
    if (step.output.empty() && !step.error.empty()) {
        line.error = failure_text(step.error);
        line.code = member_text(step.error, "code");
        if (step.attempts > 1) line.remark = fmt::format("{} attempts", step.attempts);
    } else {
        line.remark = remark_of(step);
    }
    return line;
}

Timeline::Line Timeline::detail_of(const HistoryEntry& entry, TimePoint due_since, int depth)
    const {
    const Glyphs& glyphs = style_.glyphs();
    std::string name = fmt::format("attempt {}", entry.attempt);
    Line line{
        .status = "failed",
        .error = failure_text(entry.payload),
        .code = member_text(entry.payload, "code"),
    };
    if (entry.type == "lease_lost") {
        if (is_of_compensation(entry)) {
            name = fmt::format("{} undo, attempt {}", glyphs.undone, entry.attempt);
        }
        line.status = "lost";
        line.error.clear();
        line.remark = "its worker stopped";
    } else if (entry.type == "decision_made") {
        name = member_text(entry.payload, "by");
        line.status = member_text(entry.payload, "verdict");
        line.error.clear();
        line.remark = member_text(entry.payload, "comment");
    } else if (entry.type == "step_compensated") {
        name = fmt::format("{} undo", glyphs.undone);
        line.status = "done";
        line.error.clear();
    } else if (entry.type == "compensation_skipped") {
        name = fmt::format("{} undo", glyphs.undone);
        line.status = "skipped";
        line.error.clear();
        line.remark = "by an operator";
    } else if (entry.type == "compensation_stopped") {
        name = fmt::format("{} undo, attempt {}", glyphs.undone, entry.attempt);
        line.status = "stopped";
        line.error.clear();
        line.remark = fmt::format("outcome {}", member_text(entry.payload, "outcome"));
    } else if (entry.type != "step_retried") {
        name = fmt::format("{} undo, attempt {}", glyphs.undone, entry.attempt);
    }
    line.name = indent(depth + 1) + style_.dim(name);
    line.status =
        line.error.empty() ? style_.dim(line.status) : style_.paint(Color::Red, line.status);
    const TimePoint began = entry.started_at != TimePoint{} ? entry.started_at : due_since;
    line.at = at_text(began == TimePoint{} ? entry.at : began);
    if (began != TimePoint{}) line.took = elapsed(entry.at - began);
    return line;
}

void Timeline::write_details(
    const StepView& step,
    const std::vector<HistoryEntry>& details,
    int depth,
    std::vector<Line>& lines
) const {
    // No record says when a lost attempt began, so the time at which it became due stands for it.
    TimePoint due_since = step.started_at;
    for (const HistoryEntry& entry : details) {
        const bool is_lost = entry.type == "lease_lost" && !is_of_compensation(entry);
        const bool is_known = is_lost && due_since <= entry.at;
        lines.push_back(detail_of(entry, is_known ? due_since : TimePoint{}, depth));
        due_since = entry.at;
    }
}

void Timeline::write_payloads(const StepView& step, int depth, std::vector<Line>& lines) const {
    const auto add = [&](std::string_view name, const Payload& payload) {
        if (payload.empty()) return;
        lines.push_back(
            {.name = indent(depth + 1) + style_.dim(name) + " " + one_line(payload), .status = {}}
        );
    };
    add("input ", step.input);
    add("output", step.output);
}

void Timeline::write_turns(const Item& loop, int depth, std::vector<Line>& lines) const {
    const int count = static_cast<int>(loop.items.size());
    const auto has_trouble = [](const auto& self, const Item& item) -> bool {
        if (item.step != nullptr && is_trouble(*item.step)) return true;
        return std::any_of(item.items.begin(), item.items.end(), [&](const auto& each) {
            return self(self, *each);
        });
    };
    std::set<int> shown{0, count - 2, count - 1};
    // The newest turns in trouble.
    for (int turn = count - 1; turn >= 0 && static_cast<int>(shown.size()) < kTurnsMax; --turn) {
        if (has_trouble(has_trouble, *loop.items[static_cast<std::size_t>(turn)])) {
            shown.insert(turn);
        }
    }
    const bool is_folded = count > kTurnsMax && !options_.is_whole;
    for (int turn = 0; turn < count; ++turn) {
        if (!is_folded || shown.contains(turn)) {
            write(*loop.items[static_cast<std::size_t>(turn)], depth, lines);
            continue;
        }
        const int first = turn;
        while (turn + 1 < count && !shown.contains(turn + 1)) ++turn;
        lines.push_back(
            {.name = indent(depth) + style_.dim(fmt::format(
                                         "{} {} turn{} more: --all",
                                         style_.glyphs().ellipsis,
                                         turn - first + 1,
                                         turn == first ? "" : "s"
                                     )),
             .status = {}}
        );
    }
}

/// Of a block without an event of its own, such as a graph: what its content says.
std::string_view Timeline::look_of_block(const Item& block) {
    std::string_view look = "completed";
    const auto judge = [&look](const auto& self, const Item& item) -> void {
        if (item.step != nullptr && look != "running") {
            const StepStatus status = item.step->status;
            const bool is_live = is_trouble(*item.step) && !has_failed(*item.step) &&
                                 status != StepStatus::CompensationFailed;
            // The last one says how the block ended.
            look = is_live ? "running" : look_of(*item.step);
        }
        for (const auto& each : item.items) self(self, *each);
    };
    judge(judge, block);
    return look == "skipped" ? "completed" : look;
}

void Timeline::write(const Item& item, int depth, std::vector<Line>& lines) const {
    // A branch may have the name of a node.
    const bool is_block = item.step == nullptr && !item.is_branch && !item.items.empty() &&
                          nodes_.contains(item.name);
    if (item.step != nullptr) {
        lines.push_back(line_of(*item.step, depth));
        if (options_.with_payloads) write_payloads(*item.step, depth, lines);
        const auto details = details_.find(item.step->visit);
        if (details != details_.end()) {
            write_details(*item.step, details->second, depth, lines);
        }
    } else if (is_block && !item.is_turn) {
        const std::string_view look = look_of_block(item);
        const std::string sign = style_.paint(Style::color_of_status(look), style_.sign(look));
        lines.push_back(
            {.name = fmt::format("{}{} {}", indent(depth), sign, item.name), .status = {}}
        );
    } else {
        lines.push_back({.name = indent(depth) + style_.dim(item.name), .status = {}});
    }
    const bool has_turns = !item.items.empty() && item.items.front()->is_turn;
    if (has_turns) return write_turns(item, depth + 1, lines);
    for (const auto& each : item.items) write(*each, depth + 1, lines);
}

std::string Timeline::layout(const std::vector<Line>& lines) const {
    const int columns = session_.columns();
    const std::string_view ellipsis = style_.glyphs().ellipsis;
    const int name_max = columns == 0 ? std::numeric_limits<int>::max() : std::max(columns / 2, 24);
    int name = 0;
    int status = 0;
    int at = 0;
    int took = 0;
    for (const Line& line : lines) {
        if (line.status.empty()) continue;
        const int width = display_width(line.name);
        if (width <= name_max) name = std::max(name, width);
        status = std::max(status, display_width(line.status));
        at = std::max(at, display_width(line.at));
        took = std::max(took, display_width(line.took));
    }
    const int before = name + status + at + took + 8;
    const int widest = columns == 0 ? session_.text_limit(kErrorMax) : columns;
    const int room = columns == 0 ? widest : columns - before;
    std::string text;
    const auto put = [&](std::string row) {
        if (columns > 0) row = truncate(row, columns, ellipsis);
        row.erase(row.find_last_not_of(' ') + 1);
        text += row + "\n";
    };
    for (const Line& line : lines) {
        if (line.status.empty()) {
            put(line.name);
            continue;
        }
        // A name is never cut: a long one has a line of its own.
        const bool is_long = display_width(line.name) > name;
        if (is_long) text += line.name + "\n";
        std::string row = pad(is_long ? std::string() : line.name, name + 2) +
                          pad(line.status, status + 2) + pad(style_.dim(line.at), at + 2) +
                          pad(line.took, took + 2);
        const bool fits = display_width(line.error) <= room;
        if (!line.error.empty() && fits) row += style_.paint(Color::Red, line.error);
        const int remark_room = std::min(room, session_.text_limit(kRemarkMax));
        if ((line.error.empty() || !fits) && remark_room >= kRemarkMin) {
            row += style_.dim(truncate(line.remark, remark_room, ellipsis));
        }
        put(std::move(row));
        if (line.error.empty() || fits) continue;
        const std::size_t begin = line.name.find_first_not_of(' ');
        const std::string margin(begin + 4, ' ');
        const int width = std::max(widest - static_cast<int>(begin) - 4, 20);
        const auto wrapped = wrap(line.error, width);
        for (std::size_t i = 0; i < wrapped.size() && i < kErrorLinesMax; ++i) {
            const bool is_cut = i + 1 == kErrorLinesMax && wrapped.size() > kErrorLinesMax;
            put(margin +
                style_.paint(Color::Red, wrapped[i] + (is_cut ? std::string(ellipsis) : "")));
        }
    }
    return text;
}

std::string Timeline::text() const {
    std::vector<Line> lines;
    for (const auto& item : root_.items) write(*item, 0, lines);
    // The cause is above the timeline, and attempts mostly fail alike: a message is shown once.
    std::set<std::string> shown{failure_text(view_.error)};
    for (Line& line : lines) {
        if (line.error.empty() || shown.insert(line.error).second) continue;
        if (!line.code.empty()) line.error = line.code;
    }
    return layout(lines);
}

}  // namespace ebb::cli
