// Goal: everything works through PgBouncer in transaction mode, where each transaction may get
// another session. Method: the real one, between the store and the server, with fewer sessions than
// connections.

#include <csignal>
#include <fstream>

#include <fcntl.h>
#include <libpq-fe.h>
#include <poll.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <ebb/builder.h>
#include <ebb/engine.h>

#include "store/conformance.h"
#include "store/postgres/postgres_store.h"
#include "support/postgres_server.h"
#include "support/store_process.h"

namespace ebb::testing {
namespace {

constexpr const char* kProgram = "/usr/sbin/pgbouncer";
constexpr Duration kLong = std::chrono::seconds(60);

/// A PgBouncer before the server of the tests, reached by a socket in a folder of its own.
class PgBouncer {
 public:
    PgBouncer() {
        if (access(kProgram, X_OK) != 0) {
            throw std::runtime_error(std::string(kProgram) + " is missing: ./dev setup");
        }
        // It may become another user, who must reach the folder.
        std::filesystem::permissions(dir_.path(), std::filesystem::perms(0777));
        std::ofstream config(dir_.file("pgbouncer.ini"));
        config << "[databases]\nebb_test = host=" << postgres_server().folder().string()
               << " user=ebb\n[pgbouncer]\npool_mode = transaction\nauth_type = any\n"
               << "default_pool_size = 3\nmax_client_conn = 100\nunix_socket_mode = 0777\n"
               << "unix_socket_dir = " << dir_.path().string() << "\n";
        if (geteuid() == 0) config << "user = postgres\n";
        config.close();
        pid_ = fork();
        if (pid_ == 0) serve();
        wait_until_ready();
    }

    PgBouncer(const PgBouncer&) = delete;
    PgBouncer& operator=(const PgBouncer&) = delete;

    ~PgBouncer() {
        kill(pid_, SIGKILL);
        wait_for(pid_);
    }

    std::string url() const {
        return "postgresql://ebb@/ebb_test?port=6432&host=" + dir_.path().string();
    }

 private:
    [[noreturn]] void serve() {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        const int log = open(dir_.file("log").c_str(), O_WRONLY | O_CREAT, 0666);
        dup2(log, 1);
        dup2(log, 2);
        execl(kProgram, kProgram, dir_.file("pgbouncer.ini").c_str(), nullptr);
        _exit(127);
    }

    void wait_until_ready() {
        std::string error;
        for (int tries = 0; tries < 3'000; ++tries) {
            PGconn* connection = PQconnectdb(url().c_str());
            const bool is_ready = PQstatus(connection) == CONNECTION_OK;
            error = PQerrorMessage(connection);
            PQfinish(connection);
            if (is_ready) return;
            poll(nullptr, 0, 10);
        }
        throw std::runtime_error("PgBouncer does not answer: " + error);
    }

    TempDir dir_;
    pid_t pid_ = -1;
};

class BehindPgBouncer : public ::testing::Test {
 protected:
    StorePtr open_store() {
        return open_postgres_store(
            {.url = bouncer_.url() + "&statement_cache=off", .schema = schema_}
        );
    }

    const PgBouncer bouncer_;
    const std::string schema_ = fresh_schema();
};

TEST_F(BehindPgBouncer, workers_run_workflows) {
    HandlerRegistry handlers;
    handlers.add_raw("pay", Handler([](const Payload& input, const StepContext&) {
                         return input;
                     }));
    handlers.add_transactional(
        "book",
        [](const Json& input, const StepContext&, const Transaction& transaction) {
            PGresult* result = PQexec(transaction.postgres(), "INSERT INTO bookings VALUES (1)");
            EXPECT_EQ(PQresultStatus(result), PGRES_COMMAND_OK) << PQresultErrorMessage(result);
            PQclear(result);
            return input;
        }
    );
    postgres_server().execute(
        "DROP TABLE IF EXISTS public.bookings; CREATE TABLE public.bookings (n integer)"
    );
    const StorePtr store = open_store();
    const StorePtr other_store = open_store();
    Engine one(*store, handlers, {.threads = 4});
    Engine two(*other_store, handlers, {.threads = 4});
    one.register_workflow(
        WorkflowBuilder("orders").step("pay").step("book").step("pay2", {.handler = "pay"}).build()
    );
    one.run();
    two.run();
    const std::vector<Payload> inputs(100, "1");
    for (const StartedInstance& started : one.start_all("orders", inputs)) {
        EXPECT_EQ(two.wait(started.id, kLong).status, "completed");
    }
    EXPECT_EQ(postgres_server().execute("SELECT count(*) FROM public.bookings"), "100\n");
    EXPECT_TRUE(one.drain(kLong));
    EXPECT_TRUE(two.drain(kLong));
}

TEST_F(BehindPgBouncer, start_in_the_applications_transaction_works) {
    const StorePtr store = open_store();
    const HandlerRegistry nobody;
    Engine engine(*store, nobody);
    engine.register_workflow(WorkflowBuilder("orders").step("pay").build());
    PGconn* connection = PQconnectdb(bouncer_.url().c_str());
    for (const char* end : {"ROLLBACK", "COMMIT"}) {
        PQclear(PQexec(connection, "BEGIN"));
        engine.start_in(Transaction(connection), "orders");
        PQclear(PQexec(connection, end));
    }
    PQfinish(connection);
    EXPECT_EQ(engine.list().size(), 1U);
}

}  // namespace
}  // namespace ebb::testing
