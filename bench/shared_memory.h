#pragma once

#include <new>
#include <stdexcept>

#include <sys/mman.h>

namespace ebb::bench {

/// A value that processes forked from this one share with it.
template <class T>
class SharedMemory {
 public:
    SharedMemory() {
        void* memory =
            mmap(nullptr, sizeof(T), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (memory == MAP_FAILED) throw std::runtime_error("mmap failed");
        value_ = new (memory) T;
    }

    SharedMemory(const SharedMemory&) = delete;
    SharedMemory& operator=(const SharedMemory&) = delete;

    ~SharedMemory() { munmap(value_, sizeof(T)); }

    T& operator*() { return *value_; }

    T* operator->() { return value_; }

 private:
    T* value_;
};

}  // namespace ebb::bench
