#pragma once

#include <cstdint>
#include <string>

struct sqlite3;

/// The database of a small web shop, on which the order saga acts. It does not know workflows; it
/// only makes every action idempotent by a key, as any service that is called "at least once" must.
class Shop {
 public:
    struct Item {
        std::string name;
        std::int64_t quantity = 0;
    };

    /// Opens or creates the database; a new one has 10 lamps and 3 chairs in stock.
    explicit Shop(const std::string& path);
    ~Shop();
    Shop(const Shop&) = delete;
    Shop& operator=(const Shop&) = delete;

    /// Takes items out of the stock. Throws OutOfStock and changes nothing if there are not
    /// enough.
    void reserve(const std::string& key, const Item& item);
    /// Puts them back. Does nothing if `key` reserved nothing.
    void release(const std::string& key);

    void charge(const std::string& key, const std::string& customer, std::int64_t cents);
    void refund(const std::string& key);

    void ship(const std::string& key, const std::string& customer, const std::string& item);
    void recall(const std::string& key);

    /// The whole shop in a few lines, for people.
    std::string report() const;

    struct OutOfStock {
        std::string item;
        std::int64_t wanted = 0;
    };

 private:
    class Transaction;

    void execute(const char* sql) const;
    template <typename... Values>
    std::int64_t change(const char* sql, const Values&... values) const;

    sqlite3* database_ = nullptr;
};
