// SPDX-License-Identifier: Apache-2.0
// What a platform file may say of the OAE links between its IPUs
#include <string>
#include <vector>

#include "platforms/description/load.h"
#include "tests/platforms/workshop.h"
#include "tests/vp/config/mistakes.h"

using testing::HasSubstr;

namespace {

struct Ipu {
  std::string name;
  std::string oae;  // its keys
};

struct Case {
  std::string links;
  const char* place;  // path; "" if there is no mistake
  const char* found;
  const char* remedy;
};

class OaeLinks : public testing::Test {
 protected:
  /// What is wrong with these links between IPUs below one host.
  vp::config::Report report_of(const std::vector<Ipu>& ipus, const std::string& links) {
    std::string devices;
    std::string wires;
    for (const Ipu& ipu : ipus) {
      devices += "{name: " + ipu.name + ", firmware: oae-fw.elf, oae: {" + ipu.oae + "}}, ";
      wires += "{up: host, down: " + ipu.name + "}, ";
    }
    return mistakes_of([&] {
      platform::load(workshop_.path("good.yaml"), workshop_.images(),
                     {vp::config::parse_override("ipus=[" + devices + "]"),
                      vp::config::parse_override("pcie_links=[" + wires + "]"),
                      vp::config::parse_override("oae_links=[" + links + "]")},
                     "");
    });
  }

  void expect_reports(const std::vector<Ipu>& ipus, const std::vector<Case>& cases) {
    for (const Case& each : cases) {
      SCOPED_TRACE(each.links);
      const auto report = report_of(ipus, each.links);
      EXPECT_EQ(report.empty(), *each.place == 0) << report.text();
      EXPECT_THAT(report.text(), HasSubstr(each.place));
      EXPECT_THAT(report.text(), HasSubstr(each.found));
      EXPECT_THAT(report.text(), HasSubstr(each.remedy));
    }
  }

