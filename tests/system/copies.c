// SPDX-License-Identifier: Apache-2.0
// A program for the guest: every virtual function, all at once, copies host memory to its own, and
// that back to another place; MSI-X signals each copy's end: a message is a write, so it goes to
// memory that this program polls.
// Arguments: the functions' folders in sysfs. Reports what is not as it must be; its exit code is 1
// then.
#include <time.h>

#include "copy_function.h"

enum { most = 64, table = 0x2000 };

static struct function functions[most];
static int number_of_functions;

static void start(const struct function* one, uint64_t from, uint64_t to, uint64_t direction,
                  uint32_t message) {
  *one->message = 0;
  put(one, table, bus_address(one->message));
  put(one, table + 8, message); /* not masked */
  put(one, OAE_DMA_SOURCE, from);
  put(one, OAE_DMA_DESTINATION, to);
  put(one, OAE_DMA_LENGTH, page);
  put(one, OAE_DMA_STATUS, OAE_DMA_STATUS_DONE_MASK | OAE_DMA_STATUS_ERROR_MASK);
  put(one, OAE_DMA_CONTROL, OAE_DMA_CONTROL_START_MASK | OAE_DMA_CONTROL_IRQ_ENABLE_MASK | direction);
}

/* A message comes behind what was written before it. */
static void wait_for(const struct function* one, uint32_t message) {
  struct timespec now, end;
  uint64_t status;

  clock_gettime(CLOCK_MONOTONIC, &end);
  do {
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (now.tv_sec > end.tv_sec + 1) return complain(one, "no message", (long)*one->message);
  } while (*one->message == 0);
  if (*one->message != message) complain(one, "another message", (long)*one->message);
  status = get(one, OAE_DMA_STATUS);
  if (status != OAE_DMA_STATUS_DONE_MASK) complain(one, "status", (long)status);
}

int main(int count, char** arguments) {
  int i, at;

  if (count < 2 || count > most + 1) return 1;
  number_of_functions = count - 1;
  for (i = 0; i < number_of_functions; i++) {
    open_function(&functions[i], arguments[1 + i]);
    for (at = 0; at < page; at++) functions[i].source[at] = (uint8_t)(at * 7 + at / 256 + i * 31);
    if (get(&functions[i], OAE_DMA_STATUS)) complain(&functions[i], "status before", 1);
    enable(&functions[i]);
  }
  /* Into its own memory, to its last page, and back. */
  for (i = 0; i < number_of_functions; i++)
    start(&functions[i], bus_address(functions[i].source), memory_size - page,
          OAE_DMA_CONTROL_SOURCE_HOST_MASK, 0x1000 + (uint32_t)i);
  for (i = 0; i < number_of_functions; i++) wait_for(&functions[i], 0x1000 + (uint32_t)i);
  for (i = 0; i < number_of_functions; i++)
    start(&functions[i], memory_size - page, bus_address(functions[i].destination),
          OAE_DMA_CONTROL_DESTINATION_HOST_MASK, 0x2000 + (uint32_t)i);
  for (i = 0; i < number_of_functions; i++) {
    wait_for(&functions[i], 0x2000 + (uint32_t)i);
    if (memcmp(functions[i].source, functions[i].destination, page) != 0)
      complain(&functions[i], "the copy is another", 0);
  }
  printf("%d functions: %s\n", number_of_functions, failed ? "wrong" : "agree");
  return failed;
}
