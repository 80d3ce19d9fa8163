#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <ebb/error.h>
#include <ebb/id.h>
#include <ebb/json.h>

#include "support/json.h"
#include "support/unwritable.h"

namespace ebb {

namespace {

[[noreturn]] void throw_unwritable(std::string_view why) {
    throw UnwritableValue(
        ErrorCode::InvalidPayload, fmt::format("The value cannot be written as JSON: {}", why)
    );
}

/// What is wrong with a text that is not UTF-8, in the words of the JSON library; empty if it is.
std::string fault_of(const std::string& text) {
    try {
        Json(text).dump();
        return {};
    } catch (const Json::exception& error) {
        const std::string_view reason = error.what();
        // "[json.exception.type_error.316] invalid UTF-8 byte at index 3: 0xFF"
        const std::size_t end = reason.find("] ");
        return fmt::format(
            "{}. Encode binary data, for example with base64.",
            end == std::string_view::npos ? reason : reason.substr(end + 2)
        );
    }
}

std::string_view name_of(double number) {
    return std::isnan(number) ? "NaN" : "an infinity";
}

/// Where in `json` the first part is that JSON does not have, and what is wrong with it; empty if
/// there is none.
template <typename JsonType>
std::string find_unwritable(const JsonType& json, const std::string& place) {
    const std::string here = place.empty() ? "it" : fmt::format("\"{}\"", clean_text(place, 256));
    if (json.is_number_float() && !std::isfinite(json.template get<double>())) {
        const auto number = json.template get<double>();
        return fmt::format("{} is {}, which JSON does not have.", here, name_of(number));
    }
    if (json.is_string()) {
        const std::string fault = fault_of(json.template get_ref<const std::string&>());
        return fault.empty() ? fault : fmt::format("{} has an {}", here, fault);
    }
    if (!json.is_structured()) return {};
    std::size_t index = 0;
    for (const auto& part : json.items()) {
        if (json.is_object()) {
            const std::string fault = fault_of(part.key());
            if (!fault.empty()) return fmt::format("a name in {} has an {}", here, fault);
        }
        Json::json_pointer name;
        name.push_back(json.is_object() ? part.key() : std::to_string(index++));
        std::string found = find_unwritable(part.value(), place + name.to_string());
        if (!found.empty()) return found;
    }
    return {};
}

/// A number that the JSON library would write as null.
template <typename JsonType>
bool has_odd_number(const JsonType& json) {
    if (json.is_number_float()) return !std::isfinite(json.template get<double>());
    return json.is_structured() && std::any_of(json.begin(), json.end(), has_odd_number<JsonType>);
}

template <typename JsonType>
std::string write(const JsonType& json) {
    if (has_odd_number(json)) throw_unwritable(find_unwritable(json, {}));
    try {
        return json.dump();
    } catch (const Json::exception& error) {
        const std::string found = find_unwritable(json, {});
        throw_unwritable(found.empty() ? fmt::format("{}.", error.what()) : found);
    }
}

/// The document of a payload that is read.
Json parse(const std::string& text) {
    if (text.empty()) {
        throw Error(
            ErrorCode::InvalidPayload,
            "The payload is empty (a step that did not complete has no output)."
        );
    }
    try {
        return Json::parse(text);
    } catch (const Json::exception& error) {
        throw Error(ErrorCode::InvalidPayload, not_json("The payload", error));
    }
}

}  // namespace

namespace detail {

std::string write_json(const Json& json) {
    return write(json);
}

std::string write_json(const nlohmann::ordered_json& json) {
    return write(json);
}

std::string write_string(std::string_view text) {
    return write(Json(text));
}

std::string write_text(WriteFrom write_value, const void* value) {
    Json json;
    ValueWriter writer(json);
    try {
        write_value(writer, value);
    } catch (const UnwritableValue&) {
        // The writer of a part does not know where the part is.
        const std::string found = find_unwritable(json, {});
        if (found.empty()) throw;
        throw_unwritable(found);
    }
    return write(json);
}

void read_text(const std::string& text, ReadInto read, void* value) {
    const Json json = parse(text);
    read(ValueReader(json), value);
}

void refuse_foreign(const ValueReader& json, const char* why) {
    json.refuse(fmt::format("does not fit its type: {}", why));
}

}  // namespace detail

namespace {

bool is_whole_number(const Json& json) {
    if (!json.is_number_float()) return json.is_number();
    const auto number = json.get<double>();
    return std::trunc(number) == number;
}

/// The kind and never the value: what does not fit may be a secret.
[[noreturn]] void throw_misfit(
    const std::string& place, std::string_view rule, std::string_view kind
) {
    const std::string what = place.empty() ? "The payload" : fmt::format("\"{}\"", place);
    throw Error(ErrorCode::InvalidPayload, fmt::format("{} {}; it is {}.", what, rule, kind));
}

}  // namespace

bool ValueReader::is_null() const {
    return json_->is_null();
}

bool ValueReader::boolean() const {
    if (!json_->is_boolean()) refuse("must be true or false");
    return json_->get<bool>();
}

std::int64_t ValueReader::integer(std::int64_t min, std::int64_t max) const {
    const auto is_whole = [&](double value) {
        return std::trunc(value) == value && value >= -0x1p63 && value < 0x1p63;
    };
    std::optional<std::int64_t> value;
    if (json_->is_number_unsigned()) {
        const auto natural = json_->get<std::uint64_t>();
        if (natural <= static_cast<std::uint64_t>(max)) value = static_cast<std::int64_t>(natural);
    } else if (json_->is_number_integer()) {
        value = json_->get<std::int64_t>();
    } else if (json_->is_number_float() && is_whole(json_->get<double>())) {
        value = static_cast<std::int64_t>(json_->get<double>());
    }
    if (value && *value >= min && *value <= max) return *value;
    const std::string rule = fmt::format("must be an integer from {} to {}", min, max);
    if (!json_->is_number()) refuse(rule);
    if (!is_whole_number(*json_)) throw_misfit(pointer(), rule, "a number that is not an integer");
    const bool is_larger = value ? *value > max : json_->get<double>() > 0;
    throw_misfit(pointer(), rule, is_larger ? "a larger integer" : "a smaller integer");
}

std::uint64_t ValueReader::natural(std::uint64_t max) const {
    std::optional<std::uint64_t> value;
    if (json_->is_number_unsigned()) {
        value = json_->get<std::uint64_t>();
    } else if (json_->is_number_integer()) {
        const auto integer = json_->get<std::int64_t>();
        if (integer >= 0) value = static_cast<std::uint64_t>(integer);
    } else if (json_->is_number_float()) {
        const auto number = json_->get<double>();
        if (std::trunc(number) == number && number >= 0 && number < 0x1p64) {
            value = static_cast<std::uint64_t>(number);
        }
    }
    if (value && *value <= max) return *value;
    const std::string rule = fmt::format("must be an integer from 0 to {}", max);
    if (!json_->is_number()) refuse(rule);
    if (!is_whole_number(*json_)) throw_misfit(pointer(), rule, "a number that is not an integer");
    throw_misfit(
        pointer(),
        rule,
        value || json_->get<double>() > 0 ? "a larger integer" : "a smaller integer"
    );
}

double ValueReader::number() const {
    if (!json_->is_number()) refuse("must be a number");
    return json_->get<double>();
}

std::string ValueReader::string() const {
    if (!json_->is_string()) refuse("must be a string");
    return json_->get<std::string>();
}

std::size_t ValueReader::one_of(const char* const* names, std::size_t count) const {
    if (json_->is_string()) {
        const auto& value = json_->get_ref<const std::string&>();
        for (std::size_t i = 0; i < count; ++i) {
            if (value == names[i]) return i;
        }
    }
    std::string all;
    for (std::size_t i = 0; i < count; ++i) {
        if (i > 0) all += i + 1 == count ? " or " : ", ";
        all += fmt::format("\"{}\"", names[i]);
    }
    const std::string rule = fmt::format("must be {}", all);
    if (json_->is_string()) throw_misfit(pointer(), rule, "another string");
    refuse(rule);
}

std::size_t ValueReader::size() const {
    if (!json_->is_array()) refuse("must be an array");
    return json_->size();
}

ValueReader ValueReader::element(std::size_t index) const {
    return {&json_->at(index), *this, index};
}

void ValueReader::each_member(
    void (*visit)(void* target, const std::string& name, const ValueReader& json), void* target
) const {
    if (!json_->is_object()) refuse("must be an object");
    for (const auto& [name, member] : json_->items()) {
        visit(target, name, ValueReader(&member, *this, name.c_str()));
    }
}

ValueReader ValueReader::find(const char* name) const {
    if (!json_->is_object()) refuse("must be an object");
    const auto found = json_->find(name);
    return {found == json_->end() ? nullptr : &*found, *this, name};
}

const Json& ValueReader::json() const {
    return *json_;
}

void ValueReader::copy(nlohmann::ordered_json& json) const {
    json = nlohmann::ordered_json::parse(text());
}

std::string ValueReader::text() const {
    return json_->dump();
}

void ValueReader::refuse(std::string_view rule) const {
    throw_misfit(pointer(), rule, kind());
}

void ValueReader::throw_missing() const {
    throw Error(ErrorCode::InvalidPayload, fmt::format("\"{}\" is missing.", pointer()));
}

std::string ValueReader::pointer() const {
    if (parent_ == nullptr) return {};
    if (name_ == nullptr) return fmt::format("{}/{}", parent_->pointer(), index_);
    Json::json_pointer name;
    name.push_back(name_);
    return parent_->pointer() + name.to_string();
}

std::string_view ValueReader::kind() const {
    if (json_->is_object()) return "an object";
    if (json_->is_array()) return "an array";
    if (json_->is_string()) return "a string";
    if (json_->is_null()) return "null";
    if (json_->is_boolean()) return "a boolean";
    return json_->is_number_float() ? "a number" : "an integer";
}

void ebb_read(const ValueReader& json, InstanceId& id) {
    const auto parsed = InstanceId::parse(json.string());
    if (!parsed) json.refuse("must be an id of an instance");
    id = *parsed;
}

void ebb_write(ValueWriter& json, const InstanceId& id) {
    json.string(id.to_string());
}

void ValueWriter::null() {
    *json_ = nullptr;
}

void ValueWriter::boolean(bool value) {
    *json_ = value;
}

void ValueWriter::integer(std::int64_t value) {
    *json_ = value;
}

void ValueWriter::natural(std::uint64_t value) {
    *json_ = value;
}

void ValueWriter::number(double value) {
    *json_ = value;
    if (!std::isfinite(value)) {
        throw_unwritable(fmt::format("it has {}, which JSON does not have.", name_of(value)));
    }
}

void ValueWriter::string(std::string_view value) {
    *json_ = value;
}

void ValueWriter::enumerator(const char* name) {
    if (name == nullptr) throw_unwritable("an enumerator is not in the EBB_ENUM of its type.");
    *json_ = name;
}

void ValueWriter::begin_array() {
    *json_ = Json::array();
}

void ValueWriter::begin_object() {
    *json_ = Json::object();
}

ValueWriter ValueWriter::append() {
    json_->push_back(nullptr);
    return ValueWriter(json_->back());
}

ValueWriter ValueWriter::member_named(std::string_view name) {
    return ValueWriter((*json_)[std::string(name)]);
}

void ValueWriter::copy(const Json& json) {
    *json_ = json;
}

void ValueWriter::copy(const nlohmann::ordered_json& json) {
    *json_ = json;
}

void ValueWriter::text(const std::string& json_text) {
    *json_ = parse(json_text);
}

}  // namespace ebb
