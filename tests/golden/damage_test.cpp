// Goal: a state that was damaged in the database is either refused with a reason or read as what it
// says. Nothing crashes on it. Method: the test damages each state that a golden workflow commits,
// in every place and in many ways. It then gives each state that is still accepted to the kernel
// with all events.

#include <map>
#include <set>

#include <nlohmann/json.hpp>

#include <ebb/error.h>

#include "player.h"
#include "probe.h"
#include "stores.h"
#include "support/plain_history.h"
#include "support/store_decorator.h"

namespace ebb::golden {
namespace {

using Tree = nlohmann::ordered_json;

/// A state as it was written, and the history that belongs to it.
struct Written {
    std::string state;
    int version = 1;
    std::vector<HistoryEvent> history;
    TimePoint now;
};

/// Keeps what is written for the only instance.
class KeepingStore : public testing::StoreDecorator {
 public:
    KeepingStore(Store& inner, Clock& clock)
        : StoreDecorator(inner), store_(inner), clock_(clock) {}

    std::vector<Written> written;

 protected:
    void after(testing::StoreVerb verb) override {
        if (verb != testing::StoreVerb::Start && verb != testing::StoreVerb::Commit) return;
        for (const InstanceRow& row : store_.list({})) {
            if (!seen_.insert(row.state).second) continue;
            written.push_back(
                {.state = row.state,
                 .version = row.version,
                 .history = store_.history({.instance = row.id, .types = {}, .node = {}}),
                 .now = clock_.now()}
            );
        }
    }

 private:
    Store& store_;
    Clock& clock_;
    std::set<std::string> seen_;
};

/// The values that may replace another value.
const std::vector<Tree>& intruders() {
    static const std::vector<Tree> all = {
        nullptr,
        true,
        -1,
        0,
        1,
        3,
        4'000'000'000,
        std::numeric_limits<std::int64_t>::max(),
        1.5,
        "unknown",
        Tree::array(),
        Tree::object(),
        Tree::array({1}),
        Tree{{"unknown", 1}},
    };
    return all;
}

/// The states that differ from `state` in one place.
std::vector<std::string> damaged(const std::string& state) {
    const Tree whole = Tree::parse(state);
    std::vector<std::string> texts = {state.substr(0, state.size() / 2), state + "}"};
    const Tree flat = whole.flatten();
    std::set<std::string> places;
    for (const auto& [place, value] : flat.items()) {
        Tree::json_pointer pointer(place);
        for (; !pointer.empty(); pointer.pop_back()) places.insert(pointer.to_string());
    }
    for (const std::string& place : places) {
        const Tree::json_pointer pointer(place);
        for (const Tree& intruder : intruders()) {
            Tree other = whole;
            other[pointer] = intruder;
            texts.push_back(other.dump());
        }
        Tree less = whole;
        Tree& parent = less[pointer.parent_pointer()];
        if (parent.is_object()) {
            parent.erase(pointer.back());
        } else {
            Tree more = whole;
            Tree& doubled = more[pointer.parent_pointer()];
            doubled.push_back(whole[pointer]);
            texts.push_back(more.dump());
            parent.erase(std::stoul(pointer.back()));
        }
        texts.push_back(less.dump());
    }
    return texts;
}

/// The same state with all fields in reverse order and with unknown fields added. `name`: the field
/// that holds `tree`. Some fields of rules hold a map by name, which no later version may extend.
Tree in_other_order(const Tree& tree, const std::string& name = {}) {
    if (tree.is_array()) {
        Tree list = Tree::array();
        for (const Tree& item : tree) list.push_back(in_other_order(item));
        return list;
    }
    if (!tree.is_object()) return tree;
    if (name == "values") return tree;
    Tree turned = Tree::object();
    if (name != "written" && name != "marks")
        turned["of a later version"] = {{"a", {1, "b", nullptr}}};
    std::vector<std::string> keys;
    for (const auto& [key, value] : tree.items()) keys.insert(keys.begin(), key);
    for (const std::string& key : keys) turned[key] = in_other_order(tree[key], key);
    return turned;
}

/// The worst result may be an exception.
void ask_kernel(const Program& program, const InstanceState& state, const Written& written) {
    const test::PlainHistory past(written.history);
    for (const Probe& probe : probes_of(state, program, written.now)) {
        try {
            decide(program, {.id = {}, .key = "golden"}, state, probe.event, past, probe.now);
        } catch (const std::exception&) {
            // The kernel found the damage. The engine then notifies the operator and continues with
            // the other instances.
        }
    }
}

class Damage {
 public:
    explicit Damage(const Program& program) : program_(program) {}

    void look_at(const Written& written) {
        const InstanceState state = decode_state(written.state, program_);
        const std::string turned = in_other_order(Tree::parse(written.state)).dump();
        EXPECT_EQ(decode_state(turned, program_), state) << turned;
        for (const std::string& text : damaged(written.state)) judge(text, written);
    }

    int refused() const { return refused_; }

    int accepted() const { return accepted_; }

 private:
    void judge(const std::string& text, const Written& written) {
        try {
            const InstanceState state = decode_state(text, program_);
            ++accepted_;
            const std::string again = encode_state(state, program_);
            EXPECT_EQ(decode_state(again, program_), state) << text;
            ask_kernel(program_, state, written);
        } catch (const Error& error) {
            ++refused_;
            EXPECT_EQ(error.code(), ErrorCode::CorruptState) << error.what() << "\n" << text;
        }
    }

    const Program& program_;
    int refused_ = 0;
    int accepted_ = 0;
};

TEST(Damage, of_a_state_is_refused_or_harmless) {
    int refused = 0;
    int accepted = 0;
    for (const Case& test_case : all_cases()) {
        SCOPED_TRACE(test_case.name);
        std::vector programs{Program::compile(test_case.definition)};
        for (const Definition& later : test_case.versions) {
            programs.push_back(Program::compile(later));
        }
        with_memory([&](Store& store, ManualClock& clock) {
            KeepingStore keeping(store, clock);
            Player(test_case, keeping, clock).play();
            std::vector<Damage> damages;
            for (const auto& program : programs) damages.emplace_back(*program);
            for (const Written& written : keeping.written) {
                const auto place = static_cast<std::size_t>(written.version - 1);
                damages.at(place).look_at(written);
            }
            for (const Damage& damage : damages) {
                refused += damage.refused();
                accepted += damage.accepted();
            }
        });
    }
    EXPECT_GT(refused, 1'000);
    EXPECT_GT(accepted, 1'000);
    RecordProperty("refused", refused);
    RecordProperty("accepted", accepted);
}

}  // namespace
}  // namespace ebb::golden
