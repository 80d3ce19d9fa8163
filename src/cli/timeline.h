#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <ebb/engine.h>

#include "cli/definition_names.h"
#include "cli/session.h"

namespace ebb::cli {

/// What `ebb show` shows of the steps.
struct TimelineOptions {
    Times times = Times::Relative;
    bool with_payloads = false;
    bool is_whole = false;  ///< all turns of loops
};

/// The steps of an instance as lines: blocks with their branches, loops with their turns, failed
/// attempts and compensations below the step that they belong to.
class Timeline {
 public:
    /// All must outlive it. `history` may be cut off at its beginning.
    Timeline(
        Session& session,
        const InstanceView& view,
        const NodeIndexByName& nodes,
        const std::vector<HistoryEntry>& history,
        TimelineOptions options
    );

    std::string text() const;

 private:
    /// A step, or a branch or turn with its content.
    struct Item {
        const StepView* step =
            nullptr;         ///< null: a branch, a turn, or a block without an event yet
        std::string name{};  ///< the node's, the branch's or the turn's
        bool is_branch = false;
        bool is_turn = false;
        std::vector<std::unique_ptr<Item>> items{};
    };

    struct Line {
        std::string name{};
        std::string status{};
        std::string at{};
        std::string took{};
        std::string error{};   ///< must be readable, if need be on lines of its own
        std::string code{};    ///< stands for an error that an earlier line has shown
        std::string remark{};  ///< is left out if there is no room
    };

    void add(const StepView& step);
    Item& place_for(const StepView& step, const NodeFacts& facts);
    Item& group_in(Item& block, const std::string& branch);
    Item& turn_in(Item& loop, const std::string& child, bool is_new_visit);
    static Item* last_named(Item& parent, const std::string& name);

    static std::string_view look_of_block(const Item& block);
    void write(const Item& item, int depth, std::vector<Line>& lines) const;
    void write_turns(const Item& loop, int depth, std::vector<Line>& lines) const;
    Line line_of(const StepView& step, int depth) const;
    Line detail_of(const HistoryEntry& entry, TimePoint due_since, int depth) const;
    void write_details(
        const StepView& step,
        const std::vector<HistoryEntry>& details,
        int depth,
        std::vector<Line>& lines
    ) const;
    void write_payloads(const StepView& step, int depth, std::vector<Line>& lines) const;
    std::string remark_of(const StepView& step) const;
    std::string at_text(TimePoint at) const;
    std::string layout(const std::vector<Line>& lines) const;

    Session& session_;
    const Style& style_;
    const InstanceView& view_;
    const NodeIndexByName& nodes_;
    TimelineOptions options_;
    Item root_;
    std::map<std::int64_t, std::vector<HistoryEntry>> details_;  ///< by visit
};

/// Whether the step's own work failed, whatever was undone afterwards.
bool has_failed(const StepView& step);

/// `failed, then undone`, `completed`, ...
std::string step_status_text(const StepView& step);

}  // namespace ebb::cli
