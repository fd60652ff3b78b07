-- JSON for the exchange with Python. Numbers stay exact (%.17g); infinity becomes 1e12, NaN is left out.
local B = ...
local LIST = {}
local json = {}
B.json = json

local find, sub, byte, char, format = string.find, string.sub, string.byte, string.char, string.format
local concat, floor = table.concat, math.floor

function json.list(t) return setmetatable(t or {}, LIST) end

local escapes = { ['"'] = '\\"', ["\\"] = "\\\\", ["\n"] = "\\n", ["\r"] = "\\r", ["\t"] = "\\t" }
local function escape(c) return escapes[c] or format("\\u%04x", byte(c)) end

function json.number(n)
	if n ~= n then return nil end
	if n >= 1e12 then return "1000000000000" elseif n <= -1e12 then return "-1000000000000" end
	if n == floor(n) then return format("%d", n) end
	return format("%.17g", n)
end

local encode
local function encode_list(t, out)
	out[#out + 1] = "["
	for i = 1, #t do
		if i > 1 then out[#out + 1] = "," end
		encode(t[i], out)
	end
	out[#out + 1] = "]"
end

local function encode_object(t, out)
	local keys = {}
	for k, v in pairs(t) do
		if not (type(v) == "number" and v ~= v) then keys[#keys + 1] = tostring(k) end
	end
	table.sort(keys)
	out[#out + 1] = "{"
	for i, k in ipairs(keys) do
		out[#out + 1] = (i > 1 and ',"' or '"') .. k:gsub('[%c"\\]', escape) .. '":'
		local v = t[k]
		if v == nil then v = t[tonumber(k)] end
		encode(v, out)
	end
	out[#out + 1] = "}"
end

encode = function(v, out)
	local kind = type(v)
	if kind == "string" then
		out[#out + 1] = '"' .. v:gsub('[%c"\\]', escape) .. '"'
	elseif kind == "number" then
		out[#out + 1] = json.number(v) or "null"
	elseif kind == "boolean" then
		out[#out + 1] = v and "true" or "false"
	elseif kind == "table" then
		if getmetatable(v) == LIST or v[1] ~= nil then encode_list(v, out) else encode_object(v, out) end
	else
		out[#out + 1] = "null"
	end
end

function json.encode(v)
	local out = {}
	encode(v, out)
	return concat(out)
end

local unescapes = { b = "\b", f = "\f", n = "\n", r = "\r", t = "\t" }
local function utf8_char(code)
	if code < 0x80 then return char(code) end
	if code < 0x800 then return char(0xC0 + floor(code / 64), 0x80 + code % 64) end
	return char(0xE0 + floor(code / 4096), 0x80 + floor(code / 64) % 64, 0x80 + code % 64)
end

local function decode_string(text, at)
	local stop = find(text, '["\\]', at)
	if byte(text, stop) == 34 then return sub(text, at, stop - 1), stop + 1 end
	local parts = {}
	while true do
		parts[#parts + 1] = sub(text, at, stop - 1)
		if byte(text, stop) == 34 then return concat(parts), stop + 1 end
		local c = sub(text, stop + 1, stop + 1)
		if c == "u" then
			parts[#parts + 1] = utf8_char(tonumber(sub(text, stop + 2, stop + 5), 16))
			at = stop + 6
		else
			parts[#parts + 1] = unescapes[c] or c
			at = stop + 2
		end
		stop = find(text, '["\\]', at)
	end
end

local decode
local function decode_list(text, at)
	local t, n = {}, 0
	at = find(text, "%S", at)
	if byte(text, at) == 93 then return t, at + 1 end
	while true do
		n = n + 1
		t[n], at = decode(text, at)
		at = find(text, "%S", at)
		if byte(text, at) == 93 then return t, at + 1 end
		at = at + 1
	end
end

local function decode_object(text, at)
	local t, key = {}, nil
	at = find(text, "%S", at)
	if byte(text, at) == 125 then return t, at + 1 end
	while true do
		key, at = decode_string(text, find(text, '"', at, true) + 1)
		t[key], at = decode(text, find(text, ":", at, true) + 1)
		at = find(text, "%S", at)
		if byte(text, at) == 125 then return t, at + 1 end
		at = at + 1
	end
end

-- Reads what Python's json wrote (so it is well-formed); null becomes nil, in a list false.
decode = function(text, at)
	at = find(text, "%S", at)
	local c = byte(text, at)
	if c == 34 then return decode_string(text, at + 1) end
	if c == 123 then return decode_object(text, at + 1) end
	if c == 91 then return decode_list(text, at + 1) end
	if c == 116 then return true, at + 4 end
	if c == 102 then return false, at + 5 end
	if c == 110 then return nil, at + 4 end
	local first, last = find(text, "^[-+.%deE]+", at)
	return tonumber(sub(text, first, last)), last + 1
end

function json.decode(text) return (decode(text, 1)) end
