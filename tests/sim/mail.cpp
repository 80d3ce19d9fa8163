// Applications put requests into the inboxes of instances, where they wait until a worker decides
// them. What an application does not know the end of, it sends again.

#include <utility>

#include <fmt/format.h>

#include "call/mail_text.h"
#include "sim/simulation.h"
#include "support/random_rules.h"

namespace ebb::sim {

namespace {

constexpr int kPercentSentAgain = 25;

std::string name_of_mail(std::size_t number) {
    return "mail-" + std::to_string(number);
}

/// A request that names its mail, so that the history says how often it was decided.
Event request_by_mail(Dice& dice, bool has_rules, const std::string& name) {
    if (dice.chance(10)) return event::CancelRequested{.by = name, .reason = {}};
    if (has_rules) {
        return event::AttributesWritten{
            .values = test::random_write(dice), .by = name, .request_id = name
        };
    }
    if (dice.chance(50)) {
        return event::DecisionMade{
            .node = {},
            .is_confirmed = dice.chance(70),
            .by = name,
            .role = dice.chance(60) ? "boss" : "",
            .comment = {},
            .request_id = name
        };
    }
    return event::SignalReceived{
        .name = dice.pick<std::string>({"go", "go", "s" + std::to_string(dice.between(1, 12))}),
        .payload = fmt::format("{{\"n\":{},\"mail\":\"{}\"}}", dice.below(4), name),
        .request_id = name
    };
}

}  // namespace

void Simulation::put_mail(const Disturbance& disturbance) {
    Dice dice(disturbance.pick, 5);
    if (!mail_.empty() && dice.chance(kPercentSentAgain)) {
        const Mail& again = dice.pick(mail_);
        if (!is_gone(again.to)) post(again);
        return;
    }
    const InstanceId id = dice.pick(instances_);
    if (is_gone(id)) return;
    const std::string name = name_of_mail(mail_.size() + 1);
    const Event request = request_by_mail(dice, plan_.definition.rules.has_value(), name);
    requests_.push_back(asked_by(request));
    requests_.back().instance = number_of(id);
    requests_.back().mail = name;
    mail_.push_back(
        {.to = id,
         .key = {.sender = name},
         .kind = std::string(mail_kind(request)),
         .body = encode_mail(request)}
    );
    post(mail_.back());
}

void Simulation::post(const Mail& mail) {
    const SendResult sent = shared_->send({&mail, 1}).front();
    note(fmt::format(
        "an application puts {} ({}) into the inbox of i{}{}",
        mail.key.sender,
        mail.kind,
        number_of(mail.to),
        sent == SendResult::Sent ? "" : ", which does not take it"
    ));
    ++result_.requests[fmt::format(
        "mail {} {}", mail.kind, sent == SendResult::Sent ? "sent" : "not sent"
    )];
    if (sent != SendResult::Sent) return;
    for (Asked& asked : requests_) {
        if (asked.mail == mail.key.sender) asked.is_sent = true;
    }
}

}  // namespace ebb::sim
