// The guest of lab/qemu/tests/run: /init of a Linux machine that says on the debug console (port 0xe9) how its processors
// see one another. It stops the machine once, when it is ready (pvpanic), so that a snapshot can be taken; then it reads its
// order from fw_cfg, which comes from the process that runs it by then, and leaves with isa-debug-exit.
//
// The order is a line of words, done one after the other:
//   clocks     all processors compare time stamps through memory
//   messages   each pair exchanges 20000 messages with time stamps, polling
//   timers     each processor sleeps, with the others idle and with the others busy
//   wake       each pair exchanges 1000 bytes through pipes: whoever waits sleeps
//   busy=N     N processors count for a virtual second; busy=N/MS: for MS virtual milliseconds
//   pause      stops the machine while the other processors count: none of them gets any further until it goes on
//   sum        the digest of all that was measured so far
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/io.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

enum { processors_at_most = 4, exchanges = 20000, sleeps = 200, wakes = 1000 };

static int processors;
static uint64_t digest = 14695981039346656037U;

static void say(const char *format, ...)
{
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    const int length = vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    for (int i = 0; i < length; ++i)
        outb(text[i], 0xe9);
}

static void mix(uint64_t value)
{
    for (int i = 0; i < 8; ++i, value >>= 8)
        digest = (digest ^ (value & 255)) * 1099511628211U;
}

// One nanosecond of virtual time is one tick.
static inline int64_t stamp(void)
{
    uint32_t low, high;
    __asm__ volatile("rdtsc" : "=a"(low), "=d"(high) : : "memory");
    return (int64_t)(((uint64_t)high << 32) | low);
}

static void stay_on(int processor)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(processor, &set);
    if (sched_setaffinity(0, sizeof(set), &set) != 0)
        say("error: no processor %d\n", processor);
}

struct task {
    pthread_t thread;
    void (*run)(struct task *);
    int processor;
    int role;
    void *shared;
    int64_t least, most, total, count;
};

static void *start(void *argument)
{
    struct task *task = argument;
    task->run(task);
    return NULL;
}

static void begin(struct task *task)
{
    task->least = INT64_MAX;
    task->most = INT64_MIN;
    task->total = 0;
    task->count = 0;
    // It begins where it stays: moving would cost it a turn.
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(task->processor, &set);
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setaffinity_np(&attributes, sizeof(set), &set);
    if (pthread_create(&task->thread, &attributes, start, task) != 0)
        say("error: no thread on processor %d\n", task->processor);
    pthread_attr_destroy(&attributes);
}

static void measured(struct task *task, int64_t value)
{
    if (value < task->least)
        task->least = value;
    if (value > task->most)
        task->most = value;
    task->total += value;
    ++task->count;
}

static void finish(struct task *task)
{
    pthread_join(task->thread, NULL);
    mix(task->least);
    mix(task->most);
    mix(task->total);
}

// --- clocks ---

struct clocks {
    _Alignas(64) volatile int64_t latest;
    _Alignas(64) int arrived;
};

