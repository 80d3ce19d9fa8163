#include "shop.h"

#include <memory>
#include <stdexcept>

#include <sqlite3.h>

namespace {

using Statement = std::unique_ptr<sqlite3_stmt, decltype(&sqlite3_finalize)>;

Statement prepare(sqlite3* database, const char* sql) {
    sqlite3_stmt* statement = nullptr;
    if (sqlite3_prepare_v2(database, sql, -1, &statement, nullptr) != SQLITE_OK) {
        throw std::runtime_error(std::string("the shop's database: ") + sqlite3_errmsg(database));
    }
    return {statement, &sqlite3_finalize};
}

void bind(sqlite3_stmt* statement, int at, const std::string& text) {
    sqlite3_bind_text(statement, at, text.data(), static_cast<int>(text.size()), SQLITE_TRANSIENT);
}

void bind(sqlite3_stmt* statement, int at, std::int64_t number) {
    sqlite3_bind_int64(statement, at, number);
}

constexpr const char* kSchema = R"sql(
PRAGMA journal_mode = WAL;
CREATE TABLE IF NOT EXISTS stock (
    item TEXT PRIMARY KEY, quantity INTEGER NOT NULL CHECK (quantity >= 0));
CREATE TABLE IF NOT EXISTS reservations (
    key TEXT PRIMARY KEY, item TEXT NOT NULL, quantity INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS charges (
    key TEXT PRIMARY KEY, customer TEXT NOT NULL, cents INTEGER NOT NULL,
    refunded INTEGER NOT NULL DEFAULT 0);
CREATE TABLE IF NOT EXISTS shipments (
    key TEXT PRIMARY KEY, customer TEXT NOT NULL, item TEXT NOT NULL);
INSERT INTO stock SELECT 'lamp', 10 WHERE NOT EXISTS (SELECT 1 FROM stock)
    UNION ALL SELECT 'chair', 3 WHERE NOT EXISTS (SELECT 1 FROM stock);
)sql";

}  // namespace

/// One transaction of the shop; rolls back unless it was committed.
class Shop::Transaction {
 public:
    explicit Transaction(const Shop& shop) : shop_(shop) { shop_.execute("BEGIN IMMEDIATE"); }

    ~Transaction() {
        if (!is_done_) sqlite3_exec(shop_.database_, "ROLLBACK", nullptr, nullptr, nullptr);
    }

    Transaction(const Transaction&) = delete;
    Transaction& operator=(const Transaction&) = delete;

    void commit() {
        shop_.execute("COMMIT");
        is_done_ = true;
    }

 private:
    const Shop& shop_;
    bool is_done_ = false;
};

Shop::Shop(const std::string& path) {
    if (sqlite3_open(path.c_str(), &database_) != SQLITE_OK) {
        throw std::runtime_error("cannot open the shop's database " + path);
    }
    sqlite3_busy_timeout(database_, 10'000);
    execute(kSchema);
}

Shop::~Shop() {
    sqlite3_close(database_);
}

void Shop::execute(const char* sql) const {
    if (sqlite3_exec(database_, sql, nullptr, nullptr, nullptr) != SQLITE_OK) {
        throw std::runtime_error(std::string("the shop's database: ") + sqlite3_errmsg(database_));
    }
}

template <typename... Values>
std::int64_t Shop::change(const char* sql, const Values&... values) const {
    const Statement statement = prepare(database_, sql);
    int at = 0;
    (bind(statement.get(), ++at, values), ...);
    const int code = sqlite3_step(statement.get());
    if (code == SQLITE_CONSTRAINT) return -1;
    if (code != SQLITE_DONE)
        throw std::runtime_error(std::string("the shop's database: ") + sqlite3_errmsg(database_));
    return sqlite3_changes(database_);
}

void Shop::reserve(const std::string& key, const Item& item) {
    Transaction transaction(*this);
    if (change(
            "INSERT OR IGNORE INTO reservations VALUES (?, ?, ?)", key, item.name, item.quantity
        ) == 0)
        return;
    if (change(
            "UPDATE stock SET quantity = quantity - ? WHERE item = ?", item.quantity, item.name
        ) != 1) {
        throw OutOfStock{item.name, item.quantity};
    }
    transaction.commit();
}

void Shop::release(const std::string& key) {
    Transaction transaction(*this);
    change(
        "UPDATE stock SET quantity = stock.quantity + r.quantity FROM reservations r WHERE r.key = "
        "? AND "
        "r.item = stock.item",
        key
    );
    change("DELETE FROM reservations WHERE key = ?", key);
    transaction.commit();
}

void Shop::charge(const std::string& key, const std::string& customer, std::int64_t cents) {
    change(
        "INSERT OR IGNORE INTO charges (key, customer, cents) VALUES (?, ?, ?)",
        key,
        customer,
        cents
    );
}

void Shop::refund(const std::string& key) {
    change("UPDATE charges SET refunded = 1 WHERE key = ?", key);
}

void Shop::ship(const std::string& key, const std::string& customer, const std::string& item) {
    change("INSERT OR IGNORE INTO shipments VALUES (?, ?, ?)", key, customer, item);
}

void Shop::recall(const std::string& key) {
    change("DELETE FROM shipments WHERE key = ?", key);
}

std::string Shop::report() const {
    const Statement statement = prepare(
        database_,
        "SELECT (SELECT group_concat(quantity || ' ' || item, ', ') FROM (SELECT * FROM stock "
        "ORDER BY item DESC)),"
        " (SELECT count(*) FROM reservations), (SELECT count(*) FROM charges WHERE refunded = 0),"
        " (SELECT count(*) FROM charges WHERE refunded = 1), (SELECT count(*) FROM shipments)"
    );
    sqlite3_step(statement.get());
    const auto count = [&](int column) {
        return std::to_string(sqlite3_column_int64(statement.get(), column));
    };
    const auto* stock =
        static_cast<const char*>(static_cast<const void*>(sqlite3_column_text(statement.get(), 0)));
    return std::string("stock: ") + stock + "; reservations: " + count(1) +
           "; charges: " + count(2) + ", refunded: " + count(3) + "; shipments: " + count(4);
}
