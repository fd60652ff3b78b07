-- The numbers of the current build after a full recalculation.
local B = ...

local function numbers(from, prefix, into)
	for key, value in pairs(from) do
		if type(value) == "number" and type(key) == "string" and value == value then into[prefix .. key] = value end
	end
end

local TYPES = { "Physical", "Fire", "Cold", "Lightning", "Chaos" }

-- What an attack's hit deals of each type PoB leaves with the hand that deals it; two hands take turns.
local function hits_of_hands(output)
	local hands = {}
	for _, hand in ipairs({ output.MainHand or {}, output.OffHand or {} }) do
		if hand.TotalDPS or hand.PhysicalHitAverage then hands[#hands + 1] = hand end
	end
	local found = {}
	for _, kind in ipairs(TYPES) do
		local key, total = kind .. "HitAverage", 0
		for _, hand in ipairs(hands) do total = total + (hand[key] or 0) end
		if output[key] == nil and #hands > 0 then found[key] = total / #hands end
	end
	return found
end

function B.ops.stats()
	B.need_build()
	B.full_calculation()
	local output, values = build.calcsTab.mainOutput, {}
	numbers(output, "", values)
	numbers(hits_of_hands(output), "", values)
	if output.Minion then
		numbers(output.Minion, "Minion.", values)
		numbers(hits_of_hands(output.Minion), "Minion.", values)
	end
	local env, override = build.calcsTab.mainEnv, {}
	local sources = B.damage.sources(env, override)
	values.DPS = B.damage.sum(sources) or 0
	values.ManaPool = B.damage.mana_pool(env)
	for _, source in ipairs(B.damage.second(env, override)) do sources[#sources + 1] = source end
	return { values = values, sources = B.json.list(sources), refusal = B.damage.refusal(env.player.mainSkill),
		states = B.json.list(B.states.names()) }
end
