#include "races/interleaving.h"

#include <chrono>
#include <stdexcept>

#include <fmt/format.h>

#include "store/postgres/postgres_store.h"

namespace ebb::testing {

namespace {

constexpr Duration kMoment = std::chrono::milliseconds(2);

constexpr std::string_view kTables[] = {
    "instances", "tasks", "history", "workers", "queues", "inbox"
};

std::string percent_encoded_level(Isolation isolation) {
    if (isolation == Isolation::ReadCommitted) return "read%5C%20committed";
    return isolation == Isolation::RepeatableRead ? "repeatable%5C%20read" : "serializable";
}

/// Takes and releases the lock that the test holds while the gate is closed. The sequence counts
/// the looks, whether or not their transaction commits.
constexpr std::string_view kPass =
    "CREATE FUNCTION {0}.pass(place text) RETURNS boolean LANGUAGE plpgsql AS $$"
    " DECLARE number integer := nextval('{0}.looks_' || place);"
    " BEGIN"
    "  PERFORM pg_advisory_lock_shared(hashtext('{0}.' || place), number);"
    "  PERFORM pg_advisory_unlock_shared(hashtext('{0}.' || place), number);"
    "  RETURN true;"
    " END $$;"
    "CREATE SEQUENCE {0}.looks_ddl;"
    "CREATE FUNCTION {0}.pass_ddl() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN"
    "  IF current_setting('application_name') = '{0} gated' THEN PERFORM {0}.pass('ddl'); END IF;"
    " END $$;"
    "CREATE EVENT TRIGGER gate_{0} ON ddl_command_start EXECUTE FUNCTION {0}.pass_ddl();";

constexpr std::string_view kGuard =
    "CREATE SEQUENCE {0}.looks_{1};"
    "ALTER TABLE {0}.{1} ENABLE ROW LEVEL SECURITY;"
    "CREATE POLICY everyone ON {0}.{1} USING (true);"
    "CREATE POLICY gate ON {0}.{1} AS RESTRICTIVE TO {2} USING ({0}.pass('{1}'));";

}  // namespace

std::string_view to_string(Isolation isolation) {
    if (isolation == Isolation::ReadCommitted) return "read_committed";
    return isolation == Isolation::RepeatableRead ? "repeatable_read" : "serializable";
}

Call::Call(std::function<void()> verb)
    : thread_([this, verb = std::move(verb)] {
          std::exception_ptr error;
          try {
              verb();
          } catch (...) {
              error = std::current_exception();
          }
          const std::lock_guard lock(mutex_);
          error_ = error;
          has_ended_ = true;
          ended_.notify_all();
      }) {}

Call::~Call() {
    if (thread_.joinable()) thread_.join();
}

bool Call::has_ended_within(Duration moment) {
    std::unique_lock lock(mutex_);
    return ended_.wait_for(lock, moment, [this] { return has_ended_; });
}

void Call::join() {
    if (thread_.joinable()) thread_.join();
    if (error_) std::rethrow_exception(error_);
}

Interleaving::Interleaving(Isolation isolation, const Clock& clock)
    : isolation_(isolation),
      clock_(clock),
      session_(
          PQconnectdb(
              (postgres_server().url() + "&options=-c%20client_min_messages%3Dwarning").c_str()
          ),
          PQfinish
      ),
      open_(connect(false, true)) {
    ask(fmt::format(kPass, schema_));
    ask("CREATE ROLE " + role_ + " LOGIN");
    for (const std::string_view table : kTables) ask(fmt::format(kGuard, schema_, table, role_));
    ask(fmt::format(
        "GRANT USAGE ON SCHEMA {0} TO {1};"
        "GRANT ALL ON ALL TABLES IN SCHEMA {0} TO {1};"
        "GRANT ALL ON ALL SEQUENCES IN SCHEMA {0} TO {1}",
        schema_,
        role_
    ));
    gated_ = connect(true, false);
}

Interleaving::~Interleaving() {
    gated_.reset();
    open_.reset();
    ask("DROP EVENT TRIGGER gate_" + schema_);
    ask("DROP SCHEMA " + schema_ + " CASCADE");
    ask("DROP OWNED BY " + role_ + "; DROP ROLE " + role_);
}

std::string Interleaving::url(bool is_gated) const {
    const std::string role = is_gated ? role_ : "ebb";
    return postgres_server().url("ebb_test", role) +
           "&options=-c%20default_transaction_isolation%3D" + percent_encoded_level(isolation_);
}

StorePtr Interleaving::connect(bool is_gated, bool migrates) {
    PostgresOptions options;
    options.url = url(is_gated);
    options.schema = schema_;
    options.migrate = migrates;
    options.application_name = schema_ + (is_gated ? " gated" : " open");
    return make_postgres_store(options, clock_);
}

void Interleaving::reset() {
    ask(fmt::format(
        "TRUNCATE {0}.instances, {0}.tasks, {0}.history, {0}.workers, {0}.queues,"
        " {0}.queue_starts, {0}.keys, {0}.retention, {0}.inbox, {0}.waits, {0}.failures",
        schema_
    ));
    open_ = connect(false, false);
    gated_ = connect(true, false);
}

std::string Interleaving::ask(const std::string& sql) {
    const std::unique_ptr<PGresult, void (*)(PGresult*)> result(
        PQexec(session_.get(), sql.c_str()), PQclear
    );
    const ExecStatusType status = PQresultStatus(result.get());
    if (status != PGRES_TUPLES_OK && status != PGRES_COMMAND_OK) {
        throw std::runtime_error(PQerrorMessage(session_.get()));
    }
    return PQntuples(result.get()) > 0 ? PQgetvalue(result.get(), 0, 0) : "";
}

void Interleaving::close(const Gate& gate) {
    ask(fmt::format("ALTER SEQUENCE {}.looks_{} RESTART", schema_, gate.table));
    ask(fmt::format(
        "SELECT pg_advisory_lock(hashtext('{}.{}'), {})", schema_, gate.table, gate.look
    ));
}

void Interleaving::open_gate() {
    ask("SELECT pg_advisory_unlock_all()");
}

bool Interleaving::waits(std::string_view application, std::string_view event) {
    const std::string found = ask(fmt::format(
        "SELECT count(*) FROM pg_stat_activity WHERE application_name = '{} {}' AND"
        " wait_event_type = 'Lock' AND (wait_event = 'advisory') = {}",
        schema_,
        application,
        event == "advisory"
    ));
    return found != "0";
}

bool Interleaving::reaches(Call& call, std::string_view application, std::string_view event) {
    while (!call.has_ended_within(kMoment)) {
        if (waits(application, event)) return true;
    }
    return false;
}

bool Interleaving::run(
    const Gate& gate, std::function<void()> first, std::function<void()> second
) {
    close(gate);
    Call gated(std::move(first));
    const bool is_stopped = reaches(gated, "gated", "advisory");
    Call open(std::move(second));
    reaches(open, "open", "lock");
    open_gate();
    gated.join();
    open.join();
    return is_stopped;
}

}  // namespace ebb::testing
