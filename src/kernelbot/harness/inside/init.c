/* The first process of a runner's pid namespace, as in init.py, whose words on it hold here too.

   A process that runs Python after a fork copies hundreds of pages, and this one does nothing but
   isolate its runner, pass two messages on and wait. What isolates is listed by native_init.py, by
   the same functions that init.py calls. */

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

void PyOS_BeforeFork(void); /* Python's, of the process that loads this */
void PyOS_AfterFork_Child(void);
void PyOS_AfterFork_Parent(void);

enum { MAX_BYTES = 64 << 10, MAX_FDS = 32, STATUS = 0, CHANNEL = 1, ERROR_BYTES = 512, DETAIL_BYTES = 400 };

struct mount { const char *source, *target, *kind; uint64_t flags; const char *options; };
struct way { const char *link, *target; };

struct world {               /* see `World` in native_init.py */
    int64_t namespaces;
    const struct mount *mounts;
    int64_t mount_count;
    const struct way *ways;
    int64_t way_count;
    const char *host;
    const struct mount *folders; /* to be resized; their options are `options`, with a size in it */
    int64_t folder_count;
    const char *options;
    const char *name;
    char *arguments;         /* where `ps` looks for the command line; may be null */
    int64_t argument_bytes;
    const char *isolated;    /* messages as they travel */
    const char *hello;
};

struct order { uint64_t file_bytes, has_loopback; }; /* before an order's own text; see native_init.py */

struct packet { int64_t size; int fds[MAX_FDS]; int fd_count; char body[MAX_BYTES]; };

static struct packet packet; /* of the one process that this is */
static char failure[ERROR_BYTES]; /* JSON text: why there is no runner; empty if there is one */

static int failed(const char *what, const char *which) {
    snprintf(failure, sizeof failure, "%s%s%s: %s", what, *which ? " " : "", which, strerror(errno));
    for (char *at = failure; *at; at++)
        if (*at == '"' || *at == '\\' || (unsigned char)*at < ' ')
            *at = '?';
    return -1;
}

static int make_private_world(const struct world *world) {
    if (unshare((int)world->namespaces))
        return failed("unshare", "");
    for (int64_t i = 0; i < world->mount_count; i++) {
        const struct mount *one = &world->mounts[i];
        if (mount(one->source, one->target, one->kind, one->flags, one->options))
            return failed("mount", one->target);
    }
    for (int64_t i = 0; i < world->way_count; i++)
        if (symlink(world->ways[i].target, world->ways[i].link))
            return failed("symlink", world->ways[i].link);
    return sethostname(world->host, strlen(world->host)) ? failed("sethostname", "") : 0;
}

static int bring_loopback_up(void) {
    struct ifreq request = {.ifr_name = "lo", .ifr_flags = IFF_UP};
    int handle = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (handle < 0)
        return failed("socket", "");
    int result = ioctl(handle, SIOCSIFFLAGS, &request) ? failed("loopback", "") : 0;
    close(handle);
    return result;
}

static int finish_world(const struct world *world, const struct order *order) {
    char options[128];
    if (order->file_bytes) {
        snprintf(options, sizeof options, world->options, (unsigned long long)order->file_bytes);
        for (int64_t i = 0; i < world->folder_count; i++) {
            const struct mount *one = &world->folders[i];
            if (mount(one->source, one->target, one->kind, one->flags, options))
                return failed("mount", one->target);
        }
    }
    return order->has_loopback ? bring_loopback_up() : 0;
}

/* Every capability of every set, for good. */
static int drop_capabilities(void) {
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct none[2] = {{0}};
    for (int capability = 0; capability < 64; capability++)
        if (prctl(PR_CAPBSET_DROP, capability, 0, 0, 0))
            break; /* past the last that this kernel knows */
    if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0))
        return failed("prctl", "ambient");
    return syscall(SYS_capset, &header, none) ? failed("capset", "") : 0;
}

static void close_from_to(unsigned from, unsigned to) {
    if (from > to || !syscall(SYS_close_range, from, to, 0))
        return;
    for (long fd = from, end = sysconf(_SC_OPEN_MAX); fd <= (long)to && fd < end; fd++)
        close((int)fd); /* before Linux 5.9 */
}

