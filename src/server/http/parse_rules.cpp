#include "server/http/parse_rules.h"

#include <algorithm>
#include <array>
#include <charconv>

#include <fmt/format.h>

namespace ebb::http {

namespace {

constexpr std::string_view kLineEnd = "\r\n";

Refusal bad(std::string detail) {
    return {.status = 400, .code = "bad_request", .detail = std::move(detail)};
}

bool is_token_char(char c) {
    const bool is_alphanumeric =
        (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
    return is_alphanumeric || std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
}

bool is_token(std::string_view text) {
    return !text.empty() && std::all_of(text.begin(), text.end(), is_token_char);
}

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

bool is_hex(char c) {
    return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

std::string_view trim(std::string_view text) {
    while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
    while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
    return text;
}

bool is_value_char(char c) {
    return c == '\t' || (static_cast<unsigned char>(c) >= 0x20 && c != 0x7f);
}

/// Visible ASCII without what no URL holds unencoded.
bool is_target_char(char c) {
    if (c <= ' ' || c >= 0x7f) return false;
    return std::string_view("\"<>\\^`{|}#").find(c) == std::string_view::npos;
}

/// `.` or `..`, however it is encoded.
bool is_dot_segment(std::string_view segment) {
    int dots = 0;
    for (std::size_t at = 0; at < segment.size(); ++dots) {
        if (segment[at] == '.') {
            at += 1;
        } else if (segment.size() - at >= 3 && segment[at] == '%' && segment[at + 1] == '2' &&
                   (segment[at + 2] == 'e' || segment[at + 2] == 'E')) {
            at += 3;
        } else {
            return false;
        }
    }
    return dots == 1 || dots == 2;
}

std::optional<Refusal> check_path(std::string_view path) {
    for (std::size_t begin = 1; begin <= path.size();) {
        const std::size_t end = std::min(path.find('/', begin), path.size());
        if (is_dot_segment(path.substr(begin, end - begin))) {
            return bad("The request target has a \".\" or \"..\" segment.");
        }
        begin = end + 1;
    }
    return std::nullopt;
}

std::optional<Refusal> check_target(std::string_view target) {
    if (!std::all_of(target.begin(), target.end(), is_target_char)) {
        return bad("The request target has a character that must be percent-encoded.");
    }
    for (std::size_t at = 0; (at = target.find('%', at)) != std::string_view::npos; at += 3) {
        if (target.size() - at < 3 || !is_hex(target[at + 1]) || !is_hex(target[at + 2])) {
            return bad("The request target has a \"%\" without two hexadecimal digits.");
        }
        if (target.substr(at, 3) == "%00") return bad("The request target has a zero byte.");
    }
    return check_path(target.substr(0, target.find('?')));
}

/// Splits a target in absolute form; the authority must be the one that Host names.
struct TargetParts {
    std::string_view authority;
    std::string_view rest;
};

std::optional<TargetParts> split_absolute(std::string_view target) {
    for (const std::string_view scheme : {"http://", "https://"}) {
        if (!target.starts_with(scheme)) continue;
        target.remove_prefix(scheme.size());
        const std::size_t end = std::min(target.find_first_of("/?"), target.size());
        return TargetParts{target.substr(0, end), target.substr(end)};
    }
    return std::nullopt;
}

/// Reads the lines of one head in order.
class HeadReader {
 public:
    HeadReader(std::string_view text, const Limits& limits) : text_(text), limits_(limits) {}

    std::variant<Head, Refusal> read() {
        if (auto refusal = read_request_line()) return *refusal;
        while (true) {
            const std::string_view line = next_line();
            if (line.empty()) break;
            if (auto refusal = read_header(line)) return *refusal;
        }
        for (auto check :
             {&HeadReader::check_host, &HeadReader::check_framing, &HeadReader::check_connection}) {
            if (auto refusal = (this->*check)()) return *refusal;
        }
        return std::move(head_);
    }

 private:
    std::string_view next_line() {
        const std::size_t end = text_.find(kLineEnd, at_);
        const std::string_view line = text_.substr(at_, end - at_);
        at_ = end + kLineEnd.size();
        return line;
    }

    std::optional<Refusal> read_request_line() {
        const std::string_view line = next_line();
        const std::size_t first = line.find(' ');
        const std::size_t last = line.rfind(' ');
        if (first == std::string_view::npos || first == last) {
            return bad("The request line is not METHOD TARGET HTTP/1.1.");
        }
        const std::string_view method = line.substr(0, first);
        std::string_view target = line.substr(first + 1, last - first - 1);
        const std::string_view version = line.substr(last + 1);
        if (!is_token(method)) return bad("The method is not a token.");
        if (auto refusal = check_version(version)) return refusal;
        if (method == "CONNECT" || method == "TRACE") {
            return Refusal{
                405, "method_not_allowed", fmt::format("The method {} is not allowed here.", method)
            };
        }
        if (target.empty()) return bad("The request target is empty.");
        if (auto refusal = check_target(target)) return refusal;
        if (const auto parts = split_absolute(target)) {
            absolute_authority_ = parts->authority;
            target = parts->rest;
        }
        if (!target.starts_with('/')) {
            return bad("The request target must begin with a slash.");
        }
        Request& request = head_.request;
        request.method = method;
        request.target = target;
        request.path = target.substr(0, target.find('?'));
        if (request.path.size() < target.size()) {
            request.query = target.substr(request.path.size() + 1);
        }
        return std::nullopt;
    }

    std::optional<Refusal> check_version(std::string_view version) {
        head_.framing.is_http10 = version == "HTTP/1.0";
        if (version == "HTTP/1.1" || head_.framing.is_http10) return std::nullopt;
        const bool is_version = version.size() == 8 && version.starts_with("HTTP/") &&
                                is_digit(version[5]) && version[6] == '.' && is_digit(version[7]);
        if (!is_version) return bad("The request line does not end in HTTP/1.1.");
        return Refusal{505, "bad_request", "Only HTTP/1.1 and HTTP/1.0 are spoken here."};
    }

    std::optional<Refusal> read_header(std::string_view line) {
        if (head_.request.headers.size() >= limits_.headers_max) {
            return Refusal{
                431,
                "headers_too_large",
                fmt::format("There are more than {} headers.", limits_.headers_max)
            };
        }
        if (line.front() == ' ' || line.front() == '\t') {
            return bad("A header is continued on the next line.");
        }
        const std::size_t colon = line.find(':');
        if (colon == std::string_view::npos) return bad("A header has no colon.");
        const std::string_view name = line.substr(0, colon);
        if (!is_token(name)) return bad("The name of a header is not a token.");
        const std::string_view value = trim(line.substr(colon + 1));
        if (!std::all_of(value.begin(), value.end(), is_value_char)) {
            return bad(fmt::format("The value of {} has a control character.", name));
        }
        head_.request.headers.push_back({std::string(name), std::string(value)});
        return std::nullopt;
    }

    int count(std::string_view name) const {
        const auto& headers = head_.request.headers;
        return static_cast<int>(std::count_if(
            headers.begin(),
            headers.end(),
            [&](const Header& header) { return is_same_name(header.name, name); }
        ));
    }

    std::optional<Refusal> check_host() {
        const int hosts = count("Host");
        if (hosts > 1) return bad("There is more than one Host.");
        if (hosts == 0 && !head_.framing.is_http10) return bad("Host is missing.");
        const std::string_view host = head_.request.header("Host");
        if (hosts == 1 && !is_valid_authority(host)) return bad("Host is malformed.");
        if (absolute_authority_ && !is_same_name(*absolute_authority_, host)) {
            return bad("The request target names another host than Host.");
        }
        return std::nullopt;
    }

    std::optional<Refusal> check_framing() {
        Framing& framing = head_.framing;
        const int lengths = count("Content-Length");
        const int codings = count("Transfer-Encoding");
        if (lengths > 1) return bad("There is more than one Content-Length.");
        if (codings > 1) return bad("There is more than one Transfer-Encoding.");
        if (lengths == 1 && codings == 1) {
            return bad("There are both Content-Length and Transfer-Encoding.");
        }
        if (codings == 1) {
            if (framing.is_http10) return bad("HTTP/1.0 has no Transfer-Encoding.");
            const std::string_view coding = head_.request.header("Transfer-Encoding");
            if (!is_same_name(coding, "chunked")) {
                return Refusal{
                    501,
                    "not_implemented",
                    "The only Transfer-Encoding that is understood is chunked."
                };
            }
            framing.is_chunked = true;
        }
        if (lengths == 1) return read_length(head_.request.header("Content-Length"));
        return std::nullopt;
    }

    std::optional<Refusal> read_length(std::string_view text) {
        std::uint64_t& length = head_.framing.content_length;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), length);
        const bool is_number = !text.empty() && error == std::errc() &&
                               end == text.data() + text.size() && is_digit(text.front());
        // Beyond this, sums of lengths could overflow somewhere on the way.
        constexpr std::uint64_t kMost = std::uint64_t{1} << 62;
        if (!is_number || length > kMost) return bad("Content-Length is not a number.");
        return std::nullopt;
    }

    std::optional<Refusal> check_connection() {
        Framing& framing = head_.framing;
        framing.keeps_alive = !framing.is_http10;
        for (const Header& header : head_.request.headers) {
            if (is_same_name(header.name, "Connection")) read_connection(header.value);
        }
        const std::string_view expect = head_.request.header("Expect");
        if (expect.empty()) return std::nullopt;
        if (count("Expect") > 1 || !is_same_name(expect, "100-continue")) {
            return Refusal{417, "expectation_failed", "Only 100-continue may be expected."};
        }
        framing.expects_continue = !framing.is_http10;
        return std::nullopt;
    }

    void read_connection(std::string_view options) {
        while (!options.empty()) {
            const std::size_t comma = std::min(options.find(','), options.size());
            const std::string_view option = trim(options.substr(0, comma));
            if (is_same_name(option, "close")) closes_ = true;
            if (is_same_name(option, "keep-alive") && !closes_) head_.framing.keeps_alive = true;
            options.remove_prefix(std::min(comma + 1, options.size()));
        }
        if (closes_) head_.framing.keeps_alive = false;
    }

    std::string_view text_;
    const Limits& limits_;
    std::size_t at_ = 0;
    Head head_;
    std::optional<std::string_view> absolute_authority_;
    bool closes_ = false;
};

}  // namespace

bool is_same_name(std::string_view left, std::string_view right) {
    const auto lower = [](char c) {
        return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
    };
    return std::equal(left.begin(), left.end(), right.begin(), right.end(), [&](char a, char b) {
        return lower(a) == lower(b);
    });
}

bool is_valid_authority(std::string_view authority) {
    std::string_view host = authority;
    std::string_view port;
    if (authority.starts_with('[')) {
        const std::size_t end = authority.find(']');
        if (end == std::string_view::npos || end < 3) return false;
        host = authority.substr(1, end - 1);
        const auto is_address_char = [](char c) { return is_hex(c) || c == ':' || c == '.'; };
        if (!std::all_of(host.begin(), host.end(), is_address_char)) return false;
        port = authority.substr(end + 1);
        if (port.empty()) return true;
        if (port.front() != ':') return false;
        port.remove_prefix(1);
    } else {
        const std::size_t colon = authority.find(':');
        if (colon != std::string_view::npos) port = authority.substr(colon + 1);
        host = authority.substr(0, colon);
        const auto is_host_char = [](char c) {
            return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' ||
                   c == '.' || c == '_';
        };
        if (host.empty() || !std::all_of(host.begin(), host.end(), is_host_char)) return false;
        if (colon == std::string_view::npos) return true;
    }
    return !port.empty() && port.size() <= 5 && std::all_of(port.begin(), port.end(), is_digit);
}

std::variant<std::size_t, Refusal> find_head_end(std::string_view bytes, const Limits& limits) {
    std::size_t line_begin = 0;
    bool is_first = true;
    while (true) {
        const std::size_t end = bytes.find('\n', line_begin);
        const std::size_t seen = std::min(end, bytes.size());
        if (is_first && seen - line_begin > limits.request_line_bytes_max) {
            return Refusal{
                414,
                "uri_too_long",
                fmt::format(
                    "The request line has more than {} bytes.", limits.request_line_bytes_max
                )
            };
        }
        if (seen > limits.head_bytes_max) {
            return Refusal{
                431,
                "headers_too_large",
                fmt::format("The headers have more than {} bytes.", limits.head_bytes_max)
            };
        }
        const std::string_view line = bytes.substr(line_begin, seen - line_begin);
        const std::size_t carriage = line.find('\r');
        const bool is_whole = end != std::string_view::npos;
        // A CR must be the last of its line; the LF may still be on its way.
        if (carriage != std::string_view::npos && carriage + 1 != line.size()) {
            return bad("A carriage return is not followed by a line feed.");
        }
        if (line.find('\0') != std::string_view::npos) return bad("The head has a zero byte.");
        if (!is_whole) return kMoreBytes;
        if (carriage == std::string_view::npos) {
            return bad("A line feed does not follow a carriage return.");
        }
        if (line.size() == 1) {
            if (is_first) return bad("The request begins with an empty line.");
            return end + 1;
        }
        is_first = false;
        line_begin = end + 1;
    }
}

std::variant<Head, Refusal> read_head(std::string_view head, const Limits& limits) {
    auto read = HeadReader(head, limits).read();
    if (auto* whole = std::get_if<Head>(&read)) whole->request.head_bytes = head.size();
    return read;
}

std::string_view Request::header(std::string_view name) const {
    for (const Header& header : headers) {
        if (is_same_name(header.name, name)) return header.value;
    }
    return {};
}

std::size_t Request::count(std::string_view name) const {
    return static_cast<std::size_t>(std::count_if(
        headers.begin(),
        headers.end(),
        [name](const Header& header) { return is_same_name(header.name, name); }
    ));
}

void Response::set(std::string_view name, std::string value) {
    for (Header& header : headers) {
        if (is_same_name(header.name, name)) {
            header.value = std::move(value);
            return;
        }
    }
    headers.push_back({std::string(name), std::move(value)});
}

}  // namespace ebb::http
