#include "lab/plan/services.hh"

#include <fmt/format.h>

#include "common/well_known.hh"
#include "lab/plan/plan.hh"

namespace longhaul::lab {
namespace {

/// For each processor. A call takes a hundred bytes, so some tens of thousands; the oldest go when it is full.
constexpr unsigned kTraceBufferKilobytes = 8192;

std::string open_pipe(const char* pipe) {
  return fmt::format("#!/bin/sh\nf={0}\nmkdir -p ${{f%/*}}\nrm -f $f\nmkfifo -m 0620 $f\nchown 0:{1} $f\n", pipe,
                     kAgentUid);
}

}  // namespace

std::string steering_script() {
  return open_pipe(kSteeringPipe) +
         "while read -r n m; do\n"
         "case $n in ''|*[!a-z0-9]*) continue;; esac\ncase $m in ''|*[!0-9a-f,]*) continue;; esac\n"
         "for q in /sys/class/net/$n/queues/rx-*/rps_cpus; do [ -e $q ] && echo $m >$q; done\ndone <>$f\n";
}

// Probes at a function's entry and return (kprobe events) touch that function alone. The tracer function_graph, and any
// event while command names are recorded (record-cmd), also patch the scheduler, where an emulated processor then may
// hang. Whoever is traced (t, thread q) stays so until it says stop or is gone. Pipe names are the beginning of the
// files' names.
std::string tracing_script() {
  return open_pipe(kTracingPipe) + fmt::format(R"(cd /sys/kernel/tracing || exit
off() {{
rm -f $f-*.on
echo 0 >tracing_on
[ -d events/longhaul ] && echo 0 >events/longhaul/enable
echo >kprobe_events
t= q=
}}
start() {{
[ -d /proc/$2 ] || return
: >$f-$1.new
i=0
for x in $3; do
i=$((i+1))
echo "p:longhaul/enter_$i $x" >>kprobe_events || continue
echo "r:longhaul/leave_$i $x" >>kprobe_events
for e in enter leave; do echo "$e $(cat events/longhaul/${{e}}_$i/id) $x" >>$f-$1.new; done
done 2>/dev/null
[ -s $f-$1.new ] || return
echo "common_pid == $2" >events/longhaul/filter
echo 1 >events/longhaul/enable
echo >trace
echo 1 >tracing_on
t=$1 q=$2
: >$f-$1.on
}}
stop() {{
echo 0 >tracing_on
cat trace >>$f-$1.new
off
mv $f-$1.new $f-$1.txt
}}
umask 022
echo {0} >buffer_size_kb
echo norecord-cmd >trace_options
echo raw >trace_options
off
while read -r w n p x; do
case $n in ''|*[!a-z0-9-]*) continue;; esac
case $w in
start)
case $p in ''|*[!0-9]*) continue;; esac
case $x in ''|*[!a-z0-9_.\ ]*) continue;; esac
[ -n "$t" ] && [ -d /proc/$q ] && continue
off
rm -f $f-$n.txt
start $n $p "$x" || off
;;
stop) [ "$n" = "$t" ] && stop $n;;
esac
done <>$f
)",
                                               kTraceBufferKilobytes);
}

}  // namespace longhaul::lab