static void keep_only(int one, int other) {
    int low = one < other ? one : other, high = one < other ? other : one;
    close_from_to(3, (unsigned)low - 1);
    close_from_to((unsigned)low + 1, (unsigned)high - 1);
    close_from_to((unsigned)high + 1, ~0U);
}

/* The next message; whether there is one. */
static int receive(int from) {
    union { struct cmsghdr header; char room[CMSG_SPACE(MAX_FDS * sizeof(int))]; } ancillary;
    struct iovec into = {packet.body, sizeof packet.body - 1};
    struct msghdr message = {.msg_iov = &into, .msg_iovlen = 1, .msg_control = &ancillary, .msg_controllen = sizeof ancillary};
    do
        packet.size = recvmsg(from, &message, MSG_CMSG_CLOEXEC);
    while (packet.size < 0 && errno == EINTR);
    packet.fd_count = 0;
    if (packet.size <= 0)
        return 0;
    packet.body[packet.size] = 0;
    for (struct cmsghdr *part = CMSG_FIRSTHDR(&message); part; part = CMSG_NXTHDR(&message, part))
        if (part->cmsg_level == SOL_SOCKET && part->cmsg_type == SCM_RIGHTS) {
            packet.fd_count = (int)((part->cmsg_len - CMSG_LEN(0)) / sizeof(int));
            memcpy(packet.fds, CMSG_DATA(part), (size_t)packet.fd_count * sizeof(int));
        }
    return 1;
}

/* The message that was received, but for `skipped` bytes, with its descriptors. */
static int pass_on(int to, size_t skipped) {
    union { struct cmsghdr header; char room[CMSG_SPACE(MAX_FDS * sizeof(int))]; } ancillary;
    struct iovec from = {packet.body + skipped, (size_t)packet.size - skipped};
    struct msghdr message = {.msg_iov = &from, .msg_iovlen = 1};
    if (packet.fd_count) {
        size_t size = (size_t)packet.fd_count * sizeof(int);
        message.msg_control = &ancillary;
        message.msg_controllen = CMSG_SPACE(size);
        ancillary.header.cmsg_len = CMSG_LEN(size);
        ancillary.header.cmsg_level = SOL_SOCKET;
        ancillary.header.cmsg_type = SCM_RIGHTS;
        memcpy(CMSG_DATA(&ancillary.header), packet.fds, size);
    }
    return sendmsg(to, &message, MSG_NOSIGNAL) < 0 ? failed("send", "") : 0;
}

static void say(int to, const char *text) { send(to, text, strlen(text), MSG_NOSIGNAL); }

static void say_failure(int to) {
    char text[ERROR_BYTES + 64];
    snprintf(text, sizeof text, "{\"op\": \"error\", \"error\": \"%s\"}", failure);
    say(to, text);
}

