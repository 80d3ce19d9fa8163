#include "server/http/connection.h"

#include <optional>

#include <boost/asio/buffer.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/basic_stream.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/ssl/ssl_stream.hpp>

#include "server/http/parse_rules.h"
#include "server/http/writer.h"

namespace ebb::http {

namespace net = boost::asio;
namespace beast = boost::beast;

namespace {

using ErrorCode = boost::system::error_code;
using Protocol = net::generic::stream_protocol;
using PlainStream = beast::basic_stream<Protocol>;
using TlsStream = beast::ssl_stream<PlainStream>;

constexpr std::size_t kReadBytes = std::size_t{4} << 10;
/// While a connection waits for a request, this is most of its memory. Most heads fit.
constexpr std::size_t kIdleReadBytes = std::size_t{1} << 10;
/// The client of a stream has nothing to say: what it sends is kept for the next request, if it has
/// not too much of it.
constexpr std::size_t kStreamReadBytes = 64;
constexpr std::size_t kWriteBytes = std::size_t{256} << 10;
/// If the buffer is larger than this, a pipelining client must wait.
constexpr std::size_t kBufferBytesMax = std::size_t{128} << 10;

template <class Layer>
class Connection;

/// One request that waits for its answer.
template <class Layer>
class Exchange : public Responder::Sink {
 public:
    explicit Exchange(std::shared_ptr<Connection<Layer>> connection)
        : connection_(std::move(connection)) {}

    ~Exchange() override {
        if (is_answered_.exchange(true)) return;
        connection_->answer({.status = 500, .closes = true});
    }

    void respond(Response response) override {
        if (!is_answered_.exchange(true)) connection_->answer(std::move(response));
    }

    std::shared_ptr<http::Stream> stream(Response head) override {
        is_answered_ = true;
        return connection_->answer_with_stream(std::move(head));
    }

    bool is_gone() const override { return connection_->is_gone(); }

 private:
    std::shared_ptr<Connection<Layer>> connection_;
    std::atomic<bool> is_answered_{false};
};

/// The open body of a response.
template <class Layer>
class Body : public http::Stream, public std::enable_shared_from_this<Body<Layer>> {
 public:
    Body(std::shared_ptr<Connection<Layer>> connection, std::size_t bytes_max)
        : connection_(std::move(connection)), bytes_max_(bytes_max) {}

    bool send(std::string bytes) override {
        {
            const Lock lock(mutex_);
            if (is_closed_ || is_ending_) return false;
            if (pending_.size() + bytes.size() > bytes_max_) return false;
            pending_ += bytes;
            if (is_writing_) return true;
            is_writing_ = true;
        }
        connection_->flush_later(this->shared_from_this());
        return true;
    }

    void close() override {
        {
            const Lock lock(mutex_);
            if (is_closed_ || is_ending_) return;
            is_ending_ = true;
            if (is_writing_) return;
            is_writing_ = true;
        }
        connection_->flush_later(this->shared_from_this());
    }

    bool is_closed() const override {
        const Lock lock(mutex_);
        return is_closed_;
    }

    /// Takes the data to write next. `ends` becomes true if nothing follows.
    std::string take(bool& ends) {
        const Lock lock(mutex_);
        ends = is_ending_;
        if (pending_.empty() && !ends) is_writing_ = false;
        return std::exchange(pending_, {});
    }

    void set_closed() {
        const Lock lock(mutex_);
        is_closed_ = true;
        pending_ = {};
    }

 private:
    std::shared_ptr<Connection<Layer>> connection_;
    const std::size_t bytes_max_;
    mutable Mutex mutex_;
    std::string pending_ EBB_GUARDED_BY(mutex_);
    bool is_writing_ EBB_GUARDED_BY(mutex_) = false;
    bool is_ending_ EBB_GUARDED_BY(mutex_) = false;
    bool is_closed_ EBB_GUARDED_BY(mutex_) = false;
};

/// Reads requests one after another, passes each to the handler and writes its answer. Everything
/// runs on one strand.
template <class Layer>
class Connection : public LiveConnection, public std::enable_shared_from_this<Connection<Layer>> {
    static constexpr bool kIsTls = std::is_same_v<Layer, TlsStream>;

