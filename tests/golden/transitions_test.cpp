// Goal: no pair of a state and an event is left to chance. Method: all golden workflows are played,
// and in every state that is committed on the way the kernel, being pure, is asked what it would
// make of everything that could happen there. The outcomes are docs/reference/transitions.md.

#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>

#include "ebb_test_dirs.h"
#include "player.h"
#include "stores.h"
#include "support/store_decorator.h"
#include "transition_table.h"

namespace ebb::golden {
namespace {

std::filesystem::path page_file() {
    return std::filesystem::path(EBB_SOURCE_DIR) / "docs/reference/transitions.md";
}

/// Probes each state of the one instance as it is written.
class ProbingStore : public testing::StoreDecorator {
 public:
    ProbingStore(Store& inner, const Definition& definition, Clock& clock, TransitionTable& table)
        : StoreDecorator(inner),
          store_(inner),
          program_(Program::compile(definition)),
          clock_(clock),
          table_(table) {}

 protected:
    void before(testing::StoreVerb /*verb*/) override {}

    void after(testing::StoreVerb verb) override {
        const bool may_be_new =
            verb == testing::StoreVerb::Start || verb == testing::StoreVerb::Commit;
        if (!may_be_new) return;
        for (const InstanceRow& row : store_.list({})) {
            if (!seen_.insert(row.state).second) continue;
            const InstanceState state = decode_state(row.state, *program_);
            const auto history = store_.history({.instance = row.id, .types = {}, .node = {}});
            EXPECT_EQ(table_.probe(*program_, state, history, clock_.now()), "");
        }
    }

 private:
    Store& store_;
    std::shared_ptr<const Program> program_;
    Clock& clock_;
    TransitionTable& table_;
    std::set<std::string> seen_;
};

TEST(Transitions, are_those_of_the_page_in_every_state) {
    TransitionTable table;
    for (const Case& test_case : load_cases(workflows_folder())) {
        SCOPED_TRACE(test_case.name);
        with_memory([&](Store& store, ManualClock& clock) {
            ProbingStore probing(store, test_case.definition, clock, table);
            Player(test_case, probing, clock).play();
        });
    }
    EXPECT_EQ(table.statuses_met().size(), 9U);
    for (const std::string& state : token_states()) {
        EXPECT_TRUE(table.token_states_met().contains(state)) << state;
    }
    if (std::getenv("EBB_APPROVE") != nullptr) std::ofstream(page_file()) << table.page();
    std::ostringstream expected;
    expected << std::ifstream(page_file()).rdbuf();
    EXPECT_EQ(table.page(), expected.str()) << "./dev approve rewrites it";
}

}  // namespace
}  // namespace ebb::golden
