-- What helps at times (docs/damage.md), which Path of Building takes as always there: marks, and critical hits of ailments.
local B = ...
local at_times = {}
B.at_times = at_times

-- What the stat of a skill gives is had under a condition that nothing brings about.
local function uncounted(skill, stat)
	for _, set in ipairs(data.skills[skill] and data.skills[skill].statSets or {}) do
		for _, mod in ipairs(rawget(set.statMap, stat) or {}) do
			mod[#mod + 1] = { type = "Condition", var = "UncountedMark" }
		end
	end
end

-- Ten seconds of a buff once the marked enemy is electrocuted or frozen. By Path of Building's own figures lightning builds
-- up no electrocution by itself, and bosses freeze once in twenty seconds (Comet) to minutes.
uncounted("VoltaicMarkPlayer", "thaumaturgist_mark_damage_buff_damage_%_to_gain_as_lightning")
uncounted("FreezingMarkPlayer", "freezing_mark_damage_buff_damage_%_to_gain_as_cold")

-- The next critical hit uses up a Sniper's Mark: it does not raise the damage of every one.
uncounted("SnipersMarkPlayer", "enemy_additional_critical_strike_multiplier_against_self")

-- What a critical hit, and another one, put into an ailment before its magnitude, by the hand that deals it.
local function sources(hand, ailment)
	local hit, critical = 0, 0
	for _, kind in ipairs(B.damage_types) do
		local least, most = hand[ailment .. kind .. "Min"], hand[ailment .. kind .. "Max"]
		if least and most then
			hit = hit + least + most
			critical = critical + (hand[kind .. "StoredCritMin"] or 0) + (hand[kind .. "StoredCritMax"] or 0)
		end
	end
	return hit, critical
end

-- The share of an ailment's damage that comes from critical hits, as PoB weighs them: more stacks than last together have
-- one among them sooner.
local function critical_share(skill, output, ailment)
	if skill.skillModList:Flag(skill.skillCfg, "AilmentsAreNeverFromCrit") then return 0 end
	local hand = output.MainHand and output.MainHand.CritChance and output.MainHand or output
	local stacks = math.max(output[ailment .. "StackPotential"] or 1, 1)
	local chance = 1 - (1 - math.min(hand.CritChance or 0, 100) / 100) ^ stacks
	local hit, critical = sources(hand, ailment)
	hit = hit * (1 - chance) * (hand[ailment .. "ChanceOnHit"] or 0)
	critical = critical * chance * (hand[ailment .. "ChanceOnCrit"] or 0)
	return hit + critical > 0 and critical / (hit + critical) or 0
end

-- The share of PoB's figure that is had of an ailment: what makes it larger "with critical hits" PoB gives every hit.
function at_times.ailment(skill, output, ailment)
	local config = skill and skill[ailment:lower() .. "Cfg"]
	if not config then return 1 end
	local function magnitude(critical)
		config.skillCond.CriticalStrike = critical
		return calcLib.mod(skill.skillModList, config, "AilmentMagnitude")
	end
	local other, all = magnitude(false), magnitude(true)
	if other == all then return 1 end
	local share = critical_share(skill, output, ailment)
	return share + (1 - share) * other / all
end
