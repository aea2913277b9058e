#!/usr/bin/env bash
# A real Slurm on this machine, of four emulated nodes, runs a sweep's job array; one node is lost in the
# middle. What comes together is what one process would have written, byte for byte.
# usage: slurm_test.sh GRADCAST. Exit code 77: there is no Slurm here.
set -euo pipefail
gradcast=$1
for program in slurmctld slurmd sbatch squeue scontrol; do
  command -v "$program" >/dev/null || { echo "skipped: no $program"; exit 77; }
done

work=$(mktemp -d)
shards=$work/100%j  # Slurm would put a number there, were the sign not doubled
export SLURM_CONF=$work/slurm.conf
host=$(hostname -s)
user=$(id -un)
port=$((20000 + $$ % 20000))

fail() {
  echo "FAILED: $*" >&2
  { tail -n 8 "$work"/log/slurmd.n1.log; tail -n 20 "$work"/log/slurmctld.log "$shards"/logs/*.log; } >&2 2>/dev/null || true
  exit 1
}

# A node's daemon, its tasks (they know their node) and the daemon's children that watch over them.
kill_node() {
  local entry pid parent doomed=()
  doomed+=("$(cat "$work/run/slurmd.$1.pid")")
  for entry in /proc/[0-9]*; do
    pid=${entry#/proc/}
    tr '\0' '\n' 2>/dev/null <"$entry/environ" | grep -qx "SLURMD_NODENAME=$1" || continue
    parent=$(ps -o ppid= -p "$pid" | tr -d ' ')
    [ "$(ps -o comm= -p "$parent" 2>/dev/null)" != slurmstepd ] || doomed+=("$parent")
    doomed+=("$pid")
  done
  kill -9 "${doomed[@]}" 2>/dev/null || true
}

stop_all() {
  local file
  scancel --user "$user" 2>/dev/null || true
  for file in "$work"/run/slurmd.*.pid "$work"/run/slurmctld.pid; do
    [ -f "$file" ] && kill "$(cat "$file")" 2>/dev/null || true
  done
  sleep 1
  for file in "$work"/run/slurmd.*.pid "$work"/run/slurmctld.pid; do
    [ -f "$file" ] && kill -9 "$(cat "$file")" 2>/dev/null || true
  done
  rm -rf "$work"
}
trap stop_all EXIT

mkdir -p "$work"/{state,log,run}
cat >"$SLURM_CONF" <<CONF
ClusterName=loop
SlurmctldHost=$host(127.0.0.1)
SlurmUser=$user
SlurmdUser=$user
AuthType=auth/none
CredType=cred/none
SlurmctldPort=$port
SlurmctldPidFile=$work/run/slurmctld.pid
SlurmdPidFile=$work/run/slurmd.%n.pid
StateSaveLocation=$work/state
SlurmdSpoolDir=$work/spool.%n
SlurmctldLogFile=$work/log/slurmctld.log
SlurmdLogFile=$work/log/slurmd.%n.log
SlurmdParameters=config_overrides
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SwitchType=switch/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerType=sched/backfill
SchedulerParameters=sched_min_interval=0,batch_sched_delay=0,sched_interval=1,bf_interval=1
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/none
ReturnToService=2
SlurmdTimeout=10
NodeName=n[1-4] NodeHostname=$host NodeAddr=127.0.0.1 Port=[$((port + 1))-$((port + 4))] CPUs=1 State=UNKNOWN
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP
CONF
slurmctld -c -f "$SLURM_CONF"
for node in n1 n2 n3 n4; do slurmd -c -f "$SLURM_CONF" -N "$node"; done
for _ in $(seq 30); do
  [ "$(sinfo -h -N -o %N -t idle 2>/dev/null | wc -l)" -eq 4 ] && break
  sleep 1
done
[ "$(sinfo -h -N -o %N -t idle | wc -l)" -eq 4 ] || fail "four nodes were to be idle: $(sinfo 2>&1)"

sweep=(--model resnet-50,vgg-16 --compressor all --nodes 1..16 --nic-bandwidth 1Gbps,10Gbps)
"$gradcast" sweep "${sweep[@]}" -q -o "$work/alone.csv"
"$gradcast" sweep "${sweep[@]}" -q -o "$work/alone.json"

# Slow enough that a node is lost in the middle of its task.
cat >"$work/slow" <<SLOW
#!/bin/sh
case " \$* " in *" --shard "*) sleep 4 ;; esac
exec "$gradcast" "\$@"
SLOW
chmod +x "$work/slow"
export GRADCAST=$work/slow
"$gradcast" sweep "${sweep[@]}" --emit-slurm "$shards" --shards 10
sh "$shards/submit.sh"

lost=""
for _ in $(seq 60); do
  if squeue -h -t running -o %N | grep -qx n2; then lost=yes; break; fi
  sleep 0.5
done
[ "$lost" = yes ] || fail "n2 never had a task"
sleep 1
kill_node n2
echo "n2 is lost"

requeued=no
for second in $(seq 240); do
  # Slurm lets requeued tasks wait for two minutes; nobody here needs that.
  for job in $(squeue -h -r -t pending -o '%i %r' | awk '$2 == "BeginTime" { print $1 }'); do
    requeued=yes
    scontrol update "JobId=$job" StartTime=now 2>/dev/null || true
  done
  [ -z "$(squeue -h)" ] && break
  sleep 1
done
[ -z "$(squeue -h)" ] || fail "jobs are left: $(squeue)"
[ "$requeued" = yes ] || fail "no task was requeued, so no node was lost"
cmp "$work/alone.csv" "$shards/result.csv" || fail "the merged CSV is another"
cmp "$work/alone.json" "$shards/result.json" || fail "the merged JSON is another"
[ "$(ls "$shards"/logs | grep -c '_[0-9]*\.log$')" -eq 10 ] || fail "not ten logs: $(ls "$shards"/logs)"
echo "merged: the same bytes, after $second s"

rm "$shards"/shard-4-of-10.jsonl
status=0
"$gradcast" sweep merge "$shards" -o "$work/none.csv" 2>"$work/complaint" || status=$?
[ "$status" -eq 1 ] || fail "a missing shard was to fail the merge: $status"
grep -q "shard 4/10 lacks" "$work/complaint" || fail "not named: $(cat "$work/complaint")"
[ ! -e "$work/none.csv" ] || fail "half a result was written"
echo "missing: $(cat "$work/complaint")"
