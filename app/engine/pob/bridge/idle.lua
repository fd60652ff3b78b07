-- Skill groups that cannot matter to a what-if: not the main one, not in the full damage, no buff, reservation, minion or
-- trigger. They are left out of the calculation when leaving all of them out changes no number of the build.
local B = ...
local idle = {}
B.idle = idle

-- A group of the weapon set that is not in use is passed over by PoB, yet counted where it counts gems.
local function asleep(group)
	return { enabled = group.enabled, gemList = group.gemList, source = group.source, label = group.label,
		slot = build.itemsTab.activeItemSet.useSecondWeaponSet and "Weapon 1" or "Weapon 1 Swap", includeInFullDPS = false }
end

local KEEPS = { "HasReservation", "Persistent", "Aura", "Buff", "Meta", "Triggered", "Warcry", "Totem", "Minion", "CreatesMinion",
	"Herald", "Mark", "AppliesCurse", "Banner", "OngoingSkill" }

local function matters(skill)
	if skill.minion or (skill.buffList and skill.buffList[1]) then return true end
	for _, name in ipairs(KEEPS) do
		if SkillType[name] and skill.skillTypes[SkillType[name]] then return true end
	end
	for _, effect in ipairs(skill.effectList) do
		if effect.grantedEffect.hasGlobalEffect then return true end
	end
	return false
end

local function can_sleep(group)
	if group.includeInFullDPS or not group.enabled or not group.displaySkillList or not group.displaySkillList[1] then return false end
	for _, skill in ipairs(group.displaySkillList) do
		if matters(skill) then return false end
	end
	return true
end

local sleepers

function idle.reset() sleepers = nil end

local function same(a, b)
	for key, value in pairs(a) do
		if type(value) == "number" and b[key] ~= value and value == value and not key:find("^Req") and not key:find("^AreaOfEffectRadius") then return false end
	end
	return true
end

-- Finds the groups once per build; `calculate` gives the outputs of the build as it is.
local function find(calculate)
	local found, any = {}, false
	for i, group in ipairs(B.skills.list()) do
		if i ~= build.mainSocketGroup and can_sleep(group) then found[group], any = asleep(group), true end
	end
	if not any then return {} end
	local all = calculate()
	sleepers = found
	local without = idle.without(calculate)
	if same(all, without) and same(without, all) and (not all.Minion or same(all.Minion, without.Minion or {})) then return found end
	return {}
end

-- Runs an action with the idle groups left out.
function idle.without(action)
	local tab, list = build.skillsTab, B.skills.list()
	local shown = {}
	for i, group in ipairs(list) do shown[i] = i ~= build.mainSocketGroup and sleepers[group] or group end
	tab.socketGroupList = shown
	local ok, result = pcall(action)
	tab.socketGroupList = list
	if not ok then error(result, 0) end
	return result
end

-- Whether any group may be left out; the first call after a change of the build costs two calculations.
function idle.ready(calculate)
	if not sleepers then sleepers = find(calculate) end
	return next(sleepers) ~= nil
end
