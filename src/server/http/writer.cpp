#include "server/http/writer.h"

#include <fmt/format.h>

namespace ebb::http {

namespace {

void append_value(std::string& out, std::string_view value) {
    for (const char c : value) {
        const auto byte = static_cast<unsigned char>(c);
        if (byte >= 0x20 && byte != 0x7f) out += c;
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
    std::string out =
        fmt::format("HTTP/1.1 {} {}\r\n", response.status, reason_of(response.status));
    for (const Header& header : response.headers) {
        append_value(out, header.name);
        out += ": ";
        append_value(out, header.value);
        out += "\r\n";
    }
    if (style.is_chunked) {
        out += "Transfer-Encoding: chunked\r\n";
    } else if (has_body(response.status) && !style.has_no_length) {
        out += fmt::format("Content-Length: {}\r\n", response.body.size());
    }
    if (!style.keeps_alive) out += "Connection: close\r\n";
    out += "\r\n";
    return out;
}

}  // namespace ebb::http
