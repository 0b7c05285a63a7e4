-- A Wireshark dissector for what Wireshark does not know: the congestion notification tag and message of 802.1Q
-- (CN-TAG, type 0x22E9; CNM, type 0x22E7), and the header that Tailback's simulated frames carry (type 0x88B5).
--
--   tshark -X lua_script:share/wireshark/tailback.lua -r capture.pcapng
--
-- or copy it into Wireshark's folder for personal Lua plugins. Offset and growth are in units of 64 octets.

local ethertypes = DissectorTable.get("ethertype")

-- CN-TAG: flow identifier, type of what follows.
local tag = Proto("cntag", "Congestion Notification Tag")
tag.fields.flow = ProtoField.uint16("cntag.flow", "Flow identifier", base.HEX)
tag.fields.etype = ProtoField.uint16("cntag.etype", "Type", base.HEX)

function tag.dissector(buffer, packet, tree)
    if buffer:len() < 4 then return 0 end
    local branch = tree:add(tag, buffer(0, 4))
    branch:add(tag.fields.flow, buffer(0, 2))
    branch:add(tag.fields.etype, buffer(2, 2))
    local inner = ethertypes:get_dissector(buffer(2, 2):uint())
    if inner then
        inner:call(buffer(4):tvb(), packet, tree)
    elseif buffer:len() > 4 then
        Dissector.get("data"):call(buffer(4):tvb(), packet, tree)
    end
    return buffer:len()
end

-- CNM: see crates/wire/src/cnm.rs.
local message = Proto("cnm", "Congestion Notification Message")
message.fields.version = ProtoField.uint8("cnm.version", "Version", base.DEC, nil, 0xF0)
message.fields.feedback = ProtoField.uint16("cnm.feedback", "Quantized feedback", base.DEC, nil, 0x003F)
message.fields.cpid = ProtoField.uint64("cnm.cpid", "Congestion point", base.HEX)
message.fields.offset = ProtoField.int16("cnm.qoffset", "Queue offset", base.DEC)
message.fields.growth = ProtoField.int16("cnm.qdelta", "Queue growth", base.DEC)
message.fields.priority = ProtoField.uint8("cnm.priority", "Encapsulated priority", base.DEC, nil, 0xE0)
message.fields.destination = ProtoField.ether("cnm.destination", "Encapsulated destination")
message.fields.length = ProtoField.uint16("cnm.length", "Encapsulated length", base.DEC)
message.fields.quote = ProtoField.bytes("cnm.msdu", "Encapsulated octets")
message.experts.long = ProtoExpert.new("cnm.long", "More octets are quoted than there are", expert.group.MALFORMED,
    expert.severity.ERROR)

function message.dissector(buffer, packet, tree)
    if buffer:len() < 24 then return 0 end
    packet.cols.protocol = "CNM"
    local quoted, there = buffer(22, 2):uint(), buffer:len() - 24
    local branch = tree:add(message, buffer(0, 24 + math.min(quoted, there)))
    branch:add(message.fields.version, buffer(0, 1))
    branch:add(message.fields.feedback, buffer(0, 2))
    branch:add(message.fields.cpid, buffer(2, 8))
    branch:add(message.fields.offset, buffer(10, 2)):append_text(" x 64 octets")
    branch:add(message.fields.growth, buffer(12, 2)):append_text(" x 64 octets")
    branch:add(message.fields.priority, buffer(14, 1))
    branch:add(message.fields.destination, buffer(16, 6))
    local length = branch:add(message.fields.length, buffer(22, 2))
    if quoted > there or quoted > 64 then
        length:add_proto_expert_info(message.experts.long)
    elseif quoted > 0 then
        branch:add(message.fields.quote, buffer(24, quoted))
    end
    packet.cols.info = string.format("Fb %d, offset %d, growth %d", buffer(0, 2):uint() % 64, buffer(10, 2):int(),
        buffer(12, 2):int())
    return 24 + math.min(quoted, there)
end

-- The header of simulated frames: see crates/wire/src/tailback.rs.
local frame = Proto("tailback", "Tailback simulated frame")
local kinds = {
    [0] = "data", "acknowledgement", "probe", "answer", "receipt", "credit", "notice", "pause",
    "trimmed",
    "cumulative acknowledgement", "negative acknowledgement", "acknowledgement of a trimmed frame",
    "congestion notification", "pull", "header returned to its source",
}
frame.fields.version = ProtoField.uint8("tailback.version", "Version", base.DEC, nil, 0xF0)
frame.fields.kind = ProtoField.uint8("tailback.kind", "Kind", base.DEC, kinds, 0x0F)
frame.fields.marked = ProtoField.bool("tailback.marked", "Congestion mark", 8, nil, 0x80)
frame.fields.last = ProtoField.bool("tailback.last", "Last of its flow", 8, nil, 0x40)
frame.fields.selective = ProtoField.bool("tailback.selective", "With selective blocks", 8, nil, 0x20)
frame.fields.flow = ProtoField.uint32("tailback.flow", "Flow", base.DEC)
frame.fields.sequence = ProtoField.uint32("tailback.sequence", "Position in the flow", base.DEC)
frame.fields.born = ProtoField.uint64("tailback.born", "Made at (ps)", base.DEC)
frame.fields.tag = ProtoField.uint16("tailback.tag", "Associated congestion point", base.DEC)
frame.fields.cause = ProtoField.int16("tailback.cause", "Frame that caused it, from the position", base.DEC)
frame.fields.telemetry = ProtoField.bool("tailback.telemetry", "Telemetry", 8, nil, 0x10)
frame.fields.stamp = ProtoField.bytes("tailback.stamp", "Stamp")
frame.fields.name = ProtoField.string("tailback.name", "Name of the flow")

