-- Passives: the requested list is kept as asked, PoB's allocation is derived from it.
local B = ...
local tree = {}
B.tree = tree

local ATTRIBUTES = { str = 1, dex = 2, int = 3 }
tree.requested = {}

function tree.class(name)
	local id = build.spec.tree.classNameMap[name]
	if not id then B.refuse("unknown class %q", tostring(name)) end
	return id
end

function tree.ascendancy(name, class_id)
	if not name or name == "None" then return 0 end
	local found = build.spec.tree.ascendNameMap[name]
	if not found then B.refuse("unknown ascendancy %q", tostring(name)) end
	if found.classId ~= class_id then
		B.refuse("%s is not an ascendancy of %s", name, build.spec.tree.classes[class_id].name)
	end
	return found.ascendClassId
end

local function mode_of(node, weapon_set)
	if node.ascendancyName or node.type == "Keystone" or node.type == "Socket" or node.containJewelSocket then return 0 end
	return weapon_set or 0
end
tree.mode_of = mode_of

-- The passive of which `node` is one of several exclusive options, or nil.
function tree.choice_parent(node)
	if not node.isMultipleChoiceOption then return nil end
	for _, id in ipairs(node.linkedId) do
		if build.spec.tree.nodes[id].isMultipleChoice then return id end
	end
end

-- Lists for ImportFromNodeList: ids, weapon sets and attribute choices; a second option of one choice is left out.
local function lists(spec, nodes)
	local ids, sets, taken = {}, {}, {}
	for _, wish in ipairs(nodes) do
		local node = spec.nodes[wish.id]
		local parent = node and tree.choice_parent(node)
		if node and not (parent and taken[parent]) then
			if parent then taken[parent] = true end
			ids[#ids + 1] = wish.id
			sets[wish.id] = mode_of(node, wish.weapon_set)
			if node.isAttribute then spec:SwitchAttributeNode(wish.id, ATTRIBUTES[wish.attribute or "str"]) end
		end
	end
	return ids, sets
end

-- PoB's ways to passives that are not allocated are for those who click on one.
function common.classes.PassiveSpec.BuildPathFromNode() end

-- Runs the action while PoB puts off rebuilding all paths, which the choice of class and ascendancy and every jewel
-- would each do. Whoever calls this allocates afterwards: once at the end is enough.
function tree.without_paths(action)
	local class = common.classes.PassiveSpec
	local rebuild = class.BuildAllDependsAndPaths
	class.BuildAllDependsAndPaths = function() end
	local ok, problem = pcall(action)
	class.BuildAllDependsAndPaths = rebuild
	if not ok then error(problem, 0) end
end

-- Allocates exactly the requested passives (those that connect).
function tree.allocate(class_id, ascend_id, nodes)
	local spec = build.spec
	spec.hashOverrides = {}
	local ids, sets = lists(spec, nodes)
	local overrides = spec.hashOverrides
	tree.without_paths(function()
		spec:ImportFromNodeList(nil, class_id, ascend_id, 0, ids, sets, copyTable(overrides, true), {})
	end)
	spec:BuildAllDependsAndPaths()
	tree.requested = nodes
end

function tree.reallocate()
	local spec = build.spec
	tree.allocate(spec.curClassId, spec.curAscendClassId, tree.requested)
end

-- The request list of a build that came from a file.
function tree.read_requested()
	local spec, ids = build.spec, {}
	for id, node in pairs(spec.allocNodes) do
		if node.type ~= "ClassStart" and node.type ~= "AscendClassStart" then ids[#ids + 1] = id end
	end
	table.sort(ids)
	tree.requested = {}
	for i, id in ipairs(ids) do
		local node, override = spec.allocNodes[id], spec.hashOverrides[id]
		local attribute = override and override.dn and override.dn:sub(1, 3):lower()
		tree.requested[i] = { id = id, weapon_set = node.allocMode or 0, attribute = ATTRIBUTES[attribute] and attribute }
	end
end

function tree.dropped()
	local gone = B.json.list()
	for _, wish in ipairs(tree.requested) do
		if not build.spec.allocNodes[wish.id] then gone[#gone + 1] = wish.id end
	end
	table.sort(gone)
	return gone
end

function tree.add(wishes)
	local at = {}
	for i, wish in ipairs(tree.requested) do at[wish.id] = i end
	local nodes = { unpack(tree.requested) }
	for _, wish in ipairs(wishes) do
		local i = at[wish.id] or #nodes + 1
		nodes[i], at[wish.id] = wish, i
	end
	tree.requested = nodes
end

function tree.remove(ids)
	local gone, nodes = {}, {}
	for _, id in ipairs(ids) do gone[id] = true end
	for _, wish in ipairs(tree.requested) do
		if not gone[wish.id] then nodes[#nodes + 1] = wish end
	end
	tree.requested = nodes
end

-- The node that a what-if adds: for an attribute passive its chosen option.
function tree.candidate(wish)
	local node = build.spec.nodes[wish.id]
	if not node then B.refuse("unknown passive %s", tostring(wish.id)) end
	if not node.isAttribute then return node end
	return build.spec.tree.nodes[wish.id].options[ATTRIBUTES[wish.attribute or "str"]]
end
