// Shows when Triton's batcher thread waits, is notified and wakes (docs/findings.md, F-2026-01).
//
//   g++ -O2 -shared -fPIC -o wakeups.so wakeups.cc -ldl
//   WAKEUPS_LOG=/tmp/wakeups LD_PRELOAD=$PWD/wakeups.so tritonserver ...   (a file per process, at its normal end)
//
// One line an event: CLOCK_MONOTONIC ns, thread, event, condition variable, caller as an offset in libtritonserver
// (`nm -C` names it). With WAKEUPS_DELAY_US and WAKEUPS_RANGE=from-to (hexadecimal offsets) the callers in that range are held
// up between the test of their condition and the wait, which widens the window in which a notification is lost.
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>

namespace {
struct Event { long ns; long thread; const char* what; void* condition; unsigned long caller; };
constexpr unsigned long kMost = 1 << 20;
Event events[kMost];
std::atomic<unsigned long> count{0};
unsigned long base, from, to;
long delay_us;

int Find(dl_phdr_info* info, size_t, void*) {
  return strstr(info->dlpi_name, "libtritonserver") ? (base = info->dlpi_addr, 1) : 0;
}

void Note(const char* what, void* condition, void* caller) {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  if (unsigned long i = count++; i < kMost)
    events[i] = {now.tv_sec * 1000000000L + now.tv_nsec, syscall(SYS_gettid), what, condition, (unsigned long)caller - base};
}

__attribute__((constructor)) void Begin() {
  dl_iterate_phdr(Find, nullptr);
  if (const char* us = getenv("WAKEUPS_DELAY_US")) delay_us = atol(us);
  if (const char* range = getenv("WAKEUPS_RANGE")) sscanf(range, "%lx-%lx", &from, &to);
}

__attribute__((destructor)) void End() {
  const char* path = getenv("WAKEUPS_LOG");
  FILE* file = path && count ? fopen((std::string(path) + "." + std::to_string(getpid())).c_str(), "w") : nullptr;
  for (Event* e = events; file && e < events + count && e < events + kMost; e++)
    fprintf(file, "%ld %ld %s %p %lx\n", e->ns, e->thread, e->what, e->condition, e->caller);
  if (file) fclose(file);
}
}  // namespace

extern "C" int pthread_cond_clockwait(
    pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock, const timespec* until) {
  static auto real = (decltype(&pthread_cond_clockwait))dlsym(RTLD_NEXT, "pthread_cond_clockwait");
  void* caller = __builtin_return_address(0);
  Note("wait", condition, caller);
  if (unsigned long at = (unsigned long)caller - base; delay_us && at >= from && at < to) usleep(delay_us);
  int result = real(condition, mutex, clock, until);
  Note("woke", condition, caller);
  return result;
}

extern "C" void _ZNSt18condition_variable10notify_oneEv(void* condition) {
  static auto real = (void (*)(void*))dlsym(RTLD_NEXT, "_ZNSt18condition_variable10notify_oneEv");
  Note("notify", condition, __builtin_return_address(0));
  real(condition);
}
