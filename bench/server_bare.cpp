// The yardstick of the server's figures: a Beast server with the threads, the keep-alive, and the
// limits of `ebb serve`, which answers every request with the same 64 bytes.

#include <chrono>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/strand.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>

namespace {

namespace net = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;

constexpr int kThreads = 2;
constexpr std::size_t kBufferBytesMax = std::size_t{128} << 10;
constexpr std::uint32_t kHeadBytesMax = std::uint32_t{16} << 10;
constexpr std::uint64_t kBodyBytesMax = std::uint64_t{2} << 20;
constexpr std::size_t kBodyBytes = 64;
constexpr auto kIdleTimeout = std::chrono::seconds(60);
constexpr auto kWriteTimeout = std::chrono::seconds(30);

class Session : public std::enable_shared_from_this<Session> {
 public:
    explicit Session(net::ip::tcp::socket socket)
        : stream_(std::move(socket)), buffer_(kBufferBytesMax) {
        // As the library's own examples answer.
        answer_.result(http::status::ok);
        answer_.set(http::field::content_type, "text/plain");
        answer_.body() = std::string(kBodyBytes, 'x');
        answer_.keep_alive(true);
        answer_.prepare_payload();
    }

    void read() {
        parser_.emplace();
        parser_->header_limit(kHeadBytesMax);
        parser_->body_limit(kBodyBytesMax);
        stream_.expires_after(kIdleTimeout);
        http::async_read(
            stream_,
            buffer_,
            *parser_,
            [self = shared_from_this()](const boost::system::error_code& error, std::size_t) {
                if (!error) self->write();
            }
        );
    }

 private:
    void write() {
        stream_.expires_after(kWriteTimeout);
        http::async_write(
            stream_,
            answer_,
            [self = shared_from_this()](const boost::system::error_code& error, std::size_t) {
                if (!error) self->read();
            }
        );
    }

    beast::tcp_stream stream_;
    beast::flat_buffer buffer_;
    std::optional<http::request_parser<http::string_body>> parser_;
    http::response<http::string_body> answer_;
};

void accept(net::io_context& io, net::ip::tcp::acceptor& acceptor) {
    acceptor.async_accept(
        net::make_strand(io),
        [&io, &acceptor](const boost::system::error_code& error, net::ip::tcp::socket socket) {
            if (!error) std::make_shared<Session>(std::move(socket))->read();
            accept(io, acceptor);
        }
    );
}

}  // namespace

int main() {
    net::io_context io(kThreads);
    net::ip::tcp::acceptor acceptor(io, {net::ip::address_v4::loopback(), 0});
    accept(io, acceptor);
    // As `ebb serve --json` greets.
    std::printf(
        "{\"event\":\"serving\",\"addresses\":[\"127.0.0.1:%d\"]}\n",
        acceptor.local_endpoint().port()
    );
    std::fflush(stdout);
    std::vector<std::jthread> threads;
    for (int i = 0; i < kThreads; ++i) threads.emplace_back([&io] { io.run(); });
}
