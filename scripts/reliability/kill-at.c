/*
 * Kills a process with SIGKILL at the n-th call by which it changes a folder. Loaded by LD_PRELOAD; kill-at.ts compiles it.
 *
 * KILL_FOLDER  the folder, without a slash at its end; calls on anything else pass uncounted
 * KILL_CALLS   names of the calls that count, between spaces; every call counts without it
 * KILL_AT      number of the call, from 1; 0 kills nothing
 * KILL_TRACE   file that receives a line for each counted call
 *
 * The process dies before the call takes place; a write has written half of its bytes by then.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static atomic_long calls;
static ssize_t (*real_write)(int, const void *, size_t);

static void trace(const char *call, const char *path) {
  const char *file = getenv("KILL_TRACE");
  if (file == NULL) return;
  char line[PATH_MAX + 64];
  int length = snprintf(line, sizeof line, "%s %s\n", call, path);
  int fd = open(file, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0) return;
  if (real_write == NULL) real_write = REAL(write);
  real_write(fd, line, (size_t)length);
  close(fd);
}

/* Counts a call on a path. Returns 1 if the process has to die now. */
static int is_due_at(const char *call, const char *path) {
  const char *folder = getenv("KILL_FOLDER");
  if (folder == NULL || strncmp(path, folder, strlen(folder)) != 0) return 0;
  const char *rest = path + strlen(folder);
  if (*rest != '\0' && *rest != '/') return 0;
  const char *counted = getenv("KILL_CALLS");
  char word[32];
  snprintf(word, sizeof word, " %s ", call);
  if (counted != NULL && strstr(counted, word) == NULL) return 0;
  trace(call, *rest == '/' ? rest + 1 : ".");
  const char *at = getenv("KILL_AT");
  return atomic_fetch_add(&calls, 1) + 1 == (at == NULL ? 0 : atol(at));
}

static int is_due(const char *call, int fd) {
  char link[64], path[PATH_MAX];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, sizeof path - 1);
  if (length <= 0 || path[0] != '/') return 0; /* a socket or a pipe */
  path[length] = '\0';
  return is_due_at(call, path);
}

static void die(void) {
  kill(getpid(), SIGKILL);
  for (;;) pause();
}

int fsync(int fd) {
  if (is_due("fsync", fd)) die();
  return REAL(fsync)(fd);
}

int fdatasync(int fd) {
  if (is_due("fdatasync", fd)) die();
  return REAL(fdatasync)(fd);
}

int rename(const char *from, const char *to) {
  if (is_due_at("rename", to)) die();
  return REAL(rename)(from, to);
}

int unlink(const char *path) {
  if (is_due_at("unlink", path)) die();
  return REAL(unlink)(path);
}

int mkdir(const char *path, mode_t mode) {
  if (is_due_at("mkdir", path)) die();
  return REAL(mkdir)(path, mode);
}

int rmdir(const char *path) {
  if (is_due_at("rmdir", path)) die();
  return REAL(rmdir)(path);
}

int ftruncate(int fd, off_t length) {
  if (is_due("ftruncate", fd)) die();
  return REAL(ftruncate)(fd, length);
}

int ftruncate64(int fd, off64_t length) {
  if (is_due("ftruncate", fd)) die();
  return REAL(ftruncate64)(fd, length);
}

ssize_t write(int fd, const void *bytes, size_t count) {
  if (real_write == NULL) real_write = REAL(write);
  if (is_due("write", fd)) {
    real_write(fd, bytes, count / 2);
    die();
  }
  return real_write(fd, bytes, count);
}

ssize_t pwrite64(int fd, const void *bytes, size_t count, off64_t offset) {
  if (is_due("write", fd)) {
    REAL(pwrite64)(fd, bytes, count / 2, offset);
    die();
  }
  return REAL(pwrite64)(fd, bytes, count, offset);
}
