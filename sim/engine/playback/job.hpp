// Plays one job's plan: streams, queues, and who waits for whom. The transport decides how long a
// collective takes.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <queue>
#include <vector>

#include "sim/engine/engine.hpp"
#include "sim/engine/playback/active_periods.hpp"
#include "sim/engine/playback/drag.hpp"
#include "sim/engine/playback/event_queue.hpp"
#include "sim/inputs/world.hpp"
#include "sim/plan/plan.hpp"

namespace gradcast {

class Job;

/// Carries out collectives. A rank class comes to a collective by enter(). When the class is
/// through, the transport calls Job::leave.
class MessageTransport {
 public:
  virtual ~MessageTransport() = default;
  virtual void enter(Job& job, std::size_t step, std::size_t rank_class) = 0;
};

/// Ranks that behave alike: one is played for all.
struct RankClass {
  double speed = 1;
  std::vector<RankEvent> events{};
};

/// The class of each rank.
struct RankClasses {
  std::vector<RankClass> classes;
  std::vector<std::size_t> class_of;  // by rank

  /// Ranks in as few classes as possible.
  static RankClasses grouped(const Plan& plan, const World& world);
  /// Each rank is a class of its own.
  static RankClasses separate(const Plan& plan, const World& world);
};

class Job {
 public:
  /// All arguments must outlive it.
  Job(const Plan& plan, const RankClasses& ranks, EventQueue& events, MessageTransport& transport);

  void start();
  void leave(std::size_t step, std::size_t rank_class);

  const Plan& plan() const { return plan_; }
  std::size_t classes() const { return players_.size(); }
  bool done() const { return unfinished_ == 0; }
  /// The time at which all that a step waits for was done on all ranks. The step must have begun.
  Seconds ready_since(std::size_t step) const;
  /// The first step that some rank never finished, in words; "" if all is done.
  std::string stuck(const RankClasses& ranks) const;
  /// Start and end of every step of every class. May be called once.
  std::vector<std::vector<Interval>> take_record() { return std::move(record_); }

 private:
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

  /// The step that a stream of a rank is computing.
  struct Running {
    std::size_t step = kNone;
    Seconds left{0};  // at speed 1
    Seconds since{0};
    double rate = 0;
    unsigned turn = 0;  // an end that was dated before the rate changed has another
  };

  /// A queue with the earliest step of the plan on top.
  using FirstOf =
      std::priority_queue<std::size_t, std::vector<std::size_t>, std::greater<std::size_t>>;

  /// A rank class's place in the plan.
  struct Player {
    std::vector<bool> done;                // by step
    std::vector<std::uint32_t> waits_for;  // by step: how many of `after` are not done
    FirstOf side_ready;                    // steps of Side that can begin
    FirstOf to_wait;                       // steps of Clock that can begin
    FirstOf to_announce;                   // collectives of a coordinated queue that can begin
    std::vector<std::size_t> called;       // to collectives while it paused
    double event_speed = 1;                // of the events that go on
    Running compute;
    Running side;
    std::size_t next_compute = 0;           // of compute_
    std::size_t launch_awaited = kNone;     // the step for whose launch it comes back
    std::vector<std::size_t> next_network;  // by queue of network_: in it
    std::vector<int> in_flight_of;          // by queue: collectives that it is in
    int in_flight = 0;                      // in all
  };

  static bool ready(const Player& player, std::size_t step) { return player.waits_for[step] == 0; }
  void sort_in(Player& player, std::size_t step) const;
  void go_on(std::size_t id);
  bool begin_compute(std::size_t id);
  bool launched(std::size_t id, std::size_t step);
  bool begin_side(std::size_t id);
  bool begin_wait(std::size_t id);
  bool begin_collective(std::size_t id);
  bool begin_collective_of(std::size_t id, std::size_t queue);
  void begin(std::size_t id, Running& running, std::size_t step);
  void finish(std::size_t id, Running& running);
  void mark_done(std::size_t id, std::size_t step);
  double rate_of(std::size_t id, std::size_t step) const;
  /// Called when something changed that decides how fast the rank computes.
  void change_rates(std::size_t id);
  void change_rate(std::size_t id, Running& running);
  void date_end(std::size_t id, Running& running);
  void enter(std::size_t id, std::size_t step);
  void hand_over(std::size_t id, std::size_t step);
  void left(std::size_t step, std::size_t id);
  /// For a coordinated queue: gives a free stream a collective for which all ranks are ready. It
  /// does so after all that is due now has happened, so that the best of those that become ready
  /// together goes first.
  void dispatch_soon();
  void dispatch();
  void follow_events(std::size_t id, const RankClass& rank_class);

  const Plan& plan_;
  const RankClasses& ranks_;
  EventQueue& events_;
  MessageTransport& transport_;
  std::vector<std::size_t> compute_;                 // steps of the plan, by stream
  std::vector<std::vector<std::size_t>> network_;    // a queue for each communicator
  std::vector<std::size_t> queue_of_;                // by step, of collectives: which of network_
  std::vector<std::vector<std::size_t>> followers_;  // by step: those that come after it
  std::vector<Player> players_;
  std::vector<Drag> drags_;            // by class: of its computing on its collectives
  std::vector<ActivePeriods> active_;  // by class: of its events
  // For a coordinated queue:
  std::vector<std::size_t> ready_ranks_;  // by step: how many classes could begin it
  std::vector<std::size_t> eligible_;     // steps all could begin
  int dispatched_ = 0;
  bool dispatch_dated_ = false;
  std::vector<std::size_t> still_in_;  // by step: classes that have not left it

  std::size_t unfinished_ = 0;  // steps of all classes
  std::vector<std::vector<Interval>> record_;
};

}  // namespace gradcast
