-- Facts about classes and passives of the current tree.
local B = ...
local list = B.json.list

local KINDS = { Notable = "notable", Keystone = "keystone", Socket = "socket", ClassStart = "start", AscendClassStart = "ascendancy_start" }

-- Variants of an ascendancy (they share its passives) have none of their own and are left out.
local function with_passives(spec)
	local names = {}
	for _, node in pairs(spec.nodes) do
		if node.ascendancyName then names[node.ascendancyName] = true end
	end
	return names
end

function B.ops.classes()
	local spec, found = build.spec, list()
	local real = with_passives(spec)
	for _, class in pairs(spec.tree.classes) do
		if class.startNodeId then
			local ascendancies = list()
			for id, ascendancy in pairs(class.classes) do
				if id ~= 0 and real[ascendancy.name] then ascendancies[#ascendancies + 1] = ascendancy.name end
			end
			table.sort(ascendancies)
			found[#found + 1] = {
				name = class.name, start_node = class.startNodeId, ascendancies = ascendancies,
				attributes = { str = class.base_str, dex = class.base_dex, int = class.base_int },
			}
		end
	end
	table.sort(found, function(a, b) return a.name < b.name end)
	return found
end

local function kind(node)
	if node.isAttribute then return "attribute" end
	return KINDS[node.type] or "normal"
end

-- Undirected neighbours one can walk to: not into images, not across an ascendancy's border.
local function neighbours(nodes, node)
	local seen, ids = {}, list()
	for _, id in ipairs(node.linkedId) do
		local other = nodes[id]
		if other and not seen[id] and id ~= node.id and other.type ~= "OnlyImage" and other.ascendancyName == node.ascendancyName then
			seen[id] = true
			ids[#ids + 1] = id
		end
	end
	table.sort(ids)
	return ids
end

local function unparsed(node)
	local count = 0
	for i in ipairs(node.sd or {}) do
		local mod = node.mods and node.mods[i]
		if mod and (mod.list == nil or mod.extra) then count = count + 1 end
	end
	return count
end

local function choice_parent(nodes, node)
	for _, id in ipairs(node.isMultipleChoiceOption and node.linkedId or {}) do
		if nodes[id].isMultipleChoice then return id end
	end
end

local function fact(nodes, node)
	local mods, unlocked_by, recipe = list(), list(), list()
	for _, emotion in ipairs(node.recipe or {}) do recipe[#recipe + 1] = emotion end
	for _, line in ipairs(node.sd or {}) do mods[#mods + 1] = line end
	for _, id in ipairs(node.unlockConstraint and node.unlockConstraint.nodes or {}) do unlocked_by[#unlocked_by + 1] = id end
	local free = node.isMultipleChoiceOption or node.isFreeAllocate ~= nil or node.type == "ClassStart" or node.type == "AscendClassStart"
	return {
		id = node.id, name = node.dn or "", kind = kind(node), mods = mods, neighbours = neighbours(nodes, node),
		ascendancy = node.ascendancyName, x = node.x or 0, y = node.y or 0, unparsed = unparsed(node),
		unlocked_by = unlocked_by, choice_of = choice_parent(nodes, node), cost = free and 0 or 1, recipe = recipe,
	}
end

function B.ops.nodes()
	local found, nodes = list(), build.spec.nodes
	for id, node in pairs(nodes) do
		if node.type ~= "OnlyImage" and node.type ~= "Mastery" and not (node.type == "Normal" and not node.dn) then
			found[#found + 1] = fact(nodes, node)
		end
	end
	table.sort(found, function(a, b) return a.id < b.id end)
	return found
end

-- The same of the tree that the loaded build uses, which may be an older one.
function B.ops.own_tree()
	B.need_build()
	return { classes = B.ops.classes(), nodes = B.ops.nodes() }
end

-- The middle of the circle that a connection runs along and its radius, or nil for a straight one; as PoB draws it.
local function circle(tree, node, other, orbit)
	if orbit == 0 then
		if node.g ~= other.g or node.o ~= other.o or not node.group then return nil end
		return node.group.x * tree.scaleImage, node.group.y * tree.scaleImage, tree.orbitRadii[node.o + 1] * tree.scaleImage
	end
	local radius = tree.orbitRadii[math.abs(orbit) + 1]
	if not radius then return nil end
	radius = radius * tree.scaleImage
	local dx, dy = other.x - node.x, other.y - node.y
	local distance = math.sqrt(dx * dx + dy * dy)
	if distance >= radius * 2 or distance == 0 then return nil end
	local aside = math.sqrt(radius * radius - distance * distance / 4) * (orbit > 0 and 1 or -1)
	return node.x + dx / 2 + aside * dy / distance, node.y + dy / 2 - aside * dx / distance, radius
end

-- The connections as they are drawn: ends, radius of the arc (0 = straight), and whether it runs clockwise from a to b.
function B.ops.edges()
	local tree, found = build.spec.tree, list()
	for _, node in pairs(tree.nodes) do
		for _, connection in pairs(node.connections or {}) do
			local other = tree.nodes[connection.id]
			local drawn = other and other ~= node and node.type ~= "OnlyImage" and other.type ~= "OnlyImage"
				and node.ascendancyName == other.ascendancyName and not node.classesStart and not other.classesStart
			if drawn and node.x and other.x then
				local x, y, radius = circle(tree, node, other, connection.orbit)
				local turn = x and (node.x - x) * (other.y - y) - (node.y - y) * (other.x - x) or 0
				found[#found + 1] = { a = node.id, b = other.id, radius = radius or 0, clockwise = turn > 0 }
			end
		end
	end
	table.sort(found, function(one, two) return one.a < two.a or one.a == two.a and one.b < two.b end)
	return found
end