-- Adds a header to the tree; returns its summary, or nothing if it is none.
local function show(buffer, tree)
    if buffer:len() < 21 or buffer(0, 1):uint() < 0x10 or buffer(0, 1):uint() > 0x1F then return nil end
    local branch = tree:add(frame, buffer())
    local kind, name = buffer(0, 1):uint() % 16, buffer(20, 1):uint()
    branch:add(frame.fields.version, buffer(0, 1))
    branch:add(frame.fields.kind, buffer(0, 1))
    branch:add(frame.fields.marked, buffer(1, 1))
    branch:add(frame.fields.last, buffer(1, 1))
    branch:add(frame.fields.telemetry, buffer(1, 1))
    branch:add(frame.fields.flow, buffer(2, 4))
    branch:add(frame.fields.sequence, buffer(6, 4))
    branch:add(frame.fields.born, buffer(10, 8))
    if kind >= 9 and kind <= 11 then
        branch:add(frame.fields.selective, buffer(1, 1))
        branch:add(frame.fields.cause, buffer(18, 2))
    else
        branch:add(frame.fields.tag, buffer(18, 2))
    end
    local called = ""
    if name > 0 and 21 + name <= buffer:len() then
        branch:add(frame.fields.name, buffer(21, name))
        called = " " .. buffer(21, name):string()
    end
    local at = 21 + name
    if math.floor(buffer(1, 1):uint() / 0x10) % 2 == 1 and at < buffer:len() then
        for hop = 0, buffer(at, 1):uint() - 1 do
            local first = at + 1 + 8 * hop
            if first + 8 > buffer:len() then break end
            local high, low = buffer(first, 4):uint(), buffer(first + 4, 4):uint()
            -- rate:3, time:24, bytes:20, queue:17
            local rates = { [0] = 0, 10, 25, 40, 50, 100, 200, 400 }
            local text = string.format("Stamp %d: %d Gb/s, %d ns, %d B sent, %d B queued", hop,
                rates[math.floor(high / 0x20000000)], math.floor(high / 0x20) % 0x1000000,
                (high % 0x20 * 0x8000 + math.floor(low / 0x20000)) * 128, low % 0x20000 * 80)
            branch:add(frame.fields.stamp, buffer(first, 8)):set_text(text)
        end
    end
    return string.format("%s of flow %d%s, position %d%s", kinds[kind] or "unknown", buffer(2, 4):uint(), called,
        buffer(6, 4):uint(), buffer(1, 1):uint() >= 0x80 and ", marked" or "")
end

function frame.dissector(buffer, packet, tree)
    local summary = show(buffer, tree)
    if not summary then return 0 end
    packet.cols.protocol = "Tailback"
    packet.cols.info = summary
    return buffer:len()
end

-- In InfiniBand packets, RoCEv2 and TCP the header is what the transport carries, behind a signature.
local signature = "Tailback, frame:"
local function signed(buffer, packet, tree)
    if buffer:len() <= #signature or buffer(0, #signature):string() ~= signature then return false end
    return frame.dissector(buffer(#signature):tvb(), packet, tree) > 0
end
frame:register_heuristic("infiniband.payload", signed)
frame:register_heuristic("tcp", signed)

-- Wireshark gives nobody what follows the headers of an acknowledgement of RoCEv2: the stamps that it returns. It keeps the
-- columns.
local opcode = Field.new("infiniband.bth.opcode")
local returned = Proto("tailback_returned", "Tailback simulated frame in an acknowledgement")
function returned.dissector(buffer, packet, tree)
    local code = opcode()
    if not code or code.value ~= 0x11 then return end
    local at = buffer:raw():find(signature, 1, true)
    -- Two check sequences follow.
    local rest = at and buffer:len() - (at - 1) - 8
    if rest and rest > #signature then show(buffer(at - 1 + #signature, rest - #signature):tvb(), tree) end
end
register_postdissector(returned)

ethertypes:add(0x22E9, tag)
ethertypes:add(0x22E7, message)
ethertypes:add(0x88B5, frame)
