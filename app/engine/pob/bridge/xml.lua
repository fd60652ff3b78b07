-- Loading a file and writing one.
local B = ...

local function poisoned()
	local prompt = B.take_prompt()
	if prompt then return prompt end
	if main.mode ~= "BUILD" then return "Path of Building went back to its list" end
	if #main.popups > 0 then return "Path of Building asks a question about this file" end
	if not (build.calcsTab and build.calcsTab.mainOutput) then return "nothing was calculated" end
	local level, life = build.characterLevel, build.calcsTab.mainOutput.Life or 0
	if level ~= level or life ~= life then return "it holds impossible numbers" end
end

function B.ops.load(args)
	B.loaded, B.states.held = false, {}
	build.treeTab, build.itemsTab, build.skillsTab, build.configTab, build.calcsTab, build.spec = nil, nil, nil, nil, nil, nil
	main.popups = {}
	wipeGlobalCache()
	local ok, problem = pcall(loadBuildFromXML, args.xml, "import")
	problem = not ok and tostring(problem) or poisoned()
	if problem then
		main.popups = {}
		launch.promptMsg = nil
		main.mode = "BUILD"
		B.new_build()
		B.refuse("the file does not load: %s", problem:sub(1, 300))
	end
	build.characterLevelAutoMode = false
	B.tree.read_requested()
	B.skills.chosen = B.skills.list()[build.mainSocketGroup]
	local problems = {}
	B.settle(problems)
	if B.states.settle() then B.settle(problems) end
	B.loaded = true
	return { dropped_nodes = B.tree.dropped(), problems = B.json.list(problems) }
end

-- PoB leaves fields of groups it made itself unset and would write them as "nil".
local function complete_groups()
	for _, group in ipairs(B.skills.list()) do
		group.label = group.label or ""
		group.includeInFullDPS = group.includeInFullDPS or false
		group.mainActiveSkill = group.mainActiveSkill or 1
		group.mainActiveSkillCalcs = group.mainActiveSkillCalcs or 1
		for _, gem in ipairs(group.source and group.gemList or {}) do
			gem.corruptLevel, gem.corrupted = gem.corruptLevel or 0, gem.corrupted or false
			gem.count, gem.enableGlobal2 = gem.count or 1, gem.enableGlobal2 or false
		end
	end
end

-- PoB's own text; the caller puts it into canonical order.
function B.ops.export()
	B.need_build()
	B.calculation_to_save()
	complete_groups()
	local text = B.with_charms_at_rest(function()
		return B.states.as_claimed(function() return build:SaveDB("export") end)
	end)
	local problem = B.take_prompt()
	if not text then error("export: " .. tostring(problem), 0) end
	return { xml = text }
end
