#include "server/http/writer.h"

#include <algorithm>
#include <string>

namespace ebb::http {

namespace {

/// Few heads have more.
constexpr std::size_t kHeadBytes = 1'024;

bool is_control(char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte < 0x20 || byte == 0x7f;
}

/// Without control characters, of which there are hardly ever any.
void append_value(std::string& out, std::string_view value) {
    while (true) {
        const auto* const end = std::find_if(value.begin(), value.end(), is_control);
        out.append(value.begin(), end);
        if (end == value.end()) return;
        value.remove_prefix(static_cast<std::size_t>(end - value.begin()) + 1);
    }
}

bool has_body(int status) {
    return status >= 200 && status != 204 && status != 304;
}

}  // namespace

std::string_view reason_of(int status) {
    switch (status) {
        case 100:
            return "Continue";
        case 200:
            return "OK";
        case 201:
            return "Created";
        case 202:
            return "Accepted";
        case 204:
            return "No Content";
        case 302:
            return "Found";
        case 304:
            return "Not Modified";
        case 400:
            return "Bad Request";
        case 401:
            return "Unauthorized";
        case 403:
            return "Forbidden";
        case 404:
            return "Not Found";
        case 405:
            return "Method Not Allowed";
        case 406:
            return "Not Acceptable";
        case 408:
            return "Request Timeout";
        case 409:
            return "Conflict";
        case 412:
            return "Precondition Failed";
        case 413:
            return "Content Too Large";
        case 414:
            return "URI Too Long";
        case 415:
            return "Unsupported Media Type";
        case 417:
            return "Expectation Failed";
        case 421:
            return "Misdirected Request";
        case 422:
            return "Unprocessable Content";
        case 429:
            return "Too Many Requests";
        case 431:
            return "Request Header Fields Too Large";
        case 500:
            return "Internal Server Error";
        case 501:
            return "Not Implemented";
        case 503:
            return "Service Unavailable";
        case 504:
            return "Gateway Timeout";
        case 505:
            return "HTTP Version Not Supported";
        case 507:
            return "Insufficient Storage";
        default:
            return "Status";
    }
}

std::string write_head(const Response& response, const HeadStyle& style) {
    std::string out;
    out.reserve(kHeadBytes + response.body.size());
    out += "HTTP/1.1 ";
    out += std::to_string(response.status);
    out += ' ';
    out += reason_of(response.status);
    out += "\r\n";
    for (const Header& header : response.headers) {
        append_value(out, header.name);
        out += ": ";
        append_value(out, header.value);
        out += "\r\n";
    }
    out += response.header_lines;
    if (style.is_chunked) {
        out += "Transfer-Encoding: chunked\r\n";
    } else if (has_body(response.status) && !style.has_no_length) {
        out += "Content-Length: ";
        out += std::to_string(response.body.size());
        out += "\r\n";
    }
    if (!style.keeps_alive) out += "Connection: close\r\n";
    out += "\r\n";
    return out;
}

}  // namespace ebb::http
