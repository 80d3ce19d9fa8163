#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include <ebb/engine.h>

#include "cli/definition_names.h"
#include "cli/watched_handlers.h"

namespace ebb::cli {

/// Something that has happened, as one line of a display.
struct ProgressLine {
    enum class Mark { Done, Failed, Retry, Undone, UndoFailed, Waiting, Skipped, Notice };

    Mark mark = Mark::Notice;
    std::string name{};  ///< the node's, or the compensation handler's
    std::string text{};  ///< further details
    Duration took{0};    ///< 0 = nothing that took time
    int depth = 0;       ///< how many blocks are around it

    bool operator==(const ProgressLine&) const = default;
};

/// A current activity.
struct LiveLine {
    enum class Kind { Running, Retrying, Waiting, Undoing };

    Kind kind = Kind::Running;
    std::string name{};
    std::string text{};
    TimePoint since{};
    TimePoint until = kNever;
    int depth = 0;

    bool operator==(const LiveLine&) const = default;
};

/// Turns an instance's history and the calls that begin in this process into lines. Pure; not
/// synchronised.
class Progress {
 public:
    explicit Progress(NodeIndexByName nodes) : nodes_(std::move(nodes)) {}

    void read(const CallStarted& call);
    /// The line that the event is worth, if it is. Events must come in their order.
    std::optional<ProgressLine> read(const HistoryEntry& event);

    /// In the order in which they began.
    std::vector<LiveLine> live() const;

    std::int64_t last_seq() const { return last_seq_; }

    /// A line has shown this failure in full.
    bool has_said(const Payload& failure) const;

    /// The instance's own last event has been read.
    bool is_finished() const { return is_finished_; }

 private:
    struct Key {
        std::string node;
        bool is_compensation = false;

        auto operator<=>(const Key&) const = default;
    };

    struct Live {
        LiveLine line;
        TimePoint at{};
    };

    const NodeFacts& facts(const std::string& node) const;
    std::string undo_text(const std::string& node) const;
    ProgressLine line(ProgressLine::Mark mark, const HistoryEntry& event, std::string text) const;
    std::string say_failure(const HistoryEntry& event, bool is_compensation);
    void end_live(const HistoryEntry& event, bool is_compensation);
    void add_live(const HistoryEntry& event, bool is_compensation, LiveLine line);
    std::optional<ProgressLine> read_step(const HistoryEntry& event);
    std::optional<ProgressLine> read_compensation(const HistoryEntry& event);
    std::optional<ProgressLine> read_wait(const HistoryEntry& event);
    std::optional<ProgressLine> read_instance(const HistoryEntry& event);

    NodeIndexByName nodes_;
    std::map<Key, Live> live_;
    std::map<Key, std::string> said_;  ///< the failure of each node that was shown last
    std::int64_t last_seq_ = 0;
    bool is_finished_ = false;
};

}  // namespace ebb::cli
