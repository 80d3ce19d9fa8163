#pragma once

#include <string_view>

#include "server/api/service.h"

namespace ebb::server {

/// A route whose body, if its method has one, is JSON.
inline Route plain_route(
    Service& service,
    std::string_view method,
    std::string_view path,
    std::string_view operation,
    Permission permission,
    http::Response (*handle)(Service&, Call&)
) {
    Route route{
        .method = method,
        .path = path,
        .operation = operation,
        .permission = permission,
        .handle = [&service, handle](Call& call) { return handle(service, call); }
    };
    if (method == "POST" || method == "PUT") {
        route.body_bytes_max = kJsonBytesMax;
        route.media_types = {"application/json"};
    }
    return route;
}

}  // namespace ebb::server
