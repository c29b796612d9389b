#!/usr/bin/env bash
# A real SLURM with two nodes on this machine, for the tests of tests/cluster; needs root and Debian's packages.
#
#   slurm.sh install         the packages (once a machine)
#   slurm.sh start FOLDER    controller and nodes, with their state in FOLDER; waits until both nodes are idle
#   slurm.sh node FOLDER N   start node N (n1, n2) again
#   slurm.sh kill FOLDER N   kill node N as if its power had gone, with everything that runs on it
#   slurm.sh stop FOLDER     end what `start` started, by the process ids that it noted
set -euo pipefail

install_packages() {
    command -v slurmctld >/dev/null && command -v munged >/dev/null && return
    export DEBIAN_FRONTEND=noninteractive
    apt-get update -qq -o Acquire::Retries=3
    apt-get install -y -qq -o Acquire::Retries=3 --no-install-recommends slurm-wlm munge >/dev/null
}

configuration() {
    cat <<CONF
ClusterName=ci
SlurmctldHost=localhost
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=cred_expire=5,socket=$D/run/munge.socket
MpiDefault=none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/linux
JobAcctGatherFrequency=task=2
JobAcctGatherParams=OverMemoryKill
SlurmdParameters=config_overrides
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
ReturnToService=2
JobRequeue=1
SlurmctldPort=6817
SlurmdTimeout=8
KillWait=2
MinJobAge=600
SchedulerParameters=sched_interval=2,bf_interval=2
StateSaveLocation=$D/state
SlurmdSpoolDir=$D/spool/%n
SlurmctldPidFile=$D/run/slurmctld.pid
SlurmdPidFile=$D/run/slurmd.%n.pid
SlurmctldLogFile=$D/log/slurmctld.log
SlurmdLogFile=$D/log/slurmd.%n.log
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/filetxt
JobCompLoc=$D/log/jobcomp.txt
NodeName=n1 NodeHostname=localhost NodeAddr=127.0.0.1 Port=17001 CPUs=4 Boards=1 SocketsPerBoard=1 CoresPerSocket=4 ThreadsPerCore=1 RealMemory=6000 State=UNKNOWN
NodeName=n2 NodeHostname=localhost NodeAddr=127.0.0.1 Port=17002 CPUs=4 Boards=1 SocketsPerBoard=1 CoresPerSocket=4 ThreadsPerCore=1 RealMemory=6000 State=UNKNOWN
PartitionName=main Nodes=n[1-2] Default=YES MaxTime=INFINITE State=UP DefMemPerCPU=500
CONF
}

# A node in a process namespace of its own: what kills its first process kills all that runs on it.
node() {
    setsid unshare --pid --fork --kill-child --mount-proc slurmd -D -N "$1" </dev/null >>"$D/log/$1.out" 2>&1 &
    echo $! >"$D/run/node.$1.pid"
}

wait_for_nodes() {
    for _ in $(seq 60); do
        [ "$(sinfo -h -N -t idle -o %N 2>/dev/null | wc -l)" = 2 ] && return
        sleep 0.5
    done
    echo "slurm.sh: the nodes did not come up in 30 s; see $D/log" >&2
    return 1
}

start() {
    mkdir -p "$D"/{state,spool/n1,spool/n2,log,run}
    chmod 755 "$D" "$D/run"
    configuration >"$D/slurm.conf"
    # The job steps look for the configuration at its one usual place, which may be somebody's.
    # One of ours is a link, and of a run that was killed if its controller is gone.
    local left
    left=$(readlink /etc/slurm/slurm.conf || true)
    if [ -n "$left" ] && ! kill -0 "$(cat "$(dirname "$left")/run/slurmctld.pid" 2>/dev/null || echo none)" 2>/dev/null; then
        rm /etc/slurm/slurm.conf
    fi
    if [ -e /etc/slurm/slurm.conf ]; then
        echo "slurm.sh: this machine has a SLURM: /etc/slurm/slurm.conf is there" >&2
        return 1
    fi
    mkdir -p /etc/slurm
    ln -sfn "$D/slurm.conf" /etc/slurm/slurm.conf
    install -d -o munge -g munge -m 0755 "$D/run/munge" /var/lib/munge /var/log/munge
    sed -i "s#$D/run/munge.socket#$D/run/munge/socket#" "$D/slurm.conf"
    runuser -u munge -- /usr/sbin/munged --socket="$D/run/munge/socket" --pid-file="$D/run/munge/munged.pid" \
        --log-file=/var/log/munge/munged.log --seed-file=/var/lib/munge/munged.seed
    slurmctld -c
    node n1
    node n2
    wait_for_nodes
}

# The process that a file names, if it is still there.
end() {
    local pid
    [ -s "$1" ] && pid=$(cat "$1") && kill "-${2:-TERM}" "$pid" 2>/dev/null || true
}

stop() {
    for name in n1 n2; do end "$D/run/node.$name.pid" KILL; done
    end "$D/run/slurmctld.pid"
    end "$D/run/munge/munged.pid"
    [ "$(readlink /etc/slurm/slurm.conf 2>/dev/null)" = "$D/slurm.conf" ] && rm -f /etc/slurm/slurm.conf || true
}

command=${1:?what to do}
if [ "$command" != install ]; then D=$(realpath -m "${2:?a folder}"); fi
case $command in
    install) install_packages ;;
    start) start ;;
    stop) stop ;;
    node) node "${3:?a node}" ;;
    kill) end "$D/run/node.${3:?a node}.pid" KILL ;;
    *) echo "slurm.sh: unknown command $command" >&2 && exit 2 ;;
esac
