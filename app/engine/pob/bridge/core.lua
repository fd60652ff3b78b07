-- What all modules share: refusing requests, recalculating, and finding the surplus that PoB would resolve at random.
local B = ...
B.ops = {}
B.loaded = false
B.damage_types = { "Physical", "Fire", "Cold", "Lightning", "Chaos" }

function B.refuse(message, ...)
	error({ refused = select("#", ...) > 0 and message:format(...) or message }, 0)
end

function B.need_build()
	if not B.loaded then B.refuse("no build is loaded in this session") end
end

-- PoB catches errors of a frame and keeps the first one; take it away and report it.
function B.take_prompt()
	local prompt = launch.promptMsg
	launch.promptMsg = nil
	return prompt and (prompt:gsub("%^x%x%x%x%x%x%x", ""):gsub("%^%d", ""))
end

-- Whether the new build that a session finds was made before the fork, and nothing was done with it.
local untouched = false

function B.new_build()
	untouched = false
	newBuild()
	local prompt = B.take_prompt()
	if prompt then error("newBuild: " .. prompt, 0) end
	main.popups = {}
end

-- The new build that every session shares until it uses it; made only once, because that takes longer than all else.
function B.share_new_build()
	B.new_build()
	untouched = true
end

function B.have_new_build()
	if not untouched then B.new_build() end
	untouched = false
end

local function calculated(env)
	build.calcsTab.mainEnv, build.calcsTab.mainOutput = env, env.player.output
end

local function begin_calculation()
	wipeGlobalCache()
	build.outputRevision = build.outputRevision + 1
end

-- The main skill alone: what a change brings about (granted skills, what is worn) is known after it. PoB's pass also
-- calculates every other skill, for warnings that nobody has asked for yet.
local function calculate_main()
	begin_calculation()
	local env = B.calcs.initEnv(build, "MAIN")
	B.calcs.perform(env)
	calculated(env)
end

function B.charm_limit(modDB)
	return math.max(0, math.min(3, modDB:Override(nil, "CharmLimit") or modDB:Sum("BASE", nil, "CharmLimit")))
end

local OFF_HANDS = { "Weapon 2", "Weapon 2 Swap" }
B.off_hands = OFF_HANDS

local function held_off_hands()
	local held = {}
	for _, name in ipairs(OFF_HANDS) do held[name] = build.itemsTab.items[build.itemsTab.slots[name].selItemId] end
	return held
end

-- An off hand that the main hand does not allow is taken off, as PoB's item tab does; PoB itself does so too, silently,
-- when a keystone that allowed it is lost.
local function drop_illegal_off_hands(before, problems)
	local tab, changed = build.itemsTab, false
	for _, name in ipairs(OFF_HANDS) do
		local item, slot = before[name], tab.slots[name]
		if item and slot.selItemId ~= 0 and not tab:IsItemValidForSlot(item, name) then
			slot:SetSelItemId(0)
			changed = true
		end
		if item and slot.selItemId == 0 then
			problems[#problems + 1] = ("%s: %s does not go with the main hand"):format(name, item.name)
		end
	end
	return changed
end

-- PoB keeps the place of the main group, not the group; when granted ones before it went, that is another one.
local function main_group_moved()
	local chosen, list = B.skills.chosen, B.skills.list()
	if not chosen or list[build.mainSocketGroup] == chosen then return false end
	B.skills.choose(isValueInArray(list, chosen) and chosen or nil)
	return true
end

-- Recalculates after changes; PoB creates the skills granted by items and passives in this pass.
function B.settle(problems)
	local held = held_off_hands()
	calculate_main()
	if drop_illegal_off_hands(held, problems) then calculate_main() end
	if main_group_moved() then calculate_main() end
	B.memo_reset()
	B.idle.reset()
	B.inert.reset()
end

-- All skills, as PoB's own pass does; without the sheet of its Calcs tab, which is as much again.
function B.full_calculation()
	begin_calculation()
	calculated(B.calcs.buildOutput(build, "MAIN"))
end

-- All that PoB calculates: what it saves is partly from that sheet.
function B.calculation_to_save()
	begin_calculation()
	build.calcsTab:BuildOutput()
end

-- More active charms than the limit: PoB picks by table address, we keep those of the first slots.
local perform = B.calcs.perform
B.calcs.perform = function(env, skip_ehp)
	if next(env.charms) then
		local limit = B.charm_limit(env.modDB)
		for number = 1, 3 do
			local item = build.itemsTab.items[build.itemsTab.slots["Charm " .. number].selItemId]
			if item and env.charms[item] then
				limit = limit - 1
				if limit < 0 then env.charms[item] = nil end
			end
		end
	end
	return perform(env, skip_ehp)
end

-- Files carry the choice, so that PoB need not make it.
function B.with_charms_at_rest(action)
	local tab, limit, woken = build.itemsTab, B.charm_limit(build.calcsTab.mainEnv.modDB), {}
	for number = 1, 3 do
		local name = "Charm " .. number
		local slot = tab.slots[name]
		if slot.selItemId ~= 0 and slot.active then
			limit = limit - 1
			if limit < 0 then
				woken[#woken + 1] = name
				slot.active, tab.activeItemSet[name].active = false, false
			end
		end
	end
	local result = action()
	for _, name in ipairs(woken) do tab.slots[name].active, tab.activeItemSet[name].active = true, true end
	return result
end

function B.dispatch(op, text)
	local handler = B.ops[op]
	if not handler then return "refused", "unknown operation " .. op end
	if op ~= "build" then untouched = false end
	local ok, result = xpcall(function() return handler(B.json.decode(text)) end, function(problem)
		if type(problem) == "table" and problem.refused then return problem end
		return { failed = tostring(problem) .. "\n" .. debug.traceback() }
	end)
	if not ok then return result.refused and "refused" or "failed", result.refused or result.failed end
	return "ok", type(result) == "string" and result or B.json.encode(result)
end
