#include "sim/engine_simgrid/iteration.hpp"

#include <algorithm>
#include <simgrid/kernel/Timer.hpp>
#include <stdexcept>
#include <string>

#include "sim/engine_simgrid/compat.hpp"

namespace sg4 = simgrid::s4u;

namespace gradcast {
namespace {
Seconds now() { return Seconds{sg4::Engine::get_clock()}; }
}  // namespace

SimulatedIteration::SimulatedIteration(const Plan& plan, std::vector<sg4::Host*> hosts)
    : plan_(plan), hosts_(std::move(hosts)), ranks_(hosts_.size()) {
  record_.steps.assign(hosts_.size(), std::vector<Interval>(plan.steps.size()));
  for (std::size_t i = 0; i < plan.steps.size(); ++i)
    (plan.steps[i].kind == StepKind::Collective ? network_ : compute_).push_back(i);
  for (Rank& rank : ranks_) {
    rank.done.assign(plan.steps.size(), false);
    for (std::size_t entry = 0; entry < network_.size(); ++entry)
      rank.received.emplace_back(rounds(entry), false);
  }
}

RunRecord SimulatedIteration::run(const sg4::Engine& engine) {
  // noexcept: an exception that passes through SimGrid is undefined behaviour in 3.32, this is an
  // abort
  simgrid_compat::on_message_completion([this](const sg4::Comm& comm) noexcept { arrived(comm); });
  for (std::size_t id = 0; id < ranks_.size(); ++id) go_on(id);
  engine.run();
  // A run that is stuck only ends, and SimGrid would report a plausible, wrong time.
  for (std::size_t id = 0; id < ranks_.size(); ++id)
    for (std::size_t i = 0; i < plan_.steps.size(); ++i)
      if (!ranks_[id].done[i])
        throw std::logic_error("deadlock: rank " + std::to_string(id) + " never finished '" +
                               plan_.steps[i].name + "'");
  return std::move(record_);
}

std::size_t SimulatedIteration::rounds(std::size_t entry) const {
  return static_cast<std::size_t>(plan_.steps[network_[entry]].collective->rounds(plan_.ranks()));
}

bool SimulatedIteration::ready(const Rank& rank, std::size_t step) const {
  const auto& after = plan_.steps[step].after;
  return std::all_of(after.begin(), after.end(),
                     [&](std::size_t before) { return rank.done[before]; });
}

/// Begins whatever the rank can begin now.
void SimulatedIteration::go_on(std::size_t id) {
  while (begin_compute(id) || begin_collective(id)) {
  }
}

bool SimulatedIteration::begin_compute(std::size_t id) {
  Rank& rank = ranks_[id];
  if (rank.computes || rank.computing == compute_.size()) return false;
  const std::size_t step = compute_[rank.computing];
  if (!ready(rank, step)) return false;
  rank.computes = true;
  record_.steps[id][step].start = now();
  const Seconds duration = plan_.steps[step].duration / plan_.rank_speeds[id];
  if (duration > Seconds{0})
    simgrid::kernel::timer::Timer::set((now() + duration).count(), [this, id] {
      end_compute(id);
      go_on(id);
    });
  else
    end_compute(id);
  return true;
}

void SimulatedIteration::end_compute(std::size_t id) {
  Rank& rank = ranks_[id];
  const std::size_t step = compute_[rank.computing++];
  record_.steps[id][step].end = now();
  rank.done[step] = true;
  rank.computes = false;
}

bool SimulatedIteration::begin_collective(std::size_t id) {
  Rank& rank = ranks_[id];
  if (rank.communicates || rank.communicating == network_.size()) return false;
  const std::size_t step = network_[rank.communicating];
  if (!ready(rank, step)) return false;
  rank.communicates = true;
  rank.round = 0;
  record_.steps[id][step].start = now();
  if (rounds(rank.communicating) == 0)
    end_collective(id);
  else
    send(id);
  return true;
}

void SimulatedIteration::end_collective(std::size_t id) {
  Rank& rank = ranks_[id];
  const std::size_t step = network_[rank.communicating++];
  record_.steps[id][step].end = now();
  rank.done[step] = true;
  rank.communicates = false;
}

void SimulatedIteration::send(std::size_t id) {
  Rank& rank = ranks_[id];
  const PlanStep& step = plan_.steps[network_[rank.communicating]];
  const Step action = step.collective->step(static_cast<int>(id), static_cast<int>(rank.round),
                                            plan_.ranks(), step.payload);
  const auto to = static_cast<std::size_t>(action.send_to);
  rank.sent = false;
  Message& message = rank.messages[rank.sends++ % 2];
  message = {id, to, rank.communicating, rank.round, sg4::Comm::sendto_init()};
  // A message of no bytes would never start; one byte is as good as its latency.
  message.comm->set_payload_size(
      static_cast<std::uint64_t>(std::max<std::int64_t>(1, action.send.count)));
  message.comm->set_data(&message);  // before set_destination, which starts it
  message.comm->set_source(hosts_[id])->set_destination(hosts_[to]);
  ++record_.flows_simulated;
}

void SimulatedIteration::arrived(const sg4::Comm& comm) {
  const Message& message = *comm.get_data<Message>();
  const std::size_t from = message.from;
  const std::size_t to = message.to;
  ranks_[to].received[message.entry][message.round] = true;
  ranks_[from].sent = true;
  next_round(to);
  next_round(from);
}

/// Goes to the rank's next round, or out of its collective, if it has sent and received this one's.
void SimulatedIteration::next_round(std::size_t id) {
  Rank& rank = ranks_[id];
  if (!rank.communicates || !rank.sent || !rank.received[rank.communicating][rank.round]) return;
  if (++rank.round < rounds(rank.communicating)) {
    send(id);
  } else {
    end_collective(id);
    go_on(id);
  }
}

}  // namespace gradcast
