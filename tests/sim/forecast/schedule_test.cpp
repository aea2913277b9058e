#include "sim/forecast/schedule.hpp"

#include <catch2/catch.hpp>

using namespace gradcast;
using namespace std::chrono_literals;

namespace {

std::vector<std::string> choices(const Request& request) {
  DataFiles files(GRADCAST_SOURCE_DIR);
  std::vector<std::string> words;
  for (const Schedule& schedule : schedules_of(request, files)) words.push_back(to_text(schedule));
  return words;
}

Request of(const std::string& stack) {
  Request request;
  request.model = "resnet-50";
  request.stack = stack;
  return request;
}

using Words = std::vector<std::string>;

}  // namespace

TEST_CASE("who names no stack may merge, or overlap DDP's buckets or each tensor", "[schedule]") {
  CHECK(choices(of("")) == Words{"merged", "ddp, overlapped", "layer, overlapped"});
}

TEST_CASE("a request's own schedule is the first choice", "[schedule]") {
  Request request = of("");
  request.fusion = parse_fusion("25MiB");
  CHECK(choices(request) == Words{"25MiB", "merged", "ddp, overlapped", "layer, overlapped"});
  request.best_schedule = true;  // then it has none of its own
  CHECK(choices(request) == Words{"merged", "ddp, overlapped", "layer, overlapped"});
}

TEST_CASE("Horovod may also run its cycles, and a stack that never overlaps merges", "[schedule]") {
  CHECK(choices(of("horovod-nccl")) ==
        Words{"merged", "cycle:5ms,64MiB, overlapped", "ddp, overlapped", "layer, overlapped"});
  CHECK(choices(of("mpi4py")) == Words{"merged"});
}

TEST_CASE("a collective alone has one schedule", "[schedule]") {
  Request request;
  request.payload = Bytes{1024};
  CHECK(choices(request) == Words{"merged"});
}

TEST_CASE("a stack's usual schedule takes the place of what nobody chose", "[schedule]") {
  DataFiles files(GRADCAST_SOURCE_DIR);
  CHECK(to_text(schedule_of(with_usual_schedule(of("ddp-nccl"), files))) == "ddp, overlapped");
  Request chosen = of("ddp-nccl");
  chosen.fusion = parse_fusion("layer");
  chosen.fusion_given = true;
  CHECK(to_text(schedule_of(with_usual_schedule(chosen, files))) == "layer, overlapped");
  chosen.overlap_given = true;
  CHECK(to_text(schedule_of(with_usual_schedule(chosen, files))) == "layer");
  CHECK(to_text(schedule_of(with_usual_schedule(of(""), files))) == "merged");
}

TEST_CASE("DDP broadcasts buffers unless somebody says otherwise", "[schedule]") {
  DataFiles files(GRADCAST_SOURCE_DIR);
  Request asked = of("ddp-nccl");
  CHECK(with_usual_schedule(asked, files).broadcast_buffers == true);
  asked.broadcast_buffers = false;
  CHECK(with_usual_schedule(asked, files).broadcast_buffers == false);
  CHECK(with_usual_schedule(of("horovod-nccl"), files).broadcast_buffers == false);
  CHECK_FALSE(with_usual_schedule(of(""), files).broadcast_buffers);
}

// ProcessGroupGloo has two worker threads, and NCCL one stream.
TEST_CASE("two collectives run at a time over Gloo unless somebody says otherwise", "[schedule]") {
  DataFiles files(GRADCAST_SOURCE_DIR);
  Request asked = of("ddp-gloo");
  CHECK(with_usual_schedule(asked, files).network_streams == 2);
  asked.network_streams = 1;
  CHECK(with_usual_schedule(asked, files).network_streams == 1);
  CHECK(with_usual_schedule(of("ddp-nccl"), files).network_streams == 1);
  CHECK_FALSE(with_usual_schedule(of(""), files).network_streams);
  // NCCL's collectives beside Gloo's costs are NCCL's still.
  Request other = of("ddp-gloo");
  other.collective = "nccl";
  CHECK_FALSE(with_usual_schedule(other, files).network_streams);
}

TEST_CASE("a schedule does not win by what nobody saw of its software", "[schedule]") {
  CHECK(better_choice(2s, "", 3s, ""));
  CHECK_FALSE(better_choice(3s, "", 2s, ""));
  CHECK(better_choice(3s, "", 2s, "encode_per_call of dgc"));  // one term is unknown
  CHECK_FALSE(better_choice(2s, "a,b", 3s, "a"));              // two against one
}
