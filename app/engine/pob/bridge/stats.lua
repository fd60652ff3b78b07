-- The numbers of the current build after a full recalculation.
local B = ...

local function numbers(from, prefix, into)
	for key, value in pairs(from) do
		if type(value) == "number" and type(key) == "string" and value == value then into[prefix .. key] = value end
	end
end

function B.ops.stats()
	B.need_build()
	B.full_calculation()
	local output, values = build.calcsTab.mainOutput, {}
	numbers(output, "", values)
	if output.Minion then numbers(output.Minion, "Minion.", values) end
	values.DPS = B.damage(output)
	return { values = values }
end
