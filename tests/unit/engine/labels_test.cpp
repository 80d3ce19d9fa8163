// Goal: an engine labels the instances that it starts, by its options and by the definition, finds
// them by filters, and acts on them page by page; labels move with their instance.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ebb/builder.h>
#include <ebb/engine.h>
#include <ebb/handler.h>
#include <ebb/store.h>

namespace ebb {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

class EngineLabels : public ::testing::Test {
 protected:
    EngineLabels() {
        engine_.register_workflow(
            WorkflowBuilder("order")
                .label("customer", LabelType::Text, R"("${ workflow.input.customer }")")
                .label("total", LabelType::Number, R"("${ workflow.input.total }")")
                .decision("approve")
                .build()
        );
    }

    InstanceId start(const std::string& input, const Labels& labels = {}) {
        return engine_.start("order", Payload::text(input), {.labels = labels}).id;
    }

    StorePtr store_ = open_memory_store();
    HandlerRegistry handlers_;
    Engine engine_{*store_, handlers_};
};

TEST_F(EngineLabels, come_from_the_definition_and_from_the_start) {
    const InstanceId id =
        start(R"({"customer": "acme", "total": 99.5})", {{"vip", true}, {"customer", "given"}});
    const Labels expected{{"customer", "given"}, {"total", 99.5}, {"vip", true}};
    EXPECT_EQ(engine_.show(id).summary.labels, expected);
    EXPECT_EQ(engine_.find(id)->labels, expected);
    // Null makes no label.
    EXPECT_THAT(engine_.find(start(R"({"customer": null, "total": 1})"))->labels, SizeIs(1));
}

TEST_F(EngineLabels, that_are_not_of_their_type_refuse_the_start) {
    EXPECT_THROW(start(R"({"customer": "acme", "total": "much"})"), Error);
    EXPECT_THROW(start("{}"), Error);
    EXPECT_THROW(start("{}", {{"a b", 1}}), Error);
    EXPECT_THAT(engine_.list(), IsEmpty());
}

TEST_F(EngineLabels, find_count_and_steer_instances) {
    for (int n = 1; n <= 5; ++n) {
        start(R"({"customer": "acme", "total": )" + std::to_string(n) + "}");
    }
    start(R"({"customer": "bolt", "total": 9})");
    const std::string acme = "labels.customer == \"acme\"";
    EXPECT_THAT(engine_.list({.limit = 2, .where = acme}), SizeIs(2));
    EXPECT_THAT(engine_.list({.where = acme + " && labels.total > 3"}), SizeIs(2));
    ASSERT_THAT(engine_.count({.where = acme}), SizeIs(1));
    EXPECT_EQ(engine_.count({.where = acme}).front().count, 5);
    ListOptions which{.limit = 2, .where = acme};
    std::int64_t paused = 0;
    int pages = 0;
    do {
        const BulkPage page = engine_.for_page(which, [&](const InstanceId& id) {
            engine_.pause(id);
            return true;
        });
        paused += page.done;
        which.before = page.next;
        ++pages;
    } while (which.before);
    EXPECT_EQ(paused, 5);
    EXPECT_GE(pages, 3);
    EXPECT_EQ(engine_.count({.where = "status == \"paused\""}).front().count, 5);
    const BulkPage refused = engine_.for_page({.where = acme}, [&](const InstanceId&) -> bool {
        throw Error(ErrorCode::InvalidState, "not now");
    });
    EXPECT_THAT(refused.skipped, SizeIs(5));
    const auto fails = [&](const InstanceId&) -> bool {
        throw Error(ErrorCode::StoreUnavailable, "gone");
    };
    EXPECT_THROW(engine_.for_page({.where = acme}, fails), Error);
    EXPECT_THROW(engine_.list({.where = "labels.a == labels.b"}), Error);
}

TEST_F(EngineLabels, are_listed_in_both_orders_page_by_page) {
    std::vector<InstanceId> started;
    for (int n = 1; n <= 5; ++n) started.push_back(start(R"({"customer": "acme", "total": 1})"));
    for (const std::string where : {"", "labels.total == 1"}) {
        ListOptions which{.limit = 2, .where = where, .order = InstanceOrder::OldestFirst};
        std::vector<InstanceId> found;
        for (int page = 0; page < 3; ++page) {
            for (const InstanceSummary& each : engine_.list(which)) found.push_back(each.id);
            which.go_on_after(found.back());
        }
        EXPECT_EQ(found, started);
        which = {.limit = 2, .where = where};
        which.go_on_after(started[2]);
        which.after = started[0];
        const auto between = engine_.list(which);
        ASSERT_THAT(between, SizeIs(1));
        EXPECT_EQ(between[0].id, started[1]);
    }
    // A page that is full names its last instance.
    const InstancePage page =
        engine_.list_page({.limit = 2, .order = InstanceOrder::OldestFirst, .after = started[1]});
    EXPECT_EQ(page.next, started[3]);
}

TEST_F(EngineLabels, move_with_their_instance) {
    const InstanceId id = start(R"({"customer": "acme", "total": 1})");
    const std::string snapshot = engine_.export_instance(id);
    const StorePtr other = open_memory_store();
    Engine engine(*other, handlers_);
    engine.register_workflow(*engine_.definition("order"));
    engine.import_snapshot(snapshot);
    EXPECT_EQ(engine.find(id)->labels, engine_.find(id)->labels);
    EXPECT_THAT(engine.list({.where = "labels.customer == \"acme\""}), SizeIs(1));
}

}  // namespace
}  // namespace ebb
