// The C++ of docs/how-to/handlers.md, compiled and run.

#include <cstdint>
#include <functional>
#include <iostream>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <ebb/ebb.h>

namespace {

using namespace std::chrono_literals;

//! [types]
struct Order {
    std::string customer;
    std::int64_t cents = 0;
};
EBB_FIELDS(Order, customer, cents)

struct Receipt {
    std::string charge;
};
EBB_FIELDS(Receipt, charge)

//! [types]

/// A bank that refuses, is busy, or charges each key once.
struct Bank {
    bool is_busy = false;
    int refunds = 0;

    Receipt charge(const std::string& key, const Order& order) {
        return {order.customer + "/" + key};
    }

    void refund(const std::string&) { ++refunds; }

    int total() const { return refunds; }
};

//! [compensation]
void add_refund(ebb::HandlerRegistry& handlers, Bank& bank) {
    using ChargeStep = ebb::Compensated<Order, Receipt>;
    handlers.add("refund", [&bank](const ChargeStep& step, const ebb::StepContext& context) {
        const bool is_known = step.output.has_value();  // the step completed
        bank.refund(is_known ? step.output->charge : context.compensates->idempotency_key);
        return "refunded " + std::to_string(step.input.cents) + " cents";
    });
}

//! [compensation]

//! [register]
void add_handlers(ebb::HandlerRegistry& handlers, Bank& bank) {
    handlers.add("charge", [&bank](const Order& order, const ebb::StepContext& context) {
        if (order.cents <= 0) {
            throw ebb::PermanentError("an order needs an amount", "no_amount");
        }
        if (bank.is_busy) throw ebb::RetryAfter("the bank is busy", 30s);
        return bank.charge(context.idempotency_key, order);
    });
    handlers.add("refund", [&bank](const ebb::StepContext& context) {
        bank.refund(context.compensates->idempotency_key);
    });
    handlers.add("thank", [](const Receipt& receipt) { return "thanks for " + receipt.charge; });
}

//! [register]

//! [builder]
ebb::Definition shop_workflow() {
    return ebb::WorkflowBuilder("shop", 1)
        .deadline(48h)
        .step("charge")
        .compensate("refund")
        .max_attempts(5)
        .backoff({.initial = 2s, .max = 1min})
        .timeout(10s)
        .condition(
            "is_large",
            "workflow.input.cents > 100000",
            [](ebb::BlockBuilder& then) { then.decision("approve").roles({"boss"}).deadline(24h); }
        )
        .step("thank")
        .input(R"({"charge": "${ steps.charge.output.charge }"})")
        .build();
}

//! [builder]

/// A client of some service that answers later, from a thread of its own.
struct Carrier {
    void book(const Order& order, std::function<void(Receipt)> answer) {
        threads.emplace_back([order, answer] { answer({"parcel of " + order.customer}); });
    }

    std::vector<std::jthread> threads;
};

//! [forms]
int cents_of(const Order& order) {
    return order.cents > 0 ? static_cast<int>(order.cents) : 0;
}

void add_more(ebb::HandlerRegistry& handlers, Bank& bank) {
    handlers.add("now", [] { return 42; });             // no input
    handlers.add("cents", cents_of);                    // a function
    handlers.add("total", &Bank::total, &bank);         // a member function
    handlers.add<Order>("log", [](const auto& order) {  // a generic lambda
        return order.customer;
    });
    handlers.add("where", [](const ebb::StepContext& context) {  // only the context
        context.log(ebb::LogLevel::Info, "asked where it runs");
        return context.workflow + "/" + context.step;
    });
}

//! [forms]

//! [async]
void add_async(ebb::HandlerRegistry& handlers, Carrier& carrier) {
    handlers.add("book", [&carrier](const Order& order, ebb::Completion<Receipt> done) {
        carrier.book(order, [done](const Receipt& receipt) { done.complete(receipt); });
    });
}

//! [async]

//! [progress]
struct Progress {
    std::size_t done = 0;
    std::size_t of = 0;
};
EBB_FIELDS(Progress, done, of)

void add_import(ebb::HandlerRegistry& handlers) {
    handlers.add("import", [](const std::vector<int>& rows, const ebb::StepContext& context) {
        for (std::size_t done = 0; done < rows.size(); ++done) {
            if (context.stop.stop_requested()) throw std::runtime_error("asked to stop");
            context.progress(Progress{.done = done, .of = rows.size()});
        }
        return rows.size();
    });
}

//! [progress]

//! [values]
void use_values(ebb::Engine& engine, const Order& order) {
    const auto started = engine.start("shop", order, {.key = order.customer});
    const auto thanks = engine.wait<std::string>(started.id);  // throws ebb::NotCompleted
    for (const ebb::StepView& step : engine.show(started.id).steps) {
        if (step.node != "charge") continue;
        std::cout << step.output << '\n';  // the JSON text: {"charge":"ann/..."}
        std::cout << step.output.as<Receipt>().charge << '\n';
    }
    std::cout << started.id << ": " << thanks << '\n';
}

//! [values]

class HandlersPage : public ::testing::Test {
 protected:
    HandlersPage() { add_handlers(handlers_, bank_); }

    ebb::Result run(const ebb::Payload& input) {
        ebb::Engine engine(*store_, handlers_);
        engine.register_workflow(shop_workflow());
        return engine.wait(engine.start("shop", input).id, 1s);
    }

