#include "config/sections.h"

namespace evenkeel::config {
namespace {

using namespace std::chrono_literals;
using idgen::ClockAction;
using idgen::ClockSettings;
using idgen::ClockStep;
using idgen::ClockWatch;

const Choices<ClockAction>& actions() {
  static const Choices<ClockAction> choices = {{"freeze", ClockAction::freeze},
                                               {"wait", ClockAction::wait},
                                               {"switch_worker", ClockAction::switch_worker},
                                               {"pause_until_sync", ClockAction::pause_until_sync},
                                               {"strict", ClockAction::strict}};
  return choices;
}

void read_millis(const Place& place, int64_t& out, std::chrono::milliseconds least,
                 std::chrono::milliseconds most) {
  std::chrono::milliseconds time(out);
  read_duration(place, time, least, most);
  out = time.count();
}

// One action for all steps by name, or a list by size.
void read_backward(const Place& place, ClockSettings& out) {
  out.backward.clear();
  if (place.node().kind == Node::Kind::list) return read_list(place, clock_step_section(), out.backward);
  ClockStep all;
  read_choice(place, all.action, actions());
  out.backward = {all};
}

void read_watch(const Place& place, ClockSettings& out) {
  out.watch.watched = true;
  read_section(place, clock_watch_section(), out.watch);
}

}  // namespace

const Section<ClockStep>& clock_step_section() {
  static const Section<ClockStep> section = {
      "clock_step",
      {
          {"up_to",
           [](const Place& place, ClockStep& out) {
             out.up_to_ms = 0;
             read_millis(place, out.up_to_ms, 1ms, 24h);
           }},
          {"do", [](const Place& place, ClockStep& out) { read_choice(place, out.action, actions()); }, true},
      }};
  return section;
}

const Section<ClockWatch>& clock_watch_section() {
  static const Section<ClockWatch> section = {
      "clock_watch",
      {
          {"max_error",
           [](const Place& place, ClockWatch& out) { read_millis(place, out.max_error_ms, 1ms, 1h); }},
          {"max_offset",
           [](const Place& place, ClockWatch& out) { read_millis(place, out.max_offset_ms, 1ms, 1h); }},
          {"good_checks",
           [](const Place& place, ClockWatch& out) { read_number(place, out.good_checks, 1, 1'000); }},
      }};
  return section;
}

const Section<ClockSettings>& clock_section() {
  static const Section<ClockSettings> section = {
      "clock",
      {
          {"backward", read_backward},
          {"max_borrow_units",
           [](const Place& place, ClockSettings& out) {
             read_number(place, out.max_borrow_ticks, 0, 1'000'000);
           }},
          {"max_wait",
           [](const Place& place, ClockSettings& out) { read_millis(place, out.max_wait_ms, 0ms, 1h); }},
          {"watch", read_watch},
      },
      {{"freeze_tolerance", "backward: [{up_to: 5ms, do: freeze}], with the old time in the place of 5ms"}}};
  return section;
}

}  // namespace evenkeel::config
