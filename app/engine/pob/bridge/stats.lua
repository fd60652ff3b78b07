-- The numbers of the current build after a full recalculation.
local B = ...

local function numbers(from, prefix, into)
	for key, value in pairs(from) do
		if type(value) == "number" and type(key) == "string" and value == value then into[prefix .. key] = value end
	end
end

function B.ops.stats()
	B.need_build()
	B.full_calculation()
	local output, values = build.calcsTab.mainOutput, {}
	numbers(output, "", values)
	numbers(B.damage.hits_of_hands(output), "", values)
	if output.Minion then
		numbers(output.Minion, "Minion.", values)
		numbers(B.damage.hits_of_hands(output.Minion), "Minion.", values)
	end
	local env, override = build.calcsTab.mainEnv, {}
	local sources = B.damage.sources(env, override)
	values.DPS = B.damage.sum(sources) or 0
	B.damage.shares(sources, values)
	B.damage.types(env.player.mainSkill, sources, output, values)
	values.ManaPool = B.damage.mana_pool(env)
	for _, source in ipairs(B.damage.second(env, override)) do sources[#sources + 1] = source end
	return { values = values, tree = build.spec.treeVersion, sources = B.json.list(sources),
		refusal = B.damage.refusal(env.player.mainSkill), states = B.json.list(B.states.names()),
		granted = B.granted(values.DPS, values.TotalEHP or 0) }
end
