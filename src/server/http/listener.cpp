#include <atomic>
#include <cerrno>
#include <optional>
#include <thread>

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <sys/socket.h>

#include <ebb/clock.h>

#include "server/http/connection.h"

namespace ebb::http {

namespace net = boost::asio;

namespace {

/// The wait after an accept that failed because the process has no descriptors left, or because
/// there are as many connections as may be.
constexpr auto kAcceptPause = std::chrono::milliseconds(50);
/// In a drain, connections that have had an answer are closed after this time without another
/// request. A busy client has sent one by then, and its answer said "Connection: close".
constexpr auto kUsedGrace = std::chrono::milliseconds(500);
/// In a drain, a connection that was accepted has this time to bring its first request.
constexpr auto kFirstRequestGrace = std::chrono::seconds(5);

/// Accepts the connections of one socket.
class Listener : public std::enable_shared_from_this<Listener> {
 public:
    using Tls = std::function<std::shared_ptr<net::ssl::context>()>;

    Listener(net::io_context& io, ListeningSocket socket, std::shared_ptr<Hall> hall, Tls tls)
        : io_(io),
          socket_(std::move(socket)),
          waiter_(net::make_strand(io)),
          pause_(waiter_.get_executor()),
          hall_(std::move(hall)),
          tls_(std::move(tls)) {
        // The descriptor stays ours: the waiter has a copy of it.
        waiter_.assign(::dup(socket_.descriptor.get()));
    }

    const std::string& address() const { return socket_.address; }

    void wait() {
        waiter_.async_wait(
            net::posix::stream_descriptor::wait_read,
            [self = shared_from_this()](const boost::system::error_code& error) {
                if (!error && !self->is_closed_) self->accept();
            }
        );
    }

    /// What has already come in on a socket of our own is accepted now, or never. An inherited
    /// socket stays open elsewhere, and its next owner takes the rest.
    void close() {
        is_closed_ = true;
        net::post(waiter_.get_executor(), [self = shared_from_this()] {
            if (!self->socket_.is_inherited) self->accept_batch();
            boost::system::error_code ignored;
            self->waiter_.close(ignored);
            self->pause_.cancel();
            self->socket_.close();
        });
    }

 private:
    void accept() { accept_batch() ? wait() : wait_a_bit(); }

    /// False: no more can be accepted for now.
    bool accept_batch() {
        constexpr int kBatch = 64;
        for (int accepted = 0; accepted < kBatch; ++accepted) {
            if (!socket_.descriptor.is_open()) return false;
            if (hall_->open >= hall_->options.limits.connections_max) return false;
            FileDescriptor descriptor(
                ::accept4(socket_.descriptor.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK)
            );
            if (!descriptor.is_open()) {
                if (errno == EINTR || errno == ECONNABORTED) continue;
                if (errno == EAGAIN || errno == EWOULDBLOCK) break;
                return false;
            }
            Peer peer = peer_of(descriptor.get());
            if (peer.address.empty()) continue;
            if (!hall_->enter(peer.address)) {
                ++hall_->refused;
                continue;
            }
            ++hall_->accepted;
            auto tls = peer.is_tcp ? tls_() : nullptr;
            serve_connection(io_, std::move(descriptor), std::move(peer), hall_, std::move(tls));
        }
        return true;
    }

    void wait_a_bit() {
        pause_.expires_after(kAcceptPause);
        pause_.async_wait([self = shared_from_this()](const boost::system::error_code& error) {
            if (!error && !self->is_closed_) self->wait();
        });
    }

    net::io_context& io_;
    ListeningSocket socket_;
    net::posix::stream_descriptor waiter_;
    net::steady_timer pause_;
    std::shared_ptr<Hall> hall_;
    Tls tls_;
    std::atomic<bool> is_closed_{false};
};

std::int64_t now_ms() {
    return SystemClock().steady_now().time_since_epoch() / std::chrono::milliseconds(1);
}

}  // namespace

class Server::Core {
 public:
    explicit Core(ServerOptions options)
        : io_(options.threads), hall_(std::make_shared<Hall>(std::move(options))) {
        set_tls(hall_->options.tls);
        for (const Endpoint& endpoint : hall_->options.listen) {
            listeners_.push_back(std::make_shared<Listener>(
                io_, listen_on(endpoint), hall_, [this] { return tls(); }
            ));
        }
    }

    ~Core() { stop(); }

