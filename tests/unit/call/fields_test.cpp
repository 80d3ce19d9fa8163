// EBB_FIELDS, EBB_ENUM and the conversions that need no JSON library. This file includes none.

#include <array>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ebb/ebb.h>

namespace shop {

enum class Size { Small, Large };
EBB_ENUM_NAMED(Size, (Small, "small"), (Large, "large"))

enum Color { red, green };
EBB_ENUM(Color, red, green)

struct Item {
    std::string name;
    std::uint16_t count = 0;
    Size size = Size::Small;

    bool operator==(const Item&) const = default;
};
EBB_FIELDS(Item, name, count, size)

struct Order {
    std::map<std::string, Item> items;
    std::optional<std::string> coupon;
    std::array<std::int8_t, 2> pair{};
    std::vector<bool> flags;
    std::set<int> ids;
    std::unordered_map<std::string, double> prices;
    ebb::Payload raw = ebb::Payload::text("null");
    bool is_paid = false;
    std::vector<std::optional<std::vector<int>>> nested;
    Color color = red;

    bool operator==(const Order&) const = default;
};
EBB_FIELDS(Order, items, coupon, pair, flags, ids, prices, raw, is_paid, nested, color)

struct Settings {
    int retries = 3;
    std::string name = "none";
};
EBB_FIELDS_OR_DEFAULT(Settings, retries, name)

/// A type with functions of its own.
class Cents {
 public:
    explicit Cents(int value = 0) : value_(value) {}

    int value() const { return value_; }

    friend void ebb_read(const ebb::ValueReader& json, Cents& cents) {
        const std::string text = json.string();
        if (text.empty() || text.back() != 'c') json.refuse("must be cents, as \"7c\"");
        cents.value_ = std::stoi(text);
    }

    friend void ebb_write(ebb::ValueWriter& json, const Cents& cents) {
        json.string(std::to_string(cents.value_) + "c");
    }

 private:
    int value_;
};

struct Many {
    int a1 = 1, a2 = 1, a3 = 1, a4 = 1, a5 = 1, a6 = 1, a7 = 1, a8 = 1, a9 = 1, a10 = 1, a11 = 1,
        a12 = 1, a13 = 1, a14 = 1, a15 = 1, a16 = 1, a17 = 1, a18 = 1, a19 = 1, a20 = 1, a21 = 1,
        a22 = 1, a23 = 1, a24 = 1, a25 = 1, a26 = 1, a27 = 1, a28 = 1, a29 = 1, a30 = 1, a31 = 1,
        a32 = 1, a33 = 1, a34 = 1, a35 = 1, a36 = 1, a37 = 1, a38 = 1, a39 = 1, a40 = 1, a41 = 1,
        a42 = 1, a43 = 1, a44 = 1, a45 = 1, a46 = 1, a47 = 1, a48 = 1, a49 = 1, a50 = 1, a51 = 1,
        a52 = 1, a53 = 1, a54 = 1, a55 = 1, a56 = 1, a57 = 1, a58 = 1, a59 = 1, a60 = 1, a61 = 1,
        a62 = 1, a63 = 1, a64 = 1;
};
// clang-format off
EBB_FIELDS(
    Many, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, a17, a18, a19, a20,
    a21, a22, a23, a24, a25, a26, a27, a28, a29, a30, a31, a32, a33, a34, a35, a36, a37, a38, a39,
    a40, a41, a42, a43, a44, a45, a46, a47, a48, a49, a50, a51, a52, a53, a54, a55, a56, a57, a58,
    a59, a60, a61, a62, a63, a64
)
// clang-format on

}  // namespace shop