static void compare_clocks(struct task *task)
{
    struct clocks *clocks = task->shared;
    __atomic_add_fetch(&clocks->arrived, 1, __ATOMIC_SEQ_CST);
    while (__atomic_load_n(&clocks->arrived, __ATOMIC_SEQ_CST) < processors)
        ;
    for (int i = 0; i < 10 * exchanges; ++i) {
        int64_t latest = __atomic_load_n(&clocks->latest, __ATOMIC_SEQ_CST);
        const int64_t now = stamp();
        measured(task, latest - now);
        while (now > latest && !__atomic_compare_exchange_n(&clocks->latest, &latest, now, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
            ;
    }
}

static void test_clocks(void)
{
    static struct clocks clocks;
    struct task tasks[processors_at_most];
    clocks = (struct clocks){0, 0};
    int64_t ahead = INT64_MIN;
    for (int i = 0; i < processors; ++i) {
        tasks[i] = (struct task){.run = compare_clocks, .processor = i, .shared = &clocks};
        begin(&tasks[i]);
    }
    for (int i = 0; i < processors; ++i) {
        finish(&tasks[i]);
        if (tasks[i].most > ahead)
            ahead = tasks[i].most;
    }
    say("clocks processors=%d ahead_ns=%ld\n", processors, (long)ahead);
}

// --- messages ---

struct messages {
    struct {
        _Alignas(64) volatile int64_t sequence;
        volatile int64_t sent;
    } box[2];
};

static void exchange_messages(struct task *task)
{
    struct messages *messages = task->shared;
    for (int64_t i = 1; i <= exchanges; ++i) {
        if (task->role == 0) {
            messages->box[0].sent = stamp();
            __atomic_store_n(&messages->box[0].sequence, i, __ATOMIC_RELEASE);
        }
        const int from = 1 - task->role;
        while (__atomic_load_n(&messages->box[from].sequence, __ATOMIC_ACQUIRE) < i)
            ;
        measured(task, stamp() - messages->box[from].sent);
        if (task->role == 1) {
            messages->box[1].sent = stamp();
            __atomic_store_n(&messages->box[1].sequence, i, __ATOMIC_RELEASE);
        }
    }
}

static void test_messages(void)
{
    static struct messages messages;
    for (int a = 0; a < processors; ++a)
        for (int b = a + 1; b < processors; ++b) {
            memset(&messages, 0, sizeof(messages));
            struct task one = {.run = exchange_messages, .processor = a, .role = 0, .shared = &messages};
            struct task other = {.run = exchange_messages, .processor = b, .role = 1, .shared = &messages};
            const int64_t before = stamp();
            begin(&one);
            begin(&other);
            finish(&one);
            finish(&other);
            const int64_t least = one.least < other.least ? one.least : other.least;
            const int64_t most = one.most > other.most ? one.most : other.most;
            say("messages pair=%d-%d earliest_ns=%ld latest_ns=%ld mean_ns=%ld round_ns=%ld\n", a, b, (long)least, (long)most,
                (long)((one.total + other.total) / (one.count + other.count)), (long)((stamp() - before) / exchanges));
        }
}

// --- timers ---

static volatile int stop;

static void keep_busy(struct task *task)
{
    while (!stop)
        ++*(volatile int64_t *)&task->count;
}

static void sleep_often(struct task *task)
{
    for (int i = 0; i < sleeps; ++i) {
        struct timespec until;
        clock_gettime(CLOCK_MONOTONIC, &until);
        until.tv_nsec += 100000 + 377 * i;
        if (until.tv_nsec >= 1000000000) {
            until.tv_nsec -= 1000000000;
            ++until.tv_sec;
        }
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
        struct timespec now;
        clock_gettime(CLOCK_MONOTONIC, &now);
        measured(task, (now.tv_sec - until.tv_sec) * 1000000000L + (now.tv_nsec - until.tv_nsec));
    }
}

static void test_timers(int with_others_busy)
{
    for (int i = 0; i < processors; ++i) {
        struct task others[processors_at_most];
        struct task sleeper = {.run = sleep_often, .processor = i};
        stay_on(i);
        stop = 0;
        for (int k = 0; with_others_busy && k < processors; ++k)
            if (k != i) {
                others[k] = (struct task){.run = keep_busy, .processor = k};
                begin(&others[k]);
            }
        begin(&sleeper);
        finish(&sleeper);
        stop = 1;
        for (int k = 0; with_others_busy && k < processors; ++k)
            if (k != i)
                pthread_join(others[k].thread, NULL);
        say("timers processor=%d others=%s earliest_ns=%ld latest_ns=%ld mean_ns=%ld\n", i, with_others_busy ? "busy" : "idle",
            (long)sleeper.least, (long)sleeper.most, (long)(sleeper.total / sleeper.count));
    }
    stay_on(0);
}

// --- wake ---

struct pipes {
    int ends[2][2];
};

static void exchange_bytes(struct task *task)
{
    struct pipes *pipes = task->shared;
    for (int i = 0; i < wakes; ++i) {
        int64_t sent;
        if (task->role == 0) {
            sent = stamp();
            if (write(pipes->ends[0][1], &sent, sizeof(sent)) != sizeof(sent))
                return;
        }
        if (read(pipes->ends[1 - task->role][0], &sent, sizeof(sent)) != sizeof(sent))
            return;
        measured(task, stamp() - sent);
        if (task->role == 1) {
            sent = stamp();
            if (write(pipes->ends[1][1], &sent, sizeof(sent)) != sizeof(sent))
                return;
        }
    }
}

static void test_wake(void)
{
    struct pipes pipes;
    if (pipe(pipes.ends[0]) != 0 || pipe(pipes.ends[1]) != 0)
        say("error: no pipe\n");
    for (int a = 0; a < processors; ++a)
        for (int b = a + 1; b < processors; ++b) {
            struct task one = {.run = exchange_bytes, .processor = a, .role = 0, .shared = &pipes};
            struct task other = {.run = exchange_bytes, .processor = b, .role = 1, .shared = &pipes};
            begin(&one);
            begin(&other);
            finish(&one);
            finish(&other);
            const int64_t least = one.least < other.least ? one.least : other.least;
            const int64_t most = one.most > other.most ? one.most : other.most;
            say("wake pair=%d-%d count=%ld earliest_ns=%ld latest_ns=%ld mean_ns=%ld\n", a, b, (long)(one.count + other.count),
                (long)least, (long)most, (long)((one.total + other.total) / (one.count + other.count)));
        }
}

// --- busy ---

static int64_t busy_until;

// Within a page: QEMU does not chain blocks across pages, and a loop that crosses one takes it four times as long.
__attribute__((aligned(1024))) static void count_until(struct task *task)
{
    while (stamp() < busy_until) {
        for (volatile int i = 0; i < 1000; ++i)
            ;
        ++task->count;
    }
}

static void test_busy(int count, int milliseconds)
{
    struct task tasks[processors_at_most];
    if (count > processors)
        count = processors;
    busy_until = stamp() + milliseconds * INT64_C(1000000);
    for (int i = 0; i < count; ++i) {
        tasks[i] = (struct task){.run = count_until, .processor = processors - 1 - i};
        begin(&tasks[i]);
    }
    say("busy processors=%d ms=%d counts=", count, milliseconds);
    for (int i = 0; i < count; ++i) {
        pthread_join(tasks[i].thread, NULL);
        mix(tasks[i].count);
        say("%s%ld", i ? "," : "", (long)tasks[i].count);
    }
    say("\n");
}

// --- pause ---

static void test_pause(void)
{
    struct task tasks[processors_at_most];
    stop = 0;
    for (int i = 1; i < processors; ++i) {
        tasks[i] = (struct task){.run = keep_busy, .processor = i};
        begin(&tasks[i]);
    }
    for (int64_t until = stamp() + 10000000; stamp() < until;)
        ;
    volatile int64_t *counts[processors_at_most];
    for (int i = 1; i < processors; ++i)
        counts[i] = &tasks[i].count;
    const int64_t before = stamp();
    outb(1, 0x505);
    const int64_t after = stamp();
    say("pause took_ns=%ld counts=", (long)(after - before));
    for (int i = 1; i < processors; ++i) {
        say("%s%ld", i > 1 ? "," : "", (long)*counts[i]);
        mix(*counts[i]);
    }
    say("\n");
    stop = 1;
    for (int i = 1; i < processors; ++i)
        pthread_join(tasks[i].thread, NULL);
}

// --- the order ---

// (insb() of sys/io.h does not tell the compiler that it writes to memory.)
static void read_bytes(void *to, size_t count)
{
    for (size_t i = 0; i < count; ++i)
        ((uint8_t *)to)[i] = inb(0x511);
}

static void read_order(char *order, size_t room)
{
    uint8_t entry[64];
    outw(0x19, 0x510);
    read_bytes(entry, 4);
    uint32_t count = (uint32_t)entry[0] << 24 | entry[1] << 16 | entry[2] << 8 | entry[3];
    order[0] = 0;
    while (count-- > 0) {
        read_bytes(entry, 64);
        if (strcmp((const char *)entry + 8, "opt/org.longhaul/order") != 0)
            continue;
        uint32_t size = (uint32_t)entry[0] << 24 | entry[1] << 16 | entry[2] << 8 | entry[3];
        if (size >= room)
            size = room - 1;
        outw(entry[4] << 8 | entry[5], 0x510);
        read_bytes(order, size);
        order[size] = 0;
        return;
    }
}

static void follow_order(void)
{
    char order[4096], *rest;
    read_order(order, sizeof(order));
    for (const char *word = strtok_r(order, " \n", &rest); word != NULL; word = strtok_r(NULL, " \n", &rest)) {
        int count, milliseconds = 1000;
        if (strcmp(word, "clocks") == 0)
            test_clocks();
        else if (strcmp(word, "messages") == 0)
            test_messages();
        else if (strcmp(word, "timers") == 0) {
            test_timers(0);
            test_timers(1);
        } else if (strcmp(word, "wake") == 0)
            test_wake();
        else if (strcmp(word, "pause") == 0)
            test_pause();
        else if (strcmp(word, "order") == 0)
            follow_order();
        else if (sscanf(word, "busy=%d/%d", &count, &milliseconds) >= 1)
            test_busy(count, milliseconds);
        else if (strcmp(word, "sum") == 0)
            say("sum %016lx at=%ld\n", (unsigned long)digest, (long)stamp());
        else
            say("error: no test %s\n", word);
    }
}

int main(void)
{
    iopl(3);
    mount("proc", "/proc", "proc", 0, "");
    processors = (int)sysconf(_SC_NPROCESSORS_ONLN);
    if (processors > processors_at_most)
        processors = processors_at_most;
    prctl(PR_SET_TIMERSLACK, 1UL);
    stay_on(0);
    say("ready processors=%d at=%ld\n", processors, (long)stamp());
    mix(stamp());
    outb(1, 0x505);
    follow_order();
    outb(0, 0xf4);
    for (;;)
        pause();
}