static void say_ended(int to, int wait_status) {
    char text[128];
    struct rusage used;
    getrusage(RUSAGE_CHILDREN, &used);
    long long used_us = (used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1000000LL + used.ru_utime.tv_usec + used.ru_stime.tv_usec;
    snprintf(text, sizeof text, "{\"op\": \"ended\", \"wait_status\": %d, \"cpu_time_s\": %lld.%06lld}", wait_status, used_us / 1000000, used_us % 1000000);
    say(to, text);
}

/* Whether the runner has ended; all that have are reaped. */
static int reap(pid_t runner, int *wait_status) {
    int found = 0, status;
    pid_t pid;
    while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
        if (pid == runner) {
            *wait_status = status;
            found = 1;
        }
    return found;
}

static void quieten(void) {
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    for (int fd = 0; fd < 3; fd++)
        dup2(null, fd);
    close(null);
}

/* A part of JSON text, cut off before an escape that would be cut in two. */
static char *shortened(char *text) {
    if (strlen(text) <= DETAIL_BYTES)
        return text;
    char *end = text + DETAIL_BYTES;
    for (int back = 1; back <= 6; back++)
        if (end[-back] == '\\') {
            for (end -= back; end > text && end[-1] == '\\'; end--)
                ;
            break;
        }
    *end = 0;
    return text;
}

/* The runner is isolated when it says so; else the reason, in its words, is the failure. */
static void hear_of_isolation(const struct world *world, int inner) {
    static const char says[] = "\"error\": \"";
    if (receive(inner) && !strcmp(packet.body, world->isolated))
        return;
    char *error = packet.size > 0 ? strstr(packet.body, says) : 0, *end = error ? strrchr(error, '"') : 0;
    const char *detail = "it died";
    if (end && end >= error + sizeof says - 1) {
        *end = 0;
        detail = shortened(error + sizeof says - 1);
    }
    snprintf(failure, sizeof failure, "the runner could not be isolated: %s", detail);
}

/* Until the runner has ended (then say how), the judge is gone, or so is whoever would bring the order. */
static void watch(const struct world *world, pid_t runner, int inner, int status, int control) {
    sigset_t children;
    int wait_status = 0;
    sigemptyset(&children);
    sigaddset(&children, SIGCHLD);
    sigprocmask(SIG_BLOCK, &children, 0);
    int ends = signalfd(-1, &children, SFD_CLOEXEC | SFD_NONBLOCK);
    while (!reap(runner, &wait_status)) {
        struct signalfd_siginfo seen;
        struct pollfd watched[] = {{ends, POLLIN, 0}, {status, POLLIN, 0}, {control, POLLIN, 0}};
        if (poll(watched, 3, -1) < 0 && errno != EINTR)
            return;
        if (watched[1].revents)
            return;
        while (watched[0].revents && read(ends, &seen, sizeof seen) > 0)
            ;
        if (!watched[2].revents)
            continue;
        struct order order;
        if (!receive(control) || packet.size <= (int64_t)sizeof order)
            return;
        memcpy(&order, packet.body, sizeof order);
        if (finish_world(world, &order) || drop_capabilities() || pass_on(inner, sizeof order)) {
            say_failure(status);
            return;
        }
        close(inner);
        close(control);
        control = -1;
    }
    say_ended(status, wait_status);
}

/* Returns in the runner alone. */
static void be_init(const struct world *world, int control, int *runners_end) {
    pid_t runner = -1;
    int ends[2] = {-1, -1};
    prctl(PR_SET_NAME, world->name, 0, 0, 0);
    if (world->arguments) {
        memset(world->arguments, 0, (size_t)world->argument_bytes);
        strncpy(world->arguments, world->name, (size_t)world->argument_bytes - 1);
    }
    setsid();
    signal(SIGCHLD, SIG_DFL); /* else the forker's own would be called */
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    signal(SIGHUP, SIG_DFL);
    if (!make_private_world(world)) {
        if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
            failed("socketpair", "");
        else if ((runner = fork()) == 0) {
            close(ends[0]);
            *runners_end = ends[1];
            return;
        } else if (runner < 0)
            failed("fork", "");
    }
    keep_only(control, ends[0] < 0 ? control : ends[0]);
    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0); /* the runner must not read our memory or descriptors */
    if (!*failure)
        hear_of_isolation(world, ends[0]);
    if (*failure)
        dprintf(2, "runner: %s\n", failure);
    if (!receive(control) || packet.fd_count <= CHANNEL)
        _exit(0);
    int status = packet.fds[STATUS];
    if (*failure) {
        say_failure(status);
        _exit(0);
    }
    say(status, world->hello);
    if (pass_on(ends[0], 0))
        _exit(0);
    for (int i = CHANNEL; i < packet.fd_count; i++)
        close(packet.fds[i]);
    quieten();
    watch(world, runner, ends[0], status, control);
    _exit(0); /* and with this process all that is left in its namespace */
}

/* A new init's process id, or minus the error; in the runner that it forks, 0. To be called with Python's
   lock held: nothing of Python's may run between a fork and what Python does after it, since a thread
   that waits for the lock isn't there in the fork. */
int64_t fork_runner(const struct world *world, int control, int *runners_end) {
    PyOS_BeforeFork();
    pid_t pid = fork();
    int64_t result = pid < 0 ? -errno : pid;
    if (pid == 0) {
        be_init(world, control, runners_end);
        PyOS_AfterFork_Child();
    } else
        PyOS_AfterFork_Parent();
    return result;
}
