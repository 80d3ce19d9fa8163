#pragma once

#include <string_view>

#include <ebb/store.h>

#include "store/postgres/pool.h"
#include "store/postgres/settings.h"

namespace ebb::postgres {

/// The base of every kind of store in a PostgreSQL database: its connections, and retries
/// of calls that lost a race or a connection.
class Pooled {
 protected:
    explicit Pooled(const PostgresOptions& options)
        : settings_(read_settings(options)), pool_(settings_) {}

    virtual ~Pooled() = default;

    /// What a lost answer means: a verb that changes nothing the second time, and then answers as
    /// the first time, is simply repeated.
    enum class Repeat { Freely, IsInDoubt };

    /// Calls `use(Connection&)`, again if it lost a race, or if its connection broke and
    /// `repeat` allows it.
    template <class Use>
    auto perform(Repeat repeat, Use use) {
        for (int tries = 1;; ++tries) {
            Pool::Lease connection = pool_.take();
            try {
                return use(*connection);
            } catch (...) {
                recover(connection, repeat, tries);
            }
        }
    }

    /// In a handler of an exception: returns when the verb must be tried again.
    void recover(Pool::Lease& connection, Repeat repeat, int tries);

    Result read(std::string_view sql, const Arguments& arguments) {
        return perform(Repeat::Freely, [&](Connection& connection) {
            return connection.run(sql, arguments);
        });
    }

    /// A connection broke: what was known of the database may be so no more.
    virtual void on_loss() {}

    const Settings settings_;
    Pool pool_;
};

}  // namespace ebb::postgres
