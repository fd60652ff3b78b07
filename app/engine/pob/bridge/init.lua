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
