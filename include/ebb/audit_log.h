#pragma once

#include <functional>
#include <memory>
#include <string_view>

#include <ebb/observer.h>

namespace ebb {

struct AuditLogOptions {
    /// Also write payloads: inputs, outputs, failures, signals. They may contain personal data.
    bool has_payloads = false;
};

/// An observer that writes each committed event as one line of JSON, without a line break, in the
/// order of the commits:
///
///     {"at":"...","instance":"...","workflow":"order","version":1,"status":"running",
///      "revision":3,"seq":4,"event":"decision_made","node":"approve","attempt":0,"by":"ann"}
///
/// `by` is there if the event says who acted; `code` if it is a failure; `payload` if that was
/// asked for. Members stay, and new ones may come. `write` is called by one thread at a time. With
/// a slow sink, wrap the observer in `queued` (<ebb/queued.h>) with Overflow::Wait.
std::shared_ptr<Observer> make_audit_log(
    std::function<void(std::string_view line)> write, const AuditLogOptions& options = {}
);

}  // namespace ebb
