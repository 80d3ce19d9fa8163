#include <fmt/format.h>

#include <ebb/handler.h>

#include "ebb/postgres/sql.h"
#include "store/postgres/mail_rows.h"
#include "store/postgres/postgres_store.h"
#include "store/postgres/rows.h"
#include "store/postgres/schema.h"
#include "store/postgres/sql_error.h"
#include "store/postgres/write_commits.h"

// What happens in a transaction that the application shares: starts, and the ends of steps.

namespace ebb {

namespace sql = postgres::sql;
using postgres::Arguments;
using postgres::Connection;

namespace {

[[noreturn]] void refuse(const std::string& message) {
    throw Error(ErrorCode::InvalidArgument, message);
}

/// Why nothing can be done in what is open on the connection; null if something can.
const char* trouble_of(const PGconn* handle) {
    if (PQstatus(handle) != CONNECTION_OK) return "the connection is broken";
    if (PQpipelineStatus(handle) != PQ_PIPELINE_OFF) {
        return "the connection is in pipeline mode, which must be left first";
    }
    switch (PQtransactionStatus(handle)) {
        case PQTRANS_INTRANS:
            return nullptr;
        case PQTRANS_IDLE:
            return "no transaction is open on the connection";
        case PQTRANS_ACTIVE:
            return "the connection has a query in progress whose results are not all read";
        case PQTRANS_INERROR:
            return "a statement of the transaction has failed, so it can only be rolled back";
        case PQTRANS_UNKNOWN:
            break;
    }
    return "the connection is broken";
}

void check_can_start(const PGconn* handle) {
    if (const char* trouble = trouble_of(handle)) {
        refuse(fmt::format("Nothing can be written in the transaction: {}.", trouble));
    }
    const int encoding = PQclientEncoding(handle);
    if (std::string_view(pg_encoding_to_char(encoding)) == "UTF8") return;
    refuse(fmt::format(
        "Nothing can be written in the transaction: the connection has the client encoding {}, but "
        "it must be UTF8.",
        pg_encoding_to_char(encoding)
    ));
}

[[noreturn]] void fail_step(std::string code, const char* trouble, bool is_permanent) {
    throw HandlerFailure(
        fmt::format("The transactional handler has returned, but {}.", trouble),
        {.code = std::move(code), .is_permanent = is_permanent, .retry_after = {}, .details = {}}
    );
}

}  // namespace

/// A transaction for a handler, and the connection that it has alone.
class PostgresStore::StepTransaction final : public StoreTransaction {
 public:
    explicit StepTransaction(PostgresStore& store)
        : store_(store), connection_(store.transactions_.take()), handle_(begin()) {}

    ~StepTransaction() override {
        if (!is_committed_) roll_back();
    }

    const Transaction& handle() const override { return handle_; }

    void check() const override {
        const PGconn* handle = connection_->handle();
        const char* trouble = trouble_of(handle);
        if (trouble == nullptr) return;
        const bool has_ended = PQtransactionStatus(handle) == PQTRANS_IDLE;
        fail_step(has_ended ? "transaction_ended" : "transaction_failed", trouble, has_ended);
    }

    bool is_lost() const override { return !connection_->is_connected(); }

    std::optional<InstanceRow> lock(const InstanceId& id) override {
        const postgres::Result rows =
            connection_->run(sql::load_instance_for_update, Arguments::of(id));
        if (rows.is_empty()) return std::nullopt;
        return postgres::instance_row(rows, 0);
    }

    void commit(const Commit& commit) override {
        const postgres::Result failed =
            postgres::write_commits(*connection_, {&commit, 1}, store_.given_time());
        if (!failed.is_empty()) {
            throw Error(ErrorCode::Internal, "A locked instance was changed by another process.");
        }
        try {
            connection_->execute(sql::commit_transaction);
        } catch (const postgres::ConnectionLost& error) {
            throw Error(ErrorCode::StoreInDoubt, error.what());
        }
        is_committed_ = true;
        store_.note_committed({&commit, 1});
        store_.folded_tasks_.forget({&commit.instance, 1});
    }

 private:
    /// Whatever cannot be rolled back in good order ends with the connection.
    void roll_back() noexcept {
        const PGconn* handle = connection_->handle();
        const auto status = PQtransactionStatus(handle);
        const bool is_open = status == PQTRANS_INTRANS || status == PQTRANS_INERROR;
        if (!is_open || PQpipelineStatus(handle) != PQ_PIPELINE_OFF) {
            connection_.drop();
            return;
        }
        try {
            connection_->execute(sql::rollback_transaction);
        } catch (...) {
            connection_.drop();
        }
    }

