#include "http_client.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <stdexcept>

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

namespace ebb::bench {

namespace {

sockaddr_in loopback(std::uint32_t address, int port) {
    sockaddr_in place{};
    place.sin_family = AF_INET;
    place.sin_port = htons(static_cast<std::uint16_t>(port));
    place.sin_addr.s_addr = htonl(address);
    return place;
}

}  // namespace

int connect_loopback(int port, std::uint32_t source) {
    const int made = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (made < 0) throw std::runtime_error(fmt::format("no socket: {}", std::strerror(errno)));
    const int on = 1;
    ::setsockopt(made, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    if (source != 0) {
        // The kernel chooses the port when it knows the other end.
        ::setsockopt(made, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &on, sizeof(on));
        const sockaddr_in own = loopback(source, 0);
        ::bind(made, reinterpret_cast<const sockaddr*>(&own), sizeof(own));
    }
    const sockaddr_in server = loopback(INADDR_LOOPBACK, port);
    if (::connect(made, reinterpret_cast<const sockaddr*>(&server), sizeof(server)) != 0) {
        const std::string why = std::strerror(errno);
        ::close(made);
        throw std::runtime_error(fmt::format("cannot connect to port {}: {}", port, why));
    }
    return made;
}

std::string HttpAnswer::header(std::string_view name) const {
    std::size_t at = head.find("\r\n");
    while (at != std::string::npos && at + 2 < head.size()) {
        at += 2;
        const std::size_t end = std::min(head.find("\r\n", at), head.size());
        const std::size_t colon = std::min(head.find(':', at), end);
        std::string found = head.substr(at, colon - at);
        std::transform(found.begin(), found.end(), found.begin(), [](unsigned char c) {
            return static_cast<char>(std::tolower(c));
        });
        if (found == name) return head.substr(colon + 2, end - colon - 2);
        at = head.find("\r\n", at);
    }
    return {};
}

HttpClient::HttpClient(int port, std::string headers)
    : port_(port), headers_(std::move(headers)), socket_(connect_loopback(port)) {}

HttpClient::~HttpClient() {
    ::close(socket_);
}

HttpAnswer HttpClient::post(
    std::string_view path, std::string_view body, std::string_view type, std::string_view method
) {
    return send(
        method,
        path,
        fmt::format("Content-Type: {}\r\nContent-Length: {}\r\n\r\n{}", type, body.size(), body)
    );
}

HttpAnswer HttpClient::send(std::string_view method, std::string_view path, std::string_view rest) {
    const std::string request = fmt::format(
        "{} {} HTTP/1.1\r\nHost: 127.0.0.1\r\n{}{}",
        method,
        path,
        headers_,
        rest.empty() ? std::string_view("\r\n") : rest
    );
    for (std::size_t sent = 0; sent < request.size();) {
        const ssize_t count =
            ::send(socket_, request.data() + sent, request.size() - sent, MSG_NOSIGNAL);
        if (count <= 0) throw std::runtime_error("the server closed a connection");
        sent += static_cast<std::size_t>(count);
    }
    HttpAnswer answer;
    std::size_t end = std::string::npos;
    std::size_t length = 0;
    while (end == std::string::npos || buffer_.size() < end + 4 + length) {
        char bytes[16'384];
        const ssize_t count = ::recv(socket_, bytes, sizeof(bytes), 0);
        if (count <= 0) throw std::runtime_error("the server closed a connection");
        buffer_.append(bytes, static_cast<std::size_t>(count));
        if (end != std::string::npos) continue;
        end = buffer_.find("\r\n\r\n");
        if (end == std::string::npos) continue;
        answer.head = buffer_.substr(0, end + 2);
        answer.status = std::stoi(answer.head.substr(9, 3));
        const std::string size = answer.header("content-length");
        length = size.empty() ? 0 : std::stoul(size);
    }
    answer.body = buffer_.substr(end + 4, length);
    buffer_.erase(0, end + 4 + length);
    return answer;
}

HttpAnswer HttpClient::require(HttpAnswer answer, int status) const {
    if (answer.status == status) return answer;
    throw std::runtime_error(
        fmt::format("the server at {} answered {}: {}", port_, answer.status, answer.body)
    );
}

}  // namespace ebb::bench
