-- Last: what sessions share is made once, before the fork.
local B = ...

-- How many pairs give another result than with PoB's own operations; for the tests.
function B.ops.check_bits(args)
	local wrong = 0
	for _, pair in ipairs(args.pairs) do
		local a, b = pair[1], pair[2]
		if AND64(a, b) ~= B.slow_and64(a, b) or OR64(a, b) ~= B.slow_or64(a, b) then wrong = wrong + 1 end
	end
	return tostring(wrong)
end

local function names_in(...)
	local known, names = {}, {}
	for _, store in ipairs({ ... }) do
		for name in pairs(store.mods or {}) do known[name] = true end
		for _, mod in ipairs(store) do known[mod.name] = true end
	end
	for name in pairs(known) do names[#names + 1] = name end
	table.sort(names)
	return names
end

-- How many lookups of modifiers in the build give another result than PoB's own, and how many were made; for the tests.
function B.ops.check_lookups()
	B.need_build()
	local actor, theirs, wrong, count = build.calcsTab.mainEnv.player, {}, 0, 0
	local skill = actor.mainSkill
	B.original(theirs)
	local function compare(store, name, ...)
		local ours = store[name]
		local works, value = pcall(ours, store, ...)
		local should, expected = pcall(theirs[ours], store, ...) -- PoB fails where a source is asked of what has none
		count = count + 1
		if works ~= should or (works and value ~= expected) then wrong = wrong + 1 end
	end
	for _, store in ipairs({ skill.skillModList, actor.modDB, actor.enemy.modDB }) do
		local names = names_in(skill.skillModList, actor.modDB)
		for i, name in ipairs(names) do
			local other = names[i % #names + 1]
			for _, cfg in ipairs({ {}, skill.skillCfg, skill.weapon1Cfg or {}, { source = "Item" } }) do
				for _, kind in ipairs({ "BASE", "INC" }) do
					compare(store, "Sum", kind, cfg, name)
					compare(store, "Sum", kind, cfg, name, other)
				end
				compare(store, "Sum", "INC", cfg, name, nil, other)
				compare(store, "More", cfg, name)
				compare(store, "More", cfg, name, other)
				compare(store, "More", cfg, other, name, "Damage")
				compare(store, "Flag", cfg, name)
				compare(store, "Flag", cfg, name, other)
				compare(store, "Override", cfg, name)
				compare(store, "Override", cfg, nil, name)
			end
		end
	end
	return B.json.encode({ wrong = wrong, count = count })
end

-- Frees what warming up has left behind: otherwise each session would keep it, and its first collection come late.
function B.ops.rest()
	B.share_new_build()
	collectgarbage("collect")
	collectgarbage("collect")
	return "true"
end

B.config.read_defaults()
B.config.warm()
B.new_build()
collectgarbage("collect")
