/* The witness for models whose state the server keeps: Triton's Python backend has no access to it.

   It does what probe.py does for a batch of sequences: it logs each execution in the same folder and form, obeys holds, work
   and failures, and answers with the echo and INFO. The state is one int64, which it steps as `probe.step` does.
   A second state is a tensor of any shape, of INT64 or INT32, whose elements are all the number of `probe.step_second`.
   The columns of a request and the protocol's version are given by the compiler's command line (see compiled.py).
   Only old functions of the C library are used, so that what is compiled here also runs in a container with another one. */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

typedef void Error; /* of Triton: a null pointer if all is well */
extern Error* TRITONSERVER_ErrorNew(int code, const char* message);
extern void TRITONSERVER_ErrorDelete(Error*);
extern Error* TRITONSERVER_MessageSerializeToJson(void* message, const char** base, size_t* size);
extern Error* TRITONSERVER_MessageDelete(void* message);
extern Error* TRITONBACKEND_ModelConfig(void* model, uint32_t version, void** message);
extern Error* TRITONBACKEND_ModelInstanceName(void* instance, const char** name);
extern Error* TRITONBACKEND_ModelInstanceModel(void* instance, void** model);
extern Error* TRITONBACKEND_ModelInstanceSetState(void* instance, void* state);
extern Error* TRITONBACKEND_ModelInstanceState(void* instance, void** state);
extern Error* TRITONBACKEND_ModelInstanceReportStatistics(
    void* instance, void* request, const _Bool success, const uint64_t start, const uint64_t compute_start,
    const uint64_t compute_end, const uint64_t end);
extern Error* TRITONBACKEND_ModelInstanceReportBatchStatistics(
    void* instance, const uint64_t size, const uint64_t start, const uint64_t compute_start, const uint64_t compute_end,
    const uint64_t end);
extern Error* TRITONBACKEND_RequestInput(void* request, const char* name, void** input);
extern Error* TRITONBACKEND_RequestRelease(void* request, uint32_t flags);
extern Error* TRITONBACKEND_InputProperties(
    void* input, const char** name, int* type, const int64_t** shape, uint32_t* dims, uint64_t* size, uint32_t* buffers);
extern Error* TRITONBACKEND_InputBuffer(
    void* input, uint32_t index, const void** buffer, uint64_t* size, int* memory, int64_t* memory_id);
extern Error* TRITONBACKEND_ResponseNew(void** response, void* request);
extern Error* TRITONBACKEND_ResponseOutput(
    void* response, void** output, const char* name, int type, const int64_t* shape, uint32_t dims);
extern Error* TRITONBACKEND_OutputBuffer(void* output, void** buffer, uint64_t size, int* memory, int64_t* memory_id);
extern Error* TRITONBACKEND_ResponseSend(void* response, uint32_t flags, Error* error);
extern Error* TRITONBACKEND_StateNew(
    void** state, void* request, const char* name, int type, const int64_t* shape, uint32_t dims);
extern Error* TRITONBACKEND_StateBuffer(void* state, void** buffer, uint64_t size, int* memory, int64_t* memory_id);
extern Error* TRITONBACKEND_StateUpdate(void* state);

enum { INTERNAL = 1, FINAL = 1, ALL = 1 };
enum { BOOL = 1, UINT32 = 4, UINT64 = 5, INT32 = 8, INT64 = 9, FP32 = 11, BYTES = 13 };
enum { MOST = 1024, SECOND = 1000000000 };

typedef struct {
  char folder[512];
  int log, number;
  int64_t batch, clock;
} Instance;

typedef struct {
  int ready, slot, start, end;
  char id[1024]; /* as JSON has it */
  int64_t row[COLUMNS], state, second;
  int type, elements; /* of the second state; 0 elements: there is none */
} Place;

static int64_t now_ns(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * (int64_t)SECOND + time.tv_nsec;
}

static void sleep_ns(int64_t ns) {
  struct timespec left = {ns / SECOND, ns % SECOND};
  if (ns > 0) nanosleep(&left, NULL);
}

/* The text of a parameter in the model's configuration: "name":{"string_value":"TEXT"}. */
static void parameter(const char* json, const char* name, char* into, size_t size) {
  char key[64];
  snprintf(key, sizeof key, "\"%s\":{\"string_value\":\"", name);
  const char* found = strstr(json, key);
  size_t length = 0;
  if (found)
    for (found += strlen(key); found[length] && found[length] != '"' && length + 1 < size; ++length) into[length] = found[length];
  into[length] = 0;
}

