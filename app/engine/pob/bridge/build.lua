-- Loading a blueprint and committing changes. Everything that can be refused is checked before PoB is touched.
local B = ...
local tree, items, skills = B.tree, B.items, B.skills

local config = {}
B.config = config
local known

local function variables()
	if known then return known end
	known = {}
	for _, variable in ipairs(LoadModule("Modules/ConfigOptions")) do
		if variable.var then known[variable.var] = variable.type end
	end
	return known
end

function config.warm() variables() end

local NUMBERS = { count = true, integer = true, countAllowZero = true, float = true }

-- The value PoB expects for the key; PoB itself raises on wrong types and ignores unknown keys.
function config.check(key, value)
	local kind = variables()[key]
	if not kind then B.refuse("unknown configuration option %q", tostring(key)) end
	local ok = kind == "check" and type(value) == "boolean"
		or NUMBERS[kind] and type(value) == "number"
		or kind == "text" and type(value) == "string"
		or kind == "list" and (type(value) == "string" or type(value) == "number")
	if not ok then B.refuse("configuration option %s (%s) does not take %s", key, kind, tostring(value)) end
end

-- Sets or (nil) resets one option to PoB's default.
function config.set(key, value)
	local tab = build.configTab
	local input = tab.configSets[tab.activeConfigSetId].input
	if value == nil then value = config.defaults[key] end
	input[key], B.states.held[key] = value, nil
end

function config.read_defaults()
	config.defaults = {}
	local tab = build.configTab
	for key, value in pairs(tab.configSets[tab.activeConfigSetId].input) do config.defaults[key] = value end
end

local function set_level(level)
	build.characterLevelAutoMode = false
	build.characterLevel = math.min(100, math.max(1, level))
	build.controls.characterLevel:SetText(build.characterLevel)
end

local function report(problems)
	return { dropped_nodes = tree.dropped(), problems = B.json.list(problems) }
end

local function checked_monsters(blueprint)
	for _, name in ipairs({ "spectres", "beasts" }) do
		for _, id in ipairs(blueprint[name] or {}) do
			if not data.minions[id] then B.refuse("unknown monster %q", tostring(id)) end
		end
	end
end

local function set_monsters(blueprint)
	build.spectreList = { unpack(blueprint.spectres or {}) }
	build.beastList = { unpack(blueprint.beasts or {}) }
end

-- Granted skills exist only after a calculation.
local function settle(blueprint, problems)
	B.settle(problems)
	if B.states.settle() then B.settle(problems) end
	local granted = blueprint.main_granted
	if not granted then return end
	if skills.choose_granted(granted) then B.settle(problems) else problems[#problems + 1] = "no item or passive grants " .. granted end
end

local function prepared(blueprint)
	checked_monsters(blueprint)
	local class_id = tree.class(blueprint.class_name)
	local ready = { class_id = class_id, ascend_id = tree.ascendancy(blueprint.ascendancy, class_id), gear = {}, groups = {} }
	for _, gear in pairs(blueprint.items or {}) do ready.gear[#ready.gear + 1] = { gear = gear, item = items.create(gear) } end
	table.sort(ready.gear, function(a, b) return a.gear.slot < b.gear.slot end)
	for i, group in ipairs(blueprint.groups or {}) do ready.groups[i] = skills.group(group) end
	if (blueprint.main_group or 0) > #ready.groups then B.refuse("there is no skill group %d", blueprint.main_group) end
	for key, value in pairs(blueprint.config or {}) do config.check(key, value) end
	return ready
end

function B.ops.build(args)
	local blueprint, problems = args.blueprint, {}
	if build.spec.treeVersion ~= latestTreeVersion then
		B.loaded = false
		B.new_build()
	end
	local ready = prepared(blueprint)
	B.loaded, B.states.held = false, {}
	B.have_new_build()
	set_level(blueprint.level)
	set_monsters(blueprint)
	build.itemsTab.activeItemSet.useSecondWeaponSet = blueprint.weapon_set == 2
	tree.without_paths(function()
		for _, entry in ipairs(ready.gear) do items.put(entry.gear, entry.item) end
	end)
	tree.allocate(ready.class_id, ready.ascend_id, blueprint.nodes or {})
	for _, group in ipairs(ready.groups) do table.insert(skills.list(), group) end
	skills.set_main(blueprint.main_group or 0)
	for key, value in pairs(blueprint.config or {}) do config.set(key, value) end
	build.configTab:BuildModList()
	settle(blueprint, problems)
	B.loaded = true
	return report(problems)
end

local commit = {}

function commit.allocate(change)
	for _, wish in ipairs(change.nodes) do
		if not build.spec.nodes[wish.id] then B.refuse("unknown passive %s", tostring(wish.id)) end
	end
	tree.add(change.nodes)
	return "tree"
end

function commit.deallocate(change)
	tree.remove(change.nodes)
	return "tree"
end

function commit.equip(change)
	items.put(change.item, items.create(change.item))
	return items.affects_tree(change.item.slot) and "tree"
end

function commit.unequip(change)
	if not build.itemsTab.slots[change.slot] then B.refuse("unknown item slot %q", tostring(change.slot)) end
	items.clear(change.slot)
	return items.affects_tree(change.slot) and "tree"
end

function commit.set_group(change) skills.set(change.index, skills.group(change.group)) end
function commit.remove_group(change) skills.remove(change.index) end
function commit.set_main(change) skills.set_main(change.index) end

function commit.set_config(change)
	if change.value ~= nil then config.check(change.key, change.value) end
	config.set(change.key, change.value)
	return "config"
end

function B.ops.apply(args)
	B.need_build()
	local problems, dirty = {}, {}
	for _, change in ipairs(args.changes) do
		local ok, result = pcall(commit[change.op] or B.refuse, change)
		if ok then
			dirty[result or "none"] = true
		elseif type(result) == "table" and result.refused then
			problems[#problems + 1] = result.refused
		else
			error(result, 0)
		end
	end
	if dirty.tree then tree.reallocate() end
	if dirty.config then build.configTab:BuildModList() end
	B.settle(problems)
	if B.states.settle() then B.settle(problems) end
	local answer = report(problems)
	tree.remove(answer.dropped_nodes)
	return answer
end