    Bank bank_;
    ebb::HandlerRegistry handlers_;
    ebb::StorePtr store_ = ebb::open_memory_store();
};

TEST_F(HandlersPage, typed_handlers_pass_their_results_on) {
    const ebb::Result result = run(R"({"customer": "ann", "cents": 4200})");
    EXPECT_EQ(result.status, "completed");
    EXPECT_EQ(result.output.find("\"thanks for ann/"), 0u) << result.output;
}

TEST_F(HandlersPage, a_permanent_error_is_compensated_at_once) {
    const ebb::Result result = run(R"({"customer": "ann", "cents": 0})");
    EXPECT_EQ(result.status, "failed");
    EXPECT_NE(result.error.find("no_amount"), std::string::npos);
    EXPECT_EQ(bank_.refunds, 1);
}

TEST_F(HandlersPage, what_does_not_fit_the_type_is_an_invalid_input) {
    EXPECT_NE(run(R"({"customer": 7})").error.find("invalid_input"), std::string::npos);
}

TEST_F(HandlersPage, a_typed_compensation_gets_the_step_that_it_undoes) {
    ebb::HandlerRegistry handlers;
    add_refund(handlers, bank_);
    handlers.add("charge", [](const Order& order) { return Receipt{order.customer}; });
    handlers.add("fail", []() -> int { throw ebb::PermanentError("it broke", "broken"); });
    ebb::Engine engine(*store_, handlers);
    engine.register_workflow(
        ebb::WorkflowBuilder("sale").step("charge").compensate("refund").step("fail").build()
    );
    EXPECT_EQ(engine.wait(engine.start("sale", Order{"ann", 7}).id, 10s).status, "failed");
    EXPECT_EQ(bank_.refunds, 1);
    const auto id = engine.start("sale", ebb::Payload::text(R"({"customer": 7})")).id;
    EXPECT_EQ(engine.wait(id, 10s).status, "failed") << "and no dead letter";
    EXPECT_EQ(bank_.refunds, 2);
}

TEST(HandlersPageTypes, a_string_is_json_text_only_where_the_handler_is_raw) {
    ebb::HandlerRegistry handlers;
    std::string typed;
    std::string raw;
    handlers.add("typed", [&](const std::string& input, const ebb::StepContext&) {
        typed = input;
    });
    handlers.add_raw("raw", [&](const std::string& input, const ebb::StepContext&) -> std::string {
        raw = input;
        return input;
    });
    (*handlers.find("typed"))("\"ann\"", ebb::StepContext{});
    (*handlers.find("raw"))("\"ann\"", ebb::StepContext{});
    EXPECT_EQ(typed, "ann");
    EXPECT_EQ(raw, "\"ann\"");
}

TEST_F(HandlersPage, retry_after_says_when_to_come_back) {
    bank_.is_busy = true;
    ebb::Engine engine(*store_, handlers_);
    engine.register_workflow(shop_workflow());
    const auto id =
        engine.start("shop", ebb::Payload::text(R"({"customer": "ann", "cents": 1})")).id;
    engine.poll();
    const auto waits = engine.show(id).waiting_for;
    ASSERT_EQ(waits.size(), 1u);
    EXPECT_EQ(waits[0].kind, "retry");
    const auto delay = waits[0].until - ebb::SystemClock().now();
    EXPECT_GT(delay, 20s);
    EXPECT_LE(delay, 30s);
}

TEST_F(HandlersPage, takes_callables_of_many_forms) {
    add_more(handlers_, bank_);
    const ebb::StepContext context;
    EXPECT_EQ((*handlers_.find("now"))("null", context), "42");
    EXPECT_EQ((*handlers_.find("cents"))(R"({"customer":"ann","cents":7})", context), "7");
    EXPECT_EQ((*handlers_.find("total"))("null", context), "0");
    EXPECT_EQ((*handlers_.find("log"))(R"({"customer":"ann","cents":7})", context), "\"ann\"");
    EXPECT_EQ((*handlers_.find("where"))("null", context), "\"/\"");
}

TEST_F(HandlersPage, completes_later) {
    Carrier carrier;
    add_async(handlers_, carrier);
    ebb::Engine engine(*store_, handlers_);
    engine.register_workflow(ebb::WorkflowBuilder("parcel").step("book").build());
    const auto id = engine.start("parcel", Order{"ann", 7}).id;
    EXPECT_EQ(engine.wait<Receipt>(id, 10s).charge, "parcel of ann");
}

TEST_F(HandlersPage, reports_progress) {
    add_import(handlers_);
    ebb::Engine engine(*store_, handlers_);
    engine.register_workflow(ebb::WorkflowBuilder("import").step("import").build());
    const auto id = engine.start("import", std::vector<int>{1, 2, 3}).id;
    EXPECT_EQ(engine.wait<int>(id, 10s), 3);
}

TEST_F(HandlersPage, gives_and_takes_values) {
    ebb::Engine engine(*store_, handlers_);
    engine.register_workflow(shop_workflow());
    testing::internal::CaptureStdout();
    use_values(engine, {"ann", 4200});
    const std::string printed = testing::internal::GetCapturedStdout();
    EXPECT_NE(printed.find("thanks for ann/"), std::string::npos);
    EXPECT_NE(printed.find("{\"charge\":\"ann/"), std::string::npos);
    EXPECT_THROW(engine.wait<int>(engine.start("shop", Order{}).id, 1s), ebb::NotCompleted);
}

}  // namespace