static int64_t number_of(const char* digits) {
  int64_t value = 0;
  for (; *digits >= '0' && *digits <= '9'; ++digits) value = value * 10 + (*digits - '0');
  return value;
}

Error* TRITONBACKEND_ModelInstanceInitialize(void* handle) {
  Instance* instance = calloc(1, sizeof *instance);
  void *model, *message;
  const char *name, *base, *place = getenv("TMPDIR");
  char witness[128], clock[32], file[640];
  size_t size;
  TRITONBACKEND_ModelInstanceModel(handle, &model);
  TRITONBACKEND_ModelInstanceName(handle, &name);
  TRITONBACKEND_ModelConfig(model, 1, &message);
  TRITONSERVER_MessageSerializeToJson(message, &base, &size);
  char* json = calloc(1, size + 1);
  memcpy(json, base, size);
  parameter(json, "witness", witness, sizeof witness);
  parameter(json, "clock", clock, sizeof clock);
  free(json);
  TRITONSERVER_MessageDelete(message);
  instance->clock = number_of(clock);
  instance->number = (int)number_of(strrchr(name, '_') + 1);
  snprintf(instance->folder, sizeof instance->folder, "%s/%s", place && *place ? place : "/tmp", witness);
  mkdir(instance->folder, 0700);
  snprintf(file, sizeof file, "%s/%d.jsonl", instance->folder, instance->number);
  instance->log = open(file, O_WRONLY | O_CREAT | O_APPEND, 0600);
  if (instance->log < 0) return TRITONSERVER_ErrorNew(INTERNAL, "the witness cannot open its log");
  return TRITONBACKEND_ModelInstanceSetState(handle, instance);
}

Error* TRITONBACKEND_ModelInstanceFinalize(void* handle) {
  Instance* instance;
  TRITONBACKEND_ModelInstanceState(handle, (void**)&instance);
  close(instance->log);
  free(instance);
  return NULL;
}

/* The bytes of an input and its type; 0 if the request does not have it, or has it in pieces. */
static const void* input(void* request, const char* name, int* type, uint64_t* size) {
  void* found;
  const void* bytes;
  const char* own;
  const int64_t* shape;
  uint32_t dims, buffers;
  int memory = 0;
  int64_t memory_id = 0;
  Error* absent = TRITONBACKEND_RequestInput(request, name, &found);
  if (absent) return TRITONSERVER_ErrorDelete(absent), NULL;
  TRITONBACKEND_InputProperties(found, &own, type, &shape, &dims, size, &buffers);
  if (buffers != 1) return NULL;
  TRITONBACKEND_InputBuffer(found, 0, &bytes, size, &memory, &memory_id);
  return bytes;
}

/* A flag as a number; `absent` if the model is not told. */
static int flag(void* request, const char* name, int absent) {
  int type;
  uint64_t size;
  const void* bytes = input(request, name, &type, &size);
  if (!bytes) return absent;
  if (type == FP32) return (int)*(const float*)bytes;
  return type == BOOL ? *(const char*)bytes : *(const int32_t*)bytes;
}

/* The correlation ID as JSON has it. A string is a length of 4 bytes and its bytes. */
static void correlation_id(void* request, char* into, size_t room) {
  int type;
  uint64_t size;
  const char* bytes = input(request, "CORRID", &type, &size);
  snprintf(into, room, "0");
  if (!bytes) return;
  if (type == UINT64) snprintf(into, room, "%llu", (unsigned long long)*(const uint64_t*)bytes);
  if (type == INT64) snprintf(into, room, "%lld", (long long)*(const int64_t*)bytes);
  if (type == UINT32) snprintf(into, room, "%u", *(const uint32_t*)bytes);
  if (type == INT32) snprintf(into, room, "%d", *(const int32_t*)bytes);
  if (type != BYTES) return;
  size_t length = 0;
  into[length++] = '"';
  for (uint64_t at = 4; at < size && length + 8 < room; ++at) {
    unsigned char letter = (unsigned char)bytes[at];
    if (letter < ' ' || letter == '"' || letter == '\\')
      length += (size_t)snprintf(into + length, room - length, "\\u%04x", letter);
    else
      into[length++] = (char)letter;
  }
  into[length++] = '"';
  into[length] = 0;
}

static uint64_t width(int type) { return type == INT32 ? 4 : 8; }

static int64_t element(const void* tensor, int type, int at) {
  return type == INT32 ? ((const int32_t*)tensor)[at] : ((const int64_t*)tensor)[at];
}

