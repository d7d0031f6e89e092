// SPDX-License-Identifier: Apache-2.0
/* Takes the place of rocksdb.c where the program is built without RocksDB. */
#include <stddef.h>
#include <stdio.h>

#include "service.h"

bool rocksdb_fill(const struct service_options* options) {
  (void)options;
  fputs(
      "serve: this program was built without RocksDB: install librocksdb-dev on the build machine, "
      "and build it again\n",
      stderr);
  return false;
}

const struct service service_rocksdb = {"rocksdb", rocksdb_fill, NULL, NULL, NULL};
