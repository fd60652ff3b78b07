-- The damage that counts (docs/damage.md): the main skill as it is played, source by source. PoB's own sums add what needs
-- a death, a kill or a corpse, what nobody uses, and damage per use as if it were per second.
local B = ...
local calcs = B.calcs
local damage = {}
B.damage = damage

local function flags_of(skill)
	local set = skill.activeEffect.statSet
	return set and set.skillFlags or {}
end
damage.flags_of = flags_of

-- Why a skill's damage is not counted; nil = it is.
function damage.refusal(skill)
	local types, data, flags = skill.skillTypes, skill.skillData, flags_of(skill)
	if flags.disable then return "disabled" end
	if data.triggeredOnDeath then return "on_death" end
	if data.explodeCorpse or flags.monsterExplode then return "corpse" end
	if types[SkillType.TargetsDestructibleCorpses] and not types[SkillType.CreatesMinion] then return "corpse" end
	if types[SkillType.Herald] then return "on_kill" end
	-- Explosions of what others froze, shocked and ignited (Elemental Sundering, Snap): one for each that is used up.
	if types[SkillType.SkillConsumesFreeze] and types[SkillType.SkillConsumesShock] and types[SkillType.SkillConsumesIgnite] then
		return "ailment"
	end
	-- "triggerable": a monster's blast that something else sets off (the end of a leap, an orb that has come near).
	local triggered = types[SkillType.Triggered] or types[SkillType.InbuiltTrigger] or skill.triggeredBy or flags.triggerable
	if triggered and not (data.triggered and (data.triggerRate or data.triggerTime)) then return "no_trigger_rate" end
end

