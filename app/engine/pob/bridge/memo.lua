-- Remembers the modifiers of passives between candidates: PoB builds the same list twice per candidate for every
-- allocated passive. Not for passives that a radius jewel reaches, whose list depends on more than what is compared here.
local B = ...
local calcs = B.calcs
local original = calcs.buildModListForNode
local memo = {}

function B.memo_reset() memo = {} end

local function reached(env, id)
	local jewels = env.radiusJewelList
	for i = 1, #jewels do
		if jewels[i].nodes[id] then return true end
	end
	return false
end

calcs.buildModListForNode = function(env, node, small_effect, keystones)
	if env.mode ~= "CALCULATOR" or reached(env, node.id) then return original(env, node, small_effect, keystones) end
	local entry = memo[node]
	local list, mode = node.modList, node.allocMode
	keystones = keystones or false
	if entry and entry.list == list and entry.size == #list and entry.mode == mode and entry.small == small_effect then
		local known = entry[keystones]
		if known then return known end
	else
		entry = { list = list, size = #list, mode = mode, small = small_effect }
	end
	local sources = #env.explodeSources
	local made = original(env, node, small_effect, keystones)
	if #env.explodeSources == sources then
		entry[keystones] = made
		memo[node] = entry
	end
	return made
end
B.replaced(calcs.buildModListForNode, original)
