#include "idgen/registry/etcd_registry.h"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <chrono>
#include <curl/curl.h>
#include <fmt/format.h>
#include <mutex>
#include <nlohmann/json.hpp>
#include <openssl/evp.h>

namespace evenkeel::idgen {
namespace {

using Json = nlohmann::json;

// Of the gRPC status codes: the token is missing, unknown or too old.
constexpr int grpc_unauthenticated = 16;
// The Date of an answer has whole seconds.
constexpr int64_t date_granularity_ms = 1'000;

std::string base64(std::string_view bytes) {
  std::string text((bytes.size() + 2) / 3 * 4 + 1, '\0');
  const int size =
      EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()),
                      reinterpret_cast<const unsigned char*>(bytes.data()), static_cast<int>(bytes.size()));
  text.resize(static_cast<size_t>(size));
  return text;
}

std::optional<std::string> from_base64(const std::string& text) {
  std::string bytes(text.size() / 4 * 3, '\0');
  const int size =
      EVP_DecodeBlock(reinterpret_cast<unsigned char*>(bytes.data()),
                      reinterpret_cast<const unsigned char*>(text.data()), static_cast<int>(text.size()));
  if (text.size() % 4 != 0 || size < 0) return std::nullopt;
  const auto padding =
      static_cast<size_t>(std::count(text.end() - std::min<long>(2, std::ssize(text)), text.end(), '='));
  bytes.resize(static_cast<size_t>(size) - padding);
  return bytes;
}