 public:
    template <class... Args>
    Connection(Peer peer, std::shared_ptr<Hall> hall, Args&&... args)
        : peer_(std::move(peer)),
          hall_(std::move(hall)),
          stream_(std::forward<Args>(args)...),
          buffer_(kBufferBytesMax) {}

    ~Connection() override {
        end_busy();
        hall_->leave(peer_.address, this);
    }

    void run() {
        hall_->begin_busy();
        is_busy_ = true;
        hall_->add(self());
        on_strand([](Connection& me) {
            if constexpr (kIsTls) {
                me.begin_tls();
            } else {
                me.read_next();
            }
        });
    }

    /// Of a client that speaks plain text to a port with TLS, and has sent this so far: answers its
    /// first request with the reason, and closes.
    void run_without_tls(std::string_view sent) {
        hall_->begin_busy();
        is_busy_ = true;
        hall_->add(self());
        lacks_tls_ = true;
        buffer_.commit(net::buffer_copy(buffer_.prepare(sent.size()), net::buffer(sent)));
        on_strand([](Connection& me) { me.find_head(); });
    }

    void close_if_idle(Idle which) override {
        on_strand([which](Connection& me) {
            if (me.is_idle_ && (which == Idle::Any || me.requests_ > 0)) me.drop();
        });
    }

    void close_now() override {
        on_strand([](Connection& me) { me.drop(); });
    }

    bool is_gone() const { return is_gone_; }

    void answer(Response response) {
        net::post(
            stream_.get_executor(),
            [self = self(), response = std::move(response)]() mutable {
                self->write_response(std::move(response));
            }
        );
    }

    std::shared_ptr<http::Stream> answer_with_stream(Response head) {
        auto body = std::make_shared<Body<Layer>>(self(), limits().stream_bytes_max);
        net::post(stream_.get_executor(), [self = self(), body, head = std::move(head)]() mutable {
            self->begin_stream(std::move(body), std::move(head));
        });
        return body;
    }

    void flush_later(std::shared_ptr<Body<Layer>> body) {
        net::post(stream_.get_executor(), [self = self(), body = std::move(body)] {
            // The rest follows the current write anyway.
            if (self->body_ == body && !self->is_writing_) self->flush();
        });
    }

 private:
    std::shared_ptr<Connection> self() { return this->shared_from_this(); }

    const Limits& limits() const { return hall_->options.limits; }

    PlainStream& lowest() { return beast::get_lowest_layer(stream_); }

    template <class Do>
    void on_strand(Do action) {
        net::dispatch(stream_.get_executor(), [self = self(), action] { action(*self); });
    }

    std::string_view unread() const {
        const auto bytes = buffer_.data();
        return {static_cast<const char*>(bytes.data()), bytes.size()};
    }

    /// What the client sends first says whether it knows of TLS: a request begins with a letter,
    /// and a record of TLS never does.
    void begin_tls()
        requires kIsTls
    {
        lowest().expires_after(limits().handshake_timeout);
        lowest().async_read_some(
            buffer_.prepare(kIdleReadBytes),
            [self = self()](const ErrorCode& error, std::size_t bytes) {
                if (error) return;
                self->buffer_.commit(bytes);
                const char first = self->unread().front();
                const bool is_letter =
                    (first >= 'A' && first <= 'Z') || (first >= 'a' && first <= 'z');
                is_letter ? self->leave_to_plain() : self->shake_hands();
            }
        );
    }

    void shake_hands()
        requires kIsTls
    {
        stream_.async_handshake(
            net::ssl::stream_base::server,
            buffer_.data(),
            [self = self()](const ErrorCode& error, std::size_t) {
                if (error) return;
                self->buffer_.clear();
                self->certificate_ = client_certificate(*self->stream_.native_handle());
                self->read_next();
            }
        );
    }

