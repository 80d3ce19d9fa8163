// Goal: all that Ebb says to PostgreSQL goes through TLS where the URL asks for it, and what is
// wrong with a certificate is reported at once, as a sentence that says what to do. Method: a
// server of our own that is reached by TLS only, with certificates that openssl makes on the spot;
// the server itself tells who came encrypted.

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <future>

#include <fmt/format.h>
#include <libpq-fe.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <ebb/builder.h>
#include <ebb/engine.h>
#include <ebb/error.h>

#include "postgres/waiting_log.h"
#include "store/conformance.h"
#include "store/migrations.h"
#include "store/postgres/postgres_store.h"
#include "support/postgres_server.h"
#include "support/store_process.h"

namespace ebb::testing {
namespace {

using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using namespace std::chrono_literals;

constexpr const char* kHost = "db.example.com";

/// A server that accepts no TCP connection without TLS, and `certified` by a certificate only.
class TlsServer {
 public:
    TlsServer() {
        make_authority("ca");
        make_authority("stranger");
        make_certificate("server", kHost);
        make_certificate("client", "certified");
        std::filesystem::permissions(files_.path(), std::filesystem::perms(0755));
        PostgresServer::give(files_.file("server.key"));
        std::ofstream(files_.file("hba")) << "local all all trust\n"
                                             "hostssl all certified all cert\n"
                                             "hostssl all all all trust\n";
        server_ = std::make_unique<PostgresServer>(
            PostgresServer::Durability::None,
            std::vector<std::string>{
                "ssl=on",
                "ssl_ca_file=" + files_.file("ca.crt"),
                "ssl_cert_file=" + files_.file("server.crt"),
                "ssl_key_file=" + files_.file("server.key"),
                "hba_file=" + files_.file("hba"),
            },
            PostgresServer::Reach::Tcp
        );
        server_->execute("CREATE ROLE certified LOGIN SUPERUSER");
    }

    std::string file(std::string_view name) const { return files_.file(name); }

    /// As for a server of another machine: by its name, with these parameters.
    std::string url(
        std::string_view parameters, std::string_view user = "ebb", std::string_view host = kHost
    ) const {
        return fmt::format(
            "postgresql://{}@{}:{}/ebb_test?hostaddr=127.0.0.1&{}",
            user,
            host,
            server_->port(),
            parameters
        );
    }

    std::string verified() const { return "sslmode=verify-full&sslrootcert=" + file("ca.crt"); }

    std::string socket() const {
        return server_->folder() / fmt::format(".s.PGSQL.{}", server_->port());
    }

    std::string execute(const std::string& sql) const { return server_->execute(sql); }

 private:
    void run_openssl(const std::string& arguments) const {
        const std::string command = fmt::format(
            "cd {} && openssl {} >>openssl.log 2>&1", files_.path().string(), arguments
        );
        if (std::system(command.c_str()) == 0) return;
        throw std::runtime_error("failed (is openssl there? ./dev setup): " + command);
    }

    void make_authority(const std::string& name) const {
        run_openssl(fmt::format(
            "req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN={0} -keyout {0}.key -out {0}.crt",
            name
        ));
    }

    void make_certificate(const std::string& name, const std::string& subject) const {
        run_openssl(fmt::format(
            "req -newkey rsa:2048 -nodes -subj /CN={1} -keyout {0}.key -out {0}.csr", name, subject
        ));
        run_openssl(fmt::format(
            "x509 -req -in {0}.csr -CA ca.crt -CAkey ca.key -CAcreateserial -days 2 -out {0}.crt",
            name
        ));
    }

    TempDir files_;
    std::unique_ptr<PostgresServer> server_;
};

class PostgresTls : public ::testing::Test {
 protected:
    static void SetUpTestSuite() { server_ = new TlsServer; }

    static void TearDownTestSuite() {
        delete server_;
        server_ = nullptr;
    }

    /// Opening ends in an error that waiting would not fix, and says all of this.
    static void expect_refusal(
        const std::string& url, const ::testing::Matcher<std::string>& says
    ) {
        try {
            open_postgres_store({.url = url, .schema = fresh_schema()});
            ADD_FAILURE() << "was opened";
        } catch (const Error& error) {
            EXPECT_EQ(to_string(error.code()), to_string(ErrorCode::StoreError)) << error.what();
            EXPECT_FALSE(error.is_transient());
            EXPECT_THAT(error.what(), says);
            EXPECT_THAT(error.what(), HasSubstr("PostgreSQL at postgresql://"));
        }
    }

