// The collection makes a testbed of bare Debian systems, twice alike, and leaves them as they were. They are as an
// operator has them who trusts nobody: no root by ssh for Ansible, and on each another firewall that lets in ssh alone.
// One lab serves all tests, in this order.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <iostream>
#include <memory>
#include <regex>
#include <set>
#include <sstream>
#include <stdexcept>
#include <thread>

#include "tests/lab/lab_fixture.hh"

namespace longhaul::testing {
namespace {

using ::testing::HasSubstr;

Outcome play(const std::string& inventory, const std::string& playbook, const std::vector<std::string>& more = {}) {
  std::vector<std::string> arguments{"ansible-playbook", "-i", inventory, "longhaul.testbed." + playbook};
  arguments.insert(arguments.end(), more.begin(), more.end());
  const auto begin = std::chrono::steady_clock::now();
  auto outcome = run_program(
      arguments, {std::string{"ANSIBLE_COLLECTIONS_PATH="} + LONGHAUL_BINARY_DIR,
                  std::string{"ANSIBLE_CONFIG="} + LONGHAUL_SOURCE_DIR + "/ansible/ansible.cfg", "ANSIBLE_NOCOLOR=1"});
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  std::cout << playbook << ": " << took.count() << " s" << std::endl;
  return outcome;
}

/// The state of a machine, as far as a testbed could have changed it. Counters and times are left out. What is enabled
/// is read from the files (--root): a systemd that is still booting may not answer in time, and then nothing is listed.
constexpr const char* kState = R"(
dpkg-query -W -f '${Package} ${Version}\n'
getent passwd | cut -d: -f1
ip -o address | sed 's/ valid_lft.*//'
ip route show table all | sed 's/ expires.*//' | sort
ip neighbour show nud permanent
ls /sys/class/infiniband 2>/dev/null
find /etc /usr/local /lib/systemd /lib/sysusers.d -xdev ! -path '*/systemd/network/*' ! -path '/etc/firewalld/*' \( -type f -o -type l \) | sort
sysctl net.ipv4.ip_forward net.ipv4.tcp_no_metrics_save net.core.rmem_max net.core.wmem_max net.ipv4.tcp_rmem
tc qdisc show | sed 's/dev mgmt .*//'
systemctl --root=/ list-unit-files --state=enabled --no-legend
for f in /etc/passwd /etc/group; do sort $f; done
cut -d ' ' -f 1-3 /proc/mounts | grep -e nfs -e longhaul
systemctl list-units --plain --no-legend --state=active 'nfs*' 'rpc*' | cut -d ' ' -f 1
cut -d ' ' -f 1 /proc/modules | grep nfs | sort
nft --stateless list ruleset | grep -v '^#'
ufw show added 2>/dev/null
for when in '' --permanent; do firewall-cmd $when --list-all-zones 2>/dev/null; done
true # where no firewalld runs
)";

/// Whom Ansible logs in as.
constexpr const char* kOperator = R"(
useradd --create-home operations
install -d -m 0700 -o operations /home/operations/.ssh
install -m 0600 -o operations /root/.ssh/authorized_keys /home/operations/.ssh/
echo 'operations ALL=(ALL) NOPASSWD: ALL' >/etc/sudoers.d/operations
)";

/// Ports closed to all but ssh.
const std::map<std::string, std::string> kFirewalls{
    {"client", "ufw allow 22/tcp && ufw --force enable && systemctl enable ufw"},
    {"server", R"(cat >/etc/nftables.conf <<'END'
flush ruleset
table inet filter {
  chain input {
    type filter hook input priority filter; policy drop;
    ct state established,related accept
    iifname "lo" accept
    tcp dport 22 accept
  }
}
END
systemctl enable --now nftables)"},
    {"router", "systemctl enable --now firewalld"},
};

/// The inventory with one text in the place of another, as a file beside it: the authority's folder is found from
/// there.
std::string changed(const std::string& inventory, const std::string& name, const std::string& from,
                    const std::string& to) {
  auto text = read_file(inventory);
  const auto at = text.find(from);
  if (at == std::string::npos) throw std::runtime_error("no " + from + " in the inventory");
  text.replace(at, from.size(), to);
  const auto path = std::filesystem::path{inventory}.parent_path() / name;
  write_file(path, text);
  return path;
}

