-- For `bench whatif` alone: the loop a Lua programmer would write with PoB's own calculator, PoB's own functions put back.
local B = ...
local calcs = B.calcs
local OURS = {}

-- Puts back, wherever a function keeps a copy, what the bridge has replaced; it stays so in this process.
local function restore(value, seen)
	if seen[value] then return end
	seen[value] = true
	if type(value) == "function" then
		for i = 1, 250 do
			local name, held = debug.getupvalue(value, i)
			if not name then break end
			if OURS[held] then debug.setupvalue(value, i, OURS[held]) end
			if type(held) == "function" or (type(held) == "table" and (held == calcs or held == calcLib or held == modLib)) then restore(held, seen) end
		end
	elseif type(value) == "table" then
		for key, held in pairs(value) do
			if type(held) == "function" then
				if OURS[held] then value[key] = OURS[held] end
				restore(held, seen)
			end
		end
	end
end

local function as_delivered()
	B.original(OURS)
	local seen = {}
	for name, own in pairs(_G) do
		if type(own) == "function" and OURS[own] then _G[name] = OURS[own] end
	end
	for _, module in ipairs({ calcs, calcLib, modLib, itemLib }) do restore(module, seen) end
	for _, name in ipairs({ "ModDB", "ModList", "ModStore" }) do restore(common.classes[name], seen) end
	for _, class in pairs(common.classes) do
		local meta = getmetatable(class)
		if meta and OURS[meta.__index] then meta.__index = OURS[meta.__index] end
	end
	jit.flush() -- compiled code takes what a function keeps for a constant
	collectgarbage("setpause", 400)
	collectgarbage("setstepmul", 200)
end

-- Answers at once: the time until a fresh session is ready.
function B.ops.bench_ready() return "true" end

-- From now on this process calculates with PoB's own functions only, and what_if leaves nothing out.
function B.ops.bench_restore()
	if not B.is_plain then as_delivered() end
	B.is_plain = true
	return "true"
end

-- Loops over the candidates with the function PoB's getMiscCalculator returns; CPU seconds and the same rows as what_if.
function B.ops.bench_plain(args)
	B.need_build()
	B.ops.bench_restore()
	local calculate = B.pob_misc_calculator(build)
	local perform, env = calcs.perform, nil
	calcs.perform = function(given, skip_ehp)
		env = env or given
		return perform(given, skip_ehp)
	end
	local out, started = {}, os.clock()
	for i, changes in ipairs(args.candidates) do
		local override = B.trial.put(changes)
		env = nil
		local output = calculate(override, false)
		output.DPS, output.ManaPool = B.damage.total(env, override) or 0, B.damage.mana_pool(env)
		out[i] = B.answer(output, args.metrics)
		B.trial.take_back()
	end
	calcs.perform = perform
	return '{"seconds":' .. B.json.number(os.clock() - started) .. ',"rows":[' .. table.concat(out, ",") .. "]}"
end
