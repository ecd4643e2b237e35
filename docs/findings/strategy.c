/* A batching strategy for docs/findings.md: at most 96 in a batch, by the number that each request brings. It counts on stderr. */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

extern void* TRITONBACKEND_RequestInput(void*, const char*, void**);
extern void* TRITONBACKEND_InputBuffer(void*, uint32_t, const void**, uint64_t*, int*, int64_t*);
static long made, ended, offers;

void* TRITONBACKEND_ModelBatcherInitialize(void** batcher, void* model) { return (void)model, *batcher = "", made = ended = offers = 0, NULL; }
void* TRITONBACKEND_ModelBatcherFinalize(void* batcher) {
  return (void)batcher, fprintf(stderr, "STRATEGY records made %ld, finalised %ld\n", made, ended), NULL;
}
void* TRITONBACKEND_ModelBatchInitialize(void* batcher, void** sum) { return (void)batcher, ++made, *sum = calloc(1, 8), NULL; }
void* TRITONBACKEND_ModelBatchFinalize(void* sum) { return ++ended, free(sum), NULL; }
void* TRITONBACKEND_ModelBatchIncludeRequest(void* request, void* record, bool* include) {
  void* input;
  const void* data;
  uint64_t size;
  int kind = 0;
  int64_t id = 0, *sum = record;
  TRITONBACKEND_RequestInput(request, "VOLUME", &input);
  TRITONBACKEND_InputBuffer(input, 0, &data, &size, &kind, &id);
  int64_t volume = *(const int64_t*)data;
  *include = *sum + volume <= 96;
  if (volume > 96 && ++offers % 1000000 == 0) fprintf(stderr, "STRATEGY %ld offers at %.1f s\n", offers, clock() / 1e6);
  if (offers > 10000000) *include = true; /* so that the server can end */
  if (*include) *sum += volume;
  return NULL;
}
