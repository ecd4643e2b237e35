/* A backend that answers every request with an empty response: it serves any configuration, and needs no model. */
typedef struct Error Error;
extern Error* TRITONBACKEND_ResponseNew(void** response, void* request);
extern Error* TRITONBACKEND_ResponseSend(void* response, unsigned flags, Error* error);
extern Error* TRITONBACKEND_RequestRelease(void* request, unsigned flags);

Error* TRITONBACKEND_ModelInstanceExecute(void* instance, void** requests, unsigned count) {
  (void)instance;
  for (unsigned i = 0; i < count; ++i) {
    void* response = 0;
    TRITONBACKEND_ResponseNew(&response, requests[i]);
    TRITONBACKEND_ResponseSend(response, 1, 0);
    TRITONBACKEND_RequestRelease(requests[i], 1);
  }
  return 0;
}