namespace ebb {
namespace {

using ::testing::HasSubstr;

/// What the library says about a text that does not fit.
template <typename T>
std::string refusal(const std::string& text) {
    try {
        (void)Payload::text(text).as<T>();
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::InvalidPayload);
        return error.what();
    }
    return "it fits";
}

TEST(Fields, convert_there_and_back) {
    shop::Order order;
    order.items["tea"] = {"tea", 65535, shop::Size::Large};
    order.pair = {-128, 127};
    order.flags = {true, false};
    order.ids = {2, 1};
    order.prices["tea"] = 1.5;
    order.raw = Payload::text(R"({"a":[1,2]})");
    order.nested = {std::vector<int>{1}, std::nullopt};
    order.color = shop::green;
    const Payload payload = Payload::of(order);
    EXPECT_EQ(
        payload,
        R"({"color":"green","coupon":null,"flags":[true,false],"ids":[1,2],"is_paid":false,)"
        R"("items":{"tea":{"count":65535,"name":"tea","size":"large"}},"nested":[[1],null],)"
        R"("pair":[-128,127],"prices":{"tea":1.5},"raw":{"a":[1,2]}})"
    );
    EXPECT_EQ(payload.as<shop::Order>(), order);
}

TEST(Fields, take_64_members) {
    const Payload payload = Payload::of(shop::Many{});
    EXPECT_THAT(payload, HasSubstr("\"a64\":1"));
    EXPECT_EQ(payload.as<shop::Many>().a64, 1);
}

TEST(Fields, say_where_a_value_does_not_fit) {
    using Items = std::vector<shop::Item>;
    EXPECT_EQ(refusal<shop::Item>("[]"), "The payload must be an object; it is an array.");
    EXPECT_EQ(refusal<Items>(R"([{"name":"a","size":"small"}])"), "\"/0/count\" is missing.");
    EXPECT_EQ(
        refusal<Items>(R"([{"name":"a","count":65536,"size":"small"}])"),
        "\"/0/count\" must be an integer from 0 to 65535; it is a larger integer."
    );
    EXPECT_EQ(
        refusal<Items>(R"([{"name":"a","count":-1,"size":"small"}])"),
        "\"/0/count\" must be an integer from 0 to 65535; it is a smaller integer."
    );
    EXPECT_EQ(
        refusal<Items>(R"([{"name":"a","count":1e300,"size":"small"}])"),
        "\"/0/count\" must be an integer from 0 to 65535; it is a larger integer."
    );
    EXPECT_EQ(
        refusal<Items>(R"([{"name":"a","count":1.5,"size":"small"}])"),
        "\"/0/count\" must be an integer from 0 to 65535; it is a number that is not an integer."
    );
    EXPECT_EQ(
        refusal<shop::Item>(R"({"name":"a","count":1,"size":"huge"})"),
        "\"/size\" must be \"small\" or \"large\"; it is another string."
    );
    EXPECT_EQ(
        (refusal<std::map<std::string, int>>(R"({"a/b":"x"})")),
        "\"/a~1b\" must be an integer from -2147483648 to 2147483647; it is a string."
    );
    EXPECT_EQ(
        (refusal<std::array<int, 2>>("[1]")), "The payload must have 2 elements; it is an array."
    );
    EXPECT_EQ(
        refusal<float>("1e99"),
        "The payload must be a number that fits in a float, up to 3.4e38; it is a number."
    );
    EXPECT_EQ(Payload("3.4e38").as<float>(), 3.4e38F);
    EXPECT_EQ(Payload("1e99").as<double>(), 1e99);
    EXPECT_THAT(refusal<int>(""), HasSubstr("is empty"));
    EXPECT_THAT(refusal<int>("{"), HasSubstr("The payload is not valid JSON: "));
}

TEST(Fields, never_repeat_a_value_that_does_not_fit) {
    const std::string message = refusal<std::vector<int>>(R"(["hunter2"])");
    EXPECT_THAT(message, ::testing::Not(HasSubstr("hunter2")));
}

TEST(Fields, check_the_range_of_numbers) {
    EXPECT_EQ(Payload::text("20.0").as<int>(), 20);
    EXPECT_EQ(Payload::text("20").as<double>(), 20.0);
    EXPECT_EQ(Payload::text("127").as<std::int8_t>(), 127);
    EXPECT_NE(refusal<std::int8_t>("128"), "it fits");
    EXPECT_NE(refusal<int>("1.5"), "it fits");
    EXPECT_NE(refusal<int>("true"), "it fits");
    EXPECT_NE(refusal<bool>("1"), "it fits");
    EXPECT_NE(refusal<unsigned>("-1"), "it fits");
    EXPECT_EQ(Payload::text("18446744073709551615").as<std::uint64_t>(), ~std::uint64_t{0});
    EXPECT_NE(refusal<std::int64_t>("18446744073709551615"), "it fits");
    EXPECT_EQ(
        Payload::text("-9223372036854775808").as<std::int64_t>(),
        std::numeric_limits<std::int64_t>::min()
    );
    EXPECT_NE(refusal<std::int64_t>("9223372036854775808.0"), "it fits");
    const auto unwritable = [](const auto& value) {
        try {
            return std::string(Payload::of(value));
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ErrorCode::InvalidPayload);
            return std::string(error.what());
        }
    };
    EXPECT_EQ(
        unwritable(std::numeric_limits<double>::infinity()),
        "The value cannot be written as JSON: it is an infinity, which JSON does not have."
    );
    using Prices = std::map<std::string, std::vector<double>>;
    EXPECT_EQ(
        unwritable(Prices{{"a/b", {1, std::numeric_limits<double>::quiet_NaN()}}, {"c", {2}}}),
        "The value cannot be written as JSON: \"/a~1b/1\" is NaN, which JSON does not have."
    );
    EXPECT_EQ(
        unwritable(std::vector<shop::Item>{{.name = "a"}, {.name = "b\xff"}}),
        "The value cannot be written as JSON: \"/1/name\" has an invalid UTF-8 byte at index 1: "
        "0xFF. Encode binary data, for example with base64."
    );
}