/* Return why a request cannot be read, or 0. */
static const char* read_place(void* request, int slot, Place* place) {
  int type;
  uint64_t size;
  place->slot = slot;
  place->start = flag(request, "START", 0);
  place->end = flag(request, "END", 0);
  place->ready = flag(request, "READY", 1);
  correlation_id(request, place->id, sizeof place->id);
  const void* row = input(request, "IN", &type, &size);
  if (!row || size != sizeof place->row) return "a request of a sequence has one row";
  memcpy(place->row, row, sizeof place->row);
  const void* state = input(request, STATE_IN, &type, &size);
  if (!state || size != sizeof place->state) return "the server has not given the state";
  memcpy(&place->state, state, sizeof place->state);
  const void* second = input(request, SECOND_IN, &place->type, &size);
  if (!second) return NULL;
  place->elements = (int)(size / width(place->type));
  place->second = element(second, place->type, 0);
  for (int i = 1; i < place->elements; ++i)
    if (element(second, place->type, i) != element(second, place->type, 0)) place->second = NO_NUMBER;
  return NULL;
}

static int64_t step(int64_t state, int64_t serial) {
  return (int64_t)(((__int128)state * 1000003 + serial % 2147483629 + 1) % 2147483647);
}

static int64_t step_second(int64_t state, int64_t serial) {
  return (state * 69621 + serial % 2147483629 + 5) % 2147483647;
}

/* Add an output. There is no buffer for it where nobody waits for the answer any more. */
static void output(void* response, const char* name, const int64_t* values, int64_t count) {
  void *made, *buffer = NULL;
  int memory = 0;
  int64_t memory_id = 0, shape[2] = {1, count};
  Error* error = TRITONBACKEND_ResponseOutput(response, &made, name, INT64, shape, 2);
  if (!error) error = TRITONBACKEND_OutputBuffer(made, &buffer, (uint64_t)count * 8, &memory, &memory_id);
  if (!error && buffer) memcpy(buffer, values, (size_t)count * 8);
  if (error) TRITONSERVER_ErrorDelete(error);
}

/* Write a state after a step, into every element. A run that fails has written it too, but does not say that it counts. */
static const char* keep(void* request, const char* name, int type, int elements, int64_t value, int failed) {
  void *state, *buffer = NULL;
  int memory = 0;
  int64_t memory_id = 0, shape[2] = {1, elements};
  Error* error = TRITONBACKEND_StateNew(&state, request, name, type, shape, 2);
  if (!error) error = TRITONBACKEND_StateBuffer(state, &buffer, width(type) * (uint64_t)elements, &memory, &memory_id);
  for (int i = 0; !error && buffer && i < elements; ++i)
    if (type == INT32) ((int32_t*)buffer)[i] = (int32_t)value;
    else ((int64_t*)buffer)[i] = value;
  if (!error && !failed) error = TRITONBACKEND_StateUpdate(state);
  if (error) TRITONSERVER_ErrorDelete(error);
  return error ? "the server does not take the state" : NULL;
}

static const char* keep_both(void* request, const Place* place, int failed) {
  int64_t serial = place->row[SERIAL];
  const char* why = keep(request, STATE_OUT, INT64, 1, step(place->state, serial), failed);
  if (why || !place->elements) return why;
  return keep(request, SECOND_OUT, place->type, place->elements, step_second(place->second, serial), failed);
}

static void write_line(Instance* instance, const char* text, int length) {
  if (write(instance->log, text, (size_t)length) != length) fprintf(stderr, "the witness cannot write its log\n");
}

/* The end of a place in the log: the second state, if there is one. */
static const char* second(const Place* place, char text[32]) {
  if (!place->elements) return "]";
  snprintf(text, 32, ", %lld]", (long long)place->second);
  return text;
}

static void log_entered(Instance* instance, const Place* places, uint32_t count, int64_t enter_ns) {
  size_t room = 256 + count * (sizeof places->id + 256);
  char *line = malloc(room), *end = line, text[32];
#define ADD(...) end += snprintf(end, room - (size_t)(end - line), __VA_ARGS__)
#define EACH(...) \
  do { const char* comma = ""; \
    for (uint32_t i = 0; i < count; ++i) if (places[i].ready) { ADD("%s", comma); ADD(__VA_ARGS__); comma = ", "; } } while (0)
  ADD("{\"instance\": %d, \"batch\": %lld, \"enter_ns\": %lld, \"serials\": [", instance->number,
      (long long)instance->batch, (long long)enter_ns);
  EACH("%lld", (long long)places[i].row[SERIAL]);
  ADD("], \"rows\": [");
  EACH("1");
  ADD("], \"places\": [");
  EACH("[%d, %d, %d, %d, %s, %lld%s", places[i].slot, places[i].start, places[i].end, places[i].ready, places[i].id,
       (long long)places[i].state, second(&places[i], text));
  ADD("]}\n");
  write_line(instance, line, (int)(end - line));
  free(line);
}

