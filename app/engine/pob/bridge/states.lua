-- States that a configuration claims (an ailment on the enemy, charges, rage, a kill a moment ago) and that nothing in the
-- build brings about: they are held back from every calculation and stay in the file (docs/damage.md).
local B = ...
local states = { held = {}, claimed = false }
B.states = states

-- What needs kills, deaths or corpses, by a part of the option's name.
local NEVER = { "Killed", "Died", "Corpse", "Shattered", "SoulEater", "Rampage", "innervate" }

local function element(name, word) return { word, name .. "_damage", "adds .- " .. name, "as extra " .. name, "as_" .. name } end

local SHOCK, IGNITE, COLD = element("lightning", "shock"), element("fire", "ignite"), element("cold", "chill")
local POWER, FRENZY, ENDURANCE = { "gain.-power[ _]charge" }, { "gain.-frenzy[ _]charge" }, { "gain.-endurance[ _]charge" }
local BLEED, POISON, EXPOSURE, RAGE = { "bleed" }, { "poison" }, { "exposure" }, { "%f[%a]rage%f[%A]" }

-- Option -> what one line of the build must say.
local NEEDS = {
	usePowerCharges = POWER, overridePowerCharges = POWER, conditionGainedPowerChargeRecently = POWER, minionsUsePowerCharges = POWER,
	useFrenzyCharges = FRENZY, overrideFrenzyCharges = FRENZY, conditionGainedFrenzyChargeRecently = FRENZY,
	minionsUseFrenzyCharges = FRENZY, useEnduranceCharges = ENDURANCE, overrideEnduranceCharges = ENDURANCE,
	minionsUseEnduranceCharges = ENDURANCE, multiplierRage = RAGE,
	conditionEnemyShocked = SHOCK, conditionShockedEnemyRecently = SHOCK, conditionEnemyElectrocuted = { "electrocut" },
	conditionEnemyIgnited = IGNITE, conditionEnemyBurning = IGNITE, conditionIgnitedEnemyRecently = IGNITE,
	multiplierIgniteOnEnemy = IGNITE, conditionEnemyChilled = COLD, conditionEnemyChilledEffect = COLD,
	conditionEnemyChilledByYourHits = COLD, conditionChilledEnemyRecently = COLD,
	conditionEnemyFrozen = { "fr[eo]ez", "frozen", unpack(COLD) }, conditionFrozenEnemyRecently = { "fr[eo]ez", "frozen", unpack(COLD) },
	conditionEnemyBleeding = BLEED, multiplierBleedsOnEnemy = BLEED, conditionBleedAggravated = BLEED,
	conditionEnemyPoisoned = POISON, multiplierPoisonOnEnemy = POISON, multiplierPoisonAppliedRecently = POISON,
	multiplierWitheredStackCount = { "wither" }, conditionEnemyMaimed = { "maim" }, conditionEnemyHindered = { "hinder" },
	conditionEnemyBlinded = { "blind" }, conditionEnemyTaunted = { "taunt" }, conditionEnemyIntimidated = { "intimidat" },
	conditionEnemyCrushed = { "crush" }, conditionEnemyUnnerved = { "unnerv" }, conditionEnemyDebilitated = { "debilitat" },
	conditionEnemyDazed = { "daze" }, conditionEnemyCriticalWeakness = { "critical weakness" },
	conditionEnemyFireExposure = EXPOSURE, conditionEnemyColdExposure = EXPOSURE, conditionEnemyLightningExposure = EXPOSURE,
	multiplierImpalesOnEnemy = { "impal" },
}

local NOTHING, found = {}, {}

-- What one line must say for the option; nothing can say enough for some, false where it needs none.
local function needs(key)
	local known = found[key]
	if known ~= nil then return known end
	known = NEEDS[key] or false
	for _, part in ipairs(NEVER) do
		if key:find(part, 1, true) then known = NOTHING end
	end
	found[key] = known
	return known
end

