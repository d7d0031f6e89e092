/* SPDX-License-Identifier: Apache-2.0 */
/* What a worker does for a request. */
#ifndef WORKLOAD_SERVICE_H
#define WORKLOAD_SERVICE_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct service_options {
  uint64_t seed;
  uint64_t get_ns;         /* spinner: CPU time of a GET, to which */
  uint64_t exponential_ns; /* an exponentially distributed time of this mean is added */
  uint64_t range_ns;
  const char* database; /* RocksDB: the folder */
  uint64_t keys;
  uint64_t range_keys; /* read by a RANGE */
};

struct service {
  const char* name;
  /* Gets ready. If that fails, says so on stderr and returns false. */
  bool (*open)(const struct service_options* options);
  /* Serves request `index`, counted from 0. Returns false if an answer was wrong. */
  bool (*serve)(uint64_t index, bool range);
  void (*close)(void);
  /* Called by each thread before its first request. Returns false if that fails. May be NULL. */
  bool (*begin_thread)(void);
};

extern const struct service service_none;
extern const struct service service_spinner;
extern const struct service service_rocksdb;

/* Makes a database for service_rocksdb. If that fails, says so on stderr and returns false. */
bool rocksdb_fill(const struct service_options* options);

/* Returns the time that a GET of the spinner takes. */
uint64_t spinner_get_ns(const struct service_options* options, uint64_t index);

#ifdef __cplusplus
}
#endif

#endif