static void wait_released(Instance* instance, int64_t token, int64_t enter_ns) {
  char file[640];
  snprintf(file, sizeof file, "%s/release-%lld", instance->folder, (long long)token);
  while (token && access(file, F_OK) && now_ns() - enter_ns < HOLD_LIMIT_NS) sleep_ns(500000);
}

/* Run one batch, of which `ready` places have a request; return when it left. */
static int64_t run(Instance* instance, const Place* places, uint32_t count, int64_t ready, int64_t enter_ns, int failed) {
  int64_t work_ns = 0;
  char line[256];
  ++instance->batch;
  log_entered(instance, places, count, enter_ns);
  for (uint32_t i = 0; i < count; ++i) {
    if (!places[i].ready) continue;
    const int64_t* row = places[i].row;
    if (row[WORK_NS] + row[ROW_WORK_NS] * ready > work_ns) work_ns = row[WORK_NS] + row[ROW_WORK_NS] * ready;
    wait_released(instance, row[HOLD], enter_ns);
  }
  int held = 0;
  for (uint32_t i = 0; i < count; ++i) held |= places[i].ready && places[i].row[HOLD];
  for (int64_t end_ns = (held ? now_ns() : enter_ns) + work_ns, left_ns; (left_ns = end_ns - now_ns()) > 0;) sleep_ns(left_ns);
  int64_t exit_ns = now_ns();
  int length = snprintf(line, sizeof line, "{\"instance\": %d, \"batch\": %lld, \"exit_ns\": %lld, \"failed\": %s}\n",
                        instance->number, (long long)instance->batch, (long long)exit_ns, failed ? "true" : "false");
  write_line(instance, line, length);
  return exit_ns;
}

Error* TRITONBACKEND_ModelInstanceExecute(void* handle, void** requests, uint32_t count) {
  Instance* instance;
  static const char failure[] = "Failed to process the request(s): " FAILURE;
  int64_t enter_ns = now_ns(), exit_ns = enter_ns, ready = 0, position = 0;
  const char* unreadable = NULL;
  int failed = 0;
  Place* places = calloc(count, sizeof *places);
  TRITONBACKEND_ModelInstanceState(handle, (void**)&instance);
  for (uint32_t i = 0; i < count; ++i) {
    const char* why = read_place(requests[i], (int)i, &places[i]);
    if (!places[i].ready) continue;
    ++ready;
    unreadable = why ? why : unreadable;
    failed |= places[i].row[FAIL] != 0;
  }
  if (ready && !unreadable) exit_ns = run(instance, places, count, ready, enter_ns, failed);
  for (uint32_t i = 0; i < count; ++i) {
    void* response = NULL;
    const char* why = places[i].ready ? unreadable : NULL;
    if (places[i].ready && !why) why = keep_both(requests[i], &places[i], failed);
    if (places[i].ready && failed && !why) why = failure;
    int64_t told[] = {VERSION, instance->batch, instance->number, ready,  ready, position,
                      enter_ns, exit_ns, instance->clock, places[i].row[SERIAL]};
    position += places[i].ready;
    TRITONBACKEND_ResponseNew(&response, requests[i]);
    if (!why) output(response, "OUT", places[i].row, COLUMNS), output(response, "INFO", told, INFO);
    Error* error = why ? TRITONSERVER_ErrorNew(INTERNAL, why) : NULL;
    TRITONBACKEND_ResponseSend(response, FINAL, error);
    if (error) TRITONSERVER_ErrorDelete(error);
    if (places[i].ready)
      TRITONBACKEND_ModelInstanceReportStatistics(
          handle, requests[i], !why, (uint64_t)enter_ns, (uint64_t)enter_ns, (uint64_t)exit_ns, (uint64_t)exit_ns);
    TRITONBACKEND_RequestRelease(requests[i], ALL);
  }
  TRITONBACKEND_ModelInstanceReportBatchStatistics(
      handle, count, (uint64_t)enter_ns, (uint64_t)enter_ns, (uint64_t)exit_ns, (uint64_t)exit_ns);
  free(places);
  return NULL;
}
