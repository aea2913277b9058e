#include "sim/engine/playback/event_queue.hpp"

#include <array>
#include <catch2/catch.hpp>
#include <memory>
#include <string>

using namespace gradcast;
using namespace std::chrono_literals;

TEST_CASE("events happen in order of their dates", "[event-queue]") {
  EventQueue events;
  std::string done;
  events.at(3s, [&] { done += "c"; });
  events.at(1s, [&] { done += "a"; });
  events.at(2s, [&] { done += "b"; });
  CHECK(events.next() == 1s);
  events.run();
  CHECK(done == "abc");
  CHECK(events.now() == 3s);
  CHECK(events.empty());
}

TEST_CASE("what is due together happens in the order it was put in", "[event-queue]") {
  EventQueue events;
  std::string done;
  for (const char name : std::string("abcdefghij"))
    events.at(1s, [&, name] {
      done += name;
      if (name == 'b') events.in(0s, [&] { done += "!"; });  // after all that was due before it
    });
  events.at(0.5s, [&] { done += "-"; });
  events.run();
  CHECK(done == "-abcdefghij!");
}

TEST_CASE("what should have happened before happens now", "[event-queue]") {
  EventQueue events;
  Seconds when{0};
  events.at(2s, [&] { events.at(1s, [&] { when = events.now(); }); });
  events.run();
  CHECK(when == 2s);
}

TEST_CASE("time goes to a date, and what is due by then has happened", "[event-queue]") {
  EventQueue events;
  int done = 0;
  events.at(1s, [&] { ++done; });
  events.at(2s, [&] {
    ++done;
    CHECK(events.now() == 2s);
    events.in(1s, [&] { ++done; });
  });
  events.at(4s, [&] { ++done; });
  events.advance_to(3s);
  CHECK(done == 3);
  CHECK(events.now() == 3s);
  events.advance_to(1s);  // it does not run backwards
  CHECK(events.now() == 3s);
  CHECK(events.next() == 4s);
}

TEST_CASE("whoever keeps the clock hears of what is due before all else", "[event-queue]") {
  EventQueue events;
  std::string heard;
  events.on_earlier = [&](Seconds when) { heard += std::to_string(int(when.count())); };
  events.at(5s, [] {});
  events.at(7s, [] {});
  events.at(3s, [] {});
  events.at(3s, [] {});
  events.at(4s, [] {});
  CHECK(heard == "53");
}

// Dates that come and go among others: more of them than the queue remembers at a time.
TEST_CASE("events of one date keep their order among many dates", "[event-queue]") {
  EventQueue events;
  std::string done;
  for (const char name : std::string("abcdefgh")) {
    events.at(1s, [&, name] { done += name; });
    for (int other = 2; other < 12; ++other) events.at(Seconds{static_cast<double>(other)}, [] {});
  }
  events.run();
  CHECK(done == "abcdefgh");
}

TEST_CASE("an action may hold more than fits into it, and lets go of it", "[event-queue]") {
  const auto shared = std::make_shared<int>(7);
  {
    EventQueue events;
    int seen = 0;
    const std::array<int, 30> much{1, 2, 3};
    events.at(1s, [&seen, shared] { seen += *shared; });
    events.at(1s, [&seen, much] { seen += much[2]; });
    events.at(2s, [&seen, shared] { seen += 100; });
    CHECK(shared.use_count() == 3);
    events.advance_to(1s);
    CHECK(seen == 10);
    CHECK(shared.use_count() == 2);  // the event at 2 s has not happened
  }
  CHECK(shared.use_count() == 1);
}
