-- Items: from structure or text to PoB items, and into slots.
local B = ...
local items = {}
B.items = items

function items.base(name)
	local base = data.itemBases[name]
	if not base then B.refuse("unknown item base %q", tostring(name)) end
	return base
end

-- Lines that every item of the base has; a granted skill's level range becomes the level for the item level.
function items.implicits(base, item_level)
	local lines = B.json.list()
	for line in (base.implicit or ""):gmatch("[^\n]+") do
		local low, high = line:match("^Grants Skill: Level %((%d+)%-(%d+)%)")
		if low then
			local level = items.granted_level(line, item_level, tonumber(low), tonumber(high))
			line = line:gsub("%(%d+%-%d+%)", tostring(level), 1)
		end
		lines[#lines + 1] = line
	end
	return lines
end

-- The highest level of a granted skill whose own level requirement fits the item level.
function items.granted_level(line, item_level, low, high)
	local probe = modLib.parseMod((line:gsub("%(%d+%-%d+%)", tostring(low), 1)))
	local skill = probe and probe[1] and probe[1].value and data.skills[probe[1].value.skillId]
	local best = low
	for level = low, skill and high or low do
		local data_of = skill.levels[level]
		if data_of and (data_of.levelRequirement or 0) <= item_level then best = level end
	end
	return best
end

local function affix_table(base)
	return base.subType and data.itemMods[base.type .. base.subType] or data.itemMods[base.type] or data.itemMods.Item
end
items.affix_table = affix_table

local function add_affixes(lines, word, rolls, affixes)
	for _, roll in ipairs(rolls or {}) do
		local affix = affixes[roll.id]
		if not affix or affix.type ~= word then B.refuse("unknown %s %q for this base", word:lower(), tostring(roll.id)) end
		lines[#lines + 1] = ("%s: {range:%.3f}%s"):format(word, math.min(1, math.max(0, roll.roll or 0.5)), roll.id)
	end
end

local function plain(text) return (tostring(text or ""):gsub("[%c{}]", " ")) end

-- PoB item text of a structured item; affixes are written by id and rolled by PoB's own Craft.
function items.text(gear)
	local base = items.base(gear.base)
	local lines = { "Rarity: " .. gear.rarity }
	if gear.rarity == "RARE" or gear.rarity == "UNIQUE" then
		local title = plain(gear.title)
		lines[2] = title:find("%S") and title or ("New " .. gear.slot)
	end
	lines[#lines + 1] = gear.base
	if #(gear.prefixes or {}) + #(gear.suffixes or {}) > 0 then
		lines[#lines + 1] = "Crafted: true"
		local affixes = affix_table(base)
		add_affixes(lines, "Prefix", gear.prefixes, affixes)
		add_affixes(lines, "Suffix", gear.suffixes, affixes)
	end
	lines[#lines + 1] = "Item Level: " .. (gear.item_level or 1)
	lines[#lines + 1] = "Quality: " .. (gear.quality or 0)
	-- Every jewel of these bases has the small radius; an affix makes it larger.
	if base.subType == "Radius" then lines[#lines + 1] = "Radius: Small" end
	local sockets = math.max(gear.sockets or 0, #(gear.runes or {}))
	if sockets > 0 then
		lines[#lines + 1] = "Sockets: " .. ("S "):rep(sockets)
		for i = 1, sockets do
			local rune = (gear.runes or {})[i] or "None"
			if rune ~= "None" and not data.itemMods.Runes[rune] then B.refuse("unknown rune %q", rune) end
			lines[#lines + 1] = "Rune: " .. rune
		end
	end
	local implicits = items.implicits(base, gear.item_level or 1)
	lines[#lines + 1] = "Implicits: " .. #implicits
	for _, line in ipairs(implicits) do lines[#lines + 1] = line end
	return table.concat(lines, "\n")
end

local function has_rune(item)
	for i = 1, item.itemSocketCount or 0 do
		if item.runes[i] and item.runes[i] ~= "None" then return true end
	end
end

-- PoB's Craft passes over affixes beyond the limit of the rarity without a word.
local function check_limit(item, rolls, list, word)
	local limit = item.crafted and (list.limit or item.affixLimit / 2) or 0
	if #(rolls or {}) > limit then B.refuse("%s: more than %d %s affixes", item.name, limit, word) end
end

local function made(gear)
	if gear.text then return new("Item", gear.text) end
	local item = new("Item", items.text(gear))
	if not item.base then return item end
	check_limit(item, gear.prefixes, item.prefixes, "prefix")
	check_limit(item, gear.suffixes, item.suffixes, "suffix")
	if has_rune(item) then item:UpdateRunes() end
	if item.crafted then item:Craft() elseif has_rune(item) then item:BuildAndParseRaw() end
	return item
end

-- What an amulet is anointed with stands as an enchantment; there is one at most.
local function parse(gear)
	local item, notable = made(gear), gear.anoint or ""
	if notable == "" or not item.base then return item end
	if item.base.type ~= "Amulet" then B.refuse("%s cannot be anointed", item.name) end
	if not build.spec.tree.notableMap[notable:lower()] then B.refuse("there is no notable %q", notable) end
	item.enchantModLines = { { line = "Allocates " .. notable, enchant = true } }
	item:BuildAndParseRaw()
	return item
end

-- A fresh PoB item for the slot; refuses what PoB cannot read or would not let into the slot.
function items.create(gear)
	if not build.itemsTab.slots[gear.slot] then B.refuse("unknown item slot %q", tostring(gear.slot)) end
	local ok, item = pcall(parse, gear)
	if not ok then
		if type(item) == "table" and item.refused then error(item, 0) end
		B.refuse("item for %s cannot be read: %s", gear.slot, tostring(item))
	end
	if not item.base then B.refuse("item for %s has no known base", gear.slot) end
	if not gear.slot:find("^Weapon 2") and not build.itemsTab:IsItemValidForSlot(item, gear.slot) then
		B.refuse("%s does not fit into %s", item.name, gear.slot)
	end
	return item
end

local function set_active(name, active)
	if not (name:find("^Charm") or name:find("^Flask")) then return end
	build.itemsTab.slots[name].active = active
	build.itemsTab.activeItemSet[name].active = active
end

-- Removes what the slot holds, item included, so that files do not collect rubbish.
function items.clear(slot_name)
	local tab = build.itemsTab
	local slot = tab.slots[slot_name]
	local old = tab.items[slot.selItemId]
	if old then
		slot:SetSelItemId(0)
		for name, other in pairs(tab.slots) do
			if name ~= slot_name and other.selItemId == old.id then return end
		end
		tab.items[old.id] = nil
		for i, id in ipairs(tab.itemOrderList) do
			if id == old.id then table.remove(tab.itemOrderList, i) break end
		end
	end
	set_active(slot_name, false)
end

function items.put(gear, item)
	items.clear(gear.slot)
	build.itemsTab:AddItem(item, true)
	build.itemsTab.slots[gear.slot]:SetSelItemId(item.id)
	set_active(gear.slot, gear.active ~= false)
end

function items.affects_tree(slot_name) return slot_name:find("^Jewel ") ~= nil end
