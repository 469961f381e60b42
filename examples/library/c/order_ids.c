#include <evenkeel_idgen.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  evenkeel_idgen_options options = EVENKEEL_IDGEN_OPTIONS;
  options.name = "orders";
  options.directory = argc > 1 ? argv[1] : NULL;
  options.worker_id = argc > 2 ? atoi(argv[2]) : -1;

  evenkeel_idgen* ids = NULL;
  if (evenkeel_idgen_open(&options, &ids) != EVENKEEL_IDGEN_OK) {
    fprintf(stderr, "%s\n", evenkeel_idgen_last_error());
    return 1;
  }
  uint64_t batch[3];
  if (evenkeel_idgen_next_batch(ids, batch, 3) != EVENKEEL_IDGEN_OK)
    fprintf(stderr, "%s\n", evenkeel_idgen_last_error());
  else
    for (int i = 0; i < 3; ++i) {
      evenkeel_idgen_fields fields = {sizeof(fields), 0, 0, 0, 0, 0};
      evenkeel_idgen_decode(ids, batch[i], &fields);
      printf("%" PRIu64 " of worker %" PRIu32 " in slot %" PRIu32 "\n", batch[i], fields.worker, fields.slot);
    }
  return evenkeel_idgen_close(ids);
}
