/* Sets the wall clock of one process back, and nobody else's: cc -shared -fPIC -O2 -o setback.so setback.c
 *
 * LD_PRELOAD=setback.so SETBACK=FILE program: FILE holds a 64-bit number of seconds, which may change while the program runs.
 * What is told the time by the wall gets it that much earlier, and what waits until a time by the wall waits as long as it meant
 * to. CLOCK_MONOTONIC is left alone, as clock_settime leaves it alone.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define BY_THE_WALL 1000000000 /* no machine has been up for so many seconds: such a deadline is of the wall clock */

static const int64_t none = 0;
static volatile const int64_t *back = &none;

__attribute__((constructor)) static void begin(void)
{
    const char *path = getenv("SETBACK");
    int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (file < 0)
        return;
    void *map = mmap(NULL, sizeof *back, PROT_READ, MAP_SHARED, file, 0);
    if (map != MAP_FAILED)
        back = map;
    close(file);
}

static void *real(const char *name)
{
    void *found = dlvsym(RTLD_NEXT, name, "GLIBC_2.3.2"); /* pthread_cond_timedwait has an older one, too */
    return found ? found : dlsym(RTLD_NEXT, name);
}

static const struct timespec *meant(const struct timespec *until, struct timespec *into)
{
    if (!until || until->tv_sec < BY_THE_WALL)
        return until;
    *into = *until;
    into->tv_sec += *back;
    return into;
}

int clock_gettime(clockid_t clock, struct timespec *now)
{
    int failed = (int)syscall(SYS_clock_gettime, clock, now);
    if (!failed && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE || clock == CLOCK_TAI))
        now->tv_sec -= *back;
    return failed;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone)
{
    int failed = (int)syscall(SYS_gettimeofday, now, zone);
    if (!failed)
        now->tv_sec -= *back;
    return failed;
}

time_t time(time_t *into)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (into)
        *into = now.tv_sec;
    return now.tv_sec;
}

#define WAITS(name, parameters, arguments)                              \
    int name parameters                                                 \
    {                                                                   \
        static int(*next) parameters;                                   \
        struct timespec into;                                           \
        if (!next)                                                      \
            next = (int(*) parameters)real(#name);                      \
        return next arguments;                                          \
    }

WAITS(sem_timedwait, (sem_t *restrict one, const struct timespec *restrict until), (one, meant(until, &into)))
WAITS(pthread_mutex_timedlock, (pthread_mutex_t *restrict one, const struct timespec *restrict until), (one, meant(until, &into)))
WAITS(pthread_cond_timedwait,
      (pthread_cond_t *restrict one, pthread_mutex_t *restrict lock, const struct timespec *restrict until),
      (one, lock, meant(until, &into)))
WAITS(pthread_cond_clockwait,
      (pthread_cond_t *restrict one, pthread_mutex_t *restrict lock, clockid_t clock, const struct timespec *restrict until),
      (one, lock, clock, meant(until, &into)))
WAITS(sem_clockwait, (sem_t *restrict one, clockid_t clock, const struct timespec *restrict until),
      (one, clock, meant(until, &into)))
