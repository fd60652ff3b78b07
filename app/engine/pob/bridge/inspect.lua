-- What a validator needs and PoB shows somewhere on its screens.
local B = ...
local list = B.json.list

local function plain(text) return (tostring(text):gsub("%^x%x%x%x%x%x%x", ""):gsub("%^%d", "")) end

local SLOT_LINES = { "runeModLines", "enchantModLines", "implicitModLines", "explicitModLines", "buffModLines" }

-- Lines of an item that PoB counts as nothing.
function B.unparsed_lines(item)
	local found = {}
	for _, name in ipairs(SLOT_LINES) do
		for _, line in ipairs(item[name] or {}) do
			if item:CheckModLineVariant(line) and (line.extra or not (line.modList and line.modList[1]))
				and not itemLib.isZeroValueLine(line.line) then found[#found + 1] = line end
		end
	end
	return found
end

local function equipped()
	local tab, found = build.itemsTab, {}
	for _, slot in ipairs(tab.orderedSlots) do
		local item = tab.items[slot.selItemId]
		if item and not (slot.nodeId and not build.spec.allocNodes[slot.nodeId]) then
			found[#found + 1] = { slot = slot.slotName, item = item }
		end
	end
	return found
end

-- PoB ignores affix levels for equipped items; its crafting window uses four fifths of the affix level.
local function item_level_needed(item)
	local level = item.requirements.level or 1
	for _, affixes in ipairs({ item.prefixes or {}, item.suffixes or {} }) do
		for _, affix in ipairs(affixes) do
			local mod = item.affixes and item.affixes[affix.modId]
			if mod then level = math.max(level, math.floor((mod.level or 1) * 0.8)) end
		end
	end
	return level
end

local function source_name(source)
	if type(source) ~= "table" then return "" end
	if source.source == "Item" then return ("%s: %s"):format(source.sourceSlot, source.sourceItem.name) end
	if source.source == "Gem" then return plain(source.sourceGem.nameSpec) end
	return source.source or ""
end

local function requirements(output)
	local found = list()
	for _, attribute in ipairs({ "Str", "Dex", "Int" }) do
		local required = output["Req" .. attribute] or 0
		if required > 0 then
			found[#found + 1] = { attribute = attribute:lower(), required = required, available = output[attribute] or 0,
				source = source_name(output["Req" .. attribute .. "Item"]) }
		end
	end
	local function level(required, source)
		if required > 1 then
			found[#found + 1] = { attribute = "level", required = required, available = build.characterLevel, source = source }
		end
	end
	for _, entry in ipairs(equipped()) do level(item_level_needed(entry.item), entry.slot .. ": " .. entry.item.name) end
	for _, group in ipairs(B.skills.list()) do
		for _, gem in ipairs(group.enabled and not group.source and group.gemList or {}) do
			if gem.enabled and gem.gemData then level(gem.reqLevel or 1, gem.nameSpec) end
		end
	end
	return found
end

local SUPERSEDED = "another support of its kind takes its place"

local function idle_reason(gem)
	if gem.errMsg then return plain(gem.errMsg) end
	if not gem.gemData then return "unknown gem" end
	if not gem.gemData.grantedEffect.support then return nil end
	local effect = gem.supportEffect
	if not effect then return "the group is not in use" end
	if effect.superseded then return SUPERSEDED end
	if not next(effect.isSupporting) then return "it supports no skill of its group" end
end

-- Of equal supports in groups of one slot PoB uses one, whichever table comes first in memory. Whether the gem is among
-- the last of its equals, as many of them as are superseded.
local function is_surplus(index, number, gem)
	local own, idle, after = B.skills.own(), 0, 0
	local slot = B.skills.list()[own[index]].slot
	for other, at in ipairs(own) do
		local group = B.skills.list()[at]
		for place, each in ipairs(group.enabled and (other == index or slot and group.slot == slot) and group.gemList or {}) do
			if each.enabled and each.gemId == gem.gemId and each.level == gem.level and each.quality == gem.quality then
				if idle_reason(each) == SUPERSEDED then idle = idle + 1 end
				if other > index or (other == index and place > number) then after = after + 1 end
			end
		end
	end
	return after < idle
end

local function idle_gems()
	local found = list()
	for index, at in ipairs(B.skills.own()) do
		local group = B.skills.list()[at]
		for number, gem in ipairs(group.enabled and group.gemList or {}) do
			local reason = gem.enabled and idle_reason(gem)
			if gem.enabled and (not reason or reason == SUPERSEDED) and gem.gemData and gem.gemData.grantedEffect.support then
				reason = is_surplus(index, number, gem) and SUPERSEDED
			end
			if reason then
				found[#found + 1] = { group = index, gem = number, name = gem.nameSpec or "", reason = reason }
			end
		end
	end
	return found
end

-- Why a skill cannot be used; nil where it can, or where it is not calculated.
local function disabled_reason(skill)
	local flags = skill.activeEffect.statSet and skill.activeEffect.statSet.skillFlags
	return flags and flags.disable and plain(skill.disableReason or "disabled") or nil
end

-- Active gems of which no skill can be used with what is held, and why.
local function unusable()
	local reasons, usable, found = {}, {}, list()
	for _, skill in ipairs(build.calcsTab.mainEnv.player.activeSkillList) do
		local gem, reason = skill.activeEffect.srcInstance, disabled_reason(skill)
		if gem and reason then reasons[gem] = reason elseif gem then usable[gem] = true end
	end
	for index, at in ipairs(B.skills.own()) do
		for number, gem in ipairs(B.skills.list()[at].gemList) do
			if reasons[gem] and not usable[gem] then
				found[#found + 1] = { group = index, gem = number, name = gem.nameSpec or "", reason = reasons[gem] }
			end
		end
	end
	return found
end

-- A passive counted for both weapon sets is paid once, so the points spent are those of the larger set.
local function points(output)
	local used, ascendancy, _, _, set1, set2 = build.spec:CountAllocNodes()
	local granted = output.ExtraPoints or 0
	return {
		used = used - math.min(set1, set2), used_set1 = set1, used_set2 = set2, granted = granted,
		available = build.characterLevel - 1 + build.maxWeaponSets + granted,
		weapon_set_available = build.maxWeaponSets + (output.PassivePointsToWeaponSetPoints or 0),
		ascendancy_used = ascendancy, ascendancy_available = 8,
	}
end

-- A "Bonded" line of a rune does nothing for most characters, in the game too: then nothing is lost by not counting it.
local function unparsed(modifiers)
	local found, bonded = list(), modifiers:Flag(nil, "Condition:CanUseBondedModifiers")
	for _, entry in ipairs(equipped()) do
		for _, line in ipairs(B.unparsed_lines(entry.item)) do
			if bonded or not line.line:find("^Bonded:") then
				found[#found + 1] = { slot = entry.slot, line = plain(line.line),
					reason = "Path of Building does not count this line" }
			end
		end
	end
	return found
end

function B.ops.inspect()
	B.need_build()
	build.skillsTab:UpdateGlobalGemCountAssignments()
	B.full_calculation()
	build:RefreshStatList()
	local env, output = build.calcsTab.mainEnv, build.calcsTab.mainOutput
	local warnings, multipliers = list(), env.modDB.multipliers
	for _, line in pairs(build.controls.warnings.lines) do warnings[#warnings + 1] = plain(line) end
	table.sort(warnings)
	return {
		requirements = requirements(output), warnings = warnings, unparsed = unparsed(env.modDB), idle_gems = idle_gems(),
		unusable = unusable(),
		points = points(output), dropped_nodes = B.tree.dropped(),
		support_counts = { str = multipliers.RedSupportGems or 0, dex = multipliers.GreenSupportGems or 0, int = multipliers.BlueSupportGems or 0 },
		disabled_reason = disabled_reason(env.player.mainSkill),
		modelled = B.damage.total(env, {}) ~= nil,
	}
end
