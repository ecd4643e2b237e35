/* The batching strategies of reference_batcher/strategies.py as a library for Triton's custom batching.

   The model's parameter `batch_strategy` names one, and `witness` the folder in the server's temporary folder in which each
   call of a hook is logged, one JSON document a line (see targets/hooks.py). -DVOLUME=N is the column of the witness's tensor
   that holds a request's volume.

   Triton offers a request that is refused even alone to an empty batch again and again, without a pause. After GIVES_UP offers
   this library lets it in and logs `gave_up`, so that the server survives what the rules have seen by then. */
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define GIVES_UP 50
#define INTERNAL 1

typedef struct Error Error;
extern Error* TRITONSERVER_ErrorNew(int code, const char* message);
extern Error* TRITONSERVER_MessageSerializeToJson(void* message, const char** text, size_t* size);
extern Error* TRITONSERVER_MessageDelete(void* message);
extern Error* TRITONBACKEND_ModelConfig(void* model, uint32_t version, void** message);
extern Error* TRITONBACKEND_RequestInput(void* request, const char* name, void** input);
extern Error* TRITONBACKEND_InputBuffer(void* input, uint32_t index, const void** data, uint64_t* size, int* kind, int64_t* id);

typedef struct {
  char strategy[64];
  int64_t number;
  int log;
  long records;
  bool raised, begins_badly, closes_badly;
  int64_t refused; /* the request that was refused to an empty batch last, and how often in a row */
  int times;
} Batcher;

typedef struct {
  Batcher* batcher;
  long number;
  int64_t requests, volume;
  bool ends_badly;
} Record;

/* Copies the value of a parameter out of the model's configuration; an empty text if there is none. */
static void parameter(const char* config, const char* name, char* into, size_t size) {
  char key[80];
  snprintf(key, sizeof key, "\"%s\":{\"string_value\":\"", name);
  const char* at = strstr(config, key);
  into[0] = 0;
  if (at) {
    at += strlen(key);
    size_t length = strcspn(at, "\"");
    snprintf(into, size, "%.*s", (int)length, at);
  }
}

static bool is(const Batcher* batcher, const char* name) {
  size_t length = strlen(name);
  return !strncmp(batcher->strategy, name, length) && (batcher->strategy[length] == 0 || batcher->strategy[length] == ':');
}

Error* TRITONBACKEND_ModelBatcherInitialize(Batcher** out, void* model) {
  void* message;
  const char* text;
  size_t size;
  Error* error = TRITONBACKEND_ModelConfig(model, 1, &message);
  if (error || (error = TRITONSERVER_MessageSerializeToJson(message, &text, &size))) return error;
  Batcher* batcher = calloc(1, sizeof *batcher);
  char* config = strndup(text, size);
  char witness[100], path[400];
  parameter(config, "batch_strategy", batcher->strategy, sizeof batcher->strategy);
  parameter(config, "witness", witness, sizeof witness);
  free(config);
  TRITONSERVER_MessageDelete(message);
  const char* colon = strchr(batcher->strategy, ':');
  batcher->number = colon ? atoll(colon + 1) : 0;
  const char* folder = getenv("TMPDIR");
  snprintf(path, sizeof path, "%s/%s", folder ? folder : "/tmp", witness);
  mkdir(path, 0700);
  strncat(path, "/hooks.jsonl", sizeof path - strlen(path) - 1);
  batcher->log = witness[0] ? open(path, O_CREAT | O_APPEND | O_WRONLY | O_CLOEXEC, 0600) : -1;
  dprintf(batcher->log, "{\"hook\": \"batcher_initialize\"}\n");
  *out = batcher;
  if (is(batcher, "broken")) return TRITONSERVER_ErrorNew(INTERNAL, "the strategy was asked to fail");
  return 0;
}

/* Logs a call, with the error if it is to fail, and returns that error. number: of the record; 0: of none. */
static Error* logged(int log, const char* hook, long number, bool fails, const char* why) {
  char record[40] = "", error[100] = "";
  if (number) snprintf(record, sizeof record, ", \"record\": %ld", number);
  if (fails) snprintf(error, sizeof error, ", \"error\": \"%s\"", why);
  dprintf(log, "{\"hook\": \"%s\"%s%s}\n", hook, record, error);
  return fails ? TRITONSERVER_ErrorNew(INTERNAL, why) : 0;
}