    void leave_to_plain()
        requires kIsTls
    {
        if (!hall_->enter(peer_.address)) return;
        std::make_shared<Connection<PlainStream>>(peer_, hall_, lowest().release_socket())
            ->run_without_tls(unread());
    }

    /// Waits for the next request.
    void read_next() {
        head_begun_ = false;
        if (buffer_.size() > 0) return find_head();
        if (hall_->drain >= (requests_ > 0 ? Hall::Drain::Used : Hall::Drain::All)) {
            return finish();
        }
        buffer_.shrink_to_fit();
        is_idle_ = true;
        lowest().expires_after(hall_->idle_timeout());
        read_some();
    }

    void read_some() {
        stream_.async_read_some(
            buffer_.prepare(head_begun_ ? kReadBytes : kIdleReadBytes),
            [self = self()](const ErrorCode& error, std::size_t bytes) {
                self->is_idle_ = false;
                if (error == beast::error::timeout && self->head_begun_) {
                    return self->refuse({408, "timeout", "The headers took too long."});
                }
                if (error) return self->end_busy();
                self->buffer_.commit(bytes);
                self->find_head();
            }
        );
    }

    void find_head() {
        if (!head_begun_) {
            head_begun_ = true;
            lowest().expires_after(limits().head_timeout);
        }
        const auto found = find_head_end(unread(), limits());
        if (const auto* refusal = std::get_if<Refusal>(&found)) return refuse(*refusal);
        const std::size_t end = std::get<std::size_t>(found);
        if (end == kMoreBytes) return read_some();
        auto head = read_head(unread().substr(0, end), limits());
        if (const auto* refusal = std::get_if<Refusal>(&head)) return refuse(*refusal);
        head_ = std::move(std::get<Head>(head));
        if (lacks_tls_) return refuse_plain();
        head_.request.remote = peer_.address;
        head_.request.is_loopback = peer_.is_loopback;
        head_.request.is_tls = kIsTls;
        head_.request.certificate = certificate_;
        begin_body(end);
    }

    void begin_body(std::size_t head_bytes) {
        const Framing& framing = head_.framing;
        if (!framing.is_chunked && framing.content_length == 0) {
            buffer_.consume(head_bytes);
            return handle();
        }
        const std::size_t most = hall_->options.body_bytes_max(head_.request);
        if (framing.content_length > most) return refuse(too_large(most));
        constexpr std::uint64_t kBytesPerSecond = std::uint64_t{16} << 10;
        body_timeout_ =
            limits().body_timeout + std::chrono::seconds(framing.content_length / kBytesPerSecond);
        parser_.emplace();
        parser_->header_limit(static_cast<std::uint32_t>(limits().head_bytes_max + kReadBytes));
        parser_->body_limit(most);
        if (!framing.expects_continue || buffer_.size() > head_bytes) return read_body();
        lowest().expires_after(limits().write_timeout);
        net::async_write(
            stream_,
            net::buffer(kContinue),
            [self = self()](const ErrorCode& error, std::size_t) {
                if (!error) self->read_body();
            }
        );
    }

    void refuse_plain() {
        const std::string_view host = head_.request.header("Host");
        std::string detail = "This port speaks HTTPS, and the request is plain HTTP.";
        if (!host.empty()) detail += " Use https://" + std::string(host) + ".";
        refuse({400, "bad_request", std::move(detail)});
    }

    static Refusal too_large(std::size_t most) {
        return {
            413,
            "payload_too_large",
            most == 0 ? std::string("This request may not have a body.")
                      : "The body may have at most " + std::to_string(most) + " bytes here."
        };
    }

    void read_body() {
        lowest().expires_after(body_timeout_);
        beast::http::async_read(
            stream_,
            buffer_,
            *parser_,
            [self = self()](const ErrorCode& error, std::size_t) { self->end_body(error); }
        );
    }

