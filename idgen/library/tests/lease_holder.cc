// A program that holds a worker id and draws ids when it is told to: what the fault tests stop, kill and set
// the clock of. One line in, one line out:
//   (start)      "open" or "refused <message>"
//   draw N       "ids <id> <id> …", with " error <message>" behind them when a draw was refused
//   offset MS    moves its clock to MS from the machine's; "ok"
//   renewal      "ok" or "failed <message>"
//   close        "closed" or "failed <message>", and the program ends
#include <atomic>
#include <charconv>
#include <fmt/format.h>
#include <iostream>
#include <map>
#include <string>

#include "idgen/library/leased_generator.h"
#include "idgen/registry/open_registry.h"

namespace {

using namespace evenkeel;

class OffsetClock final : public Clock {
 public:
  int64_t unix_micros() const override { return real_.unix_micros() + offset_micros; }
  std::chrono::nanoseconds steady() const override { return real_.steady(); }
  std::atomic<int64_t> offset_micros{0};

 private:
  SystemClock real_;
};

int64_t number_in(const std::string& text) {
  int64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

// "--window 500" and so on; secrets come from the environment.
using Options = std::map<std::string, std::string>;

idgen::RegistrySettings registry_of(const Options& options) {
  idgen::RegistrySettings settings;
  const std::string& provider = options.at("--provider");
  for (const auto known : {idgen::RegistryProvider::mysql, idgen::RegistryProvider::redis,
                           idgen::RegistryProvider::zookeeper, idgen::RegistryProvider::etcd})
    if (provider == idgen::to_string(known)) settings.provider = known;
  settings.endpoints = {{"127.0.0.1", static_cast<uint16_t>(number_in(options.at("--port")))}};
  settings.prefix = options.at("--prefix");
  settings.user = options.at("--user");
  const char* password = std::getenv("REGISTRY_PASSWORD");
  settings.password = password == nullptr ? "" : password;
  settings.timeout_ms = 2'000;
  return settings;
}

Result<idgen::LeasedGeneratorOptions> generator_options(const Options& options,
                                                        std::shared_ptr<OffsetClock> clock) {
  idgen::LeasedGeneratorOptions from;
  from.settings.name = "main";
  from.settings.worker.window_ms = number_in(options.at("--window"));
  from.settings.worker.renew_ms = from.settings.worker.window_ms / 3;
  from.settings.clock.max_wait_ms = number_in(options.at("--max-wait"));
  if (options.contains("--worker"))
    from.settings.worker.fixed_id = static_cast<uint32_t>(number_in(options.at("--worker")));
  if (options.contains("--directory")) {
    from.directory = options.at("--directory");
  } else {
    EVENKEEL_ASSIGN(from.registry, idgen::open_registry(registry_of(options), *clock));
  }
  from.clock = std::move(clock);
  return from;
}

void answer(const std::string& line) { std::cout << line << std::endl; }

std::string draw(idgen::LeasedGenerator& generator, int64_t count) {
  std::string line = "ids";
  for (int64_t i = 0; i < count; ++i) {
    const auto id = generator.next();
    if (!id) return line + " error " + id.error().message;
    line += fmt::format(" {}", *id);
  }
  return line;
}

}  // namespace

int main(int argc, char** argv) {
  Options options = {{"--window", "3000"}, {"--max-wait", "5000"}, {"--offset", "0"}};
  for (int i = 1; i + 1 < argc; i += 2) options[argv[i]] = argv[i + 1];
  const auto clock = std::make_shared<OffsetClock>();
  clock->offset_micros = number_in(options.at("--offset")) * 1000;
  auto from = generator_options(options, clock);
  auto generator = from ? idgen::LeasedGenerator::open(*from) : fail(from.error());
  if (!generator) return answer("refused " + generator.error().message), 1;
  answer("open");
  std::string word;
  while (std::cin >> word) {
    int64_t number = 0;
    if (word == "draw" && std::cin >> number) {
      answer(draw(**generator, number));
    } else if (word == "offset" && std::cin >> number) {
      clock->offset_micros = number * 1000;
      answer("ok");
    } else if (word == "renewal") {
      const auto renewed = (*generator)->renewal();
      answer(renewed ? "ok" : "failed " + renewed.error().message);
    } else if (word == "close") {
      const auto closed = (*generator)->close();
      answer(closed ? "closed" : "failed " + closed.error().message);
      return 0;
    }
  }
  std::_Exit(2);  // the test is gone: end as a crash would
}