Error* TRITONBACKEND_ModelBatcherFinalize(Batcher* batcher) {
  Error* error = logged(batcher->log, "batcher_finalize", 0, batcher->closes_badly, "a batch had a volume of 17");
  close(batcher->log);
  free(batcher);
  return error;
}

Error* TRITONBACKEND_ModelBatchInitialize(Batcher* batcher, void** out) {
  Record* record = calloc(1, sizeof *record);
  record->batcher = batcher;
  record->number = ++batcher->records;
  *out = record;
  bool fails = batcher->begins_badly;
  batcher->begins_badly = false;
  return logged(batcher->log, "batch_initialize", record->number, fails, "a batch before this one had a volume of 11");
}

Error* TRITONBACKEND_ModelBatchFinalize(void* userp) {
  Record* record = userp;
  const char* why = "this batch had a volume of 13";
  Error* error = logged(record->batcher->log, "batch_finalize", record->number, record->ends_badly, why);
  free(record);
  return error;
}

/* Whether a request of this volume joins; *raises: the hook has to fail instead. */
static bool decided(const Record* record, int64_t volume, bool* raises) {
  Batcher* batcher = record->batcher;
  if (is(batcher, "fragile") && volume == 7) return *raises = true;
  if (is(batcher, "volume") || is(batcher, "fragile")) return record->volume + volume <= batcher->number;
  if (is(batcher, "alone")) return !record->requests;
  if (is(batcher, "first")) return !record->requests || !record->volume || record->requests < record->volume;
  if (is(batcher, "slow")) {
    struct timespec wait = {batcher->number / 1000, batcher->number % 1000 * 1000000};
    nanosleep(&wait, 0);
  }
  *raises = volume == batcher->number && (is(batcher, "raises") || (is(batcher, "raises-once") && !batcher->raised));
  batcher->raised |= *raises;
  return true;
}

/* Whether this request was refused to an empty batch so often in a row that the server would ask for ever. */
static bool for_ever(Record* record, int64_t serial) {
  Batcher* batcher = record->batcher;
  if (record->requests) return false;
  batcher->times = batcher->refused == serial ? batcher->times + 1 : 1;
  batcher->refused = serial;
  return batcher->times >= GIVES_UP;
}

Error* TRITONBACKEND_ModelBatchIncludeRequest(void* request, void* userp, bool* include) {
  Record* record = userp;
  void* input;
  const void* data;
  uint64_t size;
  int kind = 0;
  int64_t id = 0;
  Error* error = TRITONBACKEND_RequestInput(request, "IN", &input);
  if (error || (error = TRITONBACKEND_InputBuffer(input, 0, &data, &size, &kind, &id))) return error;
  const int64_t *row = data, serial = row[0], volume = row[VOLUME];
  int log = record->batcher->log;
  bool raises = false;
  *include = decided(record, volume, &raises);
  if ((raises || !*include) && for_ever(record, serial)) {
    dprintf(log, "{\"hook\": \"gave_up\", \"record\": %ld, \"serial\": %ld}\n", record->number, (long)serial);
    raises = false;
    *include = true;
  }
  if (raises) {
    char why[80];
    snprintf(why, sizeof why, "a request of volume %ld", (long)volume);
    *include = false;
    dprintf(log, "{\"hook\": \"include\", \"record\": %ld, \"serial\": %ld, \"error\": \"%s\"}\n", record->number,
            (long)serial, why);
    return TRITONSERVER_ErrorNew(INTERNAL, why);
  }
  if (*include) {
    if (!record->requests++ && is(record->batcher, "first")) record->volume = volume;
    if (is(record->batcher, "volume") || is(record->batcher, "fragile")) record->volume += volume;
    if (is(record->batcher, "fragile")) {
      record->ends_badly |= volume == 13;
      record->batcher->begins_badly |= volume == 11;
      record->batcher->closes_badly |= volume == 17;
    }
  }
  dprintf(log, "{\"hook\": \"include\", \"record\": %ld, \"serial\": %ld, \"joins\": %s}\n", record->number, (long)serial,
          *include ? "true" : "false");
  return 0;
}