class Systems : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    const auto packages = run_program({LONGHAUL_SOURCE_DIR "/scripts/package"});
    ASSERT_EQ(packages.code, 0) << packages.out << packages.err;
    lab_ = std::make_unique<BootedLab>("systems");
    for (const auto* node : kNodes) {
      lab_->must(node, std::string{kOperator} + kFirewalls.at(node) + " >/dev/null");
      before_[node] = lab_->must(node, kState);
    }
    inventory_ = changed(lab_->inventory(), "operated.yml", "ansible_user: root", "ansible_user: operations");
  }
  static void TearDownTestSuite() { lab_.reset(); }

  const std::string& inventory() const { return inventory_; }
  static constexpr const char* kNodes[] = {"client", "server", "router"};
  static std::unique_ptr<BootedLab> lab_;
  static std::map<std::string, std::string> before_;
  static std::string inventory_;
};

std::unique_ptr<BootedLab> Systems::lab_;
std::string Systems::inventory_;
std::map<std::string, std::string> Systems::before_;

/// A folder of the client where the server's is mounted by this transport, on the path of this provider.
std::string mounted(const std::string& provider, const std::string& transport) {
  return "/run/longhaul-nfs/server-wan-" + provider + "-" + transport;
}

/// fio with the collection's job on a folder of the client.
std::string fio(const std::string& directory, const std::string& options) {
  return "DIRECTORY=" + directory + " fio --output-format=json " + options + " /usr/local/lib/longhaul/nfs.fio";
}

/// What the kernel counts for a mount over RDMA: segments of calls that the server read, and bytes that it wrote
/// (net/sunrpc/xprtrdma/transport.c, xprt_rdma_print_stats). Nothing where the mount is not over RDMA.
constexpr const char* kMovedByRdma =
    R"(awk -v at=$at '$1 == "device" { here = $5 == at } here && $1 == "xprt:" && $2 == "rdma" { print $13, $17 }' )"
    "/proc/self/mountstats";

/// Bytes that the router has sent on its measured paths, both ways, whatever engine delays them.
constexpr const char* kForwarded =
    R"(for i in /sys/class/net/*; do case $i in */lo|*/mgmt) ;; *) cat $i/statistics/tx_bytes ;; esac; done |
       awk '{ sum += $1 } END { printf "%d", sum }')";

/// Lines that only one of two texts has.
std::string difference(const std::string& before, const std::string& after) {
  const auto lines = [](const std::string& text) {
    std::istringstream in{text};
    std::set<std::string> all;
    for (std::string line; std::getline(in, line);) all.insert(line);
    return all;
  };
  const auto old = lines(before), now = lines(after);
  std::string text;
  for (const auto& line : old)
    if (!now.contains(line)) text += "- " + line + '\n';
  for (const auto& line : now)
    if (!old.contains(line)) text += "+ " + line + '\n';
  return text;
}

/// A host's count in Ansible's recap.
int count(const std::string& recap, const std::string& host, const std::string& what) {
  std::smatch match;
  const std::regex line{host + " +:[^\n]*" + what + "=([0-9]+)"};
  return std::regex_search(recap, match, line) ? std::stoi(match[1]) : -1;
}

// What is decided otherwise than Debian's policy says is told in packaging/debian/overrides.
TEST_F(Systems, LintianFindsNothingInThePackages) {
  const auto found =
      run_program({"sh", "-c", "lintian --fail-on error,warning " LONGHAUL_BINARY_DIR "/packages/*.deb"});
  EXPECT_EQ(found.code, 0) << found.out << found.err;
}

// On each node another thing.
TEST_F(Systems, WhatIsWrongIsToldBeforeAnythingIsChanged) {
  const std::string text = read_file(inventory());
  const std::string key = "longhaul_port: ";
  const auto port = std::stoi(text.substr(text.find(key, text.find("routers:")) + key.size()));
  lab_->must("router", "systemd-run -q --unit squatter python3 -m http.server " + std::to_string(port));
  lab_->must("client", "module=$(modinfo -n rdma_rxe); echo $module >/root/module; mv $module /root/rxe; depmod");
  const auto outcome = play(changed(inventory(), "changed.yml", "netdev: b0", "netdev: x9"), "site");
  lab_->must("client", "mv /root/rxe $(cat /root/module); rm /root/module; depmod");
  lab_->must("router", "systemctl stop squatter");
  EXPECT_NE(outcome.code, 0);
  EXPECT_THAT(outcome.out, HasSubstr("server: network interface x9 (path wan) is not there"));
  EXPECT_THAT(outcome.out, HasSubstr("correct longhaul_attachments"));
  EXPECT_THAT(outcome.out, HasSubstr("router: TCP port " + std::to_string(port) + " is taken by python3"));
  EXPECT_THAT(outcome.out, HasSubstr("client: its kernel"));
  EXPECT_THAT(outcome.out, HasSubstr("has no module rdma_rxe. Remedy: install linux-image-amd64"));
  for (const auto* node : kNodes) EXPECT_EQ(difference(before_[node], lab_->must(node, kState)), "") << node;
}

