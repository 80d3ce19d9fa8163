#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <ebb/json.h>
#include <ebb/time.h>

namespace ebb::server {

/// The members of a JSON object in a body. Payloads are kept as they stand, so that their numbers
/// keep their digits. What no one has asked for is refused.
class Body {
 public:
    /// Throws Problem where `text` is not a JSON object, has a member twice, or is nested too deep.
    /// An empty text is an empty object.
    explicit Body(std::string_view text, std::string where = {});

    bool has(std::string_view name);
    /// Of all members, for objects whose names are data.
    std::vector<std::string> names() const;
    std::optional<std::string> text(std::string_view name, std::size_t bytes_max);
    std::string required_text(std::string_view name, std::size_t bytes_max);
    std::optional<std::int64_t> integer(
        std::string_view name, std::int64_t least, std::int64_t most
    );
    bool boolean(std::string_view name, bool otherwise);
    std::vector<std::string> texts(std::string_view name, std::size_t count_max);
    /// Any value, as it stands.
    std::optional<Payload> payload(std::string_view name);
    /// An object. Null is as if it was absent.
    std::optional<Body> object(std::string_view name);

    /// Throws Problem for a member that no one has asked for, with the one that may be meant.
    void check_all_used() const;

 private:
    struct Member {
        std::string json;
        bool is_used = false;
    };

    Member* find(std::string_view name);
    [[noreturn]] void refuse(std::string_view name, const std::string& why) const;

    std::string where_;
    std::map<std::string, Member, std::less<>> members_;
    std::vector<std::string> asked_;
};

}  // namespace ebb::server
