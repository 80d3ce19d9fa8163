#pragma once

#include <atomic>
#include <functional>
#include <list>
#include <map>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

namespace ebb::testing {

/// A small HTTP/1.1 server on a free port of 127.0.0.1 for tests. A function answers each request
/// with the raw bytes of the response; so it can answer wrongly, partly or not at all. Each
/// connection has a thread and is kept open until the client closes it or an answer contains
/// `Connection: close`.
class HttpServer {
 public:
    struct Request {
        std::string method;
        std::string target;  ///< path and query as sent
        std::map<std::string, std::string>
            headers;  ///< names in lower case; a repeated one is joined with `|`
        std::string body;
    };

    using Answer = std::function<std::string(const Request&)>;

    explicit HttpServer(Answer answer)
        : answer_(std::move(answer)), listener_(::socket(AF_INET, SOCK_STREAM, 0)) {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t length = sizeof(address);
        auto* generic = reinterpret_cast<sockaddr*>(&address);
        if (::bind(listener_, generic, length) != 0 || ::listen(listener_, 64) != 0 ||
            ::getsockname(listener_, generic, &length) != 0) {
            throw std::runtime_error("the test server cannot listen");
        }
        port_ = ntohs(address.sin_port);
        acceptor_ = std::thread([this] { accept_all(); });
    }

    HttpServer(const HttpServer&) = delete;
    HttpServer& operator=(const HttpServer&) = delete;

    ~HttpServer() {
        is_closing_ = true;
        ::shutdown(listener_, SHUT_RDWR);
        acceptor_.join();
        {
            const std::lock_guard lock(mutex_);
            for (const int connection : connections_) ::shutdown(connection, SHUT_RDWR);
        }
        for (std::thread& thread : threads_) thread.join();
        for (const int connection : connections_) ::close(connection);
        ::close(listener_);
    }

    int port() const { return port_; }

    std::string url(const std::string& target) const {
        return "http://127.0.0.1:" + std::to_string(port_) + target;
    }

    /// All requests so far, in the order of their arrival.
    std::vector<Request> requests() const {
        const std::lock_guard lock(mutex_);
        return requests_;
    }

    std::size_t connection_count() const {
        const std::lock_guard lock(mutex_);
        return connections_.size();
    }

    /// A complete response.
    static std::string respond(
        int status, const std::string& body, const std::vector<std::string>& headers = {}
    ) {
        std::string text = "HTTP/1.1 " + std::to_string(status) + " Status\r\n";
        for (const std::string& header : headers) text += header + "\r\n";
        return text + "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
    }

 private:
    void accept_all() {
        while (!is_closing_) {
            const int connection = ::accept(listener_, nullptr, nullptr);
            if (connection < 0) continue;
            const std::lock_guard lock(mutex_);
            connections_.push_back(connection);
            threads_.emplace_back([this, connection] { serve(connection); });
        }
    }

    void serve(int connection) {
        std::string buffer;
        Request request;
        while (read_request(connection, buffer, request)) {
            {
                const std::lock_guard lock(mutex_);
                requests_.push_back(request);
            }
            const std::string answer = answer_(request);
            if (!send_all(connection, answer) || answer.empty() ||
                answer.find("Connection: close") != std::string::npos) {
                break;
            }
        }
        ::shutdown(connection, SHUT_RDWR);
    }

    static bool send_all(int connection, const std::string& text) {
        std::size_t sent = 0;
        while (sent < text.size()) {
            const auto count =
                ::send(connection, text.data() + sent, text.size() - sent, MSG_NOSIGNAL);
            if (count <= 0) return false;
            sent += static_cast<std::size_t>(count);
        }
        return true;
    }

    static bool receive(int connection, std::string& buffer) {
        char chunk[16 * 1024];
        const auto count = ::recv(connection, chunk, sizeof(chunk), 0);
        if (count > 0) buffer.append(chunk, static_cast<std::size_t>(count));
        return count > 0;
    }

    static std::string lower(std::string text) {
        for (char& c : text) {
            if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
        }
        return text;
    }

    static void read_head(const std::string& head, Request& request) {
        std::size_t at = head.find("\r\n");
        const std::string first = head.substr(0, at);
        const std::size_t space = first.find(' ');
        request.method = first.substr(0, space);
        request.target = first.substr(space + 1, first.rfind(' ') - space - 1);
        request.headers.clear();
        while (at != std::string::npos && at + 2 < head.size()) {
            const std::size_t begin = at + 2;
            at = head.find("\r\n", begin);
            const std::string line = head.substr(begin, at - begin);
            const std::size_t colon = line.find(':');
            if (colon == std::string::npos) continue;
            std::string value = line.substr(colon + 1);
            value.erase(0, value.find_first_not_of(' '));
            std::string& stored = request.headers[lower(line.substr(0, colon))];
            stored += stored.empty() ? value : "|" + value;
        }
    }

    static bool read_request(int connection, std::string& buffer, Request& request) {
        std::size_t end = buffer.find("\r\n\r\n");
        while (end == std::string::npos) {
            if (!receive(connection, buffer)) return false;
            end = buffer.find("\r\n\r\n");
        }
        read_head(buffer.substr(0, end + 2), request);
        buffer.erase(0, end + 4);
        const auto length = request.headers.find("content-length");
        const std::size_t size = length == request.headers.end() ? 0 : std::stoul(length->second);
        while (buffer.size() < size) {
            if (!receive(connection, buffer)) return false;
        }
        request.body = buffer.substr(0, size);
        buffer.erase(0, size);
        return true;
    }

    Answer answer_;
    int listener_;
    int port_ = 0;
    std::atomic<bool> is_closing_ = false;
    mutable std::mutex mutex_;
    std::vector<int> connections_;
    std::list<std::thread> threads_;
    std::vector<Request> requests_;
    std::thread acceptor_;
};

}  // namespace ebb::testing
