-- Facts about item bases, their affixes and runes.
local B = ...
local list = B.json.list

local function sorted(set)
	local keys = list()
	for key, on in pairs(set or {}) do
		if on then keys[#keys + 1] = key end
	end
	table.sort(keys)
	return keys
end

local function numbers(from, keys)
	local found = {}
	for name, source in pairs(keys) do
		local value = from and from[source]
		if type(value) == "number" then found[name] = value end
	end
	return found
end

local function all_numbers(from)
	local found = {}
	for key, value in pairs(from or {}) do
		if type(value) == "number" and value == value then found[key] = value end
	end
	return found
end

local SLOTS = { "Weapon 1", "Weapon 2", "Helmet", "Body Armour", "Gloves", "Boots", "Amulet", "Ring 1", "Ring 2", "Belt",
	"Charm 1", "Charm 2", "Charm 3", "Flask 1", "Flask 2" }

local OFF_HAND = { Shield = true, Focus = true, Quiver = true, Sceptre = true }

-- Slots the base can ever be in; whether an off hand goes with a main hand is judged when both are equipped.
local function slots(name, base)
	local found, item = list(), { type = base.type, base = base, baseName = name, rarity = "RARE" }
	if base.type == "Jewel" then found[1] = "Jewel" return found end
	for _, slot in ipairs(SLOTS) do
		local fits
		if slot == "Weapon 2" then
			fits = OFF_HAND[base.type] or (base.tags.one_hand_weapon and base.weapon and base.type ~= "Spear")
		else
			fits = build.itemsTab:IsItemValidForSlot(item, slot)
		end
		if fits then found[#found + 1] = slot end
	end
	return found
end

local FLASK = { life = "life", mana = "mana", charges_used = "chargesUsed", charges_max = "chargesMax", duration_s = "duration" }

local function fact(name, base)
	local req, implicits = base.req or {}, list()
	for line in (base.implicit or ""):gmatch("[^\n]+") do implicits[#implicits + 1] = line end
	return {
		name = name, type = base.type, sub_type = base.subType or "", slots = slots(name, base), tags = sorted(base.tags),
		requirements = { level = req.level or 1, str = req.str or 0, dex = req.dex or 0, int = req.int or 0 },
		implicits = implicits, socket_limit = base.socketLimit or 0,
		defences = numbers(base.armour, { Armour = "Armour", Evasion = "Evasion", EnergyShield = "EnergyShield", Ward = "Ward", BlockChance = "BlockChance" }),
		weapon = all_numbers(base.weapon), flask = numbers(base.flask, FLASK),
	}
end

function B.ops.bases()
	local found = list()
	for name, base in pairs(data.itemBases) do
		if not base.hidden then
			local made = fact(name, base)
			if #made.slots > 0 then found[#found + 1] = made end
		end
	end
	table.sort(found, function(a, b) return a.name < b.name end)
	return found
end

function B.ops.affixes(args)
	local base, found = B.items.base(args.base), list()
	local probe = new("Item", "Rarity: RARE\nProbe\n" .. args.base)
	for id, mod in pairs(B.items.affix_table(base)) do
		local weight = (mod.type == "Prefix" or mod.type == "Suffix") and probe:GetModSpawnWeight(mod) or 0
		if weight > 0 then
			local lines, tags = list(), list()
			for i, line in ipairs(mod) do lines[i] = line end
			for i, tag in ipairs(mod.modTags or {}) do tags[i] = tag end
			found[#found + 1] = {
				id = id, side = mod.type:lower(), name = mod.affix or "", group = mod.group or id, level = mod.level or 1,
				lines = lines, weight = weight, tags = tags,
			}
		end
	end
	table.sort(found, function(a, b) return a.id < b.id end)
	return found
end

function B.ops.runes(args)
	B.items.base(args.base)
	local probe, found, at = new("Item", "Rarity: RARE\nProbe\n" .. args.base), list(), {}
	for _, rune in ipairs(build.itemsTab:GetValidRunesForItem(probe)) do
		if rune.name ~= "None" then
			local made = at[rune.name]
			if not made then
				made = { name = rune.name, lines = list(), level = 1 }
				at[rune.name], found[#found + 1] = made, made
			end
			for _, line in ipairs(rune.lines) do made.lines[#made.lines + 1] = line end
			made.level = math.max(made.level, rune.req or 1)
		end
	end
	table.sort(found, function(a, b) return a.name < b.name end)
	return found
end
