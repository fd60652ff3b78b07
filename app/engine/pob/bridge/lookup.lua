-- How modifiers are looked up, five thousand times for each candidate. PoB's own functions walk any number of names by `select`,
-- with a call for each store on the way, and make a table for what names share. Here are the usual one or two names in plain
-- loops over the same modifiers in the same order; PoB's own functions do the rest.
local B = ...
local Store, List, DB = common.classes.ModStore, common.classes.ModList, common.classes.ModDB
local band, matches, precise = AND64, MatchKeywordFlags, data.highPrecisionMods
local floor, max = math.floor, math.max

-- Whether the modifier counts for what is asked.
local function counts(mod, kind, flags, keywords)
	if mod.type ~= kind then return false end
	local own, words = mod.flags, mod.keywordFlags
	return (own == 0 or band(flags, own) == own) and (words == 0 or matches(keywords, words))
end

-- The modifiers among which those of the name are, and the name where they are among others.
local function place(store, name)
	local mods = rawget(store, "mods")
	if mods then return mods[name], nil end
	return store, name
end

-- The sum with what one name adds; `limits` is what names share in a database, made for the first that may need it.
local function add(store, name, result, limits, context, kind, cfg, flags, keywords)
	local list, only = place(store, name)
	for i = 1, list and #list or 0 do
		local mod = list[i]
		if (not only or mod.name == only) and counts(mod, kind, flags, keywords) then
			if mod[1] then
				if not only then limits = limits or {} end
				result = result + (context:EvalMod(mod, cfg, limits) or 0)
			else
				result = result + mod.value
			end
		end
	end
	return result, limits
end

local function sum(store, context, kind, cfg, flags, keywords, a, b)
	local result, limits = add(store, a, 0, nil, context, kind, cfg, flags, keywords)
	if b then result = add(store, b, result, limits, context, kind, cfg, flags, keywords) end
	local parent = store.parent
	if parent then result = result + sum(parent, context, kind, cfg, flags, keywords, a, b) end
	return result
end

local function multiply(store, name, result, limits, precision, context, cfg, flags, keywords)
	local list, only = place(store, name)
	local factor = 1
	for i = 1, list and #list or 0 do
		local mod = list[i]
		if (not only or mod.name == only) and counts(mod, "MORE", flags, keywords) then
			local value = mod.value
			if mod[1] then
				if not only then limits = limits or {} end
				value = context:EvalMod(mod, cfg, limits)
			end
			factor = factor * (1 + (value or 0) / 100)
			local own = precise[mod.name]
			own = own and own.MORE
			precision = precision and max(precision, own or precision) or own or nil
		end
	end
	if not precision then return result * round(factor, 2), limits, nil end
	local power = 10 ^ precision
	return floor(result * factor * power) / power, limits, precision
end

local function more(store, context, cfg, flags, keywords, a, b)
	local result, limits, precision = multiply(store, a, 1, nil, nil, context, cfg, flags, keywords)
	if b then result = multiply(store, b, result, limits, precision, context, cfg, flags, keywords) end
	local parent = store.parent
	if parent then result = result * more(parent, context, cfg, flags, keywords, a, b) end
	return result
end

-- The first value that there is; a flag is one, too.
local function first(store, context, kind, cfg, flags, keywords, name)
	repeat
		local list, only = place(store, name)
		for i = 1, list and #list or 0 do
			local mod = list[i]
			if (not only or mod.name == only) and counts(mod, kind, flags, keywords) then
				local value = mod.value
				if mod[1] then value = context:EvalMod(mod, cfg) end
				if value then return value end
			end
		end
		store = store.parent
	until not store
	return nil
end

local function asked(cfg)
	if cfg then return cfg.flags or 0, cfg.keywordFlags or 0, cfg.source end
	return 0, 0, nil
end

local function replace(name, make)
	local theirs = Store[name]
	local ours = make(theirs)
	B.replaced(ours, theirs)
	Store[name], List[name], DB[name] = ours, ours, ours
end

replace("Sum", function(theirs)
	return function(self, kind, cfg, ...)
		local flags, keywords, source = asked(cfg)
		local count, a, b = select("#", ...), ...
		if source or count > 2 or not a or (count == 2 and not b) then return theirs(self, kind, cfg, ...) end
		return sum(self, self, kind, cfg, flags, keywords, a, b)
	end
end)
replace("More", function(theirs)
	return function(self, cfg, ...)
		local flags, keywords, source = asked(cfg)
		local count, a, b = select("#", ...), ...
		if source or count > 2 or not a or (count == 2 and not b) then return theirs(self, cfg, ...) end
		return more(self, self, cfg, flags, keywords, a, b)
	end
end)
replace("Flag", function(theirs)
	return function(self, cfg, ...)
		local flags, keywords, source = asked(cfg)
		local count, name = select("#", ...), ...
		if source or count > 1 or not name then return theirs(self, cfg, ...) end
		return first(self, self, "FLAG", cfg, flags, keywords, name) and true or nil
	end
end)
replace("Override", function(theirs)
	return function(self, cfg, ...)
		local flags, keywords, source = asked(cfg)
		local count, name = select("#", ...), ...
		if source or count > 1 or not name then return theirs(self, cfg, ...) end
		return first(self, self, "OVERRIDE", cfg, flags, keywords, name)
	end
end)
