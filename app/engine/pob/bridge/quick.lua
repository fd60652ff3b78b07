-- The same results as PoB's own functions, with less work: what is asked thousands of times per what-if.
local B = ...

-- PoB makes proxies with closures for the parents of every object; lists of modifiers are made hundreds of times per
-- candidate and use none of that.
local theirs = new
local function store(class, with_mods)
	return function(parent)
		parent = parent or false
		local made = setmetatable({ parent = parent, actor = parent and parent.actor or {}, multipliers = {}, conditions = {},
			mods = with_mods and {} or nil }, class)
		made.Object = made
		return made
	end
end
local quick = { ModList = store(common.classes.ModList, false), ModDB = store(common.classes.ModDB, true) }

function new(name, ...)
	local make = quick[name]
	if make then return make(...) end
	return theirs(name, ...)
end
B.replaced(new, theirs)

-- Hashes of item texts are asked for every radius jewel in every candidate.
local hash, hashes, count = getHashFromString, {}, 0
function getHashFromString(text)
	local known = hashes[text]
	if known then return known end
	if count >= 1000 then hashes, count = {}, 0 end
	known = hash(text)
	hashes[text], count = known, count + 1
	return known
end
B.replaced(getHashFromString, hash)

-- The modifiers of a skill at a level and quality: PoB appends the same shared objects each time.
local calcs = B.calcs
local their_merge, known = calcs.mergeSkillInstanceMods, setmetatable({}, { __mode = "k" })

local function has_scalar(mods)
	if mods.scalar then return true end
	for _, entry in ipairs(mods) do
		if type(entry) == "table" and (entry.scalar or (not mods.name and has_scalar(entry))) then return true end
	end
	return false
end

-- Whether what is appended depends on what the list holds already.
local function is_fixed(effect)
	local granted = effect.grantedEffect
	for _, set in ipairs(granted.statSets) do
		for stat in pairs(calcLib.buildSkillInstanceStats(effect, granted, set)) do
			for _, mods in ipairs(set.statMap[stat] or {}) do
				if has_scalar(mods) then return false end
			end
		end
	end
	return true
end

local function entry_of(effect, set)
	local of_effect = known[effect.grantedEffect]
	if not of_effect then
		of_effect = {}
		known[effect.grantedEffect] = of_effect
	end
	local of_set = of_effect[set or false]
	if not of_set then
		of_set = {}
		of_effect[set or false] = of_set
	end
	return of_set
end

calcs.mergeSkillInstanceMods = function(env, list, effect, set, extra)
	if (extra and next(extra)) or list.mods then return their_merge(env, list, effect, set, extra) end
	calcLib.validateGemLevel(effect)
	local of_set, key = entry_of(effect, set), effect.level .. "/" .. effect.quality .. "/" .. (effect.actorLevel or "")
	local added = of_set[key]
	if added then
		local n = #list
		for i = 1, #added do list[n + i] = added[i] end
		return
	end
	local from = #list
	their_merge(env, list, effect, set, extra)
	if added == nil then
		of_set[key] = is_fixed(effect) and { unpack(list, from + 1, #list) } or false
	end
end
B.replaced(calcs.mergeSkillInstanceMods, their_merge)

-- Expressions over skill types, in reverse Polish notation: the same without a new table for each.
local their_match, stack = calcLib.doesTypeExpressionMatch, {}
local OR, AND, NOT = SkillType.OR, SkillType.AND, SkillType.NOT
calcLib.doesTypeExpressionMatch = function(checked, types, minion_types)
	local n = 0
	for i = 1, #checked do
		local kind = checked[i]
		if kind == OR or kind == AND then
			if n < 2 then return their_match(checked, types, minion_types) end
			local a, b = stack[n - 1], stack[n]
			n = n - 1
			if kind == OR then stack[n] = a or b else stack[n] = a and b end
		elseif kind == NOT then
			if n < 1 then return their_match(checked, types, minion_types) end
			stack[n] = not stack[n]
		else
			n = n + 1
			stack[n] = types[kind] or (minion_types and minion_types[kind]) or false
		end
	end
	for i = 1, n do
		if stack[i] then return true end
	end
	return false
end
B.replaced(calcLib.doesTypeExpressionMatch, their_match)

-- Whether a gem is of a kind depends on the gem alone, except for "corrupted".
local their_kind, kinds = calcLib.gemIsType, setmetatable({}, { __mode = "k" })
calcLib.gemIsType = function(gem, kind, transfigured)
	local gem_data = gem.gemData or gem
	if kind == "corrupted" or kind == nil then return their_kind(gem, kind, transfigured) end
	local of_gem = kinds[gem_data]
	if not of_gem then
		of_gem = { [true] = {}, [false] = {} }
		kinds[gem_data] = of_gem
	end
	local answers = of_gem[transfigured and true or false]
	local answer = answers[kind]
	if answer == nil then
		answer = their_kind(gem, kind, transfigured) or false
		answers[kind] = answer
	end
	return answer
end
B.replaced(calcLib.gemIsType, their_kind)

-- Many objects are asked for fields that they lack, which walks all classes that theirs has come from.
for _, class in pairs(common.classes) do
	local meta = getmetatable(class)
	local theirs = meta and meta.__index
	if type(theirs) == "function" then
		local lacks = {}
		meta.__index = function(self, key)
			if lacks[key] then return nil end
			local value = theirs(self, key)
			if value == nil then lacks[key] = true end
			return value
		end
		B.replaced(meta.__index, theirs)
	end
end

-- Copies are made with room for all that goes in, instead of growing by and by.
local make, their_copy = require("table.new"), copyTable
function copyTable(from, shallow)
	local count, places = 0, #from
	for _ in pairs(from) do count = count + 1 end
	local out = places <= count and make(places, count - places) or {}
	if shallow then
		for key, value in pairs(from) do out[key] = value end
	else
		for key, value in pairs(from) do
			if type(value) == "table" then out[key] = copyTable(value) else out[key] = value end
		end
	end
	return out
end
B.replaced(copyTable, their_copy)
