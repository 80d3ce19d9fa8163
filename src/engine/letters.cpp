#include "engine/letters.h"

#include <ebb/error.h>

#include "call/mail_text.h"

namespace ebb::engine {

Letters read_letters(const Claim& claim, const PayloadLimits& limits) {
    Letters letters;
    letters.revision = claim.instance.revision;
    letters.has_more = claim.has_more_mail;
    for (const Mail& mail : claim.mail) {
        Letter& letter = letters.all.emplace_back();
        letter.key = mail.key;
        letter.kind = mail.kind;
        try {
            letter.event = decode_mail(mail.kind, mail.body, limits);
        } catch (const Error& error) {
            letter.fault = error.what();
        }
    }
    return letters;
}

}  // namespace ebb::engine
