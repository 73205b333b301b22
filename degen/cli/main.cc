#include <fmt/ranges.h>
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <functional>

#include "common/command_line.hh"
#include "common/log.hh"
#include "common/printable.hh"
#include "common/version.hh"
#include "degen/cli/commands.hh"
#include "degen/engines/planner.hh"
#include "degen/impairment/trace.hh"

namespace longhaul::degen {
namespace {

constexpr auto kExamples = R"examples(Examples:
  degen serve --client-side eth0 --server-side eth1         on the router, as root
  degen apply --delay 20ms                                  20 ms each way, until Ctrl-C
  degen apply --delay 5ms --delay-back 50ms --for 60s       an asymmetric WAN for a minute
  degen apply --delay 10ms --jitter 1ms --distribution normal --loss 0.1% --rate 100Mbit/s
  degen apply --engine nfqueue --delay 1ms
  degen apply --engine edt --delay 20ms --jitter 2ms       held by the kernel, timed from arrival (docs/degen.md)
  degen apply --delay 20ms --loss 1% --seed 7              the same packets lost, each time
  degen apply --profile leo                                a ready WAN; degen profiles lists them
  degen apply --delay 20ms --schedule "2s down, 2500ms delay 45ms, repeat 15s"    a path that changes
  degen apply --schedule "$(degen schedule downlink.trace)"                       a link as it was recorded
  degen apply eth0 eth1 --delay 20ms                       by itself, without a service, as root
  degen apply eth0 --both-ways --delay 20ms                all that is forwarded by eth0, in either direction
  degen apply eth0.10 eth0.20 --delay 20ms                 a router on a stick: between two VLANs
  degen certify --engine edt --delay 1ms,20ms              what an engine keeps on this machine; disturbs nothing
  degen show --json
  degen show --watch

Delays are one-way, forward is client to server. What a client applied is cleared when the client ends, whatever ends it.)examples";

std::string option_name(const std::string& axis) {
  std::string name = "--" + axis;
  std::replace(name.begin(), name.end(), '_', '-');
  return name;
}

// One option an axis, from the one declaration. Values are read into `parameters` while options are parsed.
void add_axes(CLI::App& command, Parameters& parameters) {
  for (const auto& axis : impairment_axes()) {
    auto help = axis.help;
    if (!axis.choices.empty()) help += fmt::format(" ({})", fmt::join(axis.choices, ", "));
    if (axis.fallback) help += fmt::format(" [{}]", format_value(axis, *axis.fallback));
    const auto read = [&parameters, &axis](const std::string& text) {
      const auto value = parse_value(axis, text);
      if (!value) throw CLI::ValidationError(option_name(axis.name), value.error().message);
      parameters[axis.name] = *value;
    };
    command.add_option_function<std::string>(option_name(axis.name), read, help)
        ->group(axis.name.ends_with("_back") ? "Server to client" : "Impairment");
  }
}

std::int64_t to_integer(Nanoseconds value) {
  return value.count();
}
std::int64_t to_integer(BitRate value) {
  return value.bits_per_second;
}

CLI::Option* add_duration(CLI::App& command, const std::string& name, std::function<void(Nanoseconds)> take,
                          const std::string& help) {
  return command.add_option_function<std::string>(
      name,
      [name, take](const std::string& text) {
        const auto value = parse_quantity(Kind::duration, text);
        if (!value) throw CLI::ValidationError(name, value.error().message);
        take(Nanoseconds{*value});
      },
      help);
}

// Several quantities, separated by commas; a single 0 is none.
template <typename T>
void add_quantities(CLI::App& command, const std::string& name, Kind kind, std::vector<T>& values,
                    const std::string& help) {
  std::vector<std::string> spelt;
  for (const auto& value : values) spelt.push_back(format_quantity(kind, to_integer(value)));
  command
      .add_option_function<std::vector<std::string>>(
          name,
          [name, kind, &values](const std::vector<std::string>& texts) {
            values.clear();
            for (const auto& text : texts) {
              const auto value = parse_quantity(kind, text);
              if (!value) throw CLI::ValidationError(name, value.error().message);
              values.push_back(T{*value});
            }
            if (values.size() == 1 && to_integer(values.front()) == 0) values.clear();
          },
          fmt::format("{} [{}]", help, fmt::join(spelt, ",")))
      ->delimiter(',');
}

int run(int argc, char** argv) {
  CLI::App app{"degen: delays and degrades the packets that this router forwards, to look like a WAN", "degen"};
  app.set_version_flag("--version", version_text());
  app.require_subcommand(1);
  app.footer(kExamples);
  app.get_formatter()->column_width(34);

  std::string socket{kDefaultSocket};
  bool json = false;
  bool force = false;
  ServeOptions serve_options;
  ApplyOptions apply_options;
  const auto add_socket = [&](CLI::App& command) {
    command.add_option("--socket", socket, "socket of the service")->capture_default_str();
  };
  const auto add_json = [&](CLI::App& command) { command.add_flag("--json", json, "print one JSON document"); };

  const auto add_router = [&](CLI::App& command) {
    command
        .add_option("--client-side", serve_options.client_side, "interfaces towards the clients, separated by commas")
        ->delimiter(',')
        ->required();
    command.add_option("--server-side", serve_options.server_side, "interfaces towards the servers")
        ->delimiter(',')
        ->required();
    command.add_option("--run-dir", serve_options.run_directory, "where it writes what it owns in the kernel")
        ->capture_default_str();
  };

  auto& serving = *app.add_subcommand(
      "serve", "the service on the router; needs CAP_NET_ADMIN and CAP_NET_RAW, engine edt also CAP_BPF");
  add_router(serving);
  serving.add_option("--socket", serve_options.socket, "socket for clients [RUN-DIR/degen.sock]");
  serving.add_option("--group", serve_options.group, "group that may use the socket");
  serving.add_option("--socket-mode", serve_options.mode, "mode of the socket, octal")->capture_default_str();
  add_duration(
      serving, "--spin", [&](Nanoseconds value) { serve_options.spin = value; },
      "engine nfqueue spins for this long before a packet is due: sharper, but takes the processor [0]");

  serving.add_flag("!--no-guard", serve_options.guarded,
                   "without the second process that clears the router when this one dies or hangs");

  auto& guarding = *app.add_subcommand("guard", "started by serve, not by hand")->group("");
  add_router(guarding);

  auto& applying = *app.add_subcommand("apply", "impair, and stay in the foreground until Ctrl-C");
  applying
      .add_option("INTERFACES", apply_options.interfaces,
                  "by itself, as root: the interfaces towards the clients, and those towards the servers; without them "
                  "by the service that runs")
      ->expected(1, 2);
  applying.add_flag("--both-ways", apply_options.both_ways,
                    "with one interface: what is forwarded out by it (forward) and in by it (back), whatever the other "
                    "interface; engines edt and nfqueue");
  add_socket(applying);
  add_json(applying);
  applying
      .add_option(
          "--engine", apply_options.engine,
          fmt::format("{}; {}: one that can do what is asked, here", fmt::join(engine_names(), ", "), kAutoEngine))
      ->capture_default_str();
  add_duration(
      applying, "--for", [&](Nanoseconds value) { apply_options.duration = value; }, "end after this time");
  applying.add_option("--seed", apply_options.seed,
                      "of what is random: the same seed, the same packets lost [degen draws one and shows it]");
  add_axes(applying, apply_options.parameters);

  auto& showing = *app.add_subcommand("show", "what is applied, by whom, and the delay that probes meet");
  add_socket(showing);
  add_json(showing);

  bool watch = false;
  showing.add_flag("--watch", watch, "again each second, until Ctrl-C");

  auto& listing =
      *app.add_subcommand("profiles", "the ready WANs of apply --profile, and where their figures come from");
  add_json(listing);

  CertifyOptions certify_options;
  auto& grid = certify_options.grid;
  auto& certifying = *app.add_subcommand(
      "certify",
      "measure what the engines keep on this machine: error by delay, packet rate and link rate. As root, in network "
      "namespaces of its own: no interface of yours is touched, none of yours is measured");
  certifying
      .add_option(
          "--engine", grid.engines,
          fmt::format("{} [all]; {} is netem as typed by hand, to compare", fmt::join(certifiable(), ", "), kRawNetem))
      ->delimiter(',');
  add_quantities(certifying, "--delay", Kind::duration, grid.delays, "asked, one way");
  add_quantities(certifying, "--rate", Kind::rate, grid.rates, "of the link; 0: none is measured");
  certifying.add_option("--packets-per-second", grid.packets_a_second, "sent, one way at a time")
      ->delimiter(',')
      ->capture_default_str();
  certifying.add_option("--size", grid.size, "bytes of a datagram")->capture_default_str();
  add_duration(
      certifying, "--duration", [&](Nanoseconds value) { grid.duration = value; },
      "for which datagrams are sent, each way of each point [1s]");
  certifying.add_option("--rounds", certify_options.rounds, "measures all of it so many times")->capture_default_str();
  certifying
      .add_option("--out", certify_options.out,
                  "the certificate: `longhaul run --certificate FILE` leaves out the cells that lie outside of it, "
                  "`longhaul certify FILE --plot` draws it")
      ->type_name("FILE");
  add_json(certifying);

  std::string trace;
  Nanoseconds step = kTraceStep;
  auto& scheduling = *app.add_subcommand(
      "schedule",
      "the schedule of a trace, as apply --schedule takes it: Mahimahi's packet-delivery trace, or CSV with "
      "columns time, delay, loss, rate");
  scheduling.add_option("FILE", trace, "the trace; - is standard input")->required();
  add_duration(
      scheduling, "--step", [&](Nanoseconds value) { step = value; },
      "of Mahimahi's opportunities: one rate for so long [100ms]");

  auto& clearing = *app.add_subcommand("clear", "take an impairment away from whoever holds it");
  add_socket(clearing);
  add_json(clearing);
  clearing.add_flag("--force", force, "even if its client is alive");

  if (const auto code = parse_command_line(app, argc, argv)) return *code;
  apply_options.socket = socket;
  apply_options.json = json;
  certify_options.json = json;

  Result<ExitCode> result = ExitCode::ok;
  if (serving.parsed()) result = serve(serve_options);
  if (guarding.parsed()) result = guard(serve_options);
  if (applying.parsed()) result = apply(apply_options);
  if (showing.parsed()) result = show(socket, json, watch);
  if (certifying.parsed()) result = certify(certify_options);
  if (listing.parsed()) result = list_profiles(json);
  if (scheduling.parsed()) result = print_schedule(trace, step);
  if (clearing.parsed()) result = clear(socket, force, json);
  if (result) return static_cast<int>(*result);
  fmt::print(stderr, "degen: {}\n", printable(result.error().message));
  return static_cast<int>(result.error().exit_code);
}

}  // namespace
}  // namespace longhaul::degen

int main(int argc, char** argv) {
  try {
    longhaul::log_to_stderr("degen");
    return longhaul::degen::run(argc, argv);
  } catch (const std::exception& e) {
    fmt::print(stderr, "degen: {}\n", e.what());
    return static_cast<int>(longhaul::ExitCode::failure);
  }
}
