// A user's program, compiled against an installed Ebb: what it includes and links is all there is.
#include <cstdio>
#include <string>

#include <ebb/definition.h>
#include <ebb/error.h>
#include <ebb/id.h>

int main() {
    const std::string text = "0190163d-8694-739b-aea5-966c26f8ad90";
    const auto id = ebb::InstanceId::parse(text);
    if (!id || id->to_string() != text) return 1;
    try {
        throw ebb::Error(ebb::ErrorCode::PayloadTooLarge, "too large");
    } catch (const ebb::Error& error) {
        if (ebb::to_string(error.code()) != "payload_too_large") return 2;
    }
    std::puts("stranger: done");
}
