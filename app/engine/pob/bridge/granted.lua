-- Skills that items and passives grant: no groups of the blueprint, yet PoB counts their buffs (docs/skills.md).
local B = ...

local function has_buff(group)
	for _, skill in ipairs(group.displaySkillList or {}) do
		if skill.buffList and skill.buffList[1] then return true end
	end
	return false
end

local function is_usable(group)
	for _, skill in ipairs(group.displaySkillList or {}) do
		if not B.damage.flags_of(skill).disable then return true end
	end
	return false
end

local function measured()
	local env = B.environment({})
	B.calcs.perform(env)
	return { damage = B.damage.total(env, {}) or 0, ehp = env.player.output.TotalEHP or 0 }
end

-- The shares of damage per second and effective hit points that go without the group.
local function shares(group, damage, ehp)
	group.enabled = false
	local without = measured()
	group.enabled = true
	return damage > 0 and 1 - without.damage / damage or 0, ehp > 0 and 1 - without.ehp / ehp or 0
end

-- Skills that items grant and that are in the figures (damage per second, effective hit points), and all that passives
-- grant, with the share of these that goes without each.
function B.granted(damage, ehp)
	local found = B.json.list()
	for place, group in ipairs(B.skills.list()) do
		local counts, node = has_buff(group), group.sourceNode
		local is_told = counts or node and is_usable(group)
		if group.source and group.enabled and place ~= build.mainSocketGroup and is_told then
			local effect = data.skills[group.gemList[1].skillId]
			local one = { skill = effect and effect.name or "", passive = node ~= nil, damage = 0, ehp = 0,
				source = group.sourceItem and group.sourceItem.baseName or node and node.dn or "" }
			if counts then one.damage, one.ehp = shares(group, damage, ehp) end
			found[#found + 1] = one
		end
	end
	return found
end
