// Goal: no server is talked to that cannot prove who it is, and client certificates work.
// Method: `openssl s_server` with a certificate that it signed itself, on a free port.
#include <csignal>

#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/os_file.h"
#include "support/os_process.h"
#include "support/os_spawn.h"
#include "unit/handlers/handler_harness.h"

namespace ebb {
namespace {

ProcessRequest openssl(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "openssl");
    return {.arguments = std::move(arguments), .environment = {{"PATH", "/usr/bin:/bin"}}};
}

/// A key and a certificate for `name`, valid for two days, both in one directory.
class Certificate {
 public:
    explicit Certificate(const std::string& name) {
        const ProcessResult made = run_process(openssl(
            {"req",
             "-x509",
             "-newkey",
             "ec",
             "-pkeyopt",
             "ec_paramgen_curve:P-256",
             "-nodes",
             "-days",
             "2",
             "-subj",
             "/CN=" + name,
             "-addext",
             "subjectAltName=DNS:" + name,
             "-keyout",
             key(),
             "-out",
             cert()}
        ));
        if (made.exit_code != 0)
            throw std::runtime_error("openssl made no certificate: " + made.errors.text());
    }

    std::string key() const { return (directory_.path() / "key.pem").string(); }

    std::string cert() const { return (directory_.path() / "cert.pem").string(); }

 private:
    TempDirectory directory_;
};

class TlsServer {
 public:
    explicit TlsServer(const Certificate& certificate, std::vector<std::string> more = {}) {
        more.insert(
            more.begin(),
            {"s_server",
             "-www",
             "-accept",
             "127.0.0.1:0",
             "-cert",
             certificate.cert(),
             "-key",
             certificate.key()}
        );
        child_ = spawn(openssl(std::move(more)));
        std::string said;
        while (said.find("ACCEPT") == std::string::npos || !said.ends_with('\n'))
            said += read_more();
        const std::size_t colon = said.rfind(':');
        port_ = said.substr(colon + 1, said.find('\n', colon) - colon - 1);
    }

    TlsServer(const TlsServer&) = delete;
    TlsServer& operator=(const TlsServer&) = delete;

    ~TlsServer() {
        ::kill(child_.pid, SIGKILL);
        ::waitpid(child_.pid, nullptr, 0);
    }

    std::string url(const std::string& host) const { return "https://" + host + ":" + port_ + "/"; }

 private:
    std::string read_more() {
        pollfd watched{child_.output.get(), POLLIN, 0};
        char chunk[1024];
        ::poll(&watched, 1, 20'000);
        const auto count = ::read(child_.output.get(), chunk, sizeof(chunk));
        if (count <= 0) throw std::runtime_error("openssl s_server does not listen");
        return std::string(chunk, static_cast<std::size_t>(count));
    }

    Child child_;
    std::string port_;
};

Json get(const std::string& url, Json more = Json::object()) {
    more.update({{"url", url}, {"method", "GET"}, {"output", "text"}});
    return Json{{"http", more}};
}

TEST(HttpTls, refuses_a_certificate_without_a_trusted_authority) {
    const Certificate certificate("localhost");
    const TlsServer server(certificate);
    const Failed failed = failure_of(get(server.url("localhost")));
    EXPECT_EQ(failed.options.code, "tls_failed");
    EXPECT_FALSE(failed.options.is_permanent);
    EXPECT_THAT(failed.message, ::testing::HasSubstr("certificate"));
}

TEST(HttpTls, accepts_it_from_the_ca_file_of_the_definition) {
    const Certificate certificate("localhost");
    const TlsServer server(certificate);
    EXPECT_THAT(
        call(get(server.url("localhost"), {{"ca_file", certificate.cert()}}), "{}"),
        ::testing::HasSubstr("s_server")
    );
}

TEST(HttpTls, refuses_a_certificate_for_another_name) {
    const Certificate certificate("another.test");
    const TlsServer server(certificate);
    const Failed failed =
        failure_of(get(server.url("localhost"), {{"ca_file", certificate.cert()}}));
    EXPECT_EQ(failed.options.code, "tls_failed");
}

TEST(HttpTls, refuses_old_protocols) {
    const Certificate certificate("localhost");
    const TlsServer server(certificate, {"-tls1_1", "-cipher", "DEFAULT:@SECLEVEL=0"});
    const Failed failed =
        failure_of(get(server.url("localhost"), {{"ca_file", certificate.cert()}}));
    EXPECT_EQ(failed.options.code, "tls_failed");
}

TEST(HttpTls, shows_the_client_certificate_where_one_is_asked_for) {
    const Certificate certificate("localhost");
    const Certificate client("client");
    const TlsServer server(
        certificate, {"-Verify", "1", "-verify_return_error", "-CAfile", client.cert()}
    );
    const Json without = {{"ca_file", certificate.cert()}};
    EXPECT_NE(failure_of(get(server.url("localhost"), without)).options.code, "");
    Json with = without;
    with.update({{"client_cert", client.cert()}, {"client_key", client.key()}});
    EXPECT_THAT(call(get(server.url("localhost"), with), "{}"), ::testing::HasSubstr("s_server"));
}

TEST(HttpTls, a_missing_certificate_file_is_a_clear_failure) {
    const Certificate certificate("localhost");
    const TlsServer server(certificate);
    EXPECT_EQ(
        failure_of(get(server.url("localhost"), {{"ca_file", "/no/such/file"}})).options.code,
        "invalid_certificate_file"
    );
    const Failed failed = failure_of(get(
        server.url("localhost"), {{"ca_file", certificate.cert()}, {"client_cert", "/no/such/file"}}
    ));
    EXPECT_EQ(failed.options.code, "invalid_certificate_file");
}

}  // namespace
}  // namespace ebb
