#include "sim/engine/playback/job.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "sim/plan/merging.hpp"

namespace gradcast {
namespace {

/// Overhead is the host's.
bool uses_gpu(StepKind kind) { return kind != StepKind::Overhead; }

}  // namespace

RankClasses RankClasses::separate(const Plan& plan, const World& world) {
  RankClasses ranks;
  for (const double speed : plan.rank_speeds) {
    ranks.class_of.push_back(ranks.classes.size());
    ranks.classes.push_back({speed, {}});
  }
  for (const RankEvent& event : world.ranks)
    ranks.classes.at(static_cast<std::size_t>(event.rank)).events.push_back(event);
  return ranks;
}

RankClasses RankClasses::grouped(const Plan& plan, const World& world) {
  std::map<std::size_t, std::vector<RankEvent>> events;  // by rank
  for (const RankEvent& event : world.ranks)
    events[static_cast<std::size_t>(event.rank)].push_back(event);
  RankClasses ranks;
  ranks.class_of.reserve(plan.rank_speeds.size());
  std::map<double, std::size_t> undisturbed;  // class by speed
  for (std::size_t rank = 0; rank < plan.rank_speeds.size(); ++rank) {
    const double speed = plan.rank_speeds[rank];
    std::size_t its_class = ranks.classes.size();
    const auto its = events.find(rank);
    if (its == events.end())  // a rank with events is a class of its own
      its_class = undisturbed.try_emplace(speed, its_class).first->second;
    if (its_class == ranks.classes.size())
      ranks.classes.push_back(
          {speed, its == events.end() ? std::vector<RankEvent>{} : its->second});
    ranks.class_of.push_back(its_class);
  }
  return ranks;
}

Job::Job(const Plan& plan, const RankClasses& ranks, EventQueue& events,
         MessageTransport& transport)
    : plan_(plan), ranks_(ranks), events_(events), transport_(transport) {
  const std::size_t steps = plan.steps.size();
  followers_.resize(steps);
  Player at_start;
  at_start.done.assign(steps, false);
  queue_of_.resize(steps);
  std::map<int, std::size_t> queues;  // by communicator
  for (std::size_t i = 0; i < steps; ++i) {
    const PlanStep& step = plan.steps[i];
    if (step.kind == StepKind::Collective) {
      queue_of_[i] = queues.try_emplace(step.communicator, network_.size()).first->second;
      network_.resize(queues.size());
      network_[queue_of_[i]].push_back(i);
    } else if (step.stream == Stream::Compute) {
      compute_.push_back(i);
    }
    for (const std::size_t before : step.after) followers_[before].push_back(i);
    at_start.waits_for.push_back(static_cast<std::uint32_t>(step.after.size()));
    if (step.after.empty()) sort_in(at_start, i);
  }
  at_start.next_network.resize(network_.size());
  at_start.in_flight_of.resize(network_.size());
  const std::size_t classes = ranks.classes.size();
  players_.assign(classes, at_start);
  drags_.reserve(classes);
  for (std::size_t id = 0; id < classes; ++id) drags_.emplace_back(plan.computing_slowdown, events);
  active_.resize(classes);
  record_.assign(classes, std::vector<Interval>(steps));
  still_in_.assign(steps, classes);
  unfinished_ = classes * steps;
  if (plan.coordinated) ready_ranks_.assign(steps, 0);
}

void Job::start() {
  for (std::size_t id = 0; id < players_.size(); ++id) follow_events(id, ranks_.classes[id]);
  // After the events of the same date: a rank that is paused from the start does not start.
  events_.in(Seconds{0}, [this] {
    for (std::size_t id = 0; id < players_.size(); ++id) go_on(id);
  });
}

std::string Job::stuck(const RankClasses& ranks) const {
  for (std::size_t id = 0; id < players_.size(); ++id)
    for (std::size_t i = 0; i < plan_.steps.size(); ++i) {
      if (players_[id].done[i]) continue;
      const auto rank = std::find(ranks.class_of.begin(), ranks.class_of.end(), id);
      return "rank " + std::to_string(rank - ranks.class_of.begin()) + " never finished '" +
             plan_.steps[i].name + "'";
    }
  return {};
}

Seconds Job::ready_since(std::size_t step) const {
  Seconds since{0};
  for (const auto& steps : record_)
    for (const std::size_t before : plan_.steps[step].after)
      since = std::max(since, steps[before].end);
  return since;
}

// ---- what a rank does next ----

/// Puts a step that waits for nothing any more into its queue. Steps of streams that run in order
/// wait in the stream.
void Job::sort_in(Player& player, std::size_t step) const {
  const PlanStep& planned = plan_.steps[step];
  if (planned.kind == StepKind::Collective) {
    if (plan_.coordinated) player.to_announce.push(step);
  } else if (planned.stream == Stream::Side) {
    player.side_ready.push(step);
  } else if (planned.stream == Stream::Clock) {
    player.to_wait.push(step);
  }
}

/// Begins whatever the rank can begin now.
void Job::go_on(std::size_t id) {
  Player& player = players_[id];
  if (player.event_speed == 0) return;
  for (const std::size_t step : std::exchange(player.called, {})) enter(id, step);
  while (begin_compute(id) || begin_side(id) || begin_wait(id) || begin_collective(id)) {
  }
}

bool Job::begin_compute(std::size_t id) {
  Player& player = players_[id];
  if (player.compute.step != kNone || player.next_compute == compute_.size()) return false;
  const std::size_t step = compute_[player.next_compute];
  if (!ready(player, step) || !launched(id, step)) return false;
  ++player.next_compute;
  begin(id, player.compute, step);
  return true;
}

/// If the host has not launched the step yet, the rank comes back when it has.
bool Job::launched(std::size_t id, std::size_t step) {
  const Seconds date = plan_.steps[step].launch;
  if (events_.now() >= date) return true;
  Player& player = players_[id];
  if (std::exchange(player.launch_awaited, step) != step)
    events_.at(date, [this, id] { go_on(id); });
  return false;
}

bool Job::begin_side(std::size_t id) {
  Player& player = players_[id];
  if (player.side.step != kNone || player.side_ready.empty()) return false;
  const std::size_t step = player.side_ready.top();
  player.side_ready.pop();
  begin(id, player.side, step);
  return true;
}

/// Its end is the same number, to the last bit, for all that wait for the same cycle.
bool Job::begin_wait(std::size_t id) {
  Player& player = players_[id];
  if (player.to_wait.empty()) return false;
  const std::size_t step = player.to_wait.top();
  player.to_wait.pop();
  const Seconds since = record_[id][plan_.clock].start;
  record_[id][step].start = events_.now();
  events_.at(since + end_of_cycle(events_.now() - since, plan_.steps[step].duration),
             [this, id, step] {
               record_[id][step].end = events_.now();
               mark_done(id, step);
               go_on(id);
             });
  return true;
}

bool Job::begin_collective(std::size_t id) {
  Player& player = players_[id];
  if (plan_.coordinated) {
    if (player.to_announce.empty()) return false;
    const std::size_t step = player.to_announce.top();
    player.to_announce.pop();
    if (++ready_ranks_[step] == players_.size()) {
      eligible_.push_back(step);
      dispatch_soon();
    }
    return true;
  }
  for (std::size_t queue = 0; queue < network_.size(); ++queue)
    if (begin_collective_of(id, queue)) return true;
  return false;
}

bool Job::begin_collective_of(std::size_t id, std::size_t queue) {
  Player& player = players_[id];
  const std::vector<std::size_t>& steps = network_[queue];
  std::size_t& next = player.next_network[queue];
  if (next == steps.size()) return false;
  const std::size_t step = steps[next];
  if (player.in_flight_of[queue] == plan_.streams_of(plan_.steps[step].communicator)) return false;
  if (!ready(player, step)) return false;
  ++next;
  enter(id, step);
  return true;
}

void Job::dispatch_soon() {
  if (std::exchange(dispatch_dated_, true)) return;
  events_.in(Seconds{0}, [this] {
    dispatch_dated_ = false;
    dispatch();
  });
}

void Job::dispatch() {
  while (dispatched_ < plan_.network_streams && !eligible_.empty()) {
    const auto first =
        std::max_element(eligible_.begin(), eligible_.end(), [&](std::size_t a, std::size_t b) {
          const int mine = plan_.steps[a].priority;
          const int other = plan_.steps[b].priority;
          return mine < other || (mine == other && a > b);  // of equals the plan's first
        });
    const std::size_t step = *first;
    eligible_.erase(first);
    ++dispatched_;
    for (std::size_t id = 0; id < players_.size(); ++id)
      if (players_[id].event_speed == 0)
        players_[id].called.push_back(step);  // comes when its pause is over
      else
        enter(id, step);
  }
}

// ---- collectives ----

void Job::enter(std::size_t id, std::size_t step) {
  ++players_[id].in_flight;
  ++players_[id].in_flight_of[queue_of_[step]];
  record_[id][step].start = events_.now();
  change_rates(id);
  const Seconds software = plan_.steps[step].duration;
  if (software > Seconds{0})
    events_.in(software, [this, id, step] { hand_over(id, step); });
  else
    hand_over(id, step);
}

void Job::hand_over(std::size_t id, std::size_t step) {
  drags_[id].begin(step);
  transport_.enter(*this, step, id);
}

void Job::leave(std::size_t step, std::size_t id) {
  drags_[id].end(step, [this, step, id] { left(step, id); });
}

void Job::left(std::size_t step, std::size_t id) {
  record_[id][step].end = events_.now();
  --players_[id].in_flight;
  --players_[id].in_flight_of[queue_of_[step]];
  mark_done(id, step);
  change_rates(id);
  if (--still_in_[step] == 0 && plan_.coordinated) {
    --dispatched_;
    dispatch_soon();
  }
  go_on(id);
}

// ---- computing ----

void Job::begin(std::size_t id, Running& running, std::size_t step) {
  running.step = step;
  running.left = plan_.steps[step].duration;
  running.since = events_.now();
  running.rate = rate_of(id, step);
  record_[id][step].start = events_.now();
  if (&running == &players_[id].side)
    change_rate(id, players_[id].compute);
  else
    drags_[id].computing(uses_gpu(plan_.steps[step].kind));
  if (running.left > Seconds{0})
    date_end(id, running);
  else
    finish(id, running);
}

void Job::finish(std::size_t id, Running& running) {
  record_[id][running.step].end = events_.now();
  mark_done(id, running.step);
  running.step = kNone;
  ++running.turn;
  if (&running == &players_[id].side)
    change_rate(id, players_[id].compute);
  else
    drags_[id].computing(false);
}

void Job::mark_done(std::size_t id, std::size_t step) {
  Player& player = players_[id];
  player.done[step] = true;
  --unfinished_;
  for (const std::size_t next : followers_[step])
    if (--player.waits_for[next] == 0) sort_in(player, next);
}

double Job::rate_of(std::size_t id, std::size_t step) const {
  const Player& player = players_[id];
  const StepKind kind = plan_.steps[step].kind;
  double rate = (uses_gpu(kind) ? ranks_.classes[id].speed : 1) * player.event_speed;
  if (kind != StepKind::Backward) return rate;
  const bool encodes =
      player.side.step != kNone && plan_.steps[player.side.step].kind == StepKind::Encode;
  if (encodes) rate /= 1 + plan_.encode_slowdown;
  if (player.in_flight > 0) rate /= 1 + plan_.communication_slowdown;
  return rate;
}

void Job::change_rates(std::size_t id) {
  change_rate(id, players_[id].compute);
  change_rate(id, players_[id].side);
}

void Job::change_rate(std::size_t id, Running& running) {
  if (running.step == kNone) return;
  const double rate = rate_of(id, running.step);
  if (rate == running.rate) return;
  running.left -= running.rate * (events_.now() - running.since);
  running.left = std::max(running.left, Seconds{0});
  running.since = events_.now();
  running.rate = rate;
  date_end(id, running);
}

void Job::date_end(std::size_t id, Running& running) {
  const unsigned turn = ++running.turn;
  if (running.rate == 0) return;
  const bool on_side = &running == &players_[id].side;
  events_.in(running.left / running.rate, [this, id, turn, on_side] {
    Running& ending = on_side ? players_[id].side : players_[id].compute;
    if (ending.turn != turn) return;
    finish(id, ending);
    go_on(id);
  });
}

void Job::follow_events(std::size_t id, const RankClass& rank_class) {
  for (const RankEvent& event : rank_class.events) active_[id].add(event.period);
  for (const RankEvent& event : rank_class.events) {
    // The product is made anew at each change, so that nothing is left of a period that is over.
    const auto update = [this, id] {
      double speed = 1;
      for (const std::size_t number : active_[id].at(events_.now()))
        speed *= ranks_.classes[id].events[number].speed;
      players_[id].event_speed = speed;
      change_rates(id);
      go_on(id);
    };
    events_.at(event.period.at, update);
    if (event.period.lasting) events_.at(event.period.at + *event.period.lasting, update);
  }
}

}  // namespace gradcast
