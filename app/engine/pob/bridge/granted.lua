-- Skills that items and passives grant: no groups of the blueprint, yet PoB counts their buffs (docs/skills.md).
local B = ...

local function has_buff(group)
	for _, skill in ipairs(group.displaySkillList or {}) do
		if skill.buffList and skill.buffList[1] then return true end
	end
	return false
end

local function measured()
	local env = B.environment({})
	B.calcs.perform(env)
	return { damage = B.damage.total(env, {}) or 0, ehp = env.player.output.TotalEHP or 0 }
end

-- Skills that items and passives grant and that are in the figures (damage per second, effective hit points), with the
-- share of these that goes without each.
function B.granted(damage, ehp)
	local found = B.json.list()
	for place, group in ipairs(B.skills.list()) do
		if group.source and group.enabled and place ~= build.mainSocketGroup and has_buff(group) then
			group.enabled = false
			local without = measured()
			group.enabled = true
			local effect = data.skills[group.gemList[1].skillId]
			local by = group.sourceItem and group.sourceItem.baseName or group.sourceNode and group.sourceNode.dn or ""
			found[#found + 1] = { skill = effect and effect.name or "", source = by,
				damage = damage > 0 and 1 - without.damage / damage or 0, ehp = ehp > 0 and 1 - without.ehp / ehp or 0 }
		end
	end
	return found
end
