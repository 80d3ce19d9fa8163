#include "server/api/payloads.h"

#include <charconv>
#include <utility>

#include <fmt/format.h>

#include "server/api/service.h"
#include "support/uuid.h"
#include "view/instance_json.h"

namespace ebb::server {

Payload PayloadView::shown(const Payload& payload) const {
    if (is_hidden) return {};
    return redaction == nullptr ? payload : redaction->apply(payload, of);
}

std::string PayloadView::key() const {
    return fmt::format(
        "{}|{}|{}|{}|{}|{}", mode, is_hidden, redaction != nullptr, of.workflow, of.version, href
    );
}

PayloadView payload_view(
    Service& service, const Principal& principal, const WorkflowVersion& of, bool is_own
) {
    constexpr Permission kRead = "payloads.read";
    const bool is_shown = is_own ? principal.may_with_own(kRead, of.workflow)
                                 : principal.may_with(kRead, of.workflow);
    return {
        .mode = "short",
        .is_hidden = service.redaction.hides_payloads() || !is_shown,
        .redaction = &service.redaction,
        .of = of,
    };
}

PayloadView payload_view(Service& service, Call& call, const InstanceId& id) {
    // A start may be newer than what a replica has.
    auto row = service.reads.load(id);
    if (!row) row = service.store.load(id);
    return payload_view(
        service, call, id, {row ? row->workflow : call.workflow, row ? row->version : 0}
    );
}

PayloadView payload_view(
    Service& service, Call& call, const InstanceId& id, const WorkflowVersion& of
) {
    const std::string mode = call.query.choice("payloads", {"short", "none", "full"});
    const bool reveals = call.query.flag("reveal");
    call.workflow = of.workflow;
    PayloadView view = payload_view(service, call.principal, of, call.is_own);
    view.mode = mode;
    view.href = call.href("/instances/" + id.to_string() + "/history");
    if (!reveals) return view;
    if (!may_also(service, call, "payloads.sensitive")) {
        throw Problem("not_allowed", "The parameter \"reveal\" needs payloads.sensitive.");
    }
    service.audit.write(call.audit_entry("revealPayloads"));
    view.redaction = nullptr;
    view.is_hidden = false;
    return view;
}

engine::ShownPayload shown_payloads(Service& service, const Principal& principal) {
    return [&service, &principal](const InstanceRow& row, const Payload& payload) {
        const WorkflowVersion of{row.workflow, row.version};
        return payload_view(service, principal, of, is_own(principal, row)).shown(payload);
    };
}

// No text of a user holds the mark: it has 64 random bits, made for this document.
PayloadDocument::PayloadDocument(PayloadView view)
    : view_(std::move(view)), mark_(fmt::format("payload-{:016x}-", random_bits())) {}

view::Json PayloadDocument::value(const Payload& payload, const std::string& href) {
    if (payload.empty() || view_.mode == "none") return nullptr;
    if (view_.is_hidden) return {{"$hidden", true}, {"bytes", payload.size()}};
    if (view_.mode == "short" && payload.size() > kShortBytesMax) {
        return {{"$truncated", true}, {"bytes", payload.size()}, {"href", view::text_json(href)}};
    }
    payloads_.push_back(view_.shown(payload));
    return fmt::format("{}{};", mark_, payloads_.size() - 1);
}

view::Json PayloadDocument::event(HistoryEntry entry) {
    const std::string href =
        view_.href.empty() ? "" : fmt::format("{}/{}/payload", view_.href, entry.seq);
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