 private:
  const Workshop workshop_;
};

TEST_F(OaeLinks, JoinTheIpusOfTheirEnds) {
  expect_reports(
      {{"x", ""}, {"y", ""}},
      {
          {"{a: x, b: y}", "", "", ""},
          {"{a: x, b: y, first_port: 7, ports: 1}", "", "", ""},
          {"{a: x, b: y, ports: 4}, {a: y, b: x, first_port: 4, ports: 4}", "", "", ""},
          {"{a: x, b: y, ports: 5}, {a: y, b: x, first_port: 4, ports: 4}",
           "oae_links[1].first_port", "oae_links[0] already joins some of these ports of y",
           "choose other ports"},
          {"{a: x, b: y, first_port: 7, ports: 2}", "oae_links[0].ports",
           "the link joins ports 7 to 8, but x has only 8", "raise oae.ports of x"},
          {"{a: x, b: x}", "oae_links[0].b", "both ends are at `x`", "name another IPU"},
          {"{a: x, b: z}", "oae_links[0].b", "there is no IPU `z`", ""},
          {"{a: host, b: y}", "oae_links[0].a", "there is no IPU `host`", ""},
          {"{a: x, b: y}, {a: x, b: y}, {a: x, b: y}, {a: x, b: y}", "", "", ""},
          {"{a: x, b: y}, {a: x, b: y}, {a: x, b: y}, {a: x, b: y}, {a: y, b: x}", "oae_links[4]",
           "y already has 4 links", "remove it"},
          {"{a: x, b: y, rate: 1000000001b/s}", "oae_links[0].rate", "not a whole number of frames",
           "round it"},
          {"{a: x, b: y, latency: 1us}", "", "", ""},
          {"{a: x, b: y, latency: 1001ns}", "oae_links[0].latency", "longer than 100,000 bits take",
           "shorten it, or lower the rate"},
          {"{a: x, b: y, latency: 0ns}", "oae_links[0].latency", "", ""},
          {"{a: x, b: y, rate: 1Gb/s, latency: 100us}", "", "", ""},
          {"{a: x, b: y, cuts: [{at: 1s, until: 2s}, {at: 3s}]}", "", "", ""},
          {"{a: x, b: y, cuts: [{at: 1s, until: 1s}]}", "oae_links[0].cuts[0]",
           "the cut ends before it begins", "correct"},
          {"{a: x, b: y, cuts: [{at: 1s, until: 3s}, {at: 2s}]}", "oae_links[0].cuts[1]",
           "the cut begins before the previous one has ended", "correct"},
          {"{a: x, b: y, errors: [{from: y, bit: 511, at: 1s}, {from: x}]}", "", "", ""},
          {"{a: x, b: y, errors: [{from: x, bit: 512}]}", "oae_links[0].errors[0].bit", "", ""},
          {"{a: x, b: y, errors: [{from: z}]}", "oae_links[0].errors[0].from",
           "the link has no end at `z`", "name one of its ends"},
          {"{a: x, b: y, bit_error_rate: 1e-9}", "", "", ""},
          {"{a: x, b: y, bit_error_rate: 0.1}", "oae_links[0].bit_error_rate", "", ""},
          {"{a: x, b: y, design: window, rate: 64Gb/s}", "", "", ""},
          {"{a: x, b: y, design: window}", "oae_links[0].rate",
           "the wire needs OAE blocks with a clock of 781250kHz", "set oae.clock of x and y to"},
          {"{a: x, b: y, design: window, rate: 200Gb/s}", "oae_links[0].rate", "too fast",
           "lower it"},
          {"{a: x, b: y, design: window, rate: 64Gb/s}, {a: y, b: x}", "oae_links[0].design",
           "y has other links, too", "remove the others, or choose `transfer`"},
          {"{a: x, b: y}, {a: x, b: y, design: window, rate: 64Gb/s}", "oae_links[1].design",
           "x has other links, too", ""},
          {"{a: x, b: y, design: bridge}", "oae_links[0].design", "", ""},
          {"{a: x, b: y, cuts: [{at: 1s}, {at: 2s}]}", "oae_links[0].cuts[1]",
           "the cut begins before the previous one has ended", "correct"},
      });
}

TEST_F(OaeLinks, WithAWindowHaveTheClockOfTheBlocks) {
  const auto report = [this](const std::string& clock_of_y, const std::string& rate) {
    return report_of({{"x", "clock: 781250kHz"}, {"y", "clock: " + clock_of_y}},
                     "{a: x, b: y, design: window, ports: 4, rate: " + rate + "}");
  };
  EXPECT_TRUE(report("781250kHz", "100Gb/s").empty());
  const auto one = report("781251kHz", "100Gb/s");
  EXPECT_EQ(one.count(), 1u);
  EXPECT_THAT(one.text(), HasSubstr("set oae.clock of y to 781250kHz, or change the rate"));
  EXPECT_THAT(report("781250kHz", "50Gb/s").text(),
              HasSubstr("set oae.clock of x and y to 390625kHz"));
}

TEST_F(OaeLinks, AreRelayedByAnIpuWithTwoThatHaveAWindow) {
  const std::string xy = "{a: x, b: y, design: window, ports: 4}";
  const std::string yz = "{a: y, b: z, design: window, ports: 4";
  const std::string clock = "clock: 781250kHz";
  expect_reports(
      {{"x", clock + ", ports: 32"}, {"y", "ports: 1"}, {"z", clock + ", ports: 32"}, {"v", clock}},
      {
          {xy + ", " + yz + "}", "", "", ""},
          {xy + ", " + yz + ", latency: 950ns}", "", "", ""},
          {xy + ", " + yz + ", latency: 951ns}", "oae_links[0].latency",
           "the 2 links of this chain have 1001ns in sum", "shorten them, or lower the rate"},
          {xy + ", " + yz + ", rate: 50Gb/s}", "oae_links[1].rate",
           "y relays slots between oae_links[0] and this link, but 50Gb/s is not 100Gb/s",
           "set it to 100Gb/s"},
          {xy + ", " + yz + ", first_port: 1}", "oae_links[1].first_port",
           "oae_links[0] already joins some of these ports of y",
           "choose other ports, or set first_port to 0 and ports to 4"},
          {"{a: x, b: y, design: window, first_port: 12, ports: 5}, {a: y, b: z, design: window, "
           "first_port: 12, ports: 5}",
           "oae_links[1].ports", "ports 12 to 16 are to pass through y", "choose lower ports"},
          {"{a: x, b: y, design: window, first_port: 12, ports: 4}, {a: y, b: z, design: window, "
           "first_port: 12, ports: 4}",
           "", "", ""},
          {"{a: x, b: y, design: window, first_port: 14, ports: 2}, {a: y, b: z, design: window, "
           "first_port: 14, ports: 2}, {a: z, b: v, design: window, first_port: 14, ports: 2}",
           "oae_links[2].ports", "the link joins ports 14 to 15, but v has only 8",
           "raise oae.ports of v"},
          {xy + ", " + yz + "}, {a: y, b: v, design: window, ports: 4}", "oae_links[0].design",
           "y has 3 links with a window", "remove one of them"},
          {xy + ", " + yz + "}, {a: y, b: v, ports: 4}", "oae_links[0].design",
           "y has other links, too", "remove the others, or choose `transfer`"},
          {xy + ", " + yz + "}, {a: z, b: x, design: window, ports: 4}", "oae_links[0]",
           "the 3 links of this ring have no end, since each of its IPUs relays slots",
           "remove a link"},
          {xy + ", " + xy, "oae_links[0]", "the 2 links of this ring have no end",
           "or choose other ports for each link"},
      });
}

TEST_F(OaeLinks, AreBridgedByAnIpuWithTwoWhosePortsDiffer) {
  const auto link = [](const std::string& ends, const std::string& first, const std::string& more) {
    return "{a: " + ends.substr(0, 1) + ", b: " + ends.substr(1) +
           ", design: window, first_port: " + first + ", ports: 2" + more + "}";
  };
  const std::string xy = link("xy", "0", "");
  const std::string yz = link("yz", "2", "");
  const std::string zx = link("zx", "4", "");
  const std::string clock = "clock: 781250kHz";
  expect_reports(
      {{"x", clock}, {"y", clock}, {"z", clock}, {"v", "ports: 1"}},
      {
          {xy + ", " + yz + ", " + zx, "", "", ""},
          {xy + ", " + link("yx", "2", ""), "", "", ""},
          {xy + ", {a: y, b: z, design: window}", "", "", ""},
          {xy + ", " + link("yz", "1", ""), "oae_links[1].first_port",
           "oae_links[0] already joins some of these ports of y",
           "choose other ports, or set first_port to 0 and ports to 2"},
          {xy + ", " + yz + ", " + link("zx", "7", ""), "oae_links[2].ports",
           "the link joins ports 7 to 8, but z has only 8", "raise oae.ports of z"},
          {xy + ", " + link("yz", "2", ", rate: 50Gb/s"), "oae_links[1].rate",
           "the wire needs OAE blocks with a clock of 390625kHz", "set oae.clock of y and z"},
          {xy + ", " + yz + ", " + link("yz", "4", ""), "oae_links[0].design",
           "y has 3 links with a window", "remove one of them"},
          {xy + ", " + yz + ", {a: z, b: x, ports: 2, first_port: 4}", "oae_links[0].design",
           "x has other links, too", "remove the others, or choose `transfer`"},
          // v relays what goes around the ring from z to x.
          {xy + ", " + yz + ", " + link("zv", "4", "") + ", " + link("vx", "4", ""), "", "", ""},
      });
}

}  // namespace
