-- Passives that cannot matter to a what-if: what PoB's calculation of the build looks up finds none of their modifiers. All
-- passives listen while the build is calculated once; whoever is never found changes no lookup, so no number.
local B = ...
local inert = {}
B.inert = inert

-- What PoB, or this bridge, reads of passives in another way than by looking a modifier up in the calculation; besides what
-- the first pass over the passives asks for.
local READ = { SmallPassiveSkillEffect = true, PassiveSkillEffect = true, PassiveSkillHasNoEffect = true,
	AllocatedPassiveSkillHasNoEffect = true, ExtraSkill = true }

-- Conditions and multipliers of a passive may make its own other modifiers count.
local function is_read(mod)
	return READ[mod.name] or B.asked_first[mod.name] or mod.name:find("^Condition:") or mod.name:find("^Multiplier:")
		or AND64(mod.flags or 0, ModFlag.Thorns) ~= 0
end

local function is_reached(id)
	for _, jewel in pairs(build.calcsTab.mainEnv.radiusJewelList) do
		if jewel.nodes[id] then return true end
	end
	return false
end

-- Whether a passive does nothing but add its modifiers.
local function is_simple(node)
	if (node.type ~= "Normal" and node.type ~= "Notable") or node.isAttribute or node.ascendancyName or node.grantedSkills
		or node.containJewelSocket or (node.allocMode or 0) ~= 0 or is_reached(node.id) then return false end
	for _, mod in ipairs(node.modList) do
		if is_read(mod) then return false end
	end
	return true
end

-- By name of modifier: the passives that have it, and the modifier.
local function listeners()
	local found, waiting = {}, {}
	for id, node in pairs(build.spec.nodes) do
		if not build.spec.allocNodes[id] and is_simple(node) then
			waiting[id] = true
			for _, mod in ipairs(node.modList) do
				local list = found[mod.name]
				if not list then
					list = {}
					found[mod.name] = list
				end
				list[#list + 1] = { id = id, mod = mod }
			end
		end
	end
	return found, waiting
end

local function counts(context, mod, cfg)
	if not mod[1] then return true end
	local ok, value = pcall(context.EvalMod, context, mod, cfg, {})
	return not ok or (value and value ~= 0)
end

-- Where each of PoB's lookups has its arguments: modifiers are looked up by type, flags, keywords and names.
local LOOKUPS = {
	SumInternal = function(kind, cfg, flags, keywords, _, ...) return kind, cfg, flags, keywords, ... end,
	MoreInternal = function(cfg, flags, keywords, _, ...) return "MORE", cfg, flags, keywords, ... end,
	FlagInternal = function(cfg, flags, keywords, _, ...) return "FLAG", cfg, flags, keywords, ... end,
	OverrideInternal = function(cfg, flags, keywords, _, ...) return "OVERRIDE", cfg, flags, keywords, ... end,
	ListInternal = function(_, cfg, flags, keywords, _, ...) return "LIST", cfg, flags, keywords, ... end,
	TabulateInternal = function(_, kind, cfg, flags, keywords, _, ...) return kind, cfg, flags, keywords, ... end,
}

-- And the same of those that `lookup.lua` answers without them.
local ASKED = {
	Sum = function(kind, cfg, ...) return kind, cfg, ... end,
	More = function(cfg, ...) return "MORE", cfg, ... end,
	Flag = function(cfg, ...) return "FLAG", cfg, ... end,
	Override = function(cfg, ...) return "OVERRIDE", cfg, ... end,
}

-- Runs the action with everything that is looked up told to `hear(context, kind, cfg, flags, keywords, names ...)`, and
-- with no context where it matters merely that there is such a modifier.
local function overheard(action, hear)
	local undo = {}
	local function hear_of(store, kind, cfg, ...) hear(store, kind, cfg, cfg and cfg.flags or 0, cfg and cfg.keywordFlags or 0, ...) end
	local function tap(class, name, made)
		local original = class[name]
		undo[#undo + 1] = function() class[name] = original end
		class[name] = made(original)
	end
	for _, class in ipairs({ common.classes.ModDB, common.classes.ModList }) do
		for name, sorted in pairs(LOOKUPS) do
			tap(class, name, function(original)
				return function(self, context, ...)
					if context == self then hear(context, sorted(...)) end -- else a parent is asked the same
					return original(self, context, ...)
				end
			end)
		end
		for name, sorted in pairs(ASKED) do
			tap(class, name, function(original)
				return function(self, ...)
					hear_of(self, sorted(...))
					return original(self, ...)
				end
			end)
		end
		tap(class, "HasModInternal", function(original)
			return function(self, kind, flags, keywords, source, ...)
				hear(nil, kind, nil, flags, keywords, ...)
				return original(self, kind, flags, keywords, source, ...)
			end
		end)
		tap(class, "ReplaceModInternal", function(original)
			return function(self, mod)
				hear(nil, nil, nil, mod.flags, mod.keywordFlags, mod.name)
				return original(self, mod)
			end
		end)
		tap(class, "ConvertModInternal", function(original)
			return function(self, name, mod)
				hear(nil, nil, nil, mod.flags, mod.keywordFlags, name)
				return original(self, name, mod)
			end
		end)
	end
	local ok, problem = pcall(action)
	for _, restore in ipairs(undo) do restore() end
	if not ok then error(problem, 0) end
end

local known

function inert.reset() known = nil end

-- Finds the passives once per build; `calculate` calculates the build as it is, whatever may be asked of it.
local function find(calculate)
	local found, waiting = listeners()
	local is_busy, are_counted = false, false
	local function heard(list, context, kind, cfg, flags, keywords)
		for i = 1, #list do
			local id, mod = list[i].id, list[i].mod
			if waiting[id] and (not kind or mod.type == kind) and AND64(flags, mod.flags) == mod.flags
				and MatchKeywordFlags(keywords, mod.keywordFlags) and (not context or counts(context, mod, cfg)) then
				waiting[id] = nil
			end
		end
	end
	overheard(calculate, function(context, kind, cfg, flags, keywords, ...)
		if is_busy then return end
		is_busy = true
		for i = 1, select("#", ...) do
			local name = select(i, ...)
			are_counted = are_counted or name == "Multiplier:AllocatedNotable"
			if found[name] then heard(found[name], context, kind, cfg, flags, keywords) end
		end
		is_busy = false
	end)
	for id in pairs(are_counted and waiting or {}) do
		if build.spec.nodes[id].type == "Notable" then waiting[id] = nil end
	end
	return waiting
end

-- The first call after a change of the build costs five to ten calculations. None is told where the configuration claims
-- what a passive may bring about by what it says.
function inert.ready(calculate)
	if not known then known = B.states.claimed and {} or find(calculate) end
end

-- Whether a candidate does nothing but allocate such passives, for both weapon sets.
function inert.is(changes)
	for _, change in ipairs(changes) do
		if change.op ~= "allocate" then return false end
		for _, wish in ipairs(change.nodes) do
			if not known[wish.id] or (wish.weapon_set or 0) ~= 0 then return false end
		end
	end
	return changes[1] ~= nil
end

-- The passives, for the tests.
function B.ops.inert()
	B.need_build()
	inert.ready(B.whole)
	local ids = B.json.list()
	for id in pairs(known) do ids[#ids + 1] = id end
	table.sort(ids)
	return B.json.encode(ids)
end
