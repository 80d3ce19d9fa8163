// Runs a fuzz target over every file of its corpus, without libFuzzer: the regression test of what
// fuzzing has found. It also feeds each file cut short and with single bits flipped, so that a
// plain build explores a little as well.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

constexpr std::size_t kVariants = 48;

using Bytes = std::vector<std::uint8_t>;

Bytes read(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    return Bytes(std::istreambuf_iterator<char>(file), {});
}

void run(const Bytes& bytes) {
    LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
}

void run_with_variants(const Bytes& bytes) {
    run(bytes);
    const std::size_t stride = std::max<std::size_t>(1, bytes.size() / kVariants);
    for (std::size_t at = 0; at < bytes.size(); at += stride) {
        run(Bytes(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(at)));
        Bytes flipped = bytes;
        flipped[at] ^= static_cast<std::uint8_t>(1U << (at % 8));
        run(flipped);
    }
}

}  // namespace

int main(int argc, char** argv) {
    std::size_t count = 0;
    for (int i = 1; i < argc; ++i) {
        for (const auto& entry : std::filesystem::directory_iterator(argv[i])) {
            run_with_variants(read(entry.path()));
            ++count;
        }
    }
    std::printf("%zu inputs\n", count);
    return count == 0 ? 1 : 0;
}
