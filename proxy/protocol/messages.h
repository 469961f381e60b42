// All messages. A message is a plain value with operator==, `decode` from a packet's payload and `encode`
// into a WireWriter (usually by PacketWriter::write).
#pragma once

#include "proxy/protocol/command_messages.h"
#include "proxy/protocol/handshake_messages.h"
#include "proxy/protocol/response_messages.h"
#include "proxy/protocol/statement_messages.h"
