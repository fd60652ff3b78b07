-- Facts about gems, and which supports fit an active gem.
local B = ...
local list = B.json.list
local COLOURS = { "str", "dex", "int" }
local skill_type_names = {}
for name, number in pairs(SkillType) do skill_type_names[number] = name end

local function sorted_keys(set, names)
	local keys = list()
	for key, on in pairs(set or {}) do
		if on then keys[#keys + 1] = names and names[key] or not names and key or nil end
	end
	table.sort(keys)
	return keys
end

local function weapon_types(gem)
	local found, text = list(), gem.weaponRequirements or ""
	for name in text:gmatch("[^,]+") do found[#found + 1] = name:match("^%s*(.-)%s*$") end
	table.sort(found)
	return found
end

local function modelled(gem)
	for _, effect in ipairs(gem.grantedEffectList) do
		for _, set in ipairs(effect.statSets or {}) do
			if set.baseFlags and (set.baseFlags.attack or set.baseFlags.spell) and not effect.support then return true end
			local stats = {}
			for _, stat in ipairs(set.stats or {}) do stats[stat] = true end
			for _, stat in ipairs(set.constantStats or {}) do stats[stat[1]] = true end
			for stat in pairs(stats) do
				local map = set.statMap and set.statMap[stat]
				if map and next(map) then return true end
			end
		end
	end
	return false
end

local function level_facts(gem)
	local effect, requirements, last = gem.grantedEffect, list(), 0
	while effect.levels[last + 1] do
		last = last + 1
		requirements[last] = math.max(1, effect.levels[last].levelRequirement or 1)
	end
	local at = effect.levels[math.min(20, last)] or {}
	local costs = {}
	for resource, cost in pairs(at.cost or {}) do costs[resource] = cost end
	return requirements, costs, at.spiritReservationFlat or 0
end

local function families(gem)
	local family = gem.grantedEffect.gemFamily
	if type(family) == "table" then return family[1] end
	return family or (gem.grantedEffect.support and gem.gemFamily) or nil
end

-- The skills in the gem, with how many modes each has (PoB's "stat sets").
local function modes(gem)
	local found = {}
	for _, effect in ipairs(gem.grantedEffectList) do
		if not effect.support then found[effect.id] = math.max(1, #(effect.statSets or {})) end
	end
	return found
end

-- What a player can catch: where a monster is to be found is known for all but those of some encounters. A few of these
-- have no time between attacks either, and PoB then gives them thirty attacks a second.
local function can_be_found(monster)
	return next(monster.spawnLocation or {}) ~= nil and (monster.attackTime or 0) > 0
end

-- What PoB lets a player choose for a gem that has no minion of its own: tamed beasts, or any monster as a spectre.
local function monsters(gem)
	local found, effect = {}, gem.grantedEffect
	local beasts = effect.name:find("^Companion")
	if not effect.minionList or effect.minionList[1] or not (beasts or effect.name:find("^Spectre")) then return found end
	for id in pairs(data.spectres) do
		local monster = data.minions[id]
		if can_be_found(monster) and (not beasts or monster.monsterCategory == "Beast") then found[id] = monster.name end
	end
	return found
end

local function fact(id, gem)
	local effect = gem.grantedEffect
	local requirements, costs, spirit = level_facts(gem)
	for _, more in ipairs(gem.additionalGrantedEffects) do
		local level = more.levels and (more.levels[20] or more.levels[#more.levels])
		spirit = math.max(spirit, level and level.spiritReservationFlat or 0)
	end
	return {
		id = id, name = gem.name, kind = effect.support and "support" or "active", colour = COLOURS[effect.color],
		tags = sorted_keys(gem.tags), skill_types = sorted_keys(effect.skillTypes, skill_type_names),
		weapon_types = weapon_types(gem), level_requirements = requirements, natural_max_level = gem.naturalMaxLevel or 20,
		costs = costs, spirit = spirit, cast_time_s = effect.castTime or 0, modelled = modelled(gem),
		lineage = effect.isLineage or false, family = families(gem), tier = tonumber(gem.Tier) or 0,
		description = effect.description or "", modes = modes(gem), monsters = monsters(gem),
	}
end

function B.ops.gems()
	local found = list()
	for id, gem in pairs(data.gems) do
		if not gem.grantedEffect.hideFromSideBar then found[#found + 1] = fact(id, gem) end
	end
	table.sort(found, function(a, b) return a.id < b.id end)
	return found
end

-- PoB's own test, against the skill alone (supports can open doors for further ones; that is for a trial to find).
function B.ops.supports_for(args)
	local gem = data.gems[args.gem_id]
	if not gem or gem.grantedEffect.support then B.refuse("unknown active gem %q", tostring(args.gem_id)) end
	local tab, main = build.skillsTab, build.mainSocketGroup
	local groups = tab.socketGroupList
	local ok, env = pcall(function()
		tab.socketGroupList, build.mainSocketGroup = { B.skills.group({ gems = { { gem_id = args.gem_id } } }) }, 1
		return (B.calcs.initEnv(build, "CALCULATOR", {}))
	end)
	tab.socketGroupList, build.mainSocketGroup = groups, main
	if not ok then error(env, 0) end
	local fitting = {}
	for _, skill in ipairs(env.player.activeSkillList) do
		for id, other in pairs(data.gems) do
			if other.grantedEffect.support and not other.grantedEffect.hideFromSideBar
				and calcLib.canGrantedEffectSupportActiveSkill(other.grantedEffect, skill) then fitting[id] = true end
		end
	end
	return sorted_keys(fitting)
end
