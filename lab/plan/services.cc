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

// Its modules and daemons begin with the first order: a lab that never asks for them boots as fast as before. A sealed
// lab gives that order once, before it is kept (prepare): else each copy, which lives for one run, takes 1.2 s for it.
// Another second of each server's start is nfsd's wait for a daemon that nobody needs for version 3 (nfsdcld). mountd's
// port is given to the client, so that it does not ask rpcbind, which only the server's own daemons need. mountd reads
// the exports when a client mounts, and handles may be wanted before any does: then this does. The kernel's table of
// exports holds the folder until it is flushed (exportfs -f).
//
// nfsd's threads run anywhere, and so does what the client's kernel does for it (unbound workqueues: rpciod, xprtiod;
// the connection itself is made where the mount is, by system_long_wq). Siw sends for them from where they make their
// connections.
std::string nfs_script(const std::optional<NfsProcessors>& processors) {
  std::string server_stays = ":";
  std::string client_stays = ":";
  std::string as_client;
  if (processors) {
    server_stays = fmt::format("for x in $(pidof nfsd); do taskset -p {:x} $x || return; done", processors->server);
    client_stays = fmt::format("echo {:x} >/sys/devices/virtual/workqueue/cpumask", processors->client);
    as_client = fmt::format("taskset {:x} ", processors->client);
  }
  return open_pipe(kNfsPipe) + fmt::format(R"(e={0}
server=
umask 022
server_stays() {{ {1}; }}
client_stays() {{ {2}; }}
ready() {{
[ -e /proc/fs/nfsd/threads ] && return
for x in rpcbind rpc.mountd rpc.nfsd exportfs mount.nfs; do
command -v $x >/dev/null || {{ r=unsupported; echo "there is no program $x: install nfs-kernel-server"; return 1; }}
done
for x in rpcrdma nfsd nfsv3; do
modprobe $x || {{ r=unsupported; echo "the kernel has no module $x: install linux-image-amd64"; return 1; }}
done
mkdir -p $e /var/lib/nfs/v4recovery && touch /etc/exports /var/lib/nfs/etab /var/lib/nfs/rmtab &&
exportfs -i -o rw,insecure,no_root_squash,no_subtree_check,async,fsid=7 "*:$e" &&
mount -t nfsd nfsd /proc/fs/nfsd && rpcbind -w && rpc.mountd -V 3 -p 20048
}}
serve() {{
[ -z "$server" ] || {{ echo "the NFS server of this machine is taken: by $server"; return 1; }}
ready && mount -t tmpfs -o size=64m,mode=0777 nfs $e || return
server=$1
echo 1048576 >/proc/fs/nfsd/max_block_size && rpc.nfsd -N 4 -U -r $2 && server_stays
}}
join() {{
ready && mkdir -p $f-$1.mnt && client_stays || return
for x in /proc/sys/sunrpc/$3_slot_table_entries /proc/sys/sunrpc/$3_max_slot_table_entries; do
[ ! -e $x ] || echo $6 >$x || return
done
attach $f-$1.mnt $2 $3 $4 $5
}}
attach() {{
{3}mount.nfs $2:$e $1 -o vers=3,nolock,proto=$3,port=$4,mountproto=tcp,mountport=20048,rsize=$5,wsize=$5,retry=0
}}
handles() {{
mkdir -p $f-$1.mnt && attach $f-$1.mnt 127.0.0.1 tcp 2049 65536 && umount $f-$1.mnt || return
shift
for x; do
exec 3<>/proc/fs/nfsd/filehandle && echo "* $e/$x 64" >&3 && read -r h <&3 && echo "$h" || return
done
}}
end() {{
if [ -d $f-$1.mnt ]; then
! grep -q " $f-$1.mnt " /proc/mounts || umount -f $f-$1.mnt || umount -l $f-$1.mnt
rmdir $f-$1.mnt
fi
if [ "$1" = "$server" ]; then
rpc.nfsd 0
exportfs -f
umount $e
server=
fi
rm -f $f-$1.*
}}
while read -r w n p x; do
for i in $f-*.pid; do
[ -e $i ] || continue
read -r q <$i
[ -d /proc/$q ] || {{ i=${{i#$f-}}; end ${{i%.pid}}; }}
done
case $n in ''|*[!a-z0-9-]*) continue;; esac
case $w in serve|handles) c=$w;; mount) c=join;; prepare) c=ready;; end) end $n; continue;; *) continue;; esac
case $p in ''|*[!0-9]*) continue;; esac
case $x in ''|*[!a-z0-9.\ ]*) continue;; esac
echo $p >$f-$n.pid
rm -f $f-$n.$w
r=failed
$c $n $x >$f-$n.log 2>&1 && r=ok
{{ echo $r; cat $f-$n.log; }} >$f-$n.new
mv $f-$n.new $f-$n.$w
done <>$f
)",
                                           kNfsExport, server_stays, client_stays, as_client);
}

}  // namespace longhaul::lab
