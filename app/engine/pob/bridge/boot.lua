-- Boots Path of Building inside this Lua state and closes the doors behind it.
-- Everything PoB may read lies below `B.root`; it may write nothing and start nothing.
local B = ...

local open, load_file = io.open, loadfile
local root = B.root

local function resolve(name)
	if type(name) ~= "string" or name:find("^/") or name:find("%z") then return nil end
	local path = name:gsub("^%./", "")
	local parent = path:gsub("^%.%./", "")
	if parent:find("..", 1, true) then return nil end
	if parent ~= path then
		return (parent == "manifest.xml") and (root .. "/../" .. parent) or nil
	end
	return root .. "/" .. path
end

function io.open(name, mode)
	local path = resolve(name)
	if not path or (mode and not mode:match("^rb?$")) then return nil, tostring(name) .. ": No such file or directory" end
	return open(path, mode)
end

-- Path of Building applies conversions of damage while it walks a table by type, and what one order adds another
-- overwrites (75 % of damage converted to fire on a skill that converts to fire itself: 208,581 or 151,514 damage per
-- second). Lua's order is another one in each process; in the order of the game's types figures are always the same,
-- and what would be lost in some process is not counted in any.
local after = { Physical = "Lightning", Lightning = "Cold", Cold = "Fire", Fire = "Chaos", Chaos = "mult" }

local function following(found, key)
	if key == nil then key = "Physical" else key = after[key] end
	while key and found[key] == nil do key = after[key] end
	return key, found[key]
end

local usual_pairs = pairs
local function pairs_by_type(found)
	local key = next(found)
	if key == "mult" or after[key] then return following, found, nil end
	return usual_pairs(found)
end

function loadfile(name)
	local path = resolve(name)
	if not path then return nil, tostring(name) .. ": not allowed" end
	local chunk, problem = load_file(path)
	if chunk and name == "Modules/CalcOffence.lua" then
		return function(...)
			pairs = pairs_by_type
			chunk(...)
			pairs = usual_pairs
		end
	end
	if chunk and name == "Data/Global.lua" then
		return function(...)
			chunk(...)
			B.install_bits()
		end
	end
	return chunk, problem
end

function dofile(name)
	return assert(loadfile(name))()
end

-- PoB only formats numbers and edits text with lua-utf8; plain string functions are enough for that.
package.loaded["lua-utf8"] = setmetatable({}, { __index = string })
package.path = root .. "/../runtime/lua/?.lua;" .. root .. "/../runtime/lua/?/init.lua"
package.cpath = ""
arg = {}
print = function() end
io.read = function() return nil end
io.write = function() end

-- A manifest without branch and platform makes PoB believe in a developer's checkout, which stops its updater.
local xml = require("xml")
local load_xml = xml.LoadXMLFile
function xml.LoadXMLFile(name)
	local tree, problem = load_xml(name)
	if not name:find("manifest.xml", 1, true) then return tree, problem end
	if not tree and name == "manifest.xml" then return nil, problem end
	tree = tree or { { elem = "PoBVersion", { elem = "Version", attrib = { number = "unknown" } } } }
	for _, node in ipairs(tree[1]) do
		if type(node) == "table" and node.elem == "Version" then
			node.attrib.branch, node.attrib.platform = nil, nil
		end
	end
	return tree
end

local environment = os.getenv
os.getenv = function() return nil end
dofile("HeadlessWrapper.lua")
if not build then error("Path of Building did not start: " .. tostring(launch and launch.promptMsg), 0) end
B.pob_version = launch.versionNumber
main.disableDevAutoSave = true
function GetScriptPath() return "/nowhere" end
xml.LoadXMLFile = load_xml

for _, name in ipairs({ "execute", "remove", "rename", "exit", "tmpname", "setlocale" }) do os[name] = nil end
for _, name in ipairs({ "popen", "lines", "output", "input", "tmpfile" }) do io[name] = nil end
package.loadlib, package.cpath = nil, ""
package.preload.ffi, package.loaded.ffi = nil, nil
python, package.loaded.python = nil, nil

-- Each new build loads these modules again: the calculation is stateless between builds (GlobalCache is wiped), so one
-- copy serves all and keeps its compiled traces; of the others the compiled chunk is kept and run anew.
local calcs, load_module, chunks = build.calcsTab.calcs, LoadModule, {}
B.calcs = calcs
function LoadModule(name, ...)
	if name == "Modules/Calcs" then return calcs end
	if not name:find("^TreeData") then
		chunks[name] = chunks[name] or loadfile(name:find("%.lua") and name or name .. ".lua")
		if chunks[name] then return chunks[name](...) end
	end
	return load_module(name, ...)
end

-- PoB prepares two calculators after each calculation for its tooltips; nobody hovers here.
B.pob_misc_calculator = calcs.getMiscCalculator
calcs.getNodeCalculator = function() end
calcs.getMiscCalculator = function() end

-- PoB turns an unknown gem's name into Lua patterns, which a hostile file can make run for ever: match names exactly.
common.classes.SkillsTab.FindSkillGem = function(_, name)
	local id = data.gemForBaseName[name:lower()] or data.gemForBaseName[name:lower() .. " support"]
	if id then return nil, data.gems[id] end
	return "Unrecognised gem name '" .. name .. "'"
end

-- A what-if leaves half a MB of garbage: rare and then quick collections cost least; more than this would cost each session
-- more than 450 MB of its own.
collectgarbage("setpause", 300)
collectgarbage("setstepmul", 1000)