    void end_body(const ErrorCode& error) {
        if (error == beast::http::error::body_limit) {
            return refuse(too_large(parser_limit()));
        }
        if (error == beast::error::timeout) {
            return refuse({408, "timeout", "The body took too long."});
        }
        const bool is_cut = error == beast::http::error::partial_message ||
                            error == beast::http::error::end_of_stream;
        if (error && (is_cut ||
                      error.category() !=
                          beast::http::make_error_code(beast::http::error::bad_chunk).category())) {
            return drop();
        }
        if (error) return refuse({400, "bad_request", "The body is not framed correctly."});
        // The library treats trailers as headers, and the headers were checked before the body was
        // read.
        const auto& fields = parser_->get().base();
        const auto count = static_cast<std::size_t>(std::distance(fields.begin(), fields.end()));
        if (count != head_.request.headers.size()) {
            return refuse({400, "bad_request", "Trailers are not supported."});
        }
        head_.request.body = std::move(parser_->get().body());
        parser_.reset();
        handle();
    }

    std::size_t parser_limit() const { return hall_->options.body_bytes_max(head_.request); }

    void handle() {
        lowest().expires_never();
        keeps_alive_ =
            head_.framing.keeps_alive && ++requests_ < limits().requests_per_connection_max;
        is_head_ = head_.request.method == "HEAD";
        hall_->options.handler(
            std::move(head_.request), Responder(std::make_shared<Exchange<Layer>>(self()))
        );
    }

    void end_busy() {
        if (std::exchange(is_busy_, false)) hall_->end_busy();
    }

    void refuse(const Refusal& refusal) {
        keeps_alive_ = false;
        is_refusing_ = true;
        is_head_ = false;
        parser_.reset();
        write_response(hall_->options.refuse(refusal, peer_.address));
    }

    void write_response(Response response) {
        if (is_gone_) return;
        keeps_alive_ = keeps_alive_ && !response.closes && !hall_->is_draining();
        out_ = write_head(response, {.keeps_alive = keeps_alive_});
        if (!is_head_) out_ += response.body;
        written_ = 0;
        write_some();
    }

    void write_some() {
        const std::size_t size = std::min(out_.size() - written_, kWriteBytes);
        lowest().expires_after(limits().write_timeout);
        net::async_write(
            stream_,
            net::buffer(out_.data() + written_, size),
            [self = self()](const ErrorCode& error, std::size_t bytes) {
                if (error) return self->drop();
                self->written_ += bytes;
                if (self->written_ < self->out_.size()) return self->write_some();
                self->out_ = {};
                if (self->keeps_alive_) return self->read_next();
                self->finish();
            }
        );
    }

    /// Closes so that the client gets the whole answer, even if it has sent more than was read.
    void finish() {
        end_busy();
        lowest().expires_after(limits().linger);
        if constexpr (kIsTls) {
            stream_.async_shutdown([self = self()](const ErrorCode&) { self->lowest().close(); });
        } else {
            ErrorCode ignored;
            lowest().socket().shutdown(net::socket_base::shutdown_send, ignored);
            if (is_refusing_) return read_off();
            lowest().close();
        }
    }

    void read_off() {
        buffer_.clear();
        stream_.async_read_some(
            buffer_.prepare(kReadBytes),
            [self = self()](const ErrorCode& error, std::size_t) {
                if (!error) self->read_off();
            }
        );
    }

    void drop() {
        is_gone_ = true;
        if (body_) {
            body_->set_closed();
            body_.reset();
            --hall_->streams;
        }
        end_busy();
        lowest().close();
    }

    void begin_stream(std::shared_ptr<Body<Layer>> body, Response head) {
        if (is_gone_) return body->set_closed();
        // A drain does not wait for a stream: its owner closes it.
        end_busy();
        body_ = std::move(body);
        ++hall_->streams;
        is_chunked_ = !head_.framing.is_http10;
        keeps_alive_ = keeps_alive_ && is_chunked_;
        out_ = write_head(
            head,
            {.keeps_alive = keeps_alive_, .is_chunked = is_chunked_, .has_no_length = !is_chunked_}
        );
        // A stream lives for long, and there are many of them.
        buffer_.shrink_to_fit();
        head_ = {};
        watch_client();
        write_stream(false);
    }

