#pragma once

#include <string>
#include <utility>
#include <vector>

#include <ebb/engine.h>

#include "engine/view.h"
#include "server/api/redaction.h"
#include "view/payload_json.h"

namespace ebb::server {

struct Call;
struct Principal;
struct Service;

/// How the payloads of an instance are shown.
struct PayloadView {
    std::string mode = "full";             ///< `none`, `short` or `full`
    std::string href{};                    ///< of the instance's history; empty = there is no link
    bool is_hidden = false;                ///< only their sizes
    const Redaction* redaction = nullptr;  ///< null = everything in them is shown
    WorkflowVersion of{};                  ///< whose rules of redaction hold

    /// The payload without what is not shown; empty = nothing of it is.
    Payload shown(const Payload& payload) const;
    /// The same for views that show the same.
    std::string key() const;
};

/// As the principal may see the payloads of a workflow. `is_own`: of an instance that it has
/// started.
PayloadView payload_view(
    Service& service, const Principal& principal, const WorkflowVersion& of, bool is_own = false
);
/// The same for a request about one instance, with its parameters `payloads` and `reveal`. Throws
/// Problem.
PayloadView payload_view(Service& service, Call& call, const InstanceId& id);
/// The same if it is known whose the instance is, without a look into the store.
PayloadView payload_view(
    Service& service, Call& call, const InstanceId& id, const WorkflowVersion& of
);

/// The same for sentences about any instance that the principal may see.
engine::ShownPayload shown_payloads(Service& service, const Principal& principal);

/// A JSON document in which payloads stand exactly as they were given: their numbers keep all
/// digits. The views would parse and print them.
class PayloadDocument {
 public:
    static constexpr std::size_t kShortBytesMax = std::size_t{4} << 10;

    explicit PayloadDocument(PayloadView view);

    /// The payloads that come next are another instance's.
    void go_on(PayloadView view) { view_ = std::move(view); }

    /// What stands for the payload until `text`. `href` is where all of it is; empty = nowhere.
    view::Json value(const Payload& payload, const std::string& href = {});

    view::Json event(HistoryEntry entry);
    view::Json step(StepView step);

    std::string text(const view::Json& document) const;

 private:
    PayloadView view_;
    std::string mark_;
    std::vector<std::string> payloads_;
};

}  // namespace ebb::server
