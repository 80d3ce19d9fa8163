#include "server/api/unblock.h"

#include <fmt/format.h>

namespace ebb::server {

namespace {

using view::Json;

class Unblocking {
 public:
    Unblocking(const InstanceView& view, const Call& call) : view_(view), call_(call) {}

    Json requests() {
        const InstanceStatus status = view_.summary.status;
        if (status == InstanceStatus::Paused) {
            add("resume", "resumeInstance", "instances.pause", "Resume it", {});
        }
        if (status == InstanceStatus::DeadLetter) {
            add("requeue", "requeueInstance", "instances.requeue", "Try the failed step again", {});
        }
        for (const WaitingFor& wait : view_.waiting_for) {
            if (wait.kind == "decision") {
                decide(wait, "confirm", "Confirm");
                decide(wait, "reject", "Reject");
            } else if (wait.kind == "signal") {
                add("signal",
                    "signalInstance",
                    "instances.signal",
                    fmt::format("Send the signal \"{}\"", wait.what),
                    {{"name", wait.what}, {"payload", nullptr}});
            }
        }
        return std::move(requests_);
    }

 private:
    void decide(const WaitingFor& wait, std::string_view verdict, std::string_view word) {
        add("decide",
            "decideInstance",
            "decisions.decide",
            fmt::format("{} the decision at \"{}\"", word, wait.node),
            {{"verdict", verdict}, {"node", wait.node}});
    }

    void add(
        std::string_view verb,
        std::string_view operation,
        Permission permission,
        const std::string& title,
        Json body
    ) {
        if (!call_.principal.may_with(permission, view_.summary.workflow)) return;
        if (body.is_null()) body = Json::object();
        requests_.push_back({
            {"operation", operation},
            {"title", title},
            {"method", "POST"},
            {"href", call_.href(fmt::format("/instances/{}/{}", view_.summary.id.to_string(), verb))
            },
            {"body", std::move(body)},
        });
    }

    const InstanceView& view_;
    const Call& call_;
    Json requests_ = Json::array();
};

}  // namespace

Json unblocking_requests(const InstanceView& view, const Call& call) {
    return Unblocking(view, call).requests();
}

}  // namespace ebb::server