// 64-bit numbers are texts in the gateway's JSON; a zero is left out.
uint64_t number_of(const Json& object, const char* name) {
  const auto found = object.find(name);
  if (found == object.end()) return 0;
  if (found->is_number_unsigned()) return found->get<uint64_t>();
  uint64_t value = 0;
  if (!found->is_string()) return 0;
  const auto& text = found->get_ref<const std::string&>();
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

struct FreeHandle {
  void operator()(CURL* handle) const { curl_easy_cleanup(handle); }
};
struct FreeList {
  void operator()(curl_slist* list) const { curl_slist_free_all(list); }
};

struct Answer {
  long status = 0;
  std::string body;
  std::optional<int64_t> date_unix_ms;
};

size_t take_body(char* bytes, size_t, size_t size, void* answer) {
  static_cast<Answer*>(answer)->body.append(bytes, size);
  return size;
}

size_t take_header(char* bytes, size_t, size_t size, void* answer) {
  constexpr std::string_view name = "date:";
  const std::string_view line(bytes, size);
  const bool is_date =
      line.size() > name.size() && std::equal(name.begin(), name.end(), line.begin(), [](char a, char b) {
        return a == (b >= 'A' && b <= 'Z' ? static_cast<char>(b - 'A' + 'a') : b);
      });
  if (is_date) {
    const time_t when = curl_getdate(std::string(line.substr(name.size())).c_str(), nullptr);
    if (when >= 0) static_cast<Answer*>(answer)->date_unix_ms = int64_t{when} * 1'000;
  }
  return size;
}

void initialise_curl() {
  static std::once_flag once;
  std::call_once(once, [] { curl_global_init(CURL_GLOBAL_DEFAULT); });
}

class EtcdRegistry final : public Registry {
 public:
  explicit EtcdRegistry(const RegistrySettings& settings) : settings_(settings) {
    initialise_curl();
    curl_.reset(curl_easy_init());
  }

  Result<std::optional<Record>> get(std::string_view key) override {
    EVENKEEL_TRY(check_key(key));
    EVENKEEL_ASSIGN(const Json answer, call("/v3/kv/range", {{"key", base64(stored_key(key))}}));
    EVENKEEL_ASSIGN(auto records, records_in(answer));
    if (records.empty()) return std::nullopt;
    return std::move(records.front().record);
  }

  Result<Put> compare_and_put(std::string_view key, uint64_t expected, std::string_view value) override {
    EVENKEEL_TRY(check_key(key));
    EVENKEEL_TRY(check_value(key, value));
    const std::string name = base64(stored_key(key));
    const Json compare = {
        {"key", name}, {"target", "VERSION"}, {"result", "EQUAL"}, {"version", std::to_string(expected)}};
    const Json put = {{"requestPut", {{"key", name}, {"value", base64(value)}}}};
    const Json look = {{"requestRange", {{"key", name}}}};
    EVENKEEL_ASSIGN(const Json answer, call("/v3/kv/txn", {{"compare", Json::array({compare})},
                                                           {"success", Json::array({put})},
                                                           {"failure", Json::array({look})}}));
    if (answer.value("succeeded", false)) return Put{true, expected + 1};
    const auto responses = answer.find("responses");
    if (responses == answer.end() || !responses->is_array() || responses->size() != 1 ||
        !responses->front().contains("response_range"))
      return fail(error_of("the answer to a transaction does not say what stood in its way"));
    EVENKEEL_ASSIGN(const auto records, records_in(responses->front()["response_range"]));
    return Put{false, records.empty() ? 0 : records.front().record.version};
  }

  Result<std::vector<KeyedRecord>> list(std::string_view prefix) override {
    const std::string first = stored_key(prefix);
    // Keys are ASCII: whatever begins with the prefix lies before the prefix with its last byte raised by
    // one.
    std::string end = first;
    ++end.back();
    EVENKEEL_ASSIGN(const Json answer,
                    call("/v3/kv/range", {{"key", base64(first)}, {"range_end", base64(end)}}));
    EVENKEEL_ASSIGN(auto records, records_in(answer));
    std::sort(records.begin(), records.end(), [](const auto& a, const auto& b) { return a.key < b.key; });
    return records;
  }

  Result<int64_t> now_unix_ms() override {
    const std::lock_guard lock(mutex_);
    EVENKEEL_ASSIGN(const Answer answer,
                    ask("/v3/kv/range", {{"key", base64(stored_key("time"))}, {"count_only", true}}));
    if (!answer.date_unix_ms) return fail(error_of("the answer has no Date"));
    return *answer.date_unix_ms + date_granularity_ms / 2;
  }
  int64_t time_granularity_ms() const override { return date_granularity_ms; }

 private:
  std::string stored_key(std::string_view key) const { return fmt::format("{}/{}", settings_.prefix, key); }

  Error error_of(std::string_view what) const {
    return registry_error(
        fmt::format("registry in etcd at {}: {}", to_string(settings_.endpoints[current_]), what));
  }

  Result<std::vector<KeyedRecord>> records_in(const Json& range) const {
    std::vector<KeyedRecord> found;
    const auto pairs = range.find("kvs");
    if (pairs == range.end()) return found;
    const size_t own = settings_.prefix.size() + 1;
    for (const Json& pair : *pairs) {
      const auto key = from_base64(pair.value("key", ""));
      auto value = from_base64(pair.value("value", ""));
      const uint64_t version = number_of(pair, "version");
      if (!key || key->size() < own || !value || version == 0)
        return fail(error_of("a record cannot be read"));
      found.push_back({key->substr(own), {std::move(*value), version}});
    }
    return found;
  }

  Result<Json> call(const char* path, const Json& request) {
    const std::lock_guard lock(mutex_);
    EVENKEEL_ASSIGN(const Answer answer, ask(path, request));
    Json parsed = Json::parse(answer.body, nullptr, false);
    if (!parsed.is_object()) return fail(error_of("the answer is not a JSON object"));
    return parsed;
  }

  // With the lock held. Logs in when there is an account, once more when the token has become too old: a
  // request that was refused for it has not been carried out.
  Result<Answer> ask(const char* path, const Json& request) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(settings_.timeout_ms);
    if (!settings_.user.empty() && token_.empty()) EVENKEEL_TRY(log_in(deadline));
    EVENKEEL_ASSIGN(Answer answer, post(path, request, deadline));
    if (answer.status == 200) return answer;
    const Json refusal = Json::parse(answer.body, nullptr, false);
    const bool stale = refusal.is_object() && refusal.value("code", 0) == grpc_unauthenticated;
    if (!stale || settings_.user.empty()) return fail(refused(answer, refusal));
    EVENKEEL_TRY(log_in(deadline));
    EVENKEEL_ASSIGN(answer, post(path, request, deadline));
    if (answer.status == 200) return answer;
    return fail(refused(answer, Json::parse(answer.body, nullptr, false)));
  }

  Error refused(const Answer& answer, const Json& refusal) const {
    std::string why = refusal.is_object() ? refusal.value("message", refusal.value("error", "")) : "";
    return error_of(fmt::format("{} (HTTP status {})", why.empty() ? "refused" : why, answer.status));
  }

  Status log_in(std::chrono::steady_clock::time_point deadline) {
    token_.clear();
    EVENKEEL_ASSIGN(const Answer answer,
                    post("/v3/auth/authenticate",
                         {{"name", settings_.user}, {"password", settings_.password}}, deadline));
    const Json parsed = Json::parse(answer.body, nullptr, false);
    if (answer.status != 200 || !parsed.is_object()) return fail(refused(answer, parsed));
    token_ = parsed.value("token", "");
    if (token_.empty()) return fail(error_of("the login gave no token"));
    return {};
  }

  Result<Answer> post(const char* path, const Json& request, std::chrono::steady_clock::time_point deadline) {
    const std::string body = request.dump();
    Error last = error_of("no time is left");
    for (size_t attempt = 0; attempt < settings_.endpoints.size(); ++attempt) {
      const auto left =
          std::chrono::duration_cast<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
      if (left.count() <= 0) break;
      Answer answer;
      const CURLcode code = post_once(path, body, left.count(), answer);
      if (code == CURLE_OK) return answer;
      last = error_of(curl_easy_strerror(code));
      current_ = (current_ + 1) % settings_.endpoints.size();
      // Only what was certainly not sent may be sent to another one.
      if (code != CURLE_COULDNT_CONNECT && code != CURLE_COULDNT_RESOLVE_HOST) break;
    }
    return fail(std::move(last));
  }

  CURLcode post_once(const char* path, const std::string& body, int64_t left_ms, Answer& answer) {
    CURL* curl = curl_.get();
    const bool secure = settings_.tls.mode != RegistryTls::Mode::off;
    const std::string url =
        fmt::format("{}://{}{}", secure ? "https" : "http", to_string(settings_.endpoints[current_]), path);
    std::unique_ptr<curl_slist, FreeList> headers(
        curl_slist_append(nullptr, "Content-Type: application/json"));
    // Without it curl waits a second for "100 Continue" before larger bodies.
    headers.reset(curl_slist_append(headers.release(), "Expect:"));
    if (!token_.empty())
      headers.reset(curl_slist_append(headers.release(), ("Authorization: " + token_).c_str()));
    curl_easy_reset(curl);
    curl_easy_setopt(curl, CURLOPT_URL, url.c_str());
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers.get());
    curl_easy_setopt(curl, CURLOPT_POSTFIELDS, body.c_str());
    curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(body.size()));
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take_body);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, &answer);
    curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, take_header);
    curl_easy_setopt(curl, CURLOPT_HEADERDATA, &answer);
    curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, static_cast<long>(left_ms));
    curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(left_ms));
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    // A proxy for the web, named in the environment, is none for the registry.
    curl_easy_setopt(curl, CURLOPT_PROXY, "");
    if (secure) set_tls(curl);
    const CURLcode code = curl_easy_perform(curl);
    curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &answer.status);
    return code;
  }

  void set_tls(CURL* curl) const {
    const RegistryTls& tls = settings_.tls;
    const bool verify = tls.mode == RegistryTls::Mode::verify;
    curl_easy_setopt(curl, CURLOPT_SSL_VERIFYPEER, verify ? 1L : 0L);
    curl_easy_setopt(curl, CURLOPT_SSL_VERIFYHOST, verify ? 2L : 0L);
    if (!tls.ca.empty()) curl_easy_setopt(curl, CURLOPT_CAINFO, tls.ca.c_str());
    if (tls.certificate.empty()) return;
    curl_easy_setopt(curl, CURLOPT_SSLCERT, tls.certificate.c_str());
    curl_easy_setopt(curl, CURLOPT_SSLKEY, tls.key.c_str());
  }

  const RegistrySettings settings_;
  std::mutex mutex_;  // guards what follows
  std::unique_ptr<CURL, FreeHandle> curl_;
  std::atomic<size_t> current_{0};  // the endpoint in use; read for messages without the lock
  std::string token_;
};

}  // namespace

std::unique_ptr<Registry> make_etcd_registry(const RegistrySettings& settings) {
  return std::make_unique<EtcdRegistry>(settings);
}

}  // namespace evenkeel::idgen