TEST_F(Systems, AnInterruptedApplicationIsCompletedByTheNext) {
  // One host cannot be reached, another reboots in between.
  const auto text = read_file(inventory());
  const auto at = text.find("ansible_port: ", text.find("servers:"));
  const auto port = text.substr(at, text.find('\n', at) - at);
  const auto partly = play(changed(inventory(), "changed.yml", port, "ansible_port: 1"), "site");
  EXPECT_NE(partly.code, 0);
  EXPECT_GT(count(partly.out, "server", "unreachable"), 0) << partly.out;
  EXPECT_EQ(count(partly.out, "client", "failed"), 0) << partly.out;
  lab_->on("client", "systemd-run --on-active=1 systemctl reboot");
  const auto boot = [&] { return lab_->on("client", "cat /proc/sys/kernel/random/boot_id").out; };
  const auto first = boot();
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes{3};
  for (auto now = first; now.empty() || now == first; now = boot()) {
    ASSERT_LT(std::chrono::steady_clock::now(), deadline) << "the client does not come back";
    std::this_thread::sleep_for(std::chrono::seconds{1});
  }

  const auto whole = play(inventory(), "site");
  EXPECT_EQ(whole.code, 0) << whole.out << whole.err;
  const auto again = play(inventory(), "site");
  EXPECT_EQ(again.code, 0) << again.out << again.err;
  for (const auto* host : {"client", "server", "router", "localhost"})
    EXPECT_EQ(count(again.out, host, "changed"), 0) << again.out;
}

TEST_F(Systems, WhatWasMadeIsFitForUse) {
  const auto verified = play(inventory(), "verify");
  EXPECT_EQ(verified.code, 0) << verified.out << verified.err;
  EXPECT_THAT(verified.out, HasSubstr("client -> server (wan siw): ok"));
  EXPECT_THAT(verified.out, HasSubstr("the testbed is fit for use"));
  // Nobody but degen has a capability, and nobody is root.
  const std::string capabilities = "grep -h '^Uid\\|^CapEff' /proc/$(systemctl show -p MainPID --value $u)/status";
  const auto agent = lab_->must("client", "u=longhaul-agent; " + capabilities);
  EXPECT_THAT(agent, HasSubstr("CapEff:\t0000000000000000"));
  EXPECT_THAT(agent, ::testing::Not(HasSubstr("Uid:\t0")));
  EXPECT_THAT(lab_->must("router", "u=degen; " + capabilities), HasSubstr("CapEff:\t0000008000003000"));
  // What full netfilter queues drop is told to degen's user, too.
  lab_->must("router", "setpriv --reuid degen --regid degen --clear-groups cat /proc/net/netfilter/nfnetlink_queue");
}

TEST_F(Systems, TheDoctorKnowsAHealthyTestbedFromABrokenOne) {
  const auto well = longhaul({"doctor", "--inventory", inventory()});
  EXPECT_EQ(well.code, 0) << well.out << well.err;
  EXPECT_THAT(well.out, HasSubstr("its clock is not synchronised"));  // advice: there is no time server
  lab_->must("router", "systemctl stop degen");
  lab_->must("client", "rdma link delete rxe_a0");
  const auto ill = longhaul({"doctor", "--inventory", inventory()});
  lab_->must("client", "systemctl restart longhaul-network");
  lab_->must("router", "systemctl start degen");
  EXPECT_EQ(ill.code, 1) << ill.out << ill.err;
  EXPECT_THAT(ill.out, HasSubstr("degen does not answer"));
  EXPECT_THAT(ill.out, HasSubstr("rdma link add rxe_a0 type rxe netdev a0"));
}

TEST_F(Systems, ACampaignRunsOnIt) {
  const auto rows = compare_latencies(*lab_);
  ASSERT_EQ(rows.size(), 6U);
  for (const auto& row : rows) {
    EXPECT_EQ(row.at("status"), "ok");
    EXPECT_EQ(row.at("topology"), "systems");
    EXPECT_GT(std::stod(row.at("median")), std::stod(row.at("delay_us")));
  }
}

