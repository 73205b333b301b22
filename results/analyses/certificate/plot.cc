// The certificate's picture.
#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "results/analyses/certificate/certificate.hh"
#include "results/analyses/markup.hh"

namespace longhaul::results {
namespace {

constexpr double kWidth = 720, kHeight = 400;
constexpr double kLeft = 70, kRight = 110, kTop = 30, kBottom = 50;
constexpr const char* kColours[] = {"#1f77b4", "#d62728", "#2ca02c", "#9467bd"};

// A logarithmic axis over whole decades.
struct Decades {
  double least = 0, most = 1;  // exponents
  void widen(double value) {
    if (value <= 0) return;
    const auto exponent = std::log10(value);
    least = empty ? std::floor(exponent) : std::min(least, std::floor(exponent));
    most = empty ? std::ceil(exponent) : std::max(most, std::ceil(exponent));
    empty = false;
  }
  double place(double value, double from, double to) const {
    const auto clipped = std::clamp(std::log10(std::max(value, 1e-9)), least, std::max(most, least + 1));
    return from + (to - from) * (clipped - least) / std::max(most - least, 1.0);
  }
  bool empty = true;
};

using Line = std::vector<const CertifiedPoint*>;

// The points of one packet rate and size, without a rate, that have the most delays.
Line longest_line(const std::vector<CertifiedPoint>& points) {
  std::map<std::pair<std::int64_t, std::int64_t>, Line> lines;
  for (const auto& point : points)
    if (point.delay > 0 && point.rate == 0 && point.error)
      lines[{point.packets_a_second, point.size}].push_back(&point);
  Line longest;
  for (auto& [key, line] : lines)
    if (line.size() > longest.size()) longest = std::move(line);
  return longest;
}

}  // namespace

std::string to_svg(const Certificate& certificate) {
  Decades x, y;
  std::map<std::string, Line> drawn;
  for (const auto& [engine, points] : certificate.engines) {
    drawn[engine] = longest_line(points);
    for (const auto* point : drawn[engine]) {
      x.widen(static_cast<double>(point->delay));
      y.widen(std::max(*point->error, 10.0));
      if (point->p99) y.widen(std::max(*point->p99, 10.0));
    }
  }
  const auto at_x = [&](double ns) { return x.place(ns, kLeft, kWidth - kRight); };
  const auto at_y = [&](double ns) { return y.place(ns, kHeight - kBottom, kTop); };
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\" "
      "font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"{0}\" height=\"{1}\" fill=\"white\"/>\n",
      kWidth, kHeight);
  for (auto exponent = x.least; exponent <= x.most; ++exponent) {
    const auto place = at_x(std::pow(10, exponent));
    svg += fmt::format(
        "<path d=\"M{0:.1f} {1}V{2}\" stroke=\"#ddd\"/><text x=\"{0:.1f}\" y=\"{3}\" "
        "text-anchor=\"middle\">{4}</text>\n",
        place, kTop, kHeight - kBottom, kHeight - kBottom + 18,
        format_quantity(Kind::duration, static_cast<std::int64_t>(std::llround(std::pow(10, exponent)))));
  }
  for (auto exponent = y.least; exponent <= y.most; ++exponent) {
    const auto place = at_y(std::pow(10, exponent));
    svg += fmt::format(
        "<path d=\"M{1} {0:.1f}H{2}\" stroke=\"#ddd\"/><text x=\"{3}\" y=\"{4:.1f}\" text-anchor=\"end\">{5}</text>\n",
        place, kLeft, kWidth - kRight, kLeft - 6, place + 4,
        format_quantity(Kind::duration, static_cast<std::int64_t>(std::llround(std::pow(10, exponent)))));
  }
  svg += fmt::format("<text x=\"{:.0f}\" y=\"{}\" text-anchor=\"middle\">delay asked, one way</text>\n",
                     (kLeft + kWidth - kRight) / 2, kHeight - 12);
  svg += fmt::format(
      "<text x=\"{}\" y=\"18\">error of the median (whole lines) and p99 beyond what was asked (dashed); {} "
      "clock</text>\n",
      kLeft, inside_html(certificate.clock));
  std::size_t number = 0;
  for (const auto& [engine, line] : drawn) {
    if (line.empty()) continue;  // the router by itself has no error
    const auto* const colour = kColours[number % std::size(kColours)];
    for (const bool tail : {false, true}) {
      std::string path;
      for (const auto* point : line) {
        const auto value = tail ? point->p99 : point->error;
        if (!value) continue;
        path += fmt::format("{}{:.1f} {:.1f}", path.empty() ? "M" : "L", at_x(static_cast<double>(point->delay)),
                            at_y(*value));
      }
      if (!path.empty())
        svg += fmt::format("<path d=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"1.6\"{}/>\n", path, colour,
                           tail ? " stroke-dasharray=\"4 3\"" : "");
    }
    for (const auto* point : line)
      svg += fmt::format(
          "<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3\" fill=\"{}\" stroke=\"{}\"><title>{}, {}, {} packets/s of {} B: "
          "{:.1f} us</title></circle>\n",
          at_x(static_cast<double>(point->delay)), at_y(*point->error), point->broken.empty() ? colour : "white",
          colour, inside_html(engine), format_quantity(Kind::duration, point->delay), point->packets_a_second,
          point->size, *point->error / 1e3);
    svg += fmt::format("<text x=\"{}\" y=\"{}\" fill=\"{}\">{}</text>\n", kWidth - kRight + 12,
                       kTop + 20 + 20 * static_cast<double>(number), colour, inside_html(engine));
    ++number;
  }
  return svg + "</svg>\n";
}

}  // namespace longhaul::results
