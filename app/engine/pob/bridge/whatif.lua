-- What-ifs: each candidate is tried, calculated by PoB's own calculator pass, and taken back exactly.
local B = ...
local skills, calcs = B.skills, B.calcs

-- The build as it stands, with the override, ready to be calculated; and PoB's copies of what it starts from.
function B.environment(override)
	local env, player_db, enemy_db, minion_db = calcs.initEnv(build, "CALCULATOR", override)
	env.override = override
	if override.group then skills.mark_supported(env, override.group) end
	return env, { cachedPlayerDB = player_db, cachedEnemyDB = enemy_db, cachedMinionDB = minion_db, env = nil }
end

local function counts_groups()
	for _, group in ipairs(skills.list()) do
		if group.includeInFullDPS then return true end
	end
	return false
end

-- The same pass as the function that PoB's getMiscCalculator returns, without its base calculation, and with our own sum
-- of the damage in place of PoB's, which is made when it is asked for by name.
local function calculate(override, plan)
	if override.jewels then GlobalCache.cachedData.CALCULATOR.radiusJewelData = nil end
	if override.modes or override.jewels then B.memo_reset() end
	local full_dps = plan.full_dps and counts_groups()
	B.copy_base = full_dps or B.is_plain or false
	local env, databases = B.environment(override)
	calcs.perform(env, plan.skip_ehp)
	local output = env.player.output
	if full_dps then
		local full = calcs.calcFullDPS(build, "CALCULATOR", override, databases)
		output.SkillDPS, output.FullDPS, output.FullDotDPS = full.skills, full.combinedDPS, full.TotalDotDPS
	end
	output.ManaPool = B.damage.mana_pool(env)
	if plan.damage then
		local sources = B.damage.sources(env, override)
		output.DPS = B.damage.sum(sources) or 0
		if plan.shares then B.damage.shares(sources, output) end
		if plan.types then B.damage.types(env.player.mainSkill, sources, output, output) end
	end
	return output
end

local function read(output, metric)
	if metric == "FullDPS" then return output.FullDPS or 0 end
	local minion_key = metric:match("^Minion%.(.+)$")
	local from = output
	if minion_key then from, metric = output.Minion, minion_key end
	local value = from and from[metric]
	return type(value) == "number" and value or nil
end

-- One candidate as a JSON list of numbers in the order of the metrics.
function B.answer(output, metrics)
	local out = {}
	for i, metric in ipairs(metrics) do
		local value = read(output, metric)
		out[i] = value and B.json.number(value) or "null"
	end
	return "[" .. table.concat(out, ",") .. "]"
end

-- Changes of skills and of the configuration can wake an idle group; these cannot.
local CALM = { allocate = true, deallocate = true, equip = true, unequip = true }

local function is_calm(changes)
	for _, change in ipairs(changes) do
		if not CALM[change.op] then return false end
	end
	return true
end

local function tried(changes, plan)
	local override = B.trial.put(changes)
	local function run() return calculate(override, plan) end
	if plan.idle and not override.granted and is_calm(changes) then return B.idle.without(run) end
	return run()
end

local function evaluate(changes, plan)
	local ok, result = xpcall(function() return B.answer(tried(changes, plan), plan.metrics) end,
		function(problem) return type(problem) == "table" and problem or tostring(problem) .. "\n" .. debug.traceback() end)
	local override = B.trial.take_back()
	if override.modes or override.jewels then
		B.memo_reset()
		GlobalCache.cachedData.CALCULATOR.radiusJewelData = nil
	end
	if ok then return result end
	if type(result) == "table" and result.refused then return "null" end
	error(result, 0)
end

-- Metrics that are known before PoB estimates what hits can be taken.
local NO_EHP = {}
for name in ([[DPS FullDPS CombinedDPS TotalDPS TotalDotDPS AverageHit AverageDamage Speed CritChance HitChance
	Minion.CombinedDPS Minion.TotalDPS Life LifeUnreserved EnergyShield Ward Mana ManaUnreserved Spirit SpiritUnreserved
	Str Dex Int FireResist ColdResist LightningResist ChaosResist FireResistTotal ColdResistTotal LightningResistTotal
	ChaosResistTotal FireResistOverCap ColdResistOverCap LightningResistOverCap ChaosResistOverCap Armour Evasion ManaCost
	ManaRegenRecovery LifeRegenRecovery EffectiveMovementSpeedMod ManaPerSecondCost LifeCost ESCost ManaPool ReqStr ReqDex ReqInt]]):gmatch("%S+") do
	NO_EHP[name] = true
end

-- Fewer candidates than this do not earn back the search for idle groups, or for inert passives.
local MANY = 24

local function current() return calculate({}, { full_dps = true, damage = true, skip_ehp = false }) end
function B.whole() return calculate({}, { full_dps = true, damage = true, shares = true, types = true, skip_ehp = false }) end

-- Whether passives that do nothing are told from the others before they are tried.
local function is_screened(candidates)
	local allocating = 0
	for _, changes in ipairs(candidates) do
		if changes[1] and changes[1].op == "allocate" then allocating = allocating + 1 end
	end
	if allocating < MANY or B.is_plain then return false end
	B.inert.ready(B.whole)
	return true
end

local function plan_for(metrics, count)
	local plan = { metrics = metrics, full_dps = false, damage = false, skip_ehp = not B.is_plain, idle = count >= MANY and not B.is_plain }
	for _, metric in ipairs(metrics) do
		plan.full_dps = plan.full_dps or metric == "FullDPS" or metric == "FullDotDPS"
		local share, kind = metric:find("^DamageShare%."), metric:find("^DamageType%.")
		plan.shares, plan.types = plan.shares or share, plan.types or kind
		plan.damage = plan.damage or metric == "DPS" or share or kind
		plan.skip_ehp = plan.skip_ehp and (share or kind or NO_EHP[metric]) or false
		plan.idle = plan.idle and not metric:find("^Req")
	end
	plan.idle = plan.idle and B.idle.ready(current)
	return plan
end

function B.ops.what_if(args)
	B.need_build()
	local plan, out, same = plan_for(args.metrics, #args.candidates), {}, nil
	local screened = is_screened(args.candidates)
	for i, changes in ipairs(args.candidates) do
		if screened and B.inert.is(changes) then
			same = same or evaluate({}, plan)
			out[i] = same
		else
			out[i] = evaluate(changes, plan)
		end
	end
	return "[" .. table.concat(out, ",") .. "]"
end
