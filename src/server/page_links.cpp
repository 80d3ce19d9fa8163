#include "server/page_links.h"

#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <ebb/error.h>

#include "support/json.h"

namespace ebb::server {

namespace {

constexpr std::size_t kLinksMax = 16;
constexpr std::size_t kNameBytesMax = 64;
constexpr std::size_t kUrlBytesMax = 2'048;
constexpr std::array<std::string_view, 6> kPlaces{
    "instance.id",
    "instance.trace_id",
    "instance.workflow",
    "instance.version",
    "instance.key",
    "instance.created_at",
};

[[noreturn]] void refuse(const PageLink& link, const std::string& why) {
    throw Error(
        ErrorCode::InvalidArgument,
        fmt::format("The link \"{}\" {}", clean_text(link.name, kNameBytesMax), why)
    );
}

void check_places(const PageLink& link) {
    for (std::size_t at = link.url.find("${"); at != std::string::npos;
         at = link.url.find("${", at)) {
        const std::size_t begin = at + 2;
        const std::size_t end = link.url.find('}', begin);
        if (end == std::string::npos) refuse(link, "has a \"${\" without its \"}\".");
        const std::string_view place = std::string_view(link.url).substr(begin, end - begin);
        if (std::find(kPlaces.begin(), kPlaces.end(), place) == kPlaces.end()) {
            refuse(
                link,
                fmt::format(
                    "names \"{}\". Allowed: {}.",
                    clean_text(place, kNameBytesMax),
                    fmt::join(kPlaces, ", ")
                )
            );
        }
        at = end;
    }
}

}  // namespace

void check_page_links(const std::vector<PageLink>& links) {
    if (links.size() > kLinksMax) {
        throw Error(
            ErrorCode::InvalidArgument,
            fmt::format("{} links are given; at most {} are allowed.", links.size(), kLinksMax)
        );
    }
    for (const PageLink& link : links) {
        if (link.name.empty() || link.name.size() > kNameBytesMax) {
            refuse(link, fmt::format("has a name that is not of 1 to {} bytes.", kNameBytesMax));
        }
        const bool is_http = link.url.starts_with("https://") || link.url.starts_with("http://");
        const bool is_printable = std::all_of(link.url.begin(), link.url.end(), [](char c) {
            return c > ' ' && c < '\x7f';
        });
        if (!is_http || !is_printable || link.url.size() > kUrlBytesMax) {
            refuse(
                link,
                fmt::format(
                    "is not a URL such as https://logs.example.com/?q=${{instance.id}} of at most "
                    "{} bytes.",
                    kUrlBytesMax
                )
            );
        }
        check_places(link);
    }
}

}  // namespace ebb::server
