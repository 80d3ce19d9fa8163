#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <ebb/id.h>
#include <ebb/time.h>

namespace ebb::server {

/// The parameters behind the `?` of a URL. What no one has asked for when the request is answered
/// is refused, so that a misspelled filter does not show everything.
class Query {
 public:
    static constexpr std::size_t kParametersMax = 64;

    /// Throws Problem for what is not valid.
    explicit Query(std::string_view text);

    /// Refuses an empty value: an unset variable of a script must not show everything.
    std::optional<std::string> text(std::string_view name);
    /// The same, but it may be empty.
    std::optional<std::string> any_text(std::string_view name);
    /// Between commas, and of every parameter of this name. None may be empty.
    std::vector<std::string> list(std::string_view name);
    /// Every parameter of this name, unchanged.
    std::vector<std::string> all(std::string_view name);
    std::optional<std::int64_t> integer(
        std::string_view name, std::int64_t least, std::int64_t most
    );
    /// One of `choices`; the first if it is absent.
    /// `true` or `false`; false if it is not given.
    bool flag(std::string_view name);
    std::string choice(std::string_view name, const std::vector<std::string>& choices);
    /// Some of `choices`, between commas; none if it is absent.
    std::vector<std::string> choices(
        std::string_view name, const std::vector<std::string>& choices
    );
    std::optional<Duration> duration(std::string_view name, Duration most);
    std::optional<TimePoint> time(std::string_view name);
    /// Of an instance.
    std::optional<InstanceId> id(std::string_view name);

    /// All parameters but these, by name: what a cursor belongs to.
    std::string all_but(std::span<const std::string_view> names) const;

    /// Throws Problem for a parameter that no one has asked for.
    void check_all_used() const;

 private:
    struct Parameter {
        std::string value;
        bool is_used = false;
    };

    std::multimap<std::string, Parameter, std::less<>> parameters_;
};

}  // namespace ebb::server
