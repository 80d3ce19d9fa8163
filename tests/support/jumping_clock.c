// Preloaded into a program, this shim sets its clock: what the system says the date is, plus the
// number of seconds in the file that EBB_JUMPING_CLOCK names, 8 bytes that a test changes at any
// moment. Time that passes (CLOCK_MONOTONIC, CLOCK_BOOTTIME) is left alone, as by a person who sets
// the clock of a machine.
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static const volatile int64_t* seconds;

__attribute__((constructor)) static void open_jumps(void) {
    const char* path = getenv("EBB_JUMPING_CLOCK");
    const int file = path == NULL ? -1 : open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return;
    void* shared = mmap(NULL, sizeof(int64_t), PROT_READ, MAP_SHARED, file, 0);
    close(file);
    if (shared != MAP_FAILED) seconds = shared;
}

int clock_gettime(clockid_t id, struct timespec* now) {
    const int result = (int)syscall(SYS_clock_gettime, id, now);
    const int is_date = id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE;
    if (result == 0 && is_date && seconds != NULL) now->tv_sec += *seconds;
    return result;
}

int gettimeofday(struct timeval* restrict now, void* restrict zone) {
    (void)zone;
    struct timespec time;
    const int result = clock_gettime(CLOCK_REALTIME, &time);
    now->tv_sec = time.tv_sec;
    now->tv_usec = time.tv_nsec / 1000;
    return result;
}

time_t time(time_t* now) {
    struct timespec time;
    clock_gettime(CLOCK_REALTIME, &time);
    if (now != NULL) *now = time.tv_sec;
    return time.tv_sec;
}
