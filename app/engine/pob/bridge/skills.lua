-- Skill groups. "Own" groups are those of the blueprint; PoB appends groups for skills granted by items and passives.
local B = ...
local skills = {}
B.skills = skills

function skills.gem(gem)
	local found = data.gems[gem.gem_id]
	if not found then B.refuse("unknown gem %q", tostring(gem.gem_id)) end
	local made = {
		gemId = gem.gem_id, nameSpec = "", level = gem.level or 20, quality = gem.quality or 0,
		enabled = gem.enabled ~= false, enableGlobal1 = true, enableGlobal2 = true, count = 1,
		corrupted = false, corruptLevel = 0,
	}
	B.choices.apply(made, gem.choices)
	return made
end

function skills.group(group)
	local gems = {}
	for i, gem in ipairs(group.gems) do gems[i] = skills.gem(gem) end
	if group.slot and not build.itemsTab.slots[group.slot] then B.refuse("unknown item slot %q", group.slot) end
	local made = {
		label = group.label or "", enabled = group.enabled ~= false, slot = group.slot, gemList = gems,
		includeInFullDPS = group.in_full_dps or false,
		mainActiveSkill = group.main_skill or 1, mainActiveSkillCalcs = group.main_skill or 1,
	}
	build.skillsTab:ProcessSocketGroup(made)
	return made
end

function skills.list() return build.skillsTab.socketGroupList end

-- Positions of our own groups in PoB's list.
function skills.own()
	local at = {}
	for i, group in ipairs(skills.list()) do
		if not group.source then at[#at + 1] = i end
	end
	return at
end

-- The group the blueprint names as its main one; nil = none named, PoB then takes the first.
skills.chosen = nil

function skills.choose(group)
	skills.chosen = group
	build.mainSocketGroup = 1
	for i, other in ipairs(skills.list()) do
		if other == group then build.mainSocketGroup = i end
	end
	build.calcsTab.input.skill_number = build.mainSocketGroup
end

-- Replaces own group `index`, or appends it before the granted ones.
function skills.set(index, group)
	local own, list = skills.own(), skills.list()
	if index < 1 or index > #own + 1 then B.refuse("there is no skill group %d", index) end
	local old = own[index] and list[own[index]]
	if old then
		list[own[index]] = group
	else
		table.insert(list, #own > 0 and own[#own] + 1 or 1, group)
	end
	skills.choose(old and old == skills.chosen and group or skills.chosen)
end

function skills.remove(index)
	local own, list = skills.own(), skills.list()
	if not own[index] then B.refuse("there is no skill group %d", index) end
	local gone = table.remove(list, own[index])
	skills.choose(gone ~= skills.chosen and skills.chosen or nil)
end

function skills.set_main(index)
	local own = skills.own()
	if index ~= 0 and not own[index] then B.refuse("there is no skill group %d", index) end
	skills.choose(index ~= 0 and skills.list()[own[index]] or nil)
end

-- A skill that an item or a passive grants becomes the main one; says whether there is such a skill.
function skills.choose_granted(skill_id)
	for _, group in ipairs(skills.list()) do
		if group.source and group.gemList[1] and group.gemList[1].skillId == skill_id then
			skills.choose(group)
			return true
		end
	end
	return false
end

-- Marks that PoB sets on gems only in its main pass, where it counts supports per colour and companions' Spirit.
function skills.mark(group)
	for _, gem in ipairs(group.gemList) do
		local main, support = gem.enabled and gem.gemData and gem.gemData.grantedEffect, nil
		if main then
			support = main.support and main
			for _, more in ipairs(gem.gemData.additionalGrantedEffects) do
				if more.support then support = more end
			end
		end
		gem.supportEffect = support and { grantedEffect = support, isSupporting = {} } or nil
		gem.displayEffect = gem.supportEffect or main and { grantedEffect = main } or nil
	end
end

-- Which skills the supports of a tried group support, as the main pass would note it.
function skills.mark_supported(env, group)
	for _, skill in ipairs(env.player.activeSkillList) do
		if skill.socketGroup == group then
			for _, effect in ipairs(skill.effectList) do
				local gem = effect.srcInstance
				if gem and gem.supportEffect and gem ~= skill.activeEffect.srcInstance then
					gem.supportEffect.isSupporting[skill.activeEffect.srcInstance] = true
				end
			end
		end
	end
end
