-- PoB's 53-bit AND and OR build a table per call, and every modifier test calls them. The same arithmetic without it.
local B = ...
local band, bor, floor = bit.band, bit.bor, math.floor
local WORD, HIGH_MASK, SIGN = 0x100000000, 0x1FFFFF, 0x80000000

local function and64(a, b, c, ...)
	if b == nil then return a or 0 end
	local result
	if a >= 0 and a < SIGN and b >= 0 and b < SIGN then
		result = band(a, b)
	else
		result = band(band(floor(a / WORD), floor(b / WORD)), HIGH_MASK) * WORD + band(a % WORD, b % WORD)
	end
	if c ~= nil then return and64(result, c, ...) end
	return result
end

local function or64(a, b, c, ...)
	if b == nil then return a or 0 end
	local result
	if a >= 0 and a < SIGN and b >= 0 and b < SIGN then
		result = bor(a, b)
	else
		result = band(bor(floor(a / WORD), floor(b / WORD)), HIGH_MASK) * WORD + bor(a % WORD, b % WORD)
	end
	if c ~= nil then return or64(result, c, ...) end
	return result
end

-- Which of PoB's functions ours stand for, so that the benchmark can put them back.
local originals = {}
function B.replaced(ours, theirs) originals[ours] = theirs end
function B.original(into)
	for ours, theirs in pairs(originals) do into[ours] = theirs end
end

-- To be called when PoB has defined its own and before any module takes a copy.
function B.install_bits()
	B.slow_and64, B.slow_or64 = AND64, OR64
	B.replaced(and64, AND64)
	B.replaced(or64, OR64)
	AND64, OR64 = and64, or64
	-- The cache is of a pure function: there is no need to empty it for each candidate.
	local kept = function() end
	B.replaced(kept, ClearMatchKeywordFlagsCache)
	ClearMatchKeywordFlagsCache = kept
end
