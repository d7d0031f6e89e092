// SPDX-License-Identifier: Apache-2.0
/* RocksDB. */
#include <rocksdb/c.h>
#include <stdio.h>
#include <stdlib.h>

#include "records.h"
#include "service.h"

/* Enough for a database of a million records. What was read once stays in memory. */
enum { cache_bytes = 256 << 20 };

static struct service_options options;
static rocksdb_t* database;
static rocksdb_readoptions_t* reading;

/* Says what went wrong, if `error` is set. */
static bool good(const char* what, char* error) {
  if (!error) return true;
  fprintf(stderr, "serve: %s %s: %s\n", what, options.database, error);
  free(error);
  return false;
}

static bool put_all(rocksdb_t* filled) {
  rocksdb_writeoptions_t* writing = rocksdb_writeoptions_create();
  char* error = NULL;

  rocksdb_writeoptions_disable_WAL(writing, 1);
  for (uint64_t number = 0; number < options.keys && !error; number++) {
    char key[RECORD_KEY], value[RECORD_VALUE];
    record_key(number, key);
    record_value(number, value);
    rocksdb_put(filled, writing, key, sizeof(key), value, sizeof(value), &error);
  }
  rocksdb_writeoptions_destroy(writing);
  if (!error) {
    rocksdb_flushoptions_t* flushing = rocksdb_flushoptions_create();
    rocksdb_flush(filled, flushing, &error);
    rocksdb_flushoptions_destroy(flushing);
  }
  if (!good("cannot write", error)) return false;
  rocksdb_compact_range(filled, NULL, 0, NULL, 0);
  return true;
}

bool rocksdb_fill(const struct service_options* given) {
  rocksdb_options_t* creating = rocksdb_options_create();
  char* error = NULL;
  rocksdb_t* filled;
  bool done;

  options = *given;
  rocksdb_options_set_create_if_missing(creating, 1);
  rocksdb_options_set_error_if_exists(creating, 1);
  rocksdb_options_set_compression(creating, rocksdb_no_compression);
  filled = rocksdb_open(creating, options.database, &error);
  done = good("cannot make", error) && put_all(filled);
  if (filled) rocksdb_close(filled);
  rocksdb_options_destroy(creating);
  return done;
}

/* Reads `count` records from this one on. Returns whether they are what they must be. */
static bool read_range(uint64_t first, uint64_t count) {
  rocksdb_iterator_t* at = rocksdb_create_iterator(database, reading);
  char key[RECORD_KEY];
  bool right = true;

  record_key(first, key);
  rocksdb_iter_seek(at, key, sizeof(key));
  for (uint64_t number = first; number < first + count && right; number++) {
    size_t key_length, value_length;
    const char *found, *value;
    if (!rocksdb_iter_valid(at)) {
      right = false;
      break;
    }
    found = rocksdb_iter_key(at, &key_length);
    value = rocksdb_iter_value(at, &value_length);
    record_key(number, key);
    right = key_length == sizeof(key) && memcmp(found, key, sizeof(key)) == 0 &&
            record_is(number, value, value_length);
    rocksdb_iter_next(at);
  }
  rocksdb_iter_destroy(at);
  return right;
}

static bool read_one(uint64_t number) {
  char key[RECORD_KEY];
  char* error = NULL;
  rocksdb_pinnableslice_t* slice;
  bool right = false;

  record_key(number, key);
  slice = rocksdb_get_pinned(database, reading, key, sizeof(key), &error);
  if (!good("cannot read", error)) return false;
  if (slice) {
    size_t length;
    const char* value = rocksdb_pinnableslice_value(slice, &length);
    right = record_is(number, value, length);
  }
  rocksdb_pinnableslice_destroy(slice);
  return right;
}

static void rocksdb_service_close(void) {
  if (reading) rocksdb_readoptions_destroy(reading);
  if (database) rocksdb_close(database);
  reading = NULL;
  database = NULL;
}

/* Reads all records once, so that requests find them in memory and the first ones take no longer
 * than others. */
static bool rocksdb_service_open(const struct service_options* given) {
  rocksdb_options_t* opening = rocksdb_options_create();
  rocksdb_block_based_table_options_t* table = rocksdb_block_based_options_create();
  rocksdb_cache_t* cache = rocksdb_cache_create_lru(cache_bytes);
  char* error = NULL;

  options = *given;
  rocksdb_block_based_options_set_block_cache(table, cache);
  rocksdb_options_set_block_based_table_factory(opening, table);
  database = rocksdb_open_for_read_only(opening, options.database, 0, &error);
  rocksdb_cache_destroy(cache);
  rocksdb_block_based_options_destroy(table);
  rocksdb_options_destroy(opening);
  if (!good("cannot open", error)) return false;
  reading = rocksdb_readoptions_create();
  if (read_range(0, options.keys)) return true;
  fprintf(stderr,
          "serve: %s does not hold the records 0 to %llu that 'serve fill' writes: fill it "
          "anew, or give the same --keys\n",
          options.database, (unsigned long long)options.keys - 1);
  rocksdb_service_close();
  return false;
}

static bool rocksdb_service_serve(uint64_t index, bool range) {
  const uint64_t random = random_at(options.seed, index);

  if (!range) return read_one(random_below(random, options.keys));
  return read_range(random_below(random, options.keys - options.range_keys + 1),
                    options.range_keys);
}

/* RocksDB and malloc() keep something for each thread, and make it when it reads first. With many
 * threads at once, that takes hundreds of us. */
static bool rocksdb_service_begin_thread(void) {
  return read_one(0) && read_range(0, 1);
}

const struct service service_rocksdb = {"rocksdb", rocksdb_service_open, rocksdb_service_serve,
                                        rocksdb_service_close, rocksdb_service_begin_thread};