    static inline TlsServer* server_ = nullptr;
};

TEST_F(PostgresTls, everything_works_and_every_connection_is_encrypted) {
    const PostgresOptions options{
        .url = server_->url(server_->verified()), .application_name = "by_tls"
    };
    migrate_postgres(options);
    WaitingLog log;
    HandlerRegistry handlers;
    handlers.add_raw("pay", [](const Payload& input, const StepContext&) { return input; });
    handlers.add_transactional(
        "book",
        [](const Json& input, const StepContext&, const Transaction& transaction) {
            EXPECT_EQ(PQsslInUse(transaction.postgres()), 1);
            return input;
        }
    );
    const StorePtr store = open_postgres_store(options);
    const StorePtr other_store = open_postgres_store(options);
    // It would look again in an hour, so it hears what the other one has started.
    EngineOptions rarely{.worker_id = "worker", .threads = 2};
    rarely.poll_min = rarely.poll_max = rarely.poll_max_told = 1h;
    rarely.log = &log;
    Engine worker(*store, handlers, rarely);
    worker.register_workflow(WorkflowBuilder("orders").step("pay").step("book").build());
    worker.run();
    ASSERT_TRUE(log.wait_for("hints_heard"));
    const HandlerRegistry nobody;
    Engine starter(*other_store, nobody);
    // Longer than a record of TLS.
    const std::vector<Payload> inputs(20, Payload('"' + std::string(50'000, 'x') + '"'));
    for (const StartedInstance& started : starter.start_all("orders", inputs)) {
        EXPECT_EQ(starter.wait(started.id, 60s).status, "completed");
    }
    const std::string ours =
        " FROM pg_stat_activity JOIN pg_stat_ssl USING (pid) WHERE application_name = 'by_tls'";
    EXPECT_EQ(server_->execute("SELECT count(*)" + ours + " AND NOT ssl"), "0\n");
    EXPECT_EQ(server_->execute("SELECT count(*) > 3" + ours), "t\n");
    EXPECT_EQ(server_->execute("SELECT ssl" + ours + " AND query LIKE 'LISTEN%'"), "t\n");
}

/// What ends TLS before a server, as load balancers and poolers of clouds do. PostgreSQL itself
/// sends records of at most 8 KB; this sends an answer as a whole, in records of up to 16 KB.
constexpr const char* kProxy = R"(
import select, socket, ssl, sys, threading
cert, key, server = sys.argv[1:]
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(cert, key)
def serve(client):
    client.recv(8)
    client.sendall(b'S')
    client = context.wrap_socket(client, server_side=True)
    behind = socket.socket(socket.AF_UNIX)
    behind.connect(server)
    while True:
        ready = [client] if client.pending() else select.select([client, behind], [], [])[0]
        if client in ready:
            said = client.recv(65536)
            if not said:
                return
            behind.sendall(said)
        if behind in ready:
            said = behind.recv(65536)
            while said and select.select([behind], [], [], 0.01)[0]:
                more = behind.recv(65536)
                if not more:
                    break
                said += more
            if not said:
                return
            client.sendall(said)
listening = socket.create_server(('127.0.0.1', 0))
print(listening.getsockname()[1], flush=True)
while True:
    threading.Thread(target=serve, args=(listening.accept()[0],), daemon=True).start()
)";

class TlsProxy {
 public:
    explicit TlsProxy(const TlsServer& server) {
        std::ofstream(server.file("proxy.py")) << kProxy;
        int ends[2];
        if (pipe(ends) != 0) throw std::runtime_error("pipe failed");
        pid_ = fork();
        if (pid_ == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            dup2(ends[1], 1);
            execlp(
                "python3",
                "python3",
                server.file("proxy.py").c_str(),
                server.file("server.crt").c_str(),
                server.file("server.key").c_str(),
                server.socket().c_str(),
                nullptr
            );
            _exit(127);
        }
        close(ends[1]);
        std::string text(16, '\0');
        text.resize(static_cast<std::size_t>(std::max<ssize_t>(0, read(ends[0], text.data(), 16))));
        close(ends[0]);
        port_ = std::stoi(text);
    }

    TlsProxy(const TlsProxy&) = delete;
    TlsProxy& operator=(const TlsProxy&) = delete;

    ~TlsProxy() {
        kill(pid_, SIGKILL);
        wait_for(pid_);
    }

    std::string url(const std::string& parameters) const {
        return fmt::format(
            "postgresql://ebb@{}:{}/ebb_test?hostaddr=127.0.0.1&{}", kHost, port_, parameters
        );
    }

 private:
    pid_t pid_ = -1;
    int port_ = 0;
};

TEST_F(PostgresTls, answers_in_large_records_are_read_to_their_end) {
    constexpr int kEvents = 40;
    const TlsProxy proxy(*server_);
    const PostgresOptions options{.url = proxy.url(server_->verified()), .schema = fresh_schema()};
    const StorePtr store = open_postgres_store(options);
    std::future<void> done = std::async(std::launch::async, [&] {
        // Of each length that leaves a rest of a record behind.
        for (int n = 1; n <= 3; ++n) {
            NewInstance instance = instance_of(n);
            for (Seq seq = 2; seq <= kEvents; ++seq) {
                const Payload payload(
                    '"' + std::string(static_cast<std::size_t>(n) * 2'300, 'x') + '"'
                );
                instance.history.push_back(event_of(seq, HistoryType::StepCompleted, payload));
            }
            start_one(*store, instance);
            for (int limit = 1; limit <= kEvents; ++limit) {
                const HistoryQuery query{
                    .instance = id_of(n), .limit = limit, .types = {}, .node = {}
                };
                EXPECT_EQ(store->history(query).size(), static_cast<std::size_t>(limit));
            }
        }
    });
    const bool is_read = done.wait_for(60s) == std::future_status::ready;
    EXPECT_TRUE(is_read) << "what is already there is waited for";
    // So that it ends all the same.
    while (done.wait_for(100ms) != std::future_status::ready) {
        server_->execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'ebb'"
        );
    }
    if (is_read) done.get();
}

TEST_F(PostgresTls, a_server_of_another_authority_is_not_trusted) {
    const std::string trust = "sslmode=verify-full&sslrootcert=";
    expect_refusal(
        server_->url(trust + server_->file("stranger.crt")),
        AllOf(HasSubstr("certificate verify failed"), HasSubstr("sslrootcert"))
    );
    expect_refusal(
        server_->url(trust + server_->file("missing.crt")),
        AllOf(HasSubstr("missing.crt\" does not exist"), HasSubstr(". sslrootcert in the URL"))
    );
}

TEST_F(PostgresTls, a_server_of_another_name_is_not_trusted) {
    expect_refusal(
        server_->url(server_->verified(), "ebb", "db2.example.com"),
        AllOf(
            HasSubstr("does not match host name \"db2.example.com\""),
            HasSubstr("name of the host in the URL")
        )
    );
    // A client that asks for less gets it.
    const StorePtr store = open_postgres_store(
        {.url = server_->url(
             "sslmode=verify-ca&sslrootcert=" + server_->file("ca.crt"), "ebb", "db2.example.com"
         ),
         .schema = fresh_schema()}
    );
    EXPECT_TRUE(store->list({}).empty());
}

TEST_F(PostgresTls, a_server_that_requires_it_says_so_to_other_clients) {
    expect_refusal(
        server_->url("sslmode=disable"),
        AllOf(
            AnyOf(HasSubstr("no encryption"), HasSubstr("SSL off")),
            HasSubstr("sslmode=verify-full")
        )
    );
}

TEST_F(PostgresTls, a_server_without_it_is_not_talked_to_in_the_clear) {
    const PostgresServer plain(PostgresServer::Durability::None, {}, PostgresServer::Reach::Tcp);
    expect_refusal(
        fmt::format(
            "postgresql://ebb@localhost:{}/ebb_test?hostaddr=127.0.0.1&{}",
            plain.port(),
            server_->verified()
        ),
        AllOf(HasSubstr("server does not support SSL"), HasSubstr("ssl = on"))
    );
}

TEST_F(PostgresTls, a_certificate_stands_for_a_password) {
    const std::string key = server_->file("client.key");
    const std::string mine =
        server_->verified() + "&sslcert=" + server_->file("client.crt") + "&sslkey=" + key;
    const StorePtr store =
        open_postgres_store({.url = server_->url(mine, "certified"), .schema = fresh_schema()});
    EXPECT_TRUE(store->list({}).empty());
    expect_refusal(
        server_->url(server_->verified(), "certified"),
        AllOf(HasSubstr("requires a valid client certificate"), HasSubstr("sslcert and sslkey"))
    );
    std::filesystem::permissions(key, std::filesystem::perms(0644));
    expect_refusal(
        server_->url(mine, "certified"), AllOf(HasSubstr("client.key"), HasSubstr("sslkey"))
    );
}

}  // namespace
}  // namespace ebb::testing
