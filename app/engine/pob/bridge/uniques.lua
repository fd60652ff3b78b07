-- Facts about unique items: current variant, rolls in the middle of their ranges.
local B = ...
local list = B.json.list

local function lines(item)
	local found = list()
	for _, kind in ipairs({ "enchantModLines", "implicitModLines", "explicitModLines" }) do
		for _, line in ipairs(item[kind]) do
			if item:CheckModLineVariant(line) then found[#found + 1] = (line.line:gsub("\n", " ")) end
		end
	end
	return found
end

-- Without the variants that are not chosen, the text holds one item as PoB would save it.
local function text(item)
	local kept = {}
	for line in item:BuildRaw():gmatch("[^\n]+") do
		local variants = line:match("^{variant:([%d,]+)}") or line:match("{variant:([%d,]+)}")
		local chosen = not variants
		for number in (variants or ""):gmatch("%d+") do
			chosen = chosen or item:CheckModLineVariant({ variantList = { [tonumber(number)] = true } })
		end
		if chosen and not line:find("^Variant: ") and not line:find("^Selected ") and not line:find("^Has Alt ") then
			kept[#kept + 1] = (line:gsub("{variant:[%d,]+}", ""))
		end
	end
	return table.concat(kept, "\n")
end

-- Lines of which one jewel has only some, another others, and how many of them it has; versions of an item are no choice.
local function choices(item)
	local found, seen = list(), {}
	if item.type ~= "Jewel" or isValueInArray(item.variantList or { "Current" }, "Current") then return found, 0 end
	for line in item:BuildRaw():gmatch("[^\n]+") do
		local said = line:find("{variant:") and line:gsub("{variant:[%d,]+}", "")
		if said and not seen[said] then found[#found + 1], seen[said] = said, true end
	end
	local count = 1
	for _, another in ipairs({ "hasAltVariant", "hasAltVariant2", "hasAltVariant3", "hasAltVariant4", "hasAltVariant5" }) do
		if item[another] then count = count + 1 end
	end
	return found, count
end

-- Without PoB's marks for what is coloured: unique{...}, normal{...}.
local function plain(source) return source and (source:gsub("%l+{([^}]*)}", "%1")) or "" end

function B.ops.uniques()
	local found = list()
	for _, typed in pairs(data.uniques) do
		for _, raw in pairs(typed) do
			local ok, item = pcall(new, "Item", raw, "UNIQUE", true)
			if ok and item.base and item.title then
				local lines_to_choose, chosen = choices(item)
				found[#found + 1] = {
					name = item.title, base = item.baseName, type = item.type, level = item.requirements.level or 1,
					text = text(item), lines = lines(item), unparsed = #B.unparsed_lines(item),
					source = plain(item.source), limit = item.limit or 0, choices = lines_to_choose, chosen = chosen,
				}
			end
		end
	end
	table.sort(found, function(a, b) if a.name ~= b.name then return a.name < b.name end return a.base < b.base end)
	return found
end
