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
	local mods, unlocked_by = list(), list()
	for _, line in ipairs(node.sd or {}) do mods[#mods + 1] = line end
	for _, id in ipairs(node.unlockConstraint and node.unlockConstraint.nodes or {}) do unlocked_by[#unlocked_by + 1] = id end
	local free = node.isMultipleChoiceOption or node.isFreeAllocate ~= nil or node.type == "ClassStart" or node.type == "AscendClassStart"
	return {
		id = node.id, name = node.dn or "", kind = kind(node), mods = mods, neighbours = neighbours(nodes, node),
		ascendancy = node.ascendancyName, x = node.x or 0, y = node.y or 0, unparsed = unparsed(node),
		unlocked_by = unlocked_by, choice_of = choice_parent(nodes, node), cost = free and 0 or 1,
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
