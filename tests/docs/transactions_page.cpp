// The C++ of docs/how-to/transactions.md is compiled and linked here; what it does, the store tests
// show.

#include <string>

#include <nlohmann/json.hpp>

#include <ebb/ebb.h>
#include <ebb/transaction.h>

namespace shop {

// What an application has anyway, with libpq or a library on top of it.
struct Database {
    void execute(const std::string& sql);
    pg_conn* connection();
};

void pay(pg_conn* connection, const std::string& key, const nlohmann::json& order);

void Database::execute(const std::string& /*sql*/) {}

pg_conn* Database::connection() {
    return nullptr;
}

void pay(pg_conn* /*connection*/, const std::string& /*key*/, const nlohmann::json& /*order*/) {}

void place(Database& database, ebb::Engine& engine, const nlohmann::json& order);
void refund(Database& database, ebb::Engine& engine, const ebb::InstanceId& id);
void add_handlers(ebb::HandlerRegistry& handlers);

//! [start]
void place(Database& database, ebb::Engine& engine, const nlohmann::json& order) {
    database.execute("BEGIN");
    database.execute("INSERT INTO orders ...");
    engine.start_in(ebb::Transaction(database.connection()), "order", order);
    database.execute("COMMIT");
}

//! [start]

//! [send]
void refund(Database& database, ebb::Engine& engine, const ebb::InstanceId& id) {
    const ebb::Transaction transaction(database.connection());
    database.execute("BEGIN");
    database.execute("UPDATE orders SET status = 'refunded' ...");
    engine.signal_in(transaction, id, "refunded", nlohmann::json{{"amount", 5}});
    engine.cancel_in(transaction, id, {.by = "shop", .reason = "refunded"});
    database.execute("COMMIT");
    engine.wake_workers();
}

//! [send]

//! [step]
void add_handlers(ebb::HandlerRegistry& handlers) {
    handlers.add_transactional(
        "pay",
        [](const nlohmann::json& order,
           const ebb::StepContext& context,
           const ebb::Transaction& transaction) {
            pay(transaction.postgres(), context.idempotency_key, order);
            return order;
        }
    );
}

//! [step]

}  // namespace shop
