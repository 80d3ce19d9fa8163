// Goal: only what may be compressed is, and what comes out is what went in.
// Method: answers at both sides of each limit; zlib reads what was written.

#include "server/api/encoding.h"

#include <gtest/gtest.h>

#define ZLIB_CONST
#include <zlib.h>

namespace ebb::server {
namespace {

http::Request accepting(std::string_view codings) {
    http::Request request;
    request.headers.push_back({"Accept-Encoding", std::string(codings)});
    return request;
}

http::Response json(std::size_t bytes) {
    http::Response response{.body = std::string(bytes, ' ')};
    response.set("Content-Type", "application/json");
    return response;
}

std::string header(const http::Response& response, std::string_view name) {
    for (const http::Header& each : response.headers) {
        if (http::is_same_name(each.name, name)) return each.value;
    }
    return {};
}

std::string gunzip(const std::string& packed, std::size_t bytes) {
    std::string plain(bytes + 1, '\0');
    z_stream stream{};
    EXPECT_EQ(inflateInit2(&stream, 16 + MAX_WBITS), Z_OK);
    stream.next_in = reinterpret_cast<const Bytef*>(packed.data());
    stream.avail_in = static_cast<uInt>(packed.size());
    stream.next_out = reinterpret_cast<Bytef*>(plain.data());
    stream.avail_out = static_cast<uInt>(plain.size());
    EXPECT_EQ(inflate(&stream, Z_FINISH), Z_STREAM_END);
    plain.resize(stream.total_out);
    inflateEnd(&stream);
    return plain;
}

TEST(EncodingTest, ReadsWhatTheClientAccepts) {
    for (const char* codings :
         {"gzip", "GZIP", "br, gzip", "br,gzip;q=0.001", "*", "identity;q=0, *;q=0.5", "gzip ; q=1"
         }) {
        EXPECT_TRUE(accepts_encoding(accepting(codings), "gzip")) << codings;
    }
    for (const char* codings :
         {"", "br", "gzipped", "x-gzip", "gzip;q=0", "gzip; q=0.000", "*;q=0", "*, gzip;q=0", ",;,"
         }) {
        EXPECT_FALSE(accepts_encoding(accepting(codings), "gzip")) << codings;
    }
}

TEST(EncodingTest, CompressesWhatIsLargeEnough) {
    http::Response large = json(kCompressedBytesMin);
    large.set("ETag", "\"17\"");
    compress(large, true);
    EXPECT_EQ(header(large, "Content-Encoding"), "gzip");
    EXPECT_EQ(header(large, "Vary"), "Accept-Encoding");
    EXPECT_EQ(header(large, "ETag"), "W/\"17\"") << "other bytes, so no strong tag";
    EXPECT_EQ(gunzip(large.body, kCompressedBytesMin), std::string(kCompressedBytesMin, ' '));

    http::Response plain = json(kCompressedBytesMin);
    plain.set("Vary", "Accept");
    compress(plain, false);
    EXPECT_EQ(plain.body.size(), kCompressedBytesMin);
    EXPECT_EQ(header(plain, "Vary"), "Accept, Accept-Encoding") << "for caches";
}

TEST(EncodingTest, LeavesTheRestAlone) {
    http::Response small = json(kCompressedBytesMin - 1);
    http::Response huge = json(kCompressedBytesMax + 1);
    http::Response secret = json(kCompressedBytesMin);
    secret.set("Cache-Control", "no-store");
    http::Response picture = json(kCompressedBytesMin);
    picture.set("Content-Type", "application/octet-stream");
    http::Response failed = json(kCompressedBytesMin);
    failed.status = 500;
    http::Response packed = json(kCompressedBytesMin);
    packed.set("Content-Encoding", "br");
    for (http::Response* response : {&small, &huge, &secret, &picture, &failed, &packed}) {
        const std::string before = response->body;
        const auto headers = response->headers;
        compress(*response, true);
        EXPECT_EQ(response->body, before);
        EXPECT_EQ(response->headers, headers);
    }
}

TEST(EncodingTest, KeepsABodyThatWouldNotBecomeSmaller) {
    http::Response random = json(0);
    std::uint64_t state = 1;
    while (random.body.size() < kCompressedBytesMin) {
        state = state * 6'364'136'223'846'793'005U + 1'442'695'040'888'963'407U;
        random.body += static_cast<char>(state >> 56U);
    }
    const std::string before = random.body;
    compress(random, true);
    EXPECT_EQ(random.body, before);
    EXPECT_EQ(header(random, "Content-Encoding"), "");
}

TEST(EncodingTest, NoOperationWithPayloadsOrSecretsIsCompressed) {
    for (const char* operation :
         {"getInstance",
          "listSteps",
          "getHistory",
          "getPayload",
          "getResult",
          "listDecisions",
          "putToken",
          "login",
          "putWebhook",
          "rotateWebhook",
          "putHook",
          "pollWork",
          "listFailures",
          "rehearseWorkflow"}) {
        EXPECT_FALSE(may_compress(operation)) << operation;
    }
    EXPECT_TRUE(may_compress("listInstances"));
}

}  // namespace
}  // namespace ebb::server
