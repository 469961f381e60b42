// Answers as text: how scripts write what instances say, and how traces show what clients hear.
#pragma once

#include <string>
#include <string_view>

#include "proxy/protocol/capabilities.h"
#include "proxy/protocol/response_tracker.h"
#include "proxy/session/tests/fake_instance.h"

namespace evenkeel::session::testing {

// "OK affected=2 message=Rows matched: 2 …", "ERR 1062 text", "ROWS id:bigint v:varchar | 1, 'a' | 2, NULL",
// "MANY 1000 100 id:bigint v:varchar", "HOLD", "LOSE".
Answer read_answer(std::string_view text);

// What an instance answers to a statement that no line of the script names.
Answer default_answer(std::string_view sql);

// Appends what one packet of an answer says.
void append_part(std::string& text, protocol::Part part, std::string_view payload,
                 protocol::Capabilities capabilities);

}  // namespace evenkeel::session::testing
