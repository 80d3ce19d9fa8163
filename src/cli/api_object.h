#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <ebb/json.h>
#include <ebb/time.h>

namespace ebb::cli {

/// A JSON object that a server has sent. Its payloads stay as they stand in the text, so that no
/// number loses a digit. A member that is missing reads as null, because an older server lacks
/// those that came later. Throws Error with StoreError for what is not as the API describes it.
class ApiObject {
 public:
    explicit ApiObject(std::string_view json);

    bool has(std::string_view name) const;
    /// Null is empty.
    std::string text(std::string_view name) const;
    /// Null is zero.
    std::int64_t integer(std::string_view name) const;
    std::optional<int> number(std::string_view name) const;
    bool boolean(std::string_view name) const;
    /// Null is `absent`.
    TimePoint time(std::string_view name, TimePoint absent = {}) const;
    /// Null is empty.
    Payload payload(std::string_view name) const;
    std::vector<std::string> texts(std::string_view name) const;
    std::optional<ApiObject> object(std::string_view name) const;
    std::vector<ApiObject> objects(std::string_view name) const;
    /// The members in order: a map of numbers, such as counts by status.
    std::vector<std::pair<std::string, std::int64_t>> integers() const;

 private:
    /// Empty: null or missing.
    std::string_view raw(std::string_view name) const;

    std::vector<std::pair<std::string, std::string>> members_;
};

}  // namespace ebb::cli