TEST(Fields, keep_defaults_only_where_asked) {
    const auto settings = Payload::text(R"({"name":"x"})").as<shop::Settings>();
    EXPECT_EQ(settings.retries, 3);
    EXPECT_EQ(settings.name, "x");
    EXPECT_EQ(refusal<shop::Settings>("7"), "The payload must be an object; it is an integer.");
    EXPECT_NE(refusal<shop::Settings>(R"({"name":null})"), "it fits");
}

TEST(Fields, take_functions_of_the_type) {
    EXPECT_EQ(Payload::of(shop::Cents{7}), "\"7c\"");
    EXPECT_EQ(Payload::text("[\"9c\"]").as<std::vector<shop::Cents>>().at(0).value(), 9);
    EXPECT_EQ(
        refusal<std::vector<shop::Cents>>("[\"9\"]"),
        "\"/0\" must be cents, as \"7c\"; it is a string."
    );
}

TEST(Fields, take_the_result_of_a_decision) {
    const std::string text =
        R"({"at":"2026-11-21T08:30:00Z","by":["ann","bob"],"comment":"fine","verdict":"rejected"})";
    const auto read = ebb::Payload::text(text).as<ebb::DecisionResult>();
    EXPECT_EQ(read.verdict, ebb::DecisionResult::Verdict::Rejected);
    EXPECT_EQ(read.by, (std::vector<std::string>{"ann", "bob"}));
    EXPECT_EQ(read.comment, "fine");
    EXPECT_EQ(read.at, ebb::TimePoint(std::chrono::seconds(1'795'249'800)));
    EXPECT_EQ(ebb::Payload::of(read), text);
    const auto refusal = [](const char* json) -> std::string {
        try {
            ebb::Payload::text(json).as<ebb::DecisionResult>();
        } catch (const ebb::Error& error) {
            return error.what();
        }
        return "read";
    };
    EXPECT_EQ(
        refusal(R"({"verdict":"maybe","by":[],"comment":"","at":"2026-11-21T08:30:00Z"})"),
        "\"/verdict\" must be \"confirmed\" or \"rejected\"; it is another string."
    );
    EXPECT_EQ(
        refusal(R"({"verdict":"confirmed","by":[],"comment":"","at":"today"})"),
        "\"/at\" must be a time, as in \"2026-11-21T08:30:00Z\"; it is a string."
    );
    EXPECT_EQ(refusal(R"({"verdict":"confirmed"})"), "\"/by\" is missing.");
}

TEST(Fields, take_ids_of_instances) {
    const std::string text = "\"01890a5d-ac96-774b-bcce-b302099a8057\"";
    EXPECT_EQ(Payload::of(Payload::text(text).as<InstanceId>()), text);
    EXPECT_EQ(
        refusal<InstanceId>("\"7\""), "The payload must be an id of an instance; it is a string."
    );
}

TEST(Fields, refuse_an_enumerator_without_a_name) {
    EXPECT_THROW((void)Payload::of(static_cast<shop::Size>(7)), Error);
}

TEST(Fields, fit_handlers_and_say_what_a_compensation_takes) {
    HandlerRegistry handlers;
    handlers.add("pay", [](const shop::Item& item) { return item.count; });
    StepContext context;
    EXPECT_EQ((*handlers.find("pay"))(R"({"name":"a","count":3,"size":"large"})", context), "3");
    const auto refused = [&] {
        try {
            (*handlers.find("pay"))("{}", context);
        } catch (const HandlerFailure& failure) {
            return std::string(failure.what());
        }
        return std::string();
    };
    EXPECT_EQ(refused(), "The input does not fit the handler's type: \"/name\" is missing.");
    context.compensates = CompensatedStep{};
    EXPECT_THAT(refused(), HasSubstr("take ebb::Compensated<Input, Output>."));
}

TEST(Fields, read_a_compensated_step) {
    using Step = Compensated<shop::Item, std::string>;
    const auto failed =
        Payload::text(R"({"input":7,"output":null,"error":{"code":"invalid_input","message":"m"},)"
                      R"("outcome":"failed"})")
            .as<Step>();
    EXPECT_FALSE(failed.output);
    EXPECT_EQ(failed.error->message, "m");
    EXPECT_EQ(failed.input, shop::Item{});
    const auto completed =
        Payload::text(R"({"input":{"name":"a","count":1,"size":"small"},"output":"r","error":null,)"
                      R"("outcome":"completed"})")
            .as<Step>();
    EXPECT_EQ(completed.input.name, "a");
    EXPECT_EQ(*completed.output, "r");
    EXPECT_EQ(completed.outcome, CompensatedStep::Outcome::Completed);
    EXPECT_EQ(Payload::of(completed).as<Step>().input, completed.input);
}

}  // namespace
}  // namespace ebb