    void flush() {
        bool ends = false;
        const std::string bytes = body_->take(ends);
        if (bytes.empty() && !ends) return;
        if (!is_chunked_ || bytes.empty()) {
            out_ = bytes;
        } else {
            out_ = fmt_chunk(bytes);
        }
        if (ends && is_chunked_) out_ += kLastChunk;
        write_stream(ends);
    }

    static std::string fmt_chunk(const std::string& bytes) {
        static constexpr char kDigits[] = "0123456789abcdef";
        std::string size;
        for (std::size_t rest = bytes.size(); rest > 0; rest >>= 4U) {
            size.insert(size.begin(), kDigits[rest & 0xfU]);
        }
        return size + "\r\n" + bytes + "\r\n";
    }

    void write_stream(bool ends) {
        is_writing_ = true;
        lowest().expires_after(limits().stream_write_timeout);
        net::async_write(
            stream_,
            net::buffer(out_),
            [self = self(), ends](const ErrorCode& error, std::size_t) {
                self->is_writing_ = false;
                if (error || !self->body_) return self->drop();
                self->out_ = {};
                // The timer must not run while there is nothing to write.
                self->lowest().expires_never();
                if (!ends) return self->flush();
                self->body_->set_closed();
                self->body_.reset();
                --self->hall_->streams;
                self->keeps_alive_ = false;
                self->finish();
            }
        );
    }

    /// Reads while a stream is open, to notice that its client has gone.
    void watch_client() {
        if (buffer_.size() >= kReadBytes) return;
        stream_.async_read_some(
            buffer_.prepare(kStreamReadBytes),
            [self = self()](const ErrorCode& error, std::size_t bytes) {
                if (error) {
                    if (self->body_) self->drop();
                    return;
                }
                self->buffer_.commit(bytes);
                if (self->body_) self->watch_client();
            }
        );
    }

    static constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
    static constexpr std::string_view kLastChunk = "0\r\n\r\n";

    const Peer peer_;
    std::shared_ptr<Hall> hall_;
    std::shared_ptr<const ClientCertificate> certificate_;  ///< null = the client has none
    Layer stream_;
    beast::flat_buffer buffer_;
    Head head_;
    std::optional<beast::http::request_parser<beast::http::string_body>> parser_;
    Limits::Milliseconds body_timeout_{0};
    std::string out_;
    std::size_t written_ = 0;
    std::shared_ptr<Body<Layer>> body_;
    int requests_ = 0;
    bool head_begun_ = false;
    bool is_idle_ = false;
    bool is_head_ = false;
    bool is_chunked_ = true;
    bool is_refusing_ = false;
    bool lacks_tls_ = false;   ///< the client speaks plain text, and the port TLS
    bool is_busy_ = false;     ///< as Hall::begin_busy has it
    bool is_writing_ = false;  ///< a piece of a stream
    bool keeps_alive_ = true;
    std::atomic<bool> is_gone_{false};
};

}  // namespace

void serve_connection(
    net::io_context& io,
    FileDescriptor descriptor,
    Peer peer,
    std::shared_ptr<Hall> hall,
    std::shared_ptr<net::ssl::context> tls
) {
    const int family = peer.is_tcp ? AF_INET : AF_UNIX;
    Protocol::socket socket(net::make_strand(io));
    ErrorCode error;
    socket.assign(Protocol(family, 0), descriptor.get(), error);
    if (error) {
        hall->leave(peer.address, nullptr);
        return;
    }
    descriptor.release();
    if (tls) {
        std::make_shared<Connection<TlsStream>>(
            std::move(peer), std::move(hall), PlainStream(std::move(socket)), *tls
        )
            ->run();
    } else {
        std::make_shared<Connection<PlainStream>>(
            std::move(peer), std::move(hall), std::move(socket)
        )
            ->run();
    }
}

}  // namespace ebb::http
