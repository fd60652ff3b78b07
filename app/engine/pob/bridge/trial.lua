-- Trying changes: put in place for one calculation, with everything noted that is needed to take them back.
local B = ...
local tree, items, skills = B.tree, B.items, B.skills
local trial = {}
B.trial = trial

local MAX_CACHED_ITEMS = 4000
local cached_items, cached_groups, cached_count = {}, {}, 0
local FIRST_TRIAL_ID = 1000000

local function remember(cache, key, value)
	if cached_count >= MAX_CACHED_ITEMS then
		cached_items, cached_groups, cached_count = {}, {}, 0
		cache = value.base and cached_items or cached_groups
	end
	cache[key], cached_count = value, cached_count + 1
	return value
end

local function item_key(gear)
	if gear.text then return gear.slot .. "\1" .. gear.text .. "\1" .. (gear.anoint or "") end
	local parts = { gear.slot, gear.anoint or "", gear.base, gear.rarity, gear.title or "", gear.item_level or 1, gear.quality or 0, gear.sockets or 0 }
	for _, rune in ipairs(gear.runes or {}) do parts[#parts + 1] = rune end
	for _, list in ipairs({ gear.prefixes or {}, gear.suffixes or {} }) do
		parts[#parts + 1] = "/"
		for _, roll in ipairs(list) do parts[#parts + 1] = roll.id .. "@" .. (roll.roll or 0.5) end
	end
	return table.concat(parts, "\1")
end

-- A parsed item, made once per content and slot; its id is out of the way of real ones.
local function trial_item(gear)
	local key = item_key(gear)
	local item = cached_items[key]
	if item then return item end
	item = items.create(gear)
	item.id = FIRST_TRIAL_ID + cached_count
	item:BuildModList()
	return remember(cached_items, key, item)
end

local function trial_group(group)
	local key = B.json.encode(group)
	local made = cached_groups[key]
	if made then return made end
	made = skills.group(group)
	skills.mark(made)
	return remember(cached_groups, key, made)
end

-- Of the candidate being tried: the undo list, run backwards, and the override for PoB's calculator.
local undo, override
local function later(action) undo[#undo + 1] = action end

local function granted_group(skill, slot_name, item)
	local group = { label = "", enabled = true, source = skill.source, slot = slot_name, sourceItem = item, noSupports = skill.noSupports }
	group.gemList = { {
		skillId = skill.skillId, nameSpec = data.skills[skill.skillId] and data.skills[skill.skillId].name, quality = 0,
		enabled = true, fromItem = item ~= nil, level = skill.level, gemId = data.gemForSkill[data.skills[skill.skillId]],
		enableGlobal1 = true, noSupports = skill.noSupports, triggered = skill.triggered, triggerChance = skill.triggerChance,
	} }
	build.skillsTab:ProcessSocketGroup(group)
	return group
end

-- Groups for skills that an item or a passive grants: PoB makes them only in its main pass.
local function swap_granted(lost_source, granted, slot_name, item)
	local list, kept = skills.list(), {}
	for _, group in ipairs(list) do
		if not (lost_source and group.source == lost_source and group.slot == slot_name) then kept[#kept + 1] = group end
	end
	if #kept == #list and #granted == 0 then return end
	override.granted = true
	for _, skill in ipairs(granted) do kept[#kept + 1] = granted_group(skill, slot_name, item) end
	B.swap_groups(kept, list[build.mainSocketGroup])
end

local NOTHING = {}
local grants = setmetatable({}, { __mode = "k" })

-- What a passive grants, as PoB reads it from its modifiers.
local function granted_by(node)
	local found = grants[node.modList]
	if found then return found end
	found = NOTHING
	for _, skill in ipairs(node.modList:List(nil, "ExtraSkill")) do
		if skill.name ~= "Unknown" then
			if found == NOTHING then found = {} end
			found[#found + 1] = { skillId = skill.skillId, level = skill.level, noSupports = true, source = "Tree:" .. node.id }
		end
	end
	grants[node.modList] = found
	return found
end

-- Puts another list of groups in place; the main group stays the same one where it is still there.
function B.swap_groups(list, main)
	local old_list, old_main = skills.list(), build.mainSocketGroup
	later(function() build.skillsTab.socketGroupList, build.mainSocketGroup = old_list, old_main end)
	build.skillsTab.socketGroupList, build.mainSocketGroup = list, 1
	for i, group in ipairs(list) do
		if group == main then build.mainSocketGroup = i end
	end
end

local function put(slot_name, item, active)
	local tab = build.itemsTab
	local slot = tab.slots[slot_name]
	local set = tab.activeItemSet[slot_name]
	local old_id, old_active = slot.selItemId, slot.active
	local old_entry = item and tab.items[item.id]
	later(function()
		slot.selItemId, slot.active = old_id, old_active
		if set then set.selItemId = old_id end
		if item then tab.items[item.id] = old_entry end
	end)
	local old = tab.items[old_id]
	if item then tab.items[item.id] = item end
	slot.selItemId = item and item.id or 0
	if set then set.selItemId = slot.selItemId end
	if slot_name:find("^Charm") or slot_name:find("^Flask") then slot.active = active end
	swap_granted(old and old.modSource, item and item.grantedSkills or NOTHING, slot_name, item)
	if items.affects_tree(slot_name) then override.jewels = true end
	if slot_name:find("^Weapon") then override.weapons = true end
end

local try = {}

function try.allocate(change)
	for _, wish in ipairs(change.nodes) do
		local node, spec_node = tree.candidate(wish), build.spec.nodes[wish.id]
		local mode = tree.mode_of(spec_node, wish.weapon_set)
		local old_mode = rawget(node, "allocMode")
		if (node.allocMode or 0) ~= mode then
			later(function() node.allocMode = old_mode end)
			node.allocMode = mode
			override.modes = true
		end
		override.addNodes = override.addNodes or {}
		override.addNodes[node] = true
		if build.spec.allocNodes[wish.id] then
			override.removeNodes = override.removeNodes or {}
			override.removeNodes[build.spec.allocNodes[wish.id]] = true
		elseif granted_by(node) ~= NOTHING then
			swap_granted(nil, granted_by(node))
		end
	end
end

function try.deallocate(change)
	override.removeNodes = override.removeNodes or {}
	for _, id in ipairs(change.nodes) do
		local node = build.spec.allocNodes[id]
		if node then
			override.removeNodes[node] = true
			if granted_by(node) ~= NOTHING then swap_granted("Tree:" .. id, NOTHING) end
		end
	end
end

function try.equip(change) put(change.item.slot, trial_item(change.item), change.item.active ~= false) end

function try.unequip(change)
	if not build.itemsTab.slots[change.slot] then B.refuse("unknown item slot %q", tostring(change.slot)) end
	put(change.slot, nil, false)
end

local function copy_list(list) return { unpack(list) } end

function try.set_group(change)
	local own, list = skills.own(), copy_list(skills.list())
	local main, group = list[build.mainSocketGroup], trial_group(change.group)
	if change.index < 1 or change.index > #own + 1 then B.refuse("there is no skill group %d", change.index) end
	if own[change.index] then
		if main == list[own[change.index]] then main = group end
		list[own[change.index]] = group
	else
		table.insert(list, #own > 0 and own[#own] + 1 or 1, group)
	end
	override.group = group
	B.swap_groups(list, skills.chosen and main)
end

function try.remove_group(change)
	local own, list = skills.own(), copy_list(skills.list())
	if not own[change.index] then B.refuse("there is no skill group %d", change.index) end
	local main = list[build.mainSocketGroup]
	table.remove(list, own[change.index])
	B.swap_groups(list, skills.chosen and main)
end

function try.set_main(change)
	local own = skills.own()
	if change.index ~= 0 and not own[change.index] then B.refuse("there is no skill group %d", change.index) end
	B.swap_groups(skills.list(), own[change.index] and skills.list()[own[change.index]])
end

function try.set_config(change)
	local tab = build.configTab
	local input = tab.configSets[tab.activeConfigSetId].input
	if change.value ~= nil then B.config.check(change.key, change.value) end
	local old, held = input[change.key], B.states.held[change.key]
	later(function()
		input[change.key], B.states.held[change.key] = old, held
		tab:BuildModList()
	end)
	B.config.set(change.key, change.value)
	tab:BuildModList()
	override.config = true
end

local WEAPON_FLAGS = { giantsBlood = "GiantsBlood", instrumentsOfPower = "InstrumentsOfPower", lordOfTheWilds = "LordOfTheWilds" }

-- Which unusual pairs of weapons the passives of the candidate allow.
local function weapon_flags()
	local flags, decisive = {}, override.weapons
	for name, flag in pairs(WEAPON_FLAGS) do
		flags[name] = build.calcsTab.mainEnv.modDB:Flag(nil, flag) or false
		for node in pairs(override.removeNodes or {}) do
			if node.modList:Flag(nil, flag) then flags[name], decisive = false, true end
		end
		for node in pairs(override.addNodes or {}) do
			if node.modList:Flag(nil, flag) then flags[name] = true end
		end
	end
	return flags, decisive
end

-- The off hand that the tried main hand does not allow is not counted, as when the change is committed.
local function check_off_hands()
	if not (override.weapons or override.removeNodes) then return end
	local tab, flags, decisive = build.itemsTab, weapon_flags()
	for _, name in ipairs(decisive and B.off_hands or {}) do
		local item = tab.items[tab.slots[name].selItemId]
		if item and not tab:IsItemValidForSlot(item, name, nil, flags) then put(name, nil, false) end
	end
end

-- A candidate may bring about a state that the configuration claims, or be what no longer does.
local function settle_states()
	if not (B.states.claimed or override.config) then return end
	local tab = build.configTab
	local input = tab.configSets[tab.activeConfigSetId].input
	local old_input, old_held = copyTable(input, true), copyTable(B.states.held, true)
	if not B.states.settle(override) then return end
	later(function()
		for key in pairs(old_held) do input[key] = nil end
		for key, value in pairs(old_input) do input[key] = value end
		B.states.held = old_held
		tab:BuildModList()
	end)
end

-- Puts a candidate in place and returns the override for PoB's calculator; call `take_back` in any case.
function trial.put(changes)
	undo, override = {}, {}
	for _, change in ipairs(changes) do (try[change.op] or B.refuse)(change) end
	check_off_hands()
	settle_states()
	return override
end

function trial.take_back()
	for i = #undo, 1, -1 do undo[i]() end
	return override
end
