// Goal: nothing that a pointer of a definition names survives, wherever it stands in a payload, and
// the rest stays as it was. Method: documents with planted secrets, made at random from a seed, and
// the wrappers that the kernel puts around payloads.

#include "server/api/redaction.h"

#include <random>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <ebb/error.h>

namespace ebb::server {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

const std::string kMark(Redaction::kMark);
const std::string kSecret = "hunter2";

/// Of one workflow whose definition has these pointers; no names.
Redaction redaction_of(const std::vector<std::string>& pointers) {
    const std::string text = json{{"workflow", "pay"}, {"sensitive", pointers}}.dump();
    return Redaction(RedactionRules{}, [text](const std::string& name, int version) {
        const bool is_known = name == "pay" && version == 1;
        return is_known ? std::optional(text) : std::nullopt;
    });
}

std::string shown(const std::vector<std::string>& pointers, const std::string& payload) {
    return redaction_of(pointers).apply(payload, {"pay", 1});
}

TEST(Redaction, hides_what_a_pointer_of_the_definition_names) {
    EXPECT_EQ(
        shown({"/card"}, R"({"card":{"number":4},"n":1.50})"),
        R"({"card":)" + kMark + R"(,"n":1.50})"
    );
    EXPECT_EQ(
        shown({"/customer/iban"}, R"({"customer":{"iban":"x","name":"y"}})"),
        R"({"customer":{"iban":)" + kMark + R"(,"name":"y"}})"
    );
    EXPECT_EQ(
        shown({"/items/*/a~1b"}, R"({"items":[{"a/b":1},{"c":2}]})"),
        R"({"items":[{"a/b":)" + kMark + R"(},{"c":2}]})"
    );
    EXPECT_EQ(shown({"/1"}, "[1,2,3]"), "[1," + kMark + ",3]");
}

TEST(Redaction, hides_it_in_copies_and_wrappers) {
    const std::string input = R"({"customer":{"iban":"hunter2"},"card":"hunter2"})";
    for (const std::string& payload : std::vector<std::string>{
             input,
             R"({"order":)" + input + "}",
             "[[" + input + "]]",
             R"({"code":"x","message":"y","details":)" + input + "}",
             R"({"outcome":"failed","error":{"code":"x","details":)" + input + "}}",
             R"({"values":)" + input +
                 R"(,"was":{"customer":[{"iban":"hunter2"},3],"card":["hunter2",3]}})",
             R"({"c\u0061rd":"hunter2"})",
         }) {
        EXPECT_THAT(shown({"/customer/iban", "/card"}, payload), Not(HasSubstr(kSecret)))
            << payload;
    }
}

TEST(Redaction, leaves_other_versions_and_workflows_alone) {
    const Redaction redaction = redaction_of({"/card"});
    const Payload payload = R"({"card":"hunter2"})";
    EXPECT_EQ(redaction.apply(payload, {"pay", 2}), payload);
    EXPECT_EQ(redaction.apply(payload, {"other", 1}), payload);
    EXPECT_NE(redaction.apply(payload, {"pay", 1}), payload);
}

TEST(Redaction, reads_a_definition_once_and_shows_nothing_without_it) {
    int reads = 0;
    bool is_away = true;
    const Redaction redaction(RedactionRules{}, [&](const std::string&, int) {
        ++reads;
        if (is_away) throw Error(ErrorCode::StoreUnavailable, "The database is away.");
        return std::optional<std::string>(R"({"sensitive":["/card"]})");
    });
    EXPECT_THROW(redaction.apply(R"({"card":1})", {"pay", 1}), Error);
    is_away = false;
    for (int i = 0; i < 3; ++i) redaction.apply(R"({"card":1})", {"pay", 1});
    EXPECT_EQ(reads, 2);
}

TEST(Redaction, hides_what_cannot_be_read) {
    EXPECT_EQ(shown({"/card"}, R"({"card": hunter2)"), kMark);
}

/// Documents in which secrets stand under pointers, and nowhere else.
class Planter {
 public:
    explicit Planter(unsigned seed) : random_(seed) {}

    json value(int depth) {
        switch (depth == 0 ? number(2) : number(4)) {
            case 0:
                return number(100);
            case 1:
                return "plain";
            case 2: {
                json list = json::array();
                for (int i = number(4); i > 0; --i) list.push_back(value(depth - 1));
                return list;
            }
            default: {
                json object = json::object();
                for (int i = number(4); i > 0; --i) {
                    object["m" + std::to_string(number(5))] = value(depth - 1);
                }
                if (number(2) == 0) plant(object);
                return object;
            }
        }
    }

    int planted = 0;

 private:
    void plant(json& object) {
        ++planted;
        switch (number(3)) {
            case 0:
                object["card"] = {{"number", kSecret}};
                break;
            case 1:
                object["customer"] = {{"iban", kSecret}, {"name", "plain"}};
                break;
            default:
                object["items"] = json::array({{{"a/b", kSecret}}, {{"a/b", {kSecret}}}});
        }
    }

    int number(int below) { return static_cast<int>(random_() % static_cast<unsigned>(below)); }

    std::mt19937 random_;
};

TEST(Redaction, a_planted_secret_survives_nowhere) {
    const Redaction redaction = redaction_of({"/card", "/customer/iban", "/items/*/a~1b"});
    int planted = 0;
    for (unsigned seed = 1; seed <= 500; ++seed) {
        Planter planter(seed);
        const std::string payload = json{{"root", planter.value(4)}}.dump();
        planted += planter.planted;
        const std::string left = redaction.apply(payload, {"pay", 1});
        ASSERT_THAT(left, Not(HasSubstr(kSecret))) << payload;
        ASSERT_TRUE(json::accept(left)) << left;
        if (planter.planted == 0) {
            ASSERT_EQ(left, payload);
        }
    }
    EXPECT_GT(planted, 100);
}

}  // namespace
}  // namespace ebb::server
