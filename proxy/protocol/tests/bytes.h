// Bytes in tests: written as hexadecimal with free spaces, compared as such.
#pragma once

#include <string>
#include <string_view>

#include "proxy/protocol/auth/digest.h"
#include "proxy/protocol/frame.h"

namespace evenkeel::protocol {

// "01 ff 'abc' 00": hexadecimal pairs and quoted text.
inline std::string bytes(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size();) {
    if (text[i] == ' ' || text[i] == '\n') {
      ++i;
    } else if (text[i] == '\'') {
      const size_t end = text.find('\'', i + 1);
      out += text.substr(i + 1, end - i - 1);
      i = end + 1;
    } else {
      out += static_cast<char>(std::stoi(std::string(text.substr(i, 2)), nullptr, 16));
      i += 2;
    }
  }
  return out;
}

inline std::string hex(std::string_view raw) { return auth::to_hex(raw); }

// One packet with its header.
inline std::string packet(std::string_view payload, uint8_t sequence) {
  std::string out;
  PacketWriter(out, sequence).write_payload(payload);
  return out;
}

template <typename Message>
std::string payload_of(const Message& message, Capabilities capabilities = 0) {
  std::string out;
  WireWriter writer(out);
  message.encode(writer, capabilities);
  return writer.ok() ? out : "error: " + writer.status().error().message;
}

}  // namespace evenkeel::protocol