local function add(list, name, kind, dps)
	if dps and dps > 0 and dps < math.huge then list[#list + 1] = { name = name, kind = kind, dps = dps } end
end

local function sum(list)
	local total = 0
	for i = 1, #list do total = total + list[i].dps end
	return total
end

-- Damage per second of all sources; nil = PoB gives no rate.
function damage.sum(list)
	local total = sum(list)
	return total > 0 and total or nil
end

local function scale(list, factor)
	for i = 1, #list do list[i].dps = list[i].dps * factor end
end

-- The share of time that what one use leaves behind lasts until the next use; `otherwise` seconds where PoB knows none.
local function uptime(output, otherwise)
	local speed, duration = output.Speed or 0, output.Duration or 0
	if duration <= 0 then duration = otherwise or 0 end
	return speed > 0 and duration > 0 and math.min(1, duration * speed) or 1
end

-- The share of time that something hits of which one use hits again and again by itself (a ball of lightning, a storm):
-- PoB takes it as always there, also of a skill that is used once in ten seconds (Hourglass). What has no duration flies
-- past an enemy for about as long as PASSING (seconds, our own judgement).
local PASSING = 2
local function presence(skill, output)
	if not skill.skillData.hitTimeOverride or (output.HitSpeed or 0) <= (output.Speed or 0) then return 1 end
	return uptime(output, PASSING)
end

local function part_of(skill)
	local sets, chosen = skill.activeEffect.grantedEffect.statSets, skill.activeEffect.statSet
	return sets and sets[chosen and chosen.index or 1]
end

-- A number that the skill has at every level, by a part of its name.
local function constant(skill, name)
	local set = part_of(skill)
	for _, stat in ipairs(set and set.constantStats or {}) do
		if stat[1]:find(name, 1, true) then return stat[2] end
	end
end

-- The share of what rains on an area that hits an enemy there: PoB lets all of it hit. It falls anywhere, so by surface,
-- for one of BODY (tenths of a metre, as large as bosses are, our own judgement) in the middle, times the storms there
-- may be; more area makes both circles larger.
local BODY = 10
local function struck(skill)
	local a, b = skill.skillData.radius or 0, skill.skillData.radiusSecondary or 0
	if not skill.skillData.maxHitRatePerEnemy or a == 0 or b == 0 then return 1 end
	return math.min(1, (constant(skill, "max_number_of_storms") or 1) * ((math.min(a, b) + BODY) / math.max(a, b)) ^ 2)
end

-- Seconds from one channelled slam to the next, with the animation with which it ends, which PoB leaves out; nil = no slam.
local function slam_time(skill, output)
	local ending, time = constant(skill, "channel_skill_end_animation_duration_override_ms"), output.HitTime or output.Time or 0
	return ending and flags_of(skill).channelRelease and time > 0 and time + ending / 1000 or nil
end

local DURATIONS = { bleed = "BleedDuration", ignite = "IgniteDuration", poison = "PoisonDuration" }

-- The share of what PoB gives that is had of a slam: of its hits by their rate, of an ailment for as long as it lasts.
local function had_of_slam(kind, output, whole)
	local time = DURATIONS[kind] and (output[DURATIONS[kind]] or 0) or kind == "hit" and (output.HitTime or output.Time)
	return time and math.min(1, time / whole) or 1
end

local function max(a, b) return math.max(a or 0, b or 0) end

-- Everything that goes on after the hit, at most as much as the game allows.
local function over_time(skill, output, name, stacks)
	local list = {}
	local function ailment(kind, of)
		local dps = output["Total" .. of .. "DPS"] or output[of .. "DPS"]
		add(list, name, kind, dps and dps > 0 and dps * B.at_times.ailment(skill, output, of))
	end
	add(list, name, "damage_over_time", (output.TotalDot or 0) * (stacks and 1 or uptime(output)))
	ailment("poison", "Poison")
	ailment("ignite", "Ignite")
	ailment("bleed", "Bleed")
	add(list, name, "damage_over_time", max(output.CausticGroundDPS, output.MirageCausticGroundDPS))
	add(list, name, "damage_over_time", max(output.BurningGroundDPS, output.MirageBurningGroundDPS))
	add(list, name, "damage_over_time", output.CorruptingBloodDPS)
	add(list, name, "damage_over_time", output.DecayDPS)
	local total = sum(list)
	if total > data.misc.DotDpsCap then scale(list, data.misc.DotDpsCap / total) end
	return list
end

-- PoB gives the impale damage of one use where it gives damage per use.
local function impale(skill, output)
	local found = output.ImpaleDPS or 0
	return skill.skillData.showAverage and found * (output.HitSpeed or output.Speed or 0) or found
end

local function says(set, stat)
	for _, own in ipairs(set and set.stats or {}) do
		if own:find(stat, 1, true) then return true end
	end
	return false
end

local HITLESS, POISONS = "statset_no_hit_damage", "skill_poisons_without_hit"
local HITS = { hit = true, impale = true, triggered = true, ignite = true, bleed = true }

-- Whether a kind of damage is had of the part: a cloud hits nobody, and poisons only where it says so; PoB gives both.
local function is_had(set, kind)
	if not says(set, HITLESS) then return true end
	return not HITS[kind] and (kind ~= "poison" or says(set, POISONS))
end

-- What a skill deals by itself. Also where PoB shows damage per use its TotalDPS is that times uses per second.
local function own(skill, output)
	if damage.refusal(skill) then return {} end
	local list, name, found = {}, skill.activeEffect.grantedEffect.name, {}
	add(list, name, "hit", output.TotalDPS and output.TotalDPS * presence(skill, output) * struck(skill))
	add(list, name, "impale", impale(skill, output))
	if skill.mirage then add(list, skill.mirage.name or name, "triggered", output.MirageDPS) end
	for _, source in ipairs(over_time(skill, output, name, flags_of(skill).DotCanStack)) do list[#list + 1] = source end
	local set, whole = part_of(skill), slam_time(skill, output)
	if not whole and not says(set, HITLESS) then return list end -- nearly all: a search asks this of every candidate
	for i = 1, #list do
		if whole then list[i].dps = list[i].dps * had_of_slam(list[i].kind, output, whole) end
		if is_had(set, list[i].kind) then found[#found + 1] = list[i] end
	end
	return found
end

-- How many minions are really out: as many as the gem says, within the skill's limit and the Spirit that there is.
-- `lacking`: Spirit that is reserved and not there; what these minions free is taken off it.
local function count(skill, output, lacking)
	local wanted = calcs.getActiveSkillCount(skill)
	local limit, reserved = output.ActiveMinionLimit, skill.skillData.SpiritReservedBase or 0
	local out = limit and limit > 0 and math.min(wanted, limit) or wanted
	if lacking.spirit > 0 and reserved > 0 and out > 0 then
		local each = reserved / wanted
		local away = math.min(out, math.ceil(lacking.spirit / each))
		lacking.spirit, out = lacking.spirit - away * each, out - away
	end
	return out
end

-- Hits times the number of minions; of an ailment the strongest counts, once. Minions that need a corpse are not there.
local function army(skill, minion, output, lacking)
	if not minion or flags_of(skill).disable or skill.skillTypes[SkillType.TargetsDestructibleCorpses] then return {} end
	local main = minion.mainSkill
	if main and damage.refusal(main) then return {} end
	local list, found, out = {}, minion.output, count(skill, output, lacking)
	if out == 0 then return list end
	local name = minion.minionData and minion.minionData.name or skill.activeEffect.grantedEffect.name
	if out ~= 1 then name = ("%d x %s"):format(out, name) end
	add(list, name, "minion", ((found.TotalDPS or 0) + (found.ImpaleDPS or 0)) * out)
	for _, source in ipairs(over_time(main, found, name, true)) do list[#list + 1] = source end
	return list
end

local function finish(list, output)
	local dealt, culled = sum(list), math.max(output.CullMultiplier or 1, 1)
	add(list, "Culling strike", "culling", dealt * (culled - 1))
	add(list, "Reserved life", "culling", dealt * culled * ((output.ReservationDpsMultiplier or 1) - 1))
	return list
end

-- The minions of the skill that an environment calculates.
local function minions(env, lacking)
	local list = army(env.player.mainSkill, env.minion, env.player.output, lacking)
	return env.minion and finish(list, env.minion.output) or list
end

local function lasts(set) return says(set, "damage_to_deal_per_minute") or says(set, POISONS) end

-- The part of the skill that PoB calculates apart: what a hit leaves behind (damage over time, a cloud that poisons), or
-- the hit itself.
local function other_part(skill)
	local sets = skill.activeEffect.grantedEffect.statSets
	if not sets or #sets < 2 or not skill.activeEffect.srcInstance then return nil end
	local is_after = lasts(part_of(skill))
	for index, set in ipairs(sets) do
		if lasts(set) ~= is_after then return index end
	end
end

-- The build calculated for one skill of it, without the hits that it can take.
local function performed(override, choose)
	local env = B.environment(override)
	if choose then
		local skill = choose(env)
		if not skill then return nil end
		env.player.mainSkill = skill
	end
	calcs.perform(env, true)
	return env
end

local function with_part(skill, index, action)
	local gem, id = skill.activeEffect.srcInstance, skill.activeEffect.grantedEffect.id
	local before = gem.statSet
	gem.statSet = copyTable(before or {}, true)
	gem.statSet[id] = index
	local ok, result = pcall(action)
	gem.statSet = before
	if not ok then error(result, 0) end
	return result
end

-- What the other part adds: only kinds of damage that the chosen part did not give, and of poison what it deals more.
local function part(skill, list, override)
	local index = other_part(skill)
	if not index then return {} end
	local given, found = {}, {}
	for _, source in ipairs(list) do given[source.kind] = source end
	local env = with_part(skill, index, function() return performed(override) end)
	for _, source in ipairs(own(env.player.mainSkill, env.player.output)) do
		local same = given[source.kind]
		if not same then
			found[#found + 1] = source
		elseif source.kind == "poison" then
			same.dps = math.max(same.dps, source.dps)
		end
	end
	return found
end

-- Groups beside the main one that the build says are played.
local function played(skill, main)
	local group = skill.socketGroup
	return group and group.includeInFullDPS and group.enabled and group ~= main.socketGroup
end

-- Whether any group beside the main one has minions that are played.
local function helpers(env)
	local found = {}
	for index, skill in ipairs(env.player.activeSkillList) do
		if skill.minion and played(skill, env.player.mainSkill) then found[#found + 1] = index end
	end
	return found
end

local function same_skill(index, like)
	return function(env)
		local skill = env.player.activeSkillList[index]
		return skill and skill.activeEffect.grantedEffect == like.activeEffect.grantedEffect and skill
	end
end

local function append(list, more)
	for i = 1, #more do list[#list + 1] = more[i] end
end

-- Sources of the build that `env` has calculated: the main skill, its other part, its minions, those of other groups.
function damage.sources(env, override)
	local main, output = env.player.mainSkill, env.player.output
	local lacking = { spirit = -(output.SpiritUnreserved or 0) }
	local list = finish(own(main, output), output)
	append(list, part(main, list, override))
	append(list, minions(env, lacking))
	for _, index in ipairs(helpers(env)) do
		local other = performed(override, same_skill(index, env.player.activeSkillList[index]))
		if other then append(list, minions(other, lacking)) end
	end
	return list
end

-- Damage per second of the build that `env` has calculated; nil = PoB gives no rate for it.
function damage.total(env, override) return damage.sum(damage.sources(env, override)) end

local AFTER_HIT = { damage_over_time = true, ignite = true, poison = true, bleed = true }

-- Put what share of the damage each of these is (0-1), and what all that goes on after the hit is, among the figures.
function damage.shares(list, figures)
	local total, found = sum(list), { over_time = 0, ignite = 0, poison = 0, bleed = 0 }
	for i = 1, #list do
		local kind, share = list[i].kind, list[i].dps / total
		if AFTER_HIT[kind] then found.over_time = found.over_time + share end
		if kind ~= "over_time" and found[kind] then found[kind] = found[kind] + share end
	end
	for kind, share in pairs(found) do figures["DamageShare." .. kind] = share end
end

local TYPES = B.damage_types

-- What an attack's hit deals of each type PoB leaves with the hand that deals it; two hands take turns.
function damage.hits_of_hands(output)
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

local AILMENTS = { ignite = "Fire", poison = "Chaos", bleed = "Physical" }

-- Damage over time has a type of its own; where PoB names none, as of a part that it calculates apart, the skill's count.
local function types_over_time(skill, output)
	local found, total = {}, 0
	local function put(from)
		for _, kind in ipairs(TYPES) do
			local value = from(kind) or 0
			found[kind], total = value, total + value
		end
	end
	put(function(kind) return output[kind .. "Dot"] end)
	if total == 0 then put(function(kind) return skill.skillTypes[SkillType[kind]] and 1 end) end
	return found, math.max(total, 1e-9)
end

-- Put what share of the main skill's damage each type is (0-1), minions aside, among the figures.
function damage.types(skill, list, output, figures)
	local hands, hit, parts, total, lasting, had = damage.hits_of_hands(output), 0, {}, 0, 0, 0
	local function each(kind) return output[kind .. "HitAverage"] or hands[kind .. "HitAverage"] or 0 end
	for _, kind in ipairs(TYPES) do hit = hit + each(kind) end
	for i = 1, #list do
		local source, kind = list[i], AILMENTS[list[i].kind]
		if source.kind == "damage_over_time" then lasting = lasting + source.dps end
		local is_own = source.name == skill.activeEffect.grantedEffect.name
		if is_own and source.kind == "hit" then had = had + source.dps end
		if kind and is_own then parts[kind] = (parts[kind] or 0) + source.dps end
	end
	local dots, all = types_over_time(skill, output)
	local hits = is_had(part_of(skill), "hit") and math.min(output.TotalDPS or 0, had) or 0
	for _, kind in ipairs(TYPES) do
		local rest = hits * each(kind) / math.max(hit, 1) + lasting * dots[kind] / all
		parts[kind] = (parts[kind] or 0) + rest
		total = total + parts[kind]
	end
	for _, kind in ipairs(TYPES) do
		figures["DamageType." .. kind:lower()] = total > 0 and parts[kind] / total or 0
	end
	local function share(kind) return figures["DamageType." .. kind] end
	figures["DamageType.elemental"] = share("fire") + share("cold") + share("lightning")
end

-- Second skills that the build counts: told beside the main one, never added to it.
function damage.second(env, override)
	local list = {}
	for index, skill in ipairs(env.player.activeSkillList) do
		if not skill.minion and played(skill, env.player.mainSkill) and not damage.refusal(skill) then
			local other = performed(override, same_skill(index, skill))
			add(list, skill.activeEffect.grantedEffect.name, "second_skill", other and sum(own(other.player.mainSkill, other.player.output)))
		end
	end
	return list
end

-- What there is to pay mana costs with: energy shield pays too where a keystone says so.
function damage.mana_pool(env)
	local output = env.player.output
	local shield = env.modDB:Flag(nil, "EnergyShieldProtectsMana") and output.EnergyShield or 0
	return math.max(0, output.ManaUnreserved or 0) + shield
end