    void start() {
        for (const auto& listener : listeners_) listener->wait();
        for (int i = 0; i < hall_->options.threads; ++i) {
            threads_.emplace_back([this] { io_.run(); });
        }
    }

    std::vector<std::string> addresses() const {
        std::vector<std::string> texts;
        for (const auto& listener : listeners_) texts.push_back(listener->address());
        return texts;
    }

    void set_tls(const std::vector<TlsFiles>& files) {
        auto context = files.empty() ? nullptr : make_tls_context(files.front());
        const Lock lock(mutex_);
        tls_ = std::move(context);
    }

    std::optional<std::chrono::system_clock::time_point> certificate_expires_at() {
        const auto context = tls();
        return context ? std::optional(expiry_of(*context)) : std::nullopt;
    }

    void stop_accepting() {
        auto none = Hall::Drain::None;
        if (!hall_->drain.compare_exchange_strong(none, Hall::Drain::Answers)) return;
        for (const auto& listener : listeners_) listener->close();
        after(used_grace_, kUsedGrace, Hall::Drain::Used, LiveConnection::Idle::HasServed);
        after(first_grace_, kFirstRequestGrace, Hall::Drain::All, LiveConnection::Idle::Any);
    }

    void stop() {
        if (is_stopped_.exchange(true)) return;
        stop_accepting();
        hall_->drain = Hall::Drain::All;
        net::post(io_, [this] {
            used_grace_.cancel();
            first_grace_.cancel();
        });
        hall_->for_each([](LiveConnection& connection) { connection.close_now(); });
        work_.reset();
        // What was closed unwinds; nothing waits any more.
        if (!threads_.empty()) hall_->wait_until_empty(std::chrono::seconds(2));
        io_.stop();
        threads_.clear();
    }

    Hall& hall() { return *hall_; }

    bool is_ticking(std::chrono::milliseconds limit) {
        const std::int64_t now = now_ms();
        std::int64_t none = 0;
        if (asked_at_.compare_exchange_strong(none, now)) {
            net::post(io_, [this] { asked_at_ = 0; });
            return true;
        }
        return now - none < limit.count();
    }

 private:
    /// Closes what is idle once `grace` is over.
    void after(
        net::steady_timer& timer, Duration grace, Hall::Drain phase, LiveConnection::Idle which
    ) {
        timer.expires_after(grace);
        timer.async_wait([hall = hall_, phase, which](const boost::system::error_code& error) {
            if (error) return;
            hall->drain = phase;
            hall->for_each([which](LiveConnection& connection) { connection.close_if_idle(which); }
            );
        });
    }

    std::shared_ptr<net::ssl::context> tls() {
        const Lock lock(mutex_);
        return tls_;
    }

    net::io_context io_;
    net::steady_timer used_grace_{io_};
    net::steady_timer first_grace_{io_};
    std::shared_ptr<Hall> hall_;
    std::optional<net::executor_work_guard<net::io_context::executor_type>> work_{
        net::make_work_guard(io_)
    };
    Mutex mutex_;
    std::shared_ptr<net::ssl::context> tls_ EBB_GUARDED_BY(mutex_);
    std::vector<std::shared_ptr<Listener>> listeners_;
    std::atomic<bool> is_stopped_{false};
    std::atomic<std::int64_t> asked_at_{0};  ///< when an unanswered tick was asked for; 0 = none
    std::vector<std::jthread> threads_;
};

void check_tls(const TlsFiles& files) {
    make_tls_context(files);
}

Server::Server(ServerOptions options) : core_(std::make_unique<Core>(std::move(options))) {}

Server::~Server() = default;

void Server::start() {
    core_->start();
}

std::vector<std::string> Server::addresses() const {
    return core_->addresses();
}

void Server::reload_tls(const std::vector<TlsFiles>& files) {
    core_->set_tls(files);
}

void Server::stop_accepting() {
    core_->stop_accepting();
}

bool Server::wait_for_requests(std::chrono::milliseconds limit) {
    return core_->hall().wait_for_requests(limit);
}

void Server::stop() {
    core_->stop();
}

ConnectionCounts Server::counts() const {
    const Hall& hall = core_->hall();
    return {hall.open, hall.streams, hall.accepted, hall.refused};
}

std::optional<std::chrono::system_clock::time_point> Server::certificate_expires_at() const {
    return core_->certificate_expires_at();
}

bool Server::is_ticking(std::chrono::milliseconds limit) const {
    return core_->is_ticking(limit);
}

}  // namespace ebb::http