local function add_node(lines, node)
	for _, line in ipairs(node.sd or {}) do lines[#lines + 1] = line end
end

local function add_passives(lines, override)
	for _, node in pairs(build.spec.allocNodes) do
		if not (override.removeNodes and override.removeNodes[node]) then add_node(lines, node) end
	end
	for node in pairs(override.addNodes or {}) do add_node(lines, node) end
end

local KINDS = { "runeModLines", "enchantModLines", "implicitModLines", "explicitModLines" }

local function add_items(lines)
	for _, slot in pairs(build.itemsTab.slots) do
		local item = build.itemsTab.items[slot.selItemId]
		for _, kind in ipairs(item and KINDS or {}) do
			for _, line in ipairs(item[kind] or {}) do lines[#lines + 1] = line.line end
		end
	end
end

local function add_effect(lines, effect)
	lines[#lines + 1] = effect.description or effect.name or ""
	for _, set in ipairs(effect.statSets or {}) do
		for _, stat in ipairs(set.stats or {}) do lines[#lines + 1] = stat end
		for _, stat in ipairs(set.constantStats or {}) do lines[#lines + 1] = tostring(stat[1]) end
	end
end

local function add_gems(lines)
	for _, group in ipairs(B.skills.list()) do
		for _, gem in ipairs(group.enabled and group.gemList or {}) do
			local granted = gem.gemData and gem.gemData.grantedEffect or gem.grantedEffect or data.skills[gem.skillId or ""]
			if gem.enabled and granted then
				add_effect(lines, granted)
				for _, more in ipairs(gem.gemData and gem.gemData.additionalGrantedEffects or {}) do add_effect(lines, more) end
			end
		end
	end
end

-- All that passives, items and gems say, a line each.
local function texts(override)
	local lines = {}
	add_passives(lines, override)
	add_items(lines)
	add_gems(lines)
	return lines
end

-- By patterns: what each line was found to say. Candidates are judged by the same lines over and over.
local told, count = {}, 0
local MOST = 50000

local function fits(line, patterns)
	line = line:lower()
	for _, pattern in ipairs(patterns) do
		if line:find(pattern) then return true end
	end
	return false
end

local function says(lines, patterns)
	if count > MOST then told, count = {}, 0 end
	local known = told[patterns]
	if not known then
		known = {}
		told[patterns] = known
	end
	for i = 1, #lines do
		local line = lines[i]
		local fit = known[line]
		if fit == nil then
			fit = fits(line, patterns)
			known[line], count = fit, count + 1
		end
		if fit then return true end
	end
	return false
end

-- Takes out of the configuration what does not count, and puts back what does by now; says whether anything changed.
-- With an override it is a candidate that is judged.
function states.settle(override)
	local tab, lines, changed, any = build.configTab, nil, false, false
	local input = tab.configSets[tab.activeConfigSetId].input
	local claims = copyTable(input, true)
	for key, value in pairs(states.held) do claims[key] = value end
	for key, value in pairs(claims) do
		local patterns = value and value ~= 0 and needs(key)
		if patterns then
			lines, any = lines or texts(override or {}), true
			local counts = says(lines, patterns)
			changed = changed or counts ~= (input[key] ~= nil)
			input[key], states.held[key] = counts and value or nil, not counts and value or nil
		end
	end
	if not override then states.claimed = any end
	if changed then tab:BuildModList() end
	return changed
end

-- Runs an action with the configuration as the file has it.
function states.as_claimed(action)
	local tab = build.configTab
	local input = tab.configSets[tab.activeConfigSetId].input
	for key, value in pairs(states.held) do input[key] = value end
	local result = action()
	for key in pairs(states.held) do input[key] = nil end
	return result
end

-- Names of the options that are held back, in order.
function states.names()
	local names = {}
	for key in pairs(states.held) do names[#names + 1] = key end
	table.sort(names)
	return names
end

-- What options say unless somebody says otherwise, and nobody gets: Flicker Strike without the cooldown that a support
-- brings, and ten seconds without a critical hit for who deals two a second.
local UNSAID = { FlickerStrikeBypassCD = true, SecondsSinceInevitableCrit = 10 }
local apply_options = common.classes.ConfigTab.BuildModList

function common.classes.ConfigTab.BuildModList(tab)
	local input = tab.configSets[tab.activeConfigSetId].input
	local unsaid = {}
	for key, default in pairs(UNSAID) do
		if input[key] == default then unsaid[key], input[key] = default, nil end
	end
	apply_options(tab)
	for key, default in pairs(unsaid) do input[key] = default end
end

-- Path of Building counts the cooldown that a support brings where a stat of the support shows it.
local SHOWN = "support_hourglass_display_cooldown_time_ms"

local function shown(stats)
	for _, stat in ipairs(stats) do
		if stat[1] == SHOWN then return true end
	end
end

for _, skill in pairs(data.skills) do
	local cooldown = skill.support and skill.levels[1] and skill.levels[1].cooldown
	local set = cooldown and skill.statSets and skill.statSets[1]
	if set and set.constantStats and not shown(set.constantStats) then
		table.insert(set.constantStats, { SHOWN, cooldown * 1000 })
	end
end
