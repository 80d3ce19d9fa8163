#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <libpq-fe.h>

#include <ebb/time.h>

#include "store/postgres/arguments.h"
#include "store/postgres/result.h"
#include "store/postgres/settings.h"

namespace ebb::postgres {

/// One statement with its arguments. `sql` must live as long as the connection does, as the
/// constants of sql.h do; the arguments until it was run.
struct Call {
    std::string_view sql;
    const Arguments& arguments;
    bool is_once = false;  ///< the statement is not prepared, and `sql` need only live as long as
                           ///< the arguments
};

/// One session with its prepared statements. Used by one thread at a time; after a ConnectionLost
/// it is of no more use. No transaction is open between two calls.
class Connection {
 public:
    /// Connects, at most for libpq's connect_timeout. `settings` must outlive the connection.
    explicit Connection(const Settings& settings);
    explicit Connection(Settings&&) = delete;  // it keeps a reference

    /// Works on a connection of the application and leaves it open. With `settings` that do not
    /// cache statements, nothing of ours stays in its session but the name of an empty setting.
    Connection(const Settings& settings, PGconn* borrowed)
        : settings_(settings), handle_(borrowed, Finish(true)) {}

    Connection(const Connection&) = delete;
    Connection& operator=(const Connection&) = delete;

    /// Runs the statements one after another in one transaction and one round trip: all or none
    /// takes effect. What was not prepared yet is prepared along the way.
    std::vector<Result> run(std::span<const Call> calls);
    Result run(std::string_view sql, const Arguments& arguments);
    /// A statement that no constant of sql.h is.
    Result run_once(std::string_view sql, const Arguments& arguments);

    /// Runs any number of statements that return nothing, as they are: a migration. The only way to
    /// have a transaction open after a call.
    void execute(std::string_view sql);

    /// From now on `wait_for_notifications` hears what is said on the channel.
    void listen(std::string_view channel);

    /// Waits until something was said, until `interrupt` can be read, or for `limit`; returns what
    /// was said.
    std::vector<std::string> wait_for_notifications(int interrupt, Duration limit);

    /// False when the server has closed the connection meanwhile, so far as it can be seen here.
    bool is_open() const;

    /// False once it is known to have broken, also by what the application did with it.
    bool is_connected() const;

    /// True: its last answer could not be read to the end, so it is not to be used again.
    bool is_spent() const { return is_spent_; }

    const Settings& settings() const { return settings_; }

    /// For others to use; what they leave behind is theirs to answer for.
    PGconn* handle() const { return handle_.get(); }

 private:
    struct Finish {
        Finish() : is_borrowed(false) {}

        explicit Finish(bool borrows) : is_borrowed(borrows) {}

        bool is_borrowed;

        void operator()(PGconn* handle) const noexcept {
            if (!is_borrowed) PQfinish(handle);
        }
    };

    struct Prepared {
        std::string name;
        std::string sql;
        bool is_known = false;  // to the server
    };

    std::vector<Result> run_pipeline(std::span<const Call> calls);
    void send(const Call& call);
    void send_unprepared(const std::string& sql, const Arguments& arguments);
    void check_sent(int is_sent) const;
    /// Sends what is buffered and reads what comes, so that neither side waits for the other.
    void flush();
    PGresult* next_result();
    std::vector<Result> receive(std::span<const Call> calls);
    void leave_pipeline();
    bool has_ended_pipeline();
    Prepared& prepared(std::string_view sql);
    [[noreturn]] void fail_lost() const;

    const Settings& settings_;
    std::unique_ptr<PGconn, Finish> handle_;
    std::unordered_map<const char*, Prepared> prepared_;
    bool is_spent_ = false;
    std::vector<Prepared*> preparing_;  // in this pipeline, in order; null = nothing to prepare
};

}  // namespace ebb::postgres
