// What differs between two workflows, node by node.

#include "core/model/difference.h"

#include <gtest/gtest.h>

#include <ebb/builder.h>

#include "everything.h"

namespace ebb::test {
namespace {

using model::compare;
using model::Difference;
using model::FieldChange;
using model::NodeChange;

WorkflowBuilder order() {
    return WorkflowBuilder("order");
}

const NodeChange& only(const Difference& difference) {
    EXPECT_EQ(difference.nodes.size(), 1U);
    return difference.nodes.at(0);
}

TEST(Difference, a_workflow_does_not_differ_from_itself) {
    const Definition all = everything();
    EXPECT_TRUE(compare(all, all).is_empty());
    EXPECT_FALSE(compare(all, all).needs_version);
}

TEST(Difference, a_changed_node_has_the_pointer_and_both_values) {
    const Definition before =
        order().step("a").step("pay").timeout(std::chrono::seconds(5)).queue("slow").build();
    const Definition after =
        order().step("a").step("pay").timeout(std::chrono::seconds(9)).max_attempts(7).build();
    const Difference difference = compare(before, after);
    const NodeChange& pay = only(difference);
    EXPECT_EQ(pay.kind, NodeChange::Kind::Changed);
    EXPECT_EQ(pay.name, "pay");
    EXPECT_EQ(pay.pointer_after, "/steps/1");
    const auto has = [&](const FieldChange& field) {
        return std::find(pay.fields.begin(), pay.fields.end(), field) != pay.fields.end();
    };
    EXPECT_EQ(pay.fields.size(), 3U);
    EXPECT_TRUE(has({"/timeout", "\"5s\"", "\"9s\""}));
    EXPECT_TRUE(has({"/queue", "\"slow\"", std::nullopt}));
    EXPECT_TRUE(has({"/max_attempts", std::nullopt, "7"}));
    EXPECT_TRUE(difference.needs_version);
}

TEST(Difference, a_removed_node_stands_behind_the_one_before_it) {
    const Definition before = order().step("a").step("b").step("c").build();
    const Definition after = order().step("a").step("c").step("d").build();
    const Difference difference = compare(before, after);
    ASSERT_EQ(difference.nodes.size(), 2U);
    EXPECT_EQ(difference.nodes[0].name, "b");
    EXPECT_EQ(difference.nodes[0].kind, NodeChange::Kind::Removed);
    EXPECT_EQ(difference.nodes[0].pointer_before, "/steps/1");
    EXPECT_EQ(difference.nodes[0].pointer_after, "");
    EXPECT_EQ(difference.nodes[1].name, "d");
    EXPECT_EQ(difference.nodes[1].kind, NodeChange::Kind::Added);
}

TEST(Difference, one_node_that_passes_others_is_the_only_one_that_moved) {
    const Definition before = order().step("a").step("b").step("c").step("d").build();
    const Definition after = order().step("d").step("a").step("b").step("c").build();
    const Difference difference = compare(before, after);
    EXPECT_EQ(only(difference).name, "d");
    EXPECT_EQ(only(difference).kind, NodeChange::Kind::Moved);
    EXPECT_EQ(only(difference).pointer_before, "/steps/3");
    EXPECT_EQ(only(difference).pointer_after, "/steps/0");
}

TEST(Difference, what_moves_into_a_block_is_not_a_change_of_the_block) {
    const auto block = [](bool is_inside) {
        WorkflowBuilder builder("order");
        if (!is_inside) builder.step("gift");
        builder.condition("big", "input.big", [is_inside](BlockBuilder& then) {
            then.step("check");
            if (is_inside) then.step("gift");
        });
        return builder.build();
    };
    const Difference difference = compare(block(false), block(true));
    EXPECT_EQ(only(difference).name, "gift");
    EXPECT_TRUE(only(difference).is_moved);
    EXPECT_EQ(only(difference).pointer_after, "/steps/0/then/1");
}

TEST(Difference, another_kind_of_the_same_name_is_a_change) {
    const Definition before = order().step("a").step("wait").build();
    const Definition after = order().step("a").signal("wait").build();
    const Difference difference = compare(before, after);
    EXPECT_EQ(only(difference).node_kind, "signal");
    EXPECT_EQ(only(difference).fields.at(0), (FieldChange{"/kind", "\"step\"", "\"signal\""}));
}

TEST(Difference, branches_of_another_order_keep_their_nodes) {
    const auto both = [](const char* first, const char* second) {
        const auto branch = [](const char* name) {
            return BranchOptions{name, [name](BlockBuilder& b) { b.step(name); }};
        };
        return order().parallel("both", {branch(first), branch(second)}).build();
    };
    const Difference difference = compare(both("x", "y"), both("y", "x"));
    EXPECT_EQ(only(difference).name, "both");
    EXPECT_EQ(only(difference).fields.size(), 2U) << "the names of the branches";
}

TEST(Difference, of_lists_that_grow_only_what_is_new_is_a_change) {
    const auto graph = [](bool has_more) {
        WorkflowBuilder builder("g");
        auto nodes = builder.graph("g", [](BlockBuilder& b) { b.step("a").step("b"); });
        nodes.edge("a", "b");
        if (has_more) nodes.edge("b", "again", "a");
        return builder.build();
    };
    const Difference difference = compare(graph(false), graph(true));
    ASSERT_EQ(only(difference).fields.size(), 1U);
    EXPECT_EQ(only(difference).fields[0].pointer, "/edges/1");
    EXPECT_EQ(only(difference).fields[0].before, std::nullopt);
}

TEST(Difference, the_workflow_itself_has_fields_too) {
    const Definition before = WorkflowBuilder("order", 1).step("a").build();
    const Definition after =
        WorkflowBuilder("order", 2).deadline(std::chrono::hours(1)).step("a").build();
    const Difference difference = compare(before, after);
    EXPECT_TRUE(difference.nodes.empty());
    ASSERT_EQ(difference.workflow.size(), 2U);
    EXPECT_FALSE(difference.needs_version);
}

TEST(Difference, the_picture_has_removed_nodes_where_they_were) {
    const Definition before =
        order()
            .step("a")
            .condition("big", "input.big", [](BlockBuilder& then) { then.step("x").step("y"); })
            .step("gone")
            .step("z")
            .build();
    const Definition after =
        order()
            .step("a")
            .condition("big", "input.big", [](BlockBuilder& then) { then.step("y"); })
            .step("z")
            .step("new")
            .build();
    const Definition merged = model::with_removed_nodes(before, after);
    ASSERT_EQ(merged.steps.size(), 5U);
    EXPECT_EQ(merged.steps[2].name, "gone");
    EXPECT_EQ(merged.steps[4].name, "new");
    const Block& then = std::get<Condition>(merged.steps[1].kind).then;
    ASSERT_EQ(then.size(), 2U);
    EXPECT_EQ(then[0].name, "x");
}

TEST(Difference, a_removed_node_of_a_graph_keeps_its_edges) {
    const auto graph = [](bool has_middle) {
        WorkflowBuilder builder("g");
        auto nodes = builder.graph("g", [has_middle](BlockBuilder& b) {
            b.step("a");
            if (has_middle) b.step("m");
            b.step("b");
        });
        if (has_middle) {
            nodes.edge("a", "m").edge("m", "b");
        } else {
            nodes.edge("a", "b");
        }
        return builder.build();
    };
    const Definition merged = model::with_removed_nodes(graph(true), graph(false));
    const auto& joined = std::get<NodeGraph>(merged.steps[0].kind);
    EXPECT_EQ(joined.nodes.size(), 3U);
    EXPECT_EQ(joined.edges.size(), 3U);
}

}  // namespace
}  // namespace ebb::test
