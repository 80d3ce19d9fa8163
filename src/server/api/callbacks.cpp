// Routes that people follow a signed link to: they decide, or continue what waits, without a login.

#include <algorithm>
#include <memory>

#include <fmt/format.h>

#include "server/api/body.h"
#include "server/api/callback_links.h"
#include "server/api/callback_page.h"
#include "server/api/service.h"
#include "support/clock.h"
#include "support/sha256.h"
#include "view/payload_json.h"

namespace ebb::server {

/// A request with a link that this server, or one with the same key, has signed.
struct CallbackCall {
    CallbackToken token;
};

namespace {

using view::Json;

constexpr std::size_t kVerdictBytesMax = 32;
constexpr std::size_t kCommentBytesMax = 1'024;
constexpr std::size_t kCallbackNameBytesMax = 256;
/// Others act on the instance at the same time.
constexpr int kTriesMax = 16;
constexpr std::string_view kFormType = "application/x-www-form-urlencoded";
constexpr std::string_view kMailPrefix = "mail:";

bool is_wait(const Token& token) {
    return token.status == TokenStatus::WaitingDecision ||
           token.status == TokenStatus::WaitingSignal;
}

/// What a decision or a signal is sent to by its name.
const std::string& name_of(const CallbackPlace& place, const Token& token) {
    const ProgramNode& node = place.node(token);
    return token.status == TokenStatus::WaitingDecision ? node.name : node.signal;
}

std::string instance_text(const InstanceRow& row) {
    return row.key.empty() ? row.id.to_string() : row.key;
}

/// `2026-11-29 23:56 UTC`.
std::string minute_text(TimePoint time) {
    constexpr std::size_t kMinuteBytes = std::string_view("2026-11-29T23:56").size();
    std::string text = format_time(time).substr(0, kMinuteBytes);
    std::replace(text.begin(), text.end(), 'T', ' ');
    return text + " UTC";
}

/// As people read it.
std::string person(const std::string& by) {
    return by.starts_with(kMailPrefix) ? by.substr(kMailPrefix.size()) : by;
}

Problem used(const std::string& detail) {
    return Problem("not_waiting", detail).with("title", "The link was used, or is too late");
}

/// The token of the visit for which the link was made. Throws Problem if it has been left, or if
/// the link has been used.
const Token& awaited(const CallbackPlace& place, const CallbackToken& link) {
    const Token* token = place.state.find_token(link.token);
    const bool is_there = token != nullptr && token->visit == link.visit && is_wait(*token);
    if (!is_there) {
        throw used(
            "This is not awaited any more: it was answered, or its deadline is over, or the "
            "instance has ended."
        );
    }
    const bool has_voted =
        std::any_of(token->votes.begin(), token->votes.end(), [&](const Vote& vote) {
            return vote.by == link.by;
        });
    if (has_voted) {
        throw used(fmt::format(
            "{} has confirmed this already. It needs the confirmations of {} people, and {} of "
            "them are there.",
            person(link.by),
            place.node(*token).human.quorum,
            token->votes.size()
        ));
    }
    return *token;
}

/// The engine gives an answer to the first that waits for it by name. Throws Problem if that is not
/// the visit of the link.
void check_is_first(const CallbackPlace& place, const Token& token) {
    const auto first =
        std::find_if(place.state.tokens.begin(), place.state.tokens.end(), [&](const Token& each) {
            return each.status == token.status && name_of(place, each) == name_of(place, token);
        });
    if (first->id == token.id) return;
    throw Problem(
        "invalid_state",
        fmt::format(
            "The instance waits for \"{}\" at several places, and another one is first. Log in to "
            "answer it.",
            name_of(place, token)
        )
    );
}

Principal identify(Service& service, CallbackLinks& links, Call& call) {
    // The path has the token, which is not for the audit.
    call.target = call.href("/callbacks");
    const auto link = links.read(call.parameter("token"));
    if (!link) {
        throw Problem("unauthenticated", "No server with this database has signed the link.")
            .with("title", "The link is not valid")
            .with("hint", "Copy the whole link from the message, or log in and act there.")
            .with_failed_login("callback");
    }
    if (link->expires_at <= service.clock.now()) {
        throw Problem(
            "unauthenticated",
            fmt::format("The link was valid until {}.", minute_text(link->expires_at))
        )
            .with("title", "The link has expired")
            .with("hint", "Log in and act there.")
            .with_failed_login("callback");
    }
    call.target = call.href("/instances/" + link->instance.to_string());
    if (const auto row = service.store.load(link->instance)) {
        call.workflow = row->workflow;
    } else {
        throw Problem("instance_not_found", "The instance of this link was deleted.");
    }
    Principal principal{.name = link->by, .credential = "callback"};
    call.callback = std::make_shared<const CallbackCall>(CallbackCall{*link});
    return principal;
}

CallbackPlace place_of(Service& service, const CallbackToken& link) {
    auto place = find_callback_place(service.store, link.instance);
    if (place) return std::move(*place);
    throw Problem("instance_not_found", "The instance of this link was deleted.");
}

std::string deadline_text(const Token& token) {
    return token.due == kNever ? std::string() : fmt::format(", until {}", minute_text(token.due));
}

CallbackPage page_of(const Call& call, const CallbackPlace& place, const Token& token) {
    const CallbackToken& link = call.callback->token;
    const bool is_decision = token.status == TokenStatus::WaitingDecision;
    CallbackPage page{
        .title = is_decision ? fmt::format("Decide: {}", name_of(place, token))
                             : fmt::format("Continue: {}", name_of(place, token)),
        .has_form = true,
        .is_decision = is_decision,
        .instance_href = fmt::format("{}/instances/{}", call.base, link.instance.to_string()),
    };
    page.lines.push_back(fmt::format(
        "{} {} waits for {}{}.",
        place.row.workflow,
        instance_text(place.row),
        is_decision ? "a decision" : "this signal",
        deadline_text(token)
    ));
    const int quorum = place.node(token).human.quorum;
    if (is_decision && quorum > 1) {
        page.lines.push_back(
            fmt::format("{} of {} people have confirmed.", token.votes.size(), quorum)
        );
    }
    page.lines.push_back(fmt::format(
        "You answer as {}{}. The link works once.",
        person(link.by),
        link.role.empty() ? "" : fmt::format(", in the role {}", link.role)
    ));
    return page;
}

Json callback_json(const CallbackToken& link, const CallbackPlace& place, const Token& token) {
    const bool is_decision = token.status == TokenStatus::WaitingDecision;
    return {
        {"instance", link.instance.to_string()},
        {"workflow", place.row.workflow},
        {"version", place.row.version},
        {"key", view::text_json(place.row.key)},
        {"kind", is_decision ? "decision" : "signal"},
        {"name", name_of(place, token)},
        {"by", link.by},
        {"role", view::text_json(link.role)},
        {"deadline", token.due == kNever ? Json(nullptr) : Json(view::time_json(token.due))},
        {"expires_at", view::time_json(link.expires_at)},
        {"quorum", is_decision ? place.node(token).human.quorum : 1},
        {"confirmed", token.votes.size()},
    };
}

/// Changes nothing: scanners of mail follow links.
http::Response show_callback(Service& service, Call& call) {
    call.query.check_all_used();
    const CallbackToken& link = call.callback->token;
    const CallbackPlace place = place_of(service, link);
    const Token& token = awaited(place, link);
    if (wants_page(call.request)) return callback_page(page_of(call, place, token));
    auto response = json_response(200, callback_json(link, place, token));
    response.set("Cache-Control", "no-store");
    return response;
}

struct Answer {
    std::string verdict;
    std::string comment;
    Payload payload = Payload::text("null");
};

/// Of a form, or of a JSON object.
Answer read_answer(const http::Request& request, bool is_decision) {
    Answer answer;
    if (request.header("Content-Type").starts_with(kFormType)) {
        Query form(request.body);
        if (is_decision) {
            answer.verdict = form.text("verdict").value_or("");
            answer.comment = form.any_text("comment").value_or("");
        }
        form.check_all_used();
        // A browser sends the ends of lines as CR LF.
        std::erase(answer.comment, '\r');
    } else {
        Body body(request.body);
        if (is_decision) {
            answer.verdict = body.text("verdict", kVerdictBytesMax).value_or("");
            answer.comment = body.text("comment", kCommentBytesMax).value_or("");
        } else {
            answer.payload = body.payload("payload").value_or(answer.payload);
        }
        body.check_all_used();
    }
    if (answer.comment.size() > kCommentBytesMax) {
        throw Problem(
            "invalid_argument", fmt::format("The comment has more than {} bytes.", kCommentBytesMax)
        );
    }
    if (is_decision && answer.verdict != "confirm" && answer.verdict != "reject") {
        throw Problem("invalid_argument", "The member \"verdict\" is not confirm or reject.");
    }
    return answer;
}

/// A link by which a signal is sent without a login. Who sends it in another's name needs the right
/// to do so.
http::Response make_callback(Service& service, CallbackLinks& links, Call& call) {
    call.query.check_all_used();
    const InstanceId id = resolve(service, call);
    Body body(call.request.body);
    const std::string name = body.required_text("name", kCallbackNameBytesMax);
    const std::string by = body.text("by", kCallbackNameBytesMax).value_or(call.principal.name);
    const std::string life = body.text("expires", kVerdictBytesMax).value_or("720h");
    body.check_all_used();
    if (by != call.principal.name && !may_also(service, call, "act_as")) {
        throw Problem(
            "not_allowed",
            fmt::format(
                "{} may not act as {}: it lacks the permission act_as.", call.principal.name, by
            )
        );
    }
    const auto expires = parse_duration(life);
    if (!expires || *expires <= Duration::zero() || *expires > CallbackToken::kLifeMax) {
        throw Problem(
            "invalid_argument",
            "The member \"expires\" is not a duration such as 48h, of at most 720h."
        );
    }
    const auto place = find_callback_place(service.store, id);
    if (!place) throw Problem("instance_not_found", "There is no such instance any more.");
    const auto& tokens = place->state.tokens;
    const auto found = std::find_if(tokens.begin(), tokens.end(), [&](const Token& token) {
        return token.status == TokenStatus::WaitingSignal && name_of(*place, token) == name;
    });
    if (found == tokens.end()) {
        throw Problem(
            "not_waiting",
            fmt::format("The instance does not wait for the signal \"{}\" now.", name)
        );
    }
    const CallbackToken link{
        .instance = id,
        .token = found->id,
        .visit = found->visit,
        .role = {},
        .by = by,
        .expires_at = std::min(found->due, service.clock.now() + *expires)
    };
    const std::string token = links.sign(link);
    Json json = callback_json(link, *place, *found);
    json["href"] = call.base + callback_path(token);
    auto response = json_response(201, json);
    response.set("Cache-Control", "no-store");
    return response;
}

/// At exactly this revision, so that the visit is the one of the link.
void act(
    Service& service,
    const Call& call,
    const CallbackPlace& place,
    const Token& token,
    const Answer& answer
) {
    const CallbackToken& link = call.callback->token;
    const std::string request_id = "callback:" + sha256_hex(call.parameter("token")).substr(0, 32);
    if (token.status == TokenStatus::WaitingSignal) {
        service.engine.signal(
            link.instance,
            name_of(place, token),
            answer.payload,
            RequestOptions{
                .by = link.by, .request_id = request_id, .expected_revision = place.row.revision
            }
        );
        return;
    }
    using Verdict = PersonalDecision::Verdict;
    service.engine.decide(
        link.instance,
        {.verdict = answer.verdict == "confirm" ? Verdict::Confirm : Verdict::Reject,
         .node = name_of(place, token),
         .by = link.by,
         .role = link.role,
         .comment = answer.comment,
         .request_id = request_id,
         .expected_revision = place.row.revision}
    );
}

http::Response done(
    const Call& call, const CallbackPlace& place, const Token& token, const Answer& answer
) {
    const CallbackToken& link = call.callback->token;
    const bool is_decision = token.status == TokenStatus::WaitingDecision;
    if (!wants_page(call.request)) {
        Json json = callback_json(link, place, token);
        if (is_decision) json["verdict"] = answer.verdict;
        auto response = json_response(200, json);
        response.set("Cache-Control", "no-store");
        return response;
    }
    const char* what = !is_decision                  ? "The signal was sent"
                       : answer.verdict == "confirm" ? "You have confirmed"
                                                     : "You have rejected";
    return callback_page({
        .title = what,
        .lines = {fmt::format(
            "{} of {} {}, as {}. You can close this page.",
            name_of(place, token),
            place.row.workflow,
            instance_text(place.row),
            person(link.by)
        )},
        .instance_href = fmt::format("{}/instances/{}", call.base, link.instance.to_string()),
    });
}

http::Response answer_callback(Service& service, Call& call) {
    call.query.check_all_used();
    const CallbackToken& link = call.callback->token;
    for (int tried = 1;; ++tried) {
        const CallbackPlace place = place_of(service, link);
        const Token& token = awaited(place, link);
        check_is_first(place, token);
        const Answer answer =
            read_answer(call.request, token.status == TokenStatus::WaitingDecision);
        try {
            act(service, call, place, token, answer);
        } catch (const Error& error) {
            if (error.code() != ErrorCode::RevisionChanged || tried == kTriesMax) throw;
            continue;
        }
        return done(call, place, token, answer);
    }
}

}  // namespace

void add_callback_routes(Routes& routes, Service& service) {
    const auto links = std::make_shared<CallbackLinks>(service.store, service.admin, service.box);
    const auto add = [&](std::string_view method,
                         std::string_view operation,
                         http::Response (*handle)(Service&, Call&)) -> Route& {
        routes.push_back(
            {.method = method,
             .path = "/callbacks/{token}",
             .operation = operation,
             .permission = "none",
             .handle = [&service, handle](Call& call) { return handle(service, call); },
             .identify = [&service, links](Call& call) { return identify(service, *links, call); },
             .problem_page = callback_problem_page}
        );
        return routes.back();
    };
    add("GET", "getCallback", show_callback);
    Route& answer = add("POST", "answerCallback", answer_callback);
    answer.body_bytes_max = kJsonBytesMax;
    answer.media_types = {"application/json", kFormType};
    routes.push_back(
        {.method = "POST",
         .path = "/instances/{id}/callbacks",
         .operation = "makeCallback",
         .permission = "instances.signal",
         .handle = [&service, links](Call& call) { return make_callback(service, *links, call); },
         .body_bytes_max = kJsonBytesMax,
         .media_types = {"application/json"},
         .reach = Reach::Project}
    );
}

}  // namespace ebb::server
