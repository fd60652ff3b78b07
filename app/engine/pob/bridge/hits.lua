-- How many hits of an enemy a character survives where a part of what hits take is lost only later (docs/damage.md).
-- PoB counts four hits at a time there, and four times as many of what it counted so far: 12 or 16 of 20,000 hit points.
local B = ...
local calcs = B.calcs
local their_estimations = calcs.buildDefenceEstimations
local COUNTED = { "NumberOfMitigatedDamagingHits", "TotalNumberOfHits", "TotalEHP", "EHPSurvivalTime" }
local MOST = 200

-- Hits one by one, each `share` (0-1) of what the enemy's usual one takes; nil = more than MOST.
local function survived(actor, share)
	local output, pools = actor.output, nil
	for number = 1, MOST do
		local damage, total = {}, 0
		for _, kind in ipairs(B.damage_types) do
			local amount = (output[kind .. "TakenHit"] or 0) * share
			damage[kind] = amount > 0 and amount or nil
			total = total + amount
		end
		if total == 0 then return nil end
		pools = calcs.reducePoolsByDamage(pools, damage, actor)
		if pools.Life <= 0 then return number - pools.OverkillDamage / total end
	end
end

function calcs.buildDefenceEstimations(env, actor)
	their_estimations(env, actor)
	local output = actor.output
	local counted, share = output.NumberOfMitigatedDamagingHits or 0, (output.ConfiguredDamageChance or 0) / 100
	if (output.preventedLifeLossTotal or 0) <= 0 or counted <= 0 or counted == math.huge then return end
	local hits = survived(actor, share)
	for _, key in ipairs(hits and COUNTED or {}) do
		if output[key] then output[key] = output[key] * hits / counted end
	end
end
