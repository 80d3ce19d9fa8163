// Goal: instance ids are UUIDs of version 7 that sort by time, never repeat and survive their text
// form. Method: many ids from a clock that stands, runs and goes back; several threads at once; a
// fork; hostile texts.
#include <algorithm>
#include <set>
#include <thread>
#include <unordered_set>

#include <sys/wait.h>
#include <unistd.h>

#include <ebb/id.h>

#include "support/uuid.h"

namespace ebb {
namespace {

using namespace std::chrono_literals;

constexpr TimePoint kStart{std::chrono::sys_days(std::chrono::year(2100) / 1 / 1)};

std::uint64_t millis_of(const InstanceId& id) {
    std::uint64_t millis = 0;
    for (std::size_t i = 0; i < 6; ++i) millis = (millis << 8) | id.bytes[i];
    return millis;
}

TEST(InstanceId, has_the_bits_of_version_7_and_the_time) {
    const ManualClock clock(kStart + 24h);
    for (int i = 0; i < 1'000; ++i) {
        const InstanceId id = make_instance_id(clock);
        ASSERT_EQ(id.bytes[6] >> 4, 7);
        ASSERT_EQ(id.bytes[8] >> 6, 2);
        ASSERT_EQ(
            millis_of(id), static_cast<std::uint64_t>((kStart + 24h).time_since_epoch() / 1ms)
        );
    }
}

TEST(InstanceId, rises_strictly_whatever_its_clock_does) {
    const ManualClock clock(kStart);
    InstanceId last = make_instance_id(clock, kStart + 48h);
    for (int i = 0; i < 20'000; ++i) {
        // Stands still for 5,000 ids (more than the 4,096 of one millisecond), then jumps back,
        // then runs.
        const Duration offset = i < 5'000 ? 0us : i < 10'000 ? Duration(-1h) : Duration(i * 100us);
        const InstanceId id = make_instance_id(clock, kStart + 48h + offset);
        ASSERT_LT(last, id) << "id " << i;
        last = id;
    }
}

TEST(InstanceId, of_one_clock_has_its_date_whatever_other_clocks_show) {
    const ManualClock late(kStart + 24h * 365);
    const ManualClock early(kStart);
    const InstanceId of_late = make_instance_id(late);
    const InstanceId of_early = make_instance_id(early);
    EXPECT_EQ(millis_of(of_early), static_cast<std::uint64_t>(kStart.time_since_epoch() / 1ms));
    EXPECT_LT(of_early, of_late);
    EXPECT_LT(of_late, make_instance_id(late));
}

TEST(InstanceId, of_all_system_clocks_rises_strictly_together) {
    const SystemClock one;
    const SystemClock other;
    InstanceId last = make_instance_id(one);
    for (int i = 0; i < 1'000; ++i) {
        const InstanceId id = make_instance_id(i % 2 == 0 ? other : one);
        ASSERT_LT(last, id);
        last = id;
    }
}

TEST(InstanceId, sorts_as_text_as_it_does_as_bytes) {
    ManualClock clock(kStart);
    std::vector<InstanceId> ids;
    for (int i = 0; i < 1'000; ++i) {
        ids.push_back(make_instance_id(clock));
        clock.advance(1ms);
    }
    EXPECT_TRUE(std::is_sorted(ids.begin(), ids.end()));
    EXPECT_TRUE(std::is_sorted(ids.begin(), ids.end(), [](const auto& a, const auto& b) {
        return a.to_string() < b.to_string();
    }));
}

TEST(InstanceId, is_unique_across_threads) {
    constexpr std::size_t kThreads = 4;
    constexpr std::size_t kEach = 5'000;
    const ManualClock clock(kStart);
    std::vector<std::vector<InstanceId>> made(kThreads);
    {
        std::vector<std::jthread> threads;
        for (std::size_t i = 0; i < kThreads; ++i) {
            threads.emplace_back([&clock, &ids = made[i]] {
                for (std::size_t n = 0; n < kEach; ++n) ids.push_back(make_instance_id(clock));
            });
        }
    }
    std::unordered_set<InstanceId> all;
    for (const auto& ids : made) {
        EXPECT_TRUE(std::is_sorted(ids.begin(), ids.end()));
        all.insert(ids.begin(), ids.end());
    }
    EXPECT_EQ(all.size(), kThreads * kEach);
}

TEST(InstanceId, two_ids_differ_in_their_random_part) {
    const ManualClock clock(kStart);
    const InstanceId a = make_instance_id(clock);
    const InstanceId b = make_instance_id(clock);
    EXPECT_FALSE(std::equal(a.bytes.begin() + 8, a.bytes.end(), b.bytes.begin() + 8));
}

TEST(InstanceId, is_read_back_from_its_text_in_either_case) {
    const InstanceId id = make_instance_id(ManualClock(kStart));
    std::string text = id.to_string();
    EXPECT_EQ(text.size(), 36U);
    EXPECT_EQ(InstanceId::parse(text), id);
    std::transform(text.begin(), text.end(), text.begin(), [](char c) {
        return c >= 'a' && c <= 'f' ? static_cast<char>(c - 'a' + 'A') : c;
    });
    EXPECT_EQ(InstanceId::parse(text), id);
    EXPECT_EQ(
        InstanceId::parse("017f22e2-79b0-7cc3-98c4-dc0c0c07398f")->to_string(),
        "017f22e2-79b0-7cc3-98c4-dc0c0c07398f"
    );
}

TEST(InstanceId, refuses_what_is_not_a_uuid) {
    const std::string good = "017f22e2-79b0-7cc3-98c4-dc0c0c07398f";
    for (std::size_t at = 0; at < good.size(); ++at) {
        std::string bad = good;
        bad[at] = good[at] == '-' ? '0' : '-';
        EXPECT_EQ(InstanceId::parse(bad), std::nullopt) << bad;
        bad[at] = 'g';
        EXPECT_EQ(InstanceId::parse(bad), std::nullopt) << bad;
        bad[at] = '\0';
        EXPECT_EQ(InstanceId::parse(bad), std::nullopt) << bad;
    }
    for (const std::string& bad :
         {std::string(), good.substr(1), good + "0", "{" + good + "}", std::string(36, '0')}) {
        EXPECT_EQ(InstanceId::parse(bad), std::nullopt) << bad;
    }
}

TEST(RandomBits, do_not_repeat_in_a_forked_process) {
    random_bits();  // the parent has its seed
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    const pid_t child = fork();
    if (child == 0) {
        const std::uint64_t bits = random_bits();
        _exit(write(ends[1], &bits, sizeof bits) == sizeof bits ? 0 : 1);
    }
    close(ends[1]);
    std::uint64_t of_child = 0;
    ASSERT_EQ(read(ends[0], &of_child, sizeof of_child), static_cast<ssize_t>(sizeof of_child));
    close(ends[0]);
    ASSERT_EQ(waitpid(child, nullptr, 0), child);
    EXPECT_NE(random_bits(), of_child);
}

TEST(RandomBits, do_not_repeat_across_threads) {
    std::set<std::uint64_t> seen;
    for (int i = 0; i < 8; ++i) {
        std::uint64_t bits = 0;
        std::jthread([&bits] { bits = random_bits(); }).join();
        seen.insert(bits);
    }
    EXPECT_EQ(seen.size(), 8U);
}

}  // namespace
}  // namespace ebb
