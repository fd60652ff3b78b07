-- What a player can choose about a gem beside level and quality: its mode, its minion, how often it counts.
-- Only what differs from PoB's default is kept, under PoB's own field names; "statSet.<skill>" and
-- "minionStatSet.<skill>.<number>" are entries of PoB's tables of that kind.
local B = ...
local choices = {}
B.choices = choices

local DEFAULTS = {
	count = 1, corruptLevel = 0, corrupted = false, enableGlobal1 = true, enableGlobal2 = true,
	skillPart = 1, skillStageCount = false, skillMineCount = false, skillMinionSkill = 1, skillMinion = "",
}
local TABLES = { statSet = "statSet", minionStatSet = "skillMinionSkillStatSetIndexLookup" }
local SHOWN_TWICE = { skillPart = true, skillStageCount = true, skillMineCount = true, skillMinionSkill = true, skillMinion = true }

local function read_tables(gem, found)
	for effect, index in pairs(gem.statSet or {}) do
		if effect ~= "index" and type(index) == "number" and index ~= 1 then found["statSet." .. effect] = index end
	end
	for effect, map in pairs(gem.skillMinionSkillStatSetIndexLookup or {}) do
		for number, index in pairs(map) do
			if index ~= 1 then found[("minionStatSet.%s.%d"):format(effect, number)] = index end
		end
	end
end

function choices.read(gem)
	local found = {}
	for name, default in pairs(DEFAULTS) do
		local value = gem[name]
		if value ~= nil and value ~= default then found[name] = value end
	end
	read_tables(gem, found)
	return found
end

local function is_whole(value) return type(value) == "number" and value == math.floor(value) and value >= 0 and value < 1000 end

local function check(name, value)
	local default = DEFAULTS[name]
	local ok
	if default == nil then
		ok = is_whole(value) and TABLES[name:match("^%a+%.") and name:match("^%a+")]
	elseif name == "skillMinion" then
		ok = type(value) == "string" and data.minions[value]
	elseif name == "corrupted" or name:find("^enable") then
		ok = type(value) == "boolean"
	else
		ok = is_whole(value)
	end
	if not ok then B.refuse("%s = %s is not a choice of a gem", tostring(name), tostring(value)) end
end

local function set_entry(gem, name, value)
	local effect, number = name:match("^minionStatSet%.(.+)%.(%d+)$")
	for _, suffix in ipairs({ "", "Calcs" }) do
		if effect then
			local map = gem[TABLES.minionStatSet .. suffix]
			map[effect] = map[effect] or {}
			map[effect][tonumber(number)] = value
		else
			gem["statSet" .. suffix][name:match("^statSet%.(.+)$") or name] = value
		end
	end
end

-- Sets them on a gem that is being made.
function choices.apply(gem, chosen)
	gem.statSet, gem.statSetCalcs = {}, {}
	gem.skillMinionSkillStatSetIndexLookup, gem.skillMinionSkillStatSetIndexLookupCalcs = {}, {}
	for name, value in pairs(chosen or {}) do
		check(name, value)
		if DEFAULTS[name] == nil then
			set_entry(gem, name, value)
		else
			gem[name] = value
			if SHOWN_TWICE[name] then gem[name .. "Calcs"] = value end
		end
	end
end
