-- The current build as a blueprint, so that a file can be refined. What a blueprint has no word for is left behind: other
-- trees, item, skill and configuration sets than the active ones, notes, gems that PoB does not know.
local B = ...
local list = B.json.list

local function read_items()
	local tab, found = build.itemsTab, {}
	for name, slot in pairs(tab.slots) do
		local item = tab.items[slot.selItemId]
		if item and item.base then
			local is_switched = name:find("^Charm") or name:find("^Flask")
			found[name] = {
				slot = name, base = item.baseName, rarity = item.rarity == "RELIC" and "UNIQUE" or item.rarity,
				title = item.title or "", item_level = item.itemLevel or 1, quality = item.quality or 0,
				sockets = item.itemSocketCount or 0, text = item:BuildRaw(), active = not is_switched or slot.active or false,
			}
		end
	end
	return found
end

local function read_group(group)
	local gems = list()
	for _, gem in ipairs(group.gemList) do
		if gem.gemId and data.gems[gem.gemId] then
			gems[#gems + 1] = { gem_id = gem.gemId, name = data.gems[gem.gemId].name, level = gem.level, quality = gem.quality,
				enabled = gem.enabled and true or false, choices = B.choices.read(gem) }
		end
	end
	return {
		label = group.label or "", gems = gems, slot = group.slot, enabled = group.enabled and true or false,
		in_full_dps = group.includeInFullDPS and true or false, main_skill = group.mainActiveSkill or 1,
	}
end

local function read_config()
	local tab, found = build.configTab, {}
	B.states.as_claimed(function()
		for key, value in pairs(tab.configSets[tab.activeConfigSetId].input) do
			if value ~= B.config.defaults[key] and pcall(B.config.check, key, value) then found[key] = value end
		end
	end)
	return found
end

local function read_nodes()
	local nodes = list()
	for _, wish in ipairs(B.tree.requested) do
		local node = build.spec.nodes[wish.id]
		nodes[#nodes + 1] = { id = wish.id, weapon_set = wish.weapon_set or 0, attribute = node and node.isAttribute and (wish.attribute or "str") or nil }
	end
	return nodes
end

-- Ids of the skills that items and passives grant, for `main_granted`.
function B.ops.granted_skills()
	B.need_build()
	local found = list()
	for _, group in ipairs(B.skills.list()) do
		if group.source and group.gemList[1] then found[#found + 1] = group.gemList[1].skillId end
	end
	return found
end

function B.ops.blueprint()
	B.need_build()
	local groups, main, spec, chosen = list(), 0, build.spec, B.skills.chosen
	for index, at in ipairs(B.skills.own()) do
		groups[index] = read_group(B.skills.list()[at])
		if B.skills.list()[at] == chosen then main = index end
	end
	return {
		class_name = spec.curClassName, ascendancy = spec.curAscendClassId ~= 0 and spec.curAscendClassName or nil,
		level = build.characterLevel, nodes = read_nodes(), items = read_items(), groups = groups, main_group = main,
		config = read_config(), weapon_set = build.itemsTab.activeItemSet.useSecondWeaponSet and 2 or 1,
		main_granted = chosen and chosen.source and chosen.gemList[1] and chosen.gemList[1].skillId or nil,
		spectres = list({ unpack(build.spectreList) }), beasts = list({ unpack(build.beastList) }),
	}
end
