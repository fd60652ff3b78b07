-- What every candidate of a build starts with: the modifiers that PoB makes anew from level and configuration, and what
-- it looks up in the passives before the items. Both are kept between candidates, in PoB's own order.
local B = ...
local calcs = B.calcs

local function copy_lists(mods)
	local made = {}
	for name, list in pairs(mods) do
		local own = {}
		for i = 1, #list do own[i] = list[i] end
		made[name] = own
	end
	return made
end

local function kept(db) return { mods = copy_lists(db.mods), conditions = copyTable(db.conditions, true), multipliers = copyTable(db.multipliers, true) } end

local function nothing() end

-- PoB adds to the lists until it has copied them; what it would add is there already.
local function fill(db, from)
	db.mods, db.conditions, db.multipliers = copy_lists(from.mods), copyTable(from.conditions, true), copyTable(from.multipliers, true)
	db.NewMod, db.AddList = nothing, nothing
end

local snapshot
local their_init, their_copy = calcs.initModDB, specCopy

local function is_valid(env)
	local config = build.configTab
	return snapshot and snapshot.mods == config.modList and snapshot.enemy_mods == config.enemyModList
		and snapshot.party == build.partyTab.enemyModList and snapshot.level == build.characterLevel
		and snapshot.enemy_level == env.enemyLevel and snapshot.class == env.classId
		and snapshot.penalty == env.configInput.resistancePenalty
end

local function take(env)
	local config = build.configTab
	snapshot = {
		mods = config.modList, enemy_mods = config.enemyModList, party = build.partyTab.enemyModList,
		level = build.characterLevel, enemy_level = env.enemyLevel, class = env.classId,
		penalty = env.configInput.resistancePenalty, player = kept(env.modDB), enemy = kept(env.enemyDB),
	}
end

-- Whether PoB's copy is asked for: only the sum over several skills uses it.
B.copy_base = true

calcs.initModDB = function(env, db)
	if env.mode == "CALCULATOR" and (db == env.modDB or db == env.enemyDB) and is_valid(env) then
		fill(db, db == env.modDB and snapshot.player or snapshot.enemy)
	else
		their_init(env, db)
	end
end
B.replaced(calcs.initModDB, their_init)

function specCopy(env)
	if env.mode == "CALCULATOR" then
		if rawget(env.modDB, "NewMod") == nothing then
			for _, db in ipairs({ env.modDB, env.enemyDB }) do db.NewMod, db.AddList = nil, nil end
		else
			take(env)
		end
		if not B.copy_base then return nil end
	end
	return their_copy(env)
end
B.replaced(specCopy, their_copy)

-- Of each list of modifiers: whether PoB's first pass over the passives asks for one of them, and whether it says how much
-- more small passives do.
local ASKED = { GiantsBlood = true, InstrumentsOfPower = true, LordOfTheWilds = true, AdditionalRingSlot = true,
	CannotGainSpiritFromEquipment = true, EffectOfBonusesFromFocus = true, CanExplode = true }
B.asked_first = ASKED
local kinds = setmetatable({}, { __mode = "k" })

local function kind_of(list)
	local known = kinds[list]
	if known and known.size == #list then return known end
	known = { size = #list }
	for i = 1, #list do
		local mod = list[i]
		if ASKED[mod.name] then
			known.asked = true
			known.tagged = known.tagged or mod[1] ~= nil
		end
		known.small = known.small or mod.name == "SmallPassiveSkillEffect"
	end
	kinds[list] = known
	return known
end

-- The first pass needs the passives with those modifiers only, unless they depend on others.
local function first_pass(nodes)
	local asked = {}
	for id, node in pairs(nodes) do
		local kind = kind_of(node.modList)
		if kind.tagged then return nodes end
		if kind.asked then asked[id] = node end
	end
	return asked
end

local function small_effect(nodes)
	local effect = 0
	for _, node in pairs(nodes) do
		if kind_of(node.modList).small then effect = effect + node.modList:Sum("INC", nil, "SmallPassiveSkillEffect") end
	end
	return effect
end

local function start_jewels(env)
	for _, jewel in pairs(env.radiusJewelList) do
		wipeTable(jewel.data)
		jewel.data.modSource = "Tree:" .. jewel.nodeId
	end
end

local function finish_jewels(env, list, effect)
	for _, node in pairs(env.extraRadiusNodeList) do calcs.buildModListForNode(env, node, effect) end
	for _, jewel in pairs(env.radiusJewelList) do jewel.func(nil, list, jewel.data) end
end

local their_lists = calcs.buildModListForNodeList
calcs.buildModListForNodeList = function(env, nodes, finish, keystones)
	if env.mode ~= "CALCULATOR" then return their_lists(env, nodes, finish, keystones) end
	start_jewels(env)
	local effect, list, n = small_effect(nodes), new("ModList"), 0
	for _, node in pairs(keystones and not env.radiusJewelList[1] and first_pass(nodes) or nodes) do
		local own = calcs.buildModListForNode(env, node, effect, keystones)
		for i = 1, #own do list[n + i] = own[i] end
		n = n + #own
	end
	if finish then finish_jewels(env, list, effect) end
	return list
end
B.replaced(calcs.buildModListForNodeList, their_lists)