TEST_F(Systems, FioRunsOnTheKernelsNfsAcrossTheWan) {
  const auto made = play(inventory(), "nfs");
  ASSERT_EQ(made.code, 0) << made.out << made.err;
  EXPECT_THAT(made.out, HasSubstr(mounted("siw", "rdma")));
  for (const auto* node : {"server", "client"})
    EXPECT_EQ(lab_->must(node, "/usr/local/lib/longhaul/nfs up"), "") << "all of it is there: " << node;

  // Of the job: numjobs times size, by bs.
  constexpr double kBytes = 2 * 4 * 1024 * 1024;
  constexpr double kBlocks = kBytes / (64 * 1024);
  lab_->must("router", "degen apply --delay 10ms --for 600s >/tmp/apply.log 2>&1 & " +
                           wait_until("degen show | grep -q 'held by'"));
  using Pair = std::pair<std::string, std::string>;
  for (const auto& [provider, transport] : {Pair{"rxe", "rdma"}, Pair{"siw", "rdma"}, Pair{"rxe", "tcp"}}) {
    SCOPED_TRACE(provider + " " + transport);
    const auto at = mounted(provider, transport);
    const auto forwarded = [] { return std::stod(lab_->must("router", kForwarded)); };
    const auto before = forwarded();
    const auto outcome = lab_->on("client", fio(at, ""));
    ASSERT_EQ(outcome.code, 0) << outcome.out << outcome.err;
    EXPECT_GE(forwarded() - before, 2 * kBytes) << "written and read back across the emulated WAN";
    const auto told = boost::json::parse(outcome.out);
    const auto& jobs = told.at("jobs").as_array();
    ASSERT_EQ(jobs.size(), 2U);
    for (const auto& job : jobs) {
      const auto& done = job.at(boost::json::value_to<std::string>(job.at("jobname")));
      EXPECT_EQ(done.at("io_bytes").to_number<double>(), kBytes) << job.at("jobname");
      // Not clat: its clock starts when io_submit() has returned, and that sends the blocks and takes up to 50 ms here.
      EXPECT_GE(done.at("lat_ns").at("min").to_number<double>(), 2 * 10e6)
          << "a round trip: " << job.at("jobname") << "\n"
          << lab_->on("router", "journalctl -u degen -n 20 --no-pager; tail -n 9 /tmp/apply.log").out;
    }
    EXPECT_THAT(lab_->must("client", "grep -A20 ' mounted on " + at + " ' /proc/self/mountstats | grep -m1 xprt:"),
                HasSubstr("xprt:\t" + transport));
    if (transport == "tcp") continue;
    double read = 0, written = 0;
    std::istringstream{lab_->must("client", "at=" + at + "\n" + kMovedByRdma)} >> read >> written;
    EXPECT_GE(read, kBlocks) << "fio's blocks, read from the client's memory";
    EXPECT_GE(written, kBytes) << "and written to it";
  }
  lab_->must("router", "degen clear --force >/dev/null");

  // One byte of the server's copy is another: fio notices, so it does compare.
  lab_->must("server", "printf x | dd of=/run/longhaul-nfs/export/longhaul-fio.0 bs=1 seek=100000 conv=notrunc 2>&1");
  const auto wrong = lab_->on("client", fio(mounted("rxe", "rdma"), "--section=read"));
  EXPECT_EQ(wrong.code, 1);
  EXPECT_THAT(wrong.out + wrong.err, HasSubstr("crc32c: verify failed"));
}

TEST_F(Systems, MtusThatDifferAreTold) {
  lab_->must("server", "ip link set b1 mtu 1400");
  const auto outcome = play(inventory(), "site");
  lab_->must("server", "ip link set b1 mtu 1500");
  EXPECT_NE(outcome.code, 0);
  EXPECT_THAT(outcome.out, HasSubstr("the MTUs on path wan differ"));
  EXPECT_THAT(outcome.out, HasSubstr("1400 on server b1"));
}

TEST_F(Systems, TeardownLeavesTheMachinesAsTheyWere) {
  const auto outcome = play(inventory(), "teardown");
  EXPECT_EQ(outcome.code, 0) << outcome.out << outcome.err;
  for (const auto* node : kNodes) EXPECT_EQ(difference(before_[node], lab_->must(node, kState)), "") << node;
}

}  // namespace
}  // namespace longhaul::testing
