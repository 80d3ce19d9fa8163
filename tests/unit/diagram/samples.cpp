#include "unit/diagram/samples.h"

#include <utility>

namespace ebb::diagram_test {
namespace {

using namespace std::chrono_literals;

Node node(std::string name, Node::Kind kind) {
    return {std::move(name), "", std::move(kind)};
}

Definition order() {
    HumanDecision approval;
    approval.quorum = 2;
    approval.roles = {"manager", "auditor"};
    approval.deadline = 48h;
    approval.on_deadline = HumanDecision::OnDeadline::Reject;
    Definition order = workflow(
        "order",
        {step("reserve_stock", "stock.reserve", "stock.release"),
         condition(
             "is_large",
             "input.amount > 1000",
             {node("approve", approval)},
             {step("auto_approve", "rules.check")}
         ),
         step("charge_card", "payments.charge", "payments.refund"),
         node("paid", Savepoint{}),
         parallel(
             "fulfil",
             {{"parcel",
               {step("pack", "warehouse.pack", "warehouse.unpack"), step("ship", "dhl.ship")}},
              {"invoice", {step("send_invoice", "mail.send")}},
              {"points", {step("add_points", "loyalty.add", "loyalty.remove")}}}
         ),
         node("cool_down", Delay{"14d", ""}),
         step("close_order")}
    );
    order.version = 3;
    order.description = "Takes an order, charges the card and ships the parcel";
    return order;
}

Definition every_kind() {
    HumanDecision review;
    review.on_reject = Block{step("rework"), node("give_up", Fail{"rejected by ${input.by}"})};
    Step once{"bank.transfer", "", std::nullopt, {}, true, "slow"};
    return workflow(
        "every_kind",
        {node("transfer", once),
         node(
             "route",
             Switch{
                 {{"input.country == 'DE'", {step("vat_de")}},
                  {"input.country in ['FR', 'IT', 'ES'] && input.amount >= 10000",
                   {step("vat_south"), step("report")}}},
                 {}
             }
         ),
         node("review", review),
         node("receipt", Signal{"receipt.received", 1h + 30min, Signal::OnDeadline::Continue}),
         node("restart_here", Savepoint{Savepoint::OnRollback::Resume, 5}),
         while_loop("more_pages", "steps.fetch.output.next != ''", {step("fetch", "http.get")}),
         until_loop(
             "is_ready", "steps.poll.output.ready", {step("poll"), node("rest", Delay{"90s", ""})}
         ),
         parallel("fan_out", {{"left", {step("l")}}, {"right", {step("r")}}}),
         node("until_new_year", Delay{"", "2027-01-01T00:00:00Z"}),
         node("stop", Fail{"nothing more to do"})}
    );
}

Definition joins() {
    return workflow(
        "joins",
        {parallel(
             "first_quote",
             {{"a", {step("ask_a")}}, {"b", {step("ask_b")}}, {"c", {step("ask_c")}}},
             1
         ),
         parallel(
             "two_of_four",
             {{"north", {step("n", "", "undo_n")}},
              {"east", {step("e1"), step("e2"), step("e3")}},
              {"south", {}},
              {"west", {node("refuse", Fail{"west never answers"})}}},
             2
         )}
    );
}

Definition deep_mix() {
    const Node inner = parallel(
        "inner",
        {{"one",
          {step("one_a"), condition("one_if", "now > input.t", {step("one_b", "", "one_undo")})}},
         {"two", {until_loop("two_until", "attempt > 3", {step("two_a")})}}},
        1
    );
    return workflow(
        "deep_mix",
        {while_loop(
             "rounds",
             "size(input.items) > 0",
             {step("take"),
              condition(
                  "split", "input.parallel", {inner, step("merge_results")}, {step("serial")}
              ),
              while_loop("drain", "has(input.queue)", {step("drain_one")})}
         ),
         step("done")}
    );
}

/// Cycles, error edges, edges to the end, a block and a graph among the nodes.
Definition node_graph() {
    HumanDecision review;
    review.deadline = 48h;
    NodeGraph sending{.nodes = {step("send"), step("wait_for_line")}};
    sending.edges = {
        {.from = "send", .handle = "error:busy", .to = "wait_for_line"},
        {.from = "wait_for_line", .to = "send"},
    };
    NodeGraph graph{
        .entry = "draft",
        .nodes =
            {
                step("publish", "", "withdraw"),
                step("draft", "write.draft"),
                step("check"),
                node("review", review),
                parallel("translate", {{"german", {step("de")}}, {"french", {step("fr")}}}),
                node("sending", sending),
                step("give_up"),
            },
    };
    graph.edges = {
        {.from = "draft", .to = "check"},
        {.from = "draft", .handle = "error", .to = "give_up"},
        {.from = "check", .handle = "short", .to = "translate"},
        {.from = "check", .handle = "long", .to = "review"},
        {.from = "check", .handle = "again", .to = "check"},
        {.from = "check"},
        {.from = "review", .handle = "rejected", .to = "draft"},
        {.from = "review", .to = "translate"},
        {.from = "translate", .to = "publish"},
        {.from = "publish", .to = "sending"},
    };
    return workflow("node_graph", {step("before"), node("article", graph), step("after")});
}

Definition nasty() {
    Definition nasty = workflow(
        "nasty \"<b>&amp;</b>\" #35; %%{init}%% `x`",
        {step("quote\"s and 'apostrophes'", "a<b>&c;#1", "un\"do<&>"),
         step("end", "style x:#fff; classDef y:#000;"),
         step("graph TD; A-->B", "%% comment %%{init: {}}%%"),
         step("1. list", "- item *bold* _it_ __init__ ~~x~~"),
         step(
             "[link](http://example.org) www.example.org fa:fa-user", "$$\\frac{1}{2}$$ \\N \\G \\l"
         ),
         step("line\nbreak\ttab \x1b[31mred\x01", "\xff\xfe broken \xc3( utf-8 \xed\xa0\x80"),
         step(
             "żółć 漢字かな 🚀👩‍🔬 e\u0301 עברית",
             "\u202egpj.exe\u202c \u2028 \u00a0"
         ),
         condition(
             "]]> --> <!-- {\"a\": [1|2]} -->",
             "a < b && c > \"d\" || e == '#quot;' ? f : \"]\"",
             {step(std::string(128, 'W'), std::string(300, 'i'))}
         )}
    );
    nasty.description = "<script>alert(\"1\")</script> & 'more'";
    return nasty;
}

Definition long_labels() {
    const std::string words = "the quick brown fox jumps over the lazy dog and runs away from it ";
    return workflow(
        "long_labels",
        {step(words, words + words, words),
         node(
             "choose",
             Switch{
                 {{words + words, {step("a")}},
                  {"x", {}},
                  {"input.kind == 'something long'", {step("c")}}},
                 {step("d")}
             }
         ),
         parallel("branches", {{words, {step("p")}}, {"q", {step("q1")}}})}
    );
}

Definition empty_blocks() {
    return workflow(
        "empty_blocks",
        {condition("both_empty", "true", {}, {}),
         parallel("no_branches", {}),
         parallel("empty_branches", {{"a", {}}, {"b", {}}}),
         while_loop("idle", "false", {}),
         until_loop("idle_too", "true", {}),
         node("no_cases", Switch{}),
         condition("all_fail", "input.x", {node("f1", Fail{"no"})}, {node("f2", Fail{"never"})}),
         step("unreachable")}
    );
}

StepMarks marks(std::vector<std::pair<std::string, StepMark>> list) {
    return {list.begin(), list.end()};
}

DiagramOptions marked(StepMarks marks) {
    DiagramOptions options;
    options.marks = std::move(marks);
    return options;
}

DiagramOptions order_running() {
    using enum StepMark::State;
    return marked(marks(
        {{"reserve_stock", {Completed, 1, ""}},
         {"is_large", {Completed, 1, ""}},
         {"approve", {Completed, 1, "confirmed by ann, bob"}},
         {"auto_approve", {Skipped, 0, ""}},
         {"charge_card", {Completed, 3, ""}},
         {"paid", {Completed, 1, ""}},
         {"fulfil", {Running, 1, ""}},
         {"pack", {Running, 1, ""}},
         {"send_invoice", {Retrying, 4, "smtp timeout, next in 12s"}},
         {"add_points", {Waiting, 1, "for a worker"}}}
    ));
}

DiagramOptions order_rolled_back() {
    using enum StepMark::State;
    return marked(marks(
        {{"reserve_stock", {Compensating, 2, "stock.release"}},
         {"is_large", {Completed, 1, ""}},
         {"approve", {Skipped, 0, ""}},
         {"auto_approve", {Completed, 1, ""}},
         {"charge_card", {Compensated, 1, ""}},
         {"fulfil", {Failed, 1, ""}},
         {"pack", {CompensationFailed, 5, "unpack: bad gateway"}},
         {"ship", {Failed, 3, "address <unknown> & \"lost\""}},
         {"nowhere", {Failed, 1, "is not in the definition"}}}
    ));
}

DiagramOptions to_the_right(DiagramOptions options = {}) {
    options.direction = DiagramOptions::Direction::Right;
    return options;
}

DiagramOptions without_compensations() {
    DiagramOptions options;
    options.compensations = DiagramOptions::Compensations::Hide;
    return options;
}

}  // namespace

Node step(std::string name, std::string handler, std::string undo) {
    Step step;
    step.handler = std::move(handler);
    if (!undo.empty()) step.compensate = Compensation{std::move(undo), {}};
    return node(std::move(name), std::move(step));
}

Node condition(std::string name, std::string when, Block then, Block otherwise) {
    return node(std::move(name), Condition{std::move(when), std::move(then), std::move(otherwise)});
}

Node parallel(std::string name, std::vector<Parallel::Branch> branches, int join) {
    Parallel parallel;
    parallel.branches = std::move(branches);
    parallel.join = join;
    return node(std::move(name), std::move(parallel));
}

Node while_loop(std::string name, std::string expression, Block body) {
    Loop loop;
    loop.while_expression = std::move(expression);
    loop.steps = std::move(body);
    return node(std::move(name), std::move(loop));
}

Node until_loop(std::string name, std::string expression, Block body) {
    Loop loop;
    loop.until_expression = std::move(expression);
    loop.steps = std::move(body);
    loop.max_iterations = 20;
    return node(std::move(name), std::move(loop));
}

Definition workflow(std::string name, Block steps) {
    Definition definition;
    definition.name = std::move(name);
    definition.steps = std::move(steps);
    return definition;
}

Definition nested(int depth) {
    Block block{step("innermost")};
    for (int i = depth; i > 0; --i) {
        const std::string name = "level_" + std::to_string(i);
        Block outer;
        switch (i % 3) {
            case 0:
                outer.push_back(condition(name, "input.deeper", std::move(block)));
                break;
            case 1:
                outer.push_back(parallel(name, {{"down", std::move(block)}, {"beside", {}}}));
                break;
            default:
                outer.push_back(while_loop(name, "input.more", std::move(block)));
        }
        block = std::move(outer);
    }
    return workflow("nested", std::move(block));
}

Definition large(int nodes) {
    Block steps;
    for (int i = 0; i < nodes; ++i) {
        const std::string name = "n" + std::to_string(i);
        if (i % 10 == 9 && i + 2 < nodes) {
            Block left{step(name + "_l", "handler.left", "undo")};
            Block right{step(name + "_r")};
            steps.push_back(
                i % 20 == 9 ? condition(name, "input.x > 1", std::move(left), std::move(right))
                            : parallel(name, {{"l", std::move(left)}, {"r", std::move(right)}})
            );
            i += 2;
        } else {
            steps.push_back(step(name, "handler.of." + name));
        }
    }
    return workflow("large", std::move(steps));
}

std::vector<Sample> samples() {
    return {
        {"order", order(), {}},
        {"order_right", order(), to_the_right()},
        {"order_running", order(), order_running()},
        {"order_rolled_back", order(), order_rolled_back()},
        {"order_no_compensations", order(), without_compensations()},
        {"every_kind", every_kind(), {}},
        {"every_kind_right", every_kind(), to_the_right(marked({}))},
        {"joins", joins(), {}},
        {"deep_mix", deep_mix(), {}},
        {"node_graph", node_graph(), {}},
        {"node_graph_right", node_graph(), to_the_right()},
        {"nasty", nasty(), {}},
        {"long_labels", long_labels(), {}},
        {"empty_blocks", empty_blocks(), {}},
        {"empty", workflow("empty", {}), {}},
    };
}

}  // namespace ebb::diagram_test
