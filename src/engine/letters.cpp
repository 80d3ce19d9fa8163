#include "engine/letters.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <ebb/error.h>

#include "call/mail_text.h"

namespace ebb::engine {

namespace {

/// An instance that was put by SQL: what Engine::start checks before, is checked only now.
void check_start(
    const event::Started& started,
    const InstanceRow& row,
    const Program& program,
    const Environment& environment
) {
    const std::vector<std::string> violations = program.input_violations(started.input);
    if (!violations.empty()) {
        throw Error(
            ErrorCode::InvalidPayload,
            fmt::format(
                "The input does not conform to the input_schema:\n  {}",
                fmt::join(violations, "\n  ")
            )
        );
    }
    if (!environment.observers.has_interceptors()) return;
    environment.observers.check_start(
        {.workflow = row.workflow,
         .version = row.version,
         .key = row.key,
         .input = started.input,
         .by = started.by}
    );
}

/// An instance that cannot begin must not wait forever.
Event refused_start(const std::exception& why) {
    return event::AbortRequested{
        .by = {}, .reason = fmt::format("It cannot begin: {}", why.what())
    };
}

Letter read_letter(
    const Mail& mail, const InstanceRow& row, const Program& program, const Environment& environment
) {
    Letter letter{.key = mail.key, .kind = mail.kind, .event = {}, .fault = {}};
    try {
        letter.event = decode_mail(mail.kind, mail.body, environment.limits());
        if (const auto* started = std::get_if<event::Started>(&*letter.event)) {
            check_start(*started, row, program, environment);
        }
    } catch (const std::exception& error) {
        if (mail.kind == kStartMail) {
            letter.event = refused_start(error);
        } else {
            letter.event.reset();
            letter.fault = error.what();
        }
    }
    return letter;
}

}  // namespace

Letters read_letters(const Claim& claim, const Program& program, const Environment& environment) {
    Letters letters;
    letters.revision = claim.instance.revision;
    letters.has_more = claim.has_more_mail;
    for (const Mail& mail : claim.mail) {
        letters.all.push_back(read_letter(mail, claim.instance, program, environment));
    }
    return letters;
}

}  // namespace ebb::engine