    /// Whatever the default level of the database is: the instance is read again when the handler
    /// has returned. The handler may still set another one, before its first statement.
    Transaction begin() {
        try {
            connection_->execute(sql::begin_transaction);
        } catch (...) {
            connection_.drop();
            throw;
        }
        PQsetnonblocking(connection_->handle(), 0);
        return Transaction(connection_->handle());
    }

    PostgresStore& store_;
    postgres::Pool::Lease connection_;
    const Transaction handle_;
    bool is_committed_ = false;
};

bool PostgresStore::can_begin_transaction() {
    return transactions_.can_connect();
}

std::unique_ptr<StoreTransaction> PostgresStore::begin_transaction() {
    return std::make_unique<StepTransaction>(*this);
}

/// Throws unless the connection's database is that of this store: the same migrations, applied at
/// the same microseconds.
void PostgresStore::check_is_here(Connection& connection) {
    const Arguments schema = Arguments::of(settings_.schema);
    const bool has_schema = connection.run(sql::has_migrations, schema).integer(0, 0) != 0;
    if (has_schema) postgres::check_schema(connection);
    const auto same = [&] {
        const postgres::Result theirs = connection.run(sql::list_migrations, {});
        const postgres::Result ours = read(sql::list_migrations, {});
        if (theirs.rows() != ours.rows()) return false;
        for (int row = 0; row < ours.rows(); ++row) {
            if (theirs.time(row, 3) != ours.time(row, 3)) return false;
        }
        return true;
    };
    if (has_schema && same()) return;
    refuse(fmt::format(
        "Nothing can be written in the transaction: its database, {}, is not that of the store, {} "
        "(schema {}).",
        PQdb(connection.handle()),
        settings_.target(),
        settings_.schema
    ));
}

/// The transaction of the application.
class PostgresStore::Borrowed final : public BorrowedTransaction {
 public:
    Borrowed(PostgresStore& store, PGconn* handle)
        : store_(store), connection_(store.plain_settings_, handle) {
        store_.check_is_here(connection_);
    }

    std::optional<InstanceRow> lock(const InstanceId& id) override {
        const postgres::Result rows =
            connection_.run(sql::load_instance_for_update, Arguments::of(id));
        if (rows.is_empty()) return std::nullopt;
        return postgres::instance_row(rows, 0);
    }

    std::vector<HistoryEvent> history(const HistoryQuery& query) override {
        return read_history(query, [this](std::string_view statement, const Arguments& arguments) {
            return connection_.run(statement, arguments);
        });
    }

    std::vector<HistoryEvent> events(const InstanceId& id, const std::vector<Seq>& seqs) override {
        return read_events(
            id,
            seqs,
            [this](std::string_view statement, const Arguments& arguments) {
                return connection_.run(statement, arguments);
            }
        );
    }

    void commit(const Commit& commit) override {
        const postgres::Result failed =
            postgres::write_commits(connection_, {&commit, 1}, store_.given_time());
        if (!failed.is_empty()) {
            throw Error(ErrorCode::Internal, "A locked instance was changed by another process.");
        }
        // Whether it will ever be committed is not ours to decide.
        store_.folded_tasks_.forget({&commit.instance, 1});
        store_.note_committed({&commit, 1});
    }

    SendResult send(const Mail& mail) override {
        const auto arguments = postgres::mail_arguments(mail, store_.given_time());
        const SendResult result = postgres::send_result(connection_.run(sql::send_mail, arguments));
        store_.claim_marks_.forget();
        return result;
    }

 private:
    PostgresStore& store_;
    Connection connection_;
};

std::unique_ptr<BorrowedTransaction> PostgresStore::borrow(const Transaction& transaction) {
    PGconn* handle = transaction.postgres();
    check_can_start(handle);
    return std::make_unique<Borrowed>(*this, handle);
}

StartResult PostgresStore::start_in(const Transaction& transaction, const NewInstance& instance) {
    PGconn* handle = transaction.postgres();
    check_can_start(handle);
    Connection connection(plain_settings_, handle);
    check_is_here(connection);
    const StartResult result = start_absent(connection, {&instance, 1}).front();
    note_started({&instance, 1});
    return result;
}

}  // namespace ebb
