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

-- Without PoB's marks for what is coloured: unique{...}, normal{...}.
local function plain(source) return source and (source:gsub("%l+{([^}]*)}", "%1")) or "" end

function B.ops.uniques()
	local found = list()
	for _, typed in pairs(data.uniques) do
		for _, raw in pairs(typed) do
			local ok, item = pcall(new, "Item", raw, "UNIQUE", true)
			if ok and item.base and item.title then
				found[#found + 1] = {
					name = item.title, base = item.baseName, type = item.type, level = item.requirements.level or 1,
					text = text(item), lines = lines(item), unparsed = #B.unparsed_lines(item),
					source = plain(item.source),
				}
			end
		end
	end
	table.sort(found, function(a, b) if a.name ~= b.name then return a.name < b.name end return a.base < b.base end)
	return found
end
