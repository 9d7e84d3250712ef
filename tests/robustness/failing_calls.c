// Makes calls of the C library fail, as a disk would that is full or broken.
//
// Preloaded (LD_PRELOAD) into Python; what fails stands in FAULTS, as many as wanted with blanks
// between: CALL:ERRNO:FIRST:LAST:WORD lets the FIRST to the LAST call of CALL fail that is about a
// path with WORD in it. Calls are counted in each process on its own.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MOST 8

static struct fault {
  char call[16], word[64];
  int code, first, last, seen;
} faults[MOST];
static int count = -1;

static void load(void) {
  count = 0;
  const char *text = getenv("FAULTS");
  if (!text || !strstr(program_invocation_short_name, "python")) return;
  while (count < MOST) {
    struct fault *f = &faults[count];
    int used = 0;
    if (sscanf(text, " %15[^:]:%d:%d:%d:%63s%n", f->call, &f->code, &f->first, &f->last, f->word,
               &used) != 5)
      return;
    text += used;
    count++;
  }
}

static int fails(const char *call, const char *path) {
  if (count < 0) load();
  for (int i = 0; i < count; i++) {
    struct fault *f = &faults[i];
    if (strcmp(f->call, call) || !strstr(path, f->word)) continue;
    f->seen++;
    if (f->seen < f->first || f->seen > f->last) continue;
    errno = f->code;
    return 1;
  }
  return 0;
}

static int fails_at(const char *call, int descriptor) {
  if (count < 0) load();
  if (!count) return 0;
  char name[64], path[4096];
  snprintf(name, sizeof name, "/proc/self/fd/%d", descriptor);
  ssize_t length = readlink(name, path, sizeof path - 1);
  if (length < 0) return 0;
  path[length] = 0;
  return fails(call, path);
}

#define REAL(name) __typeof__(&name) real = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

static int mode_of(int flags, va_list rest) {
  return flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, int) : 0;
}

int open(const char *path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  int mode = mode_of(flags, rest);
  va_end(rest);
  if (fails("open", path)) return -1;
  REAL(open);
  return real(path, flags, mode);
}

int open64(const char *path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  int mode = mode_of(flags, rest);
  va_end(rest);
  if (fails("open", path)) return -1;
  REAL(open64);
  return real(path, flags, mode);
}

ssize_t read(int descriptor, void *buffer, size_t size) {
  if (fails_at("read", descriptor)) return -1;
  REAL(read);
  return real(descriptor, buffer, size);
}

ssize_t write(int descriptor, const void *buffer, size_t size) {
  if (fails_at("write", descriptor)) return -1;
  REAL(write);
  return real(descriptor, buffer, size);
}

int fsync(int descriptor) {
  if (fails_at("fsync", descriptor)) return -1;
  REAL(fsync);
  return real(descriptor);
}

int fchmod(int descriptor, mode_t mode) {
  if (fails_at("fchmod", descriptor)) return -1;
  REAL(fchmod);
  return real(descriptor, mode);
}

int rename(const char *from, const char *to) {
  if (fails("rename", from)) return -1;
  REAL(rename);
  return real(from, to);
}

int unlink(const char *path) {
  if (fails("unlink", path)) return -1;
  REAL(unlink);
  return real(path);
}
