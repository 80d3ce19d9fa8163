#include "server/api/payloads.h"

#include <charconv>
#include <utility>

#include <fmt/format.h>

#include "support/uuid.h"
#include "view/instance_json.h"

namespace ebb::server {

// No text of a user holds the mark: it has 64 random bits, made for this document.
PayloadDocument::PayloadDocument(std::string mode)
    : mode_(std::move(mode)), mark_(fmt::format("payload-{:016x}-", random_bits())) {}

view::Json PayloadDocument::value(const Payload& payload, const std::string& href) {
    if (payload.empty() || mode_ == "none") return nullptr;
    if (mode_ == "short" && payload.size() > kShortBytesMax) {
        return {{"$truncated", true}, {"bytes", payload.size()}, {"href", view::text_json(href)}};
    }
    payloads_.push_back(payload);
    return fmt::format("{}{};", mark_, payloads_.size() - 1);
}

view::Json PayloadDocument::event(HistoryEntry entry, const std::string& href) {
    const Payload payload = std::exchange(entry.payload, {});
    view::Json json = view::event_json(entry);
    json["payload"] = value(payload, href);
    return json;
}

view::Json PayloadDocument::step(StepView step) {
    const Payload input = std::exchange(step.input, {});
    const Payload output = std::exchange(step.output, {});
    const Payload error = std::exchange(step.error, {});
    const Payload progress = std::exchange(step.progress, {});
    view::Json json = view::step_json(step);
    json["input"] = value(input);
    json["output"] = value(output);
    json["error"] = value(error);
    json["progress"] = value(progress);
    return json;
}

std::string PayloadDocument::text(const view::Json& document) const {
    const std::string plain = document.dump(-1, ' ', false, view::Json::error_handler_t::replace);
    if (payloads_.empty()) return plain;
    const std::string begin = '"' + mark_;
    std::string text;
    std::size_t at = 0;
    while (true) {
        const std::size_t found = plain.find(begin, at);
        text.append(plain, at, found - at);
        if (found == std::string::npos) return text;
        const char* digits = plain.data() + found + begin.size();
        std::size_t index = 0;
        const auto end = std::from_chars(digits, plain.data() + plain.size(), index).ptr;
        text += payloads_.at(index);
        // Past the semicolon and the closing quote.
        at = static_cast<std::size_t>(end - plain.data()) + 2;
    }
}

}  // namespace ebb::server
