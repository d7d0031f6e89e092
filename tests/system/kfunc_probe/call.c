// SPDX-License-Identifier: Apache-2.0
/* Has the kernel run a BPF program that calls a module's function, and prints the result:
 *
 *   call MODULE FUNCTION NUMBER
 *
 * The program gives NUMBER to the function and ends with what that returns. The function is found
 * by the module's BTF alone, as a loader of BPF programs finds it. */
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/btf.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static _Noreturn void fail(const char* what) {
  perror(what);
  exit(1);
}

static int bpf(enum bpf_cmd command, union bpf_attr* attr) {
  return (int)syscall(SYS_bpf, command, attr, sizeof *attr);
}

/* A file of sysfs, whose size is known only by reading it. */
static void* contents(const char* name) {
  char path[128];
  snprintf(path, sizeof path, "/sys/kernel/btf/%s", name);
  const int file = open(path, O_RDONLY);
  if (file < 0) fail(path);
  char* data = NULL;
  size_t size = 0;
  for (ssize_t got = 1; got > 0; size += (size_t)got) {
    data = realloc(data, size + 65536);
    got = read(file, data + size, 65536);
    if (got < 0) fail(path);
  }
  close(file);
  return data;
}

static size_t size_of(const struct btf_type* type) {
  const size_t members = BTF_INFO_VLEN(type->info);
  switch (BTF_INFO_KIND(type->info)) {
    case BTF_KIND_INT:
    case BTF_KIND_VAR:
    case BTF_KIND_DECL_TAG:
      return sizeof *type + 4;
    case BTF_KIND_ARRAY:
      return sizeof *type + sizeof(struct btf_array);
    case BTF_KIND_ENUM:
    case BTF_KIND_FUNC_PROTO:
      return sizeof *type + members * 8;
    case BTF_KIND_STRUCT:
    case BTF_KIND_UNION:
    case BTF_KIND_DATASEC:
    case BTF_KIND_ENUM64:
      return sizeof *type + members * 12;
    default:
      return sizeof *type;
  }
}

/* Returns the id of a function, or, if it has no name, how many types there are. Ids go on from
 * `first`, and offsets of strings from `strings_before`. */
static unsigned find(const struct btf_header* btf, unsigned first, unsigned strings_before,
                     const char* function) {
  const char* types = (const char*)btf + btf->hdr_len + btf->type_off;
  const char* strings = (const char*)btf + btf->hdr_len + btf->str_off;
  unsigned id = first;
  for (size_t at = 0; at < btf->type_len; ++id) {
    const struct btf_type* type = (const void*)(types + at);
    if (function && BTF_INFO_KIND(type->info) == BTF_KIND_FUNC &&
        type->name_off >= strings_before &&
        !strcmp(strings + (type->name_off - strings_before), function))
      return id;
    at += size_of(type);
  }
  return function ? 0 : id;
}

static int btf_of_module(const char* module) {
  union bpf_attr attr = {0};
  while (!bpf(BPF_BTF_GET_NEXT_ID, &attr)) {
    union bpf_attr by_id = {.btf_id = attr.next_id};
    const int file = bpf(BPF_BTF_GET_FD_BY_ID, &by_id);
    if (file < 0) fail("BPF_BTF_GET_FD_BY_ID");
    char name[64] = "";
    struct bpf_btf_info info = {.name = (uintptr_t)name, .name_len = sizeof name};
    union bpf_attr about = {
        .info = {.bpf_fd = (unsigned)file, .info_len = sizeof info, .info = (uintptr_t)&info}};
    if (bpf(BPF_OBJ_GET_INFO_BY_FD, &about)) fail("BPF_OBJ_GET_INFO_BY_FD");
    if (!strcmp(name, module)) return file;
    close(file);
    attr = (union bpf_attr){.start_id = attr.next_id};
  }
  fail("the module's BTF");
}

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  const struct btf_header* kernel = contents("vmlinux");
  const unsigned id = find(contents(argv[1]), find(kernel, 1, 0, NULL), kernel->str_len, argv[2]);
  if (!id) {
    fprintf(stderr, "call: the BTF of %s has no function %s\n", argv[1], argv[2]);
    return 1;
  }

  const struct bpf_insn program[] = {
      {.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_1, .imm = atoi(argv[3])},
      {.code = BPF_JMP | BPF_CALL, .src_reg = BPF_PSEUDO_KFUNC_CALL, .off = 1, .imm = (int)id},
      {.code = BPF_JMP | BPF_EXIT},
  };
  const int files[] = {0, btf_of_module(argv[1])}; /* `off` says which */
  static char log[65536];
  union bpf_attr load = {
      .prog_type = BPF_PROG_TYPE_SYSCALL,
      .insn_cnt = sizeof program / sizeof *program,
      .insns = (uintptr_t)program,
      .license = (uintptr_t) "GPL",
      .log_level = 1,
      .log_size = sizeof log,
      .log_buf = (uintptr_t)log,
      .prog_flags = BPF_F_SLEEPABLE,
      .fd_array = (uintptr_t)files,
  };
  const int loaded = bpf(BPF_PROG_LOAD, &load);
  if (loaded < 0) {
    fputs(log, stderr);
    fail("BPF_PROG_LOAD");
  }
  union bpf_attr run = {.test = {.prog_fd = (unsigned)loaded}};
  if (bpf(BPF_PROG_TEST_RUN, &run)) fail("BPF_PROG_TEST_RUN");
  printf("%u\n", run.test.retval);
  return 0;
}
