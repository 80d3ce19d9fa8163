// What processes notify one another of, as text and while it waits to be sent.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/hint_box.h"
#include "store/hints.h"

namespace ebb::engine {
namespace {

using namespace std::chrono_literals;
using ::testing::SizeIs;

InstanceId id_of(int number) {
    InstanceId id;
    id.bytes[14] = static_cast<std::uint8_t>(number >> 8);
    id.bytes[15] = static_cast<std::uint8_t>(number);
    return id;
}

TEST(Hint, is_read_as_it_was_written) {
    const Hint hint{
        .work = {{"pay \"now\"", "q\n", TimePoint(5s)}, {"", "", TimePoint(-1s)}},
        .is_any_work = true,
        .stops = {id_of(1), id_of(2)},
    };
    EXPECT_EQ(decode_hint(encode_hint(hint)), hint);
    EXPECT_EQ(decode_hint(encode_hint({})), Hint{});
}

TEST(Hint, that_would_be_too_long_announces_any_work) {
    Hint hint{.work = {}, .stops = std::vector<InstanceId>(Hint::kStopsMax, id_of(3))};
    for (std::size_t i = 0; i < Hint::kWorkMax; ++i) {
        hint.work.push_back({std::string(400, '"'), std::string(100, 'q'), TimePoint(1s)});
    }
    const std::string text = encode_hint(hint);
    EXPECT_LE(text.size(), Hints::kMessageBytesMax);
    const auto read = decode_hint(text);
    ASSERT_TRUE(read);
    EXPECT_TRUE(read->is_any_work);
    EXPECT_EQ(read->stops, hint.stops);
}

TEST(Hint, of_another_version_is_skipped) {
    for (const char* text :
         {"", "test", "[]", R"({"work":[1]})", R"({"work":[["a","q"]]})", R"({"stops":["x"]})"}) {
        EXPECT_FALSE(decode_hint(text)) << text;
    }
    EXPECT_EQ(decode_hint(R"({"later":1})"), Hint{}) << "what is new is not understood";
}

TEST(HintBox, keeps_nothing_if_no_thread_sends_it) {
    HintBox box;
    box.note_any_work();
    box.note_stop(id_of(1));
    EXPECT_TRUE(box.is_empty());
}

TEST(HintBox, announces_each_handler_once_with_its_earliest_time) {
    Alarm alarm;
    HintBox box;
    box.connect(alarm);
    box.note_work("a", "q", TimePoint(5s));
    box.note_work("a", "q", TimePoint(3s));
    box.note_work("a", "q", TimePoint(4s));
    EXPECT_THAT(box.take().work, ::testing::ElementsAre(Hint::Work{"a", "q", TimePoint(3s)}));
    EXPECT_TRUE(box.is_empty());
    for (std::size_t i = 0; i <= Hint::kWorkMax; ++i) {
        box.note_work(std::to_string(i), "q", TimePoint(3s));
    }
    const Hint many = box.take();
    EXPECT_THAT(many.work, SizeIs(Hint::kWorkMax));
    EXPECT_TRUE(many.is_any_work);
}

TEST(HintBox, announces_many_stops_in_several_messages) {
    Alarm alarm;
    HintBox box;
    box.connect(alarm);
    for (int i = 0; i <= static_cast<int>(Hint::kStopsMax); ++i) box.note_stop(id_of(i));
    EXPECT_THAT(box.take().stops, SizeIs(Hint::kStopsMax));
    EXPECT_THAT(box.take().stops, ::testing::ElementsAre(id_of(static_cast<int>(Hint::kStopsMax))));
    EXPECT_TRUE(box.is_empty());
}

}  // namespace
}  // namespace ebb::engine
