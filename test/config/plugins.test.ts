import { expect, test } from "bun:test"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { type TObject, Type as t } from "@sinclair/typebox"
import { loadConfig } from "../../config/load.ts"
import { temporaryFolder } from "../kit.ts"

const settings = t.Object({
  prefix: t.String({ default: "l", pattern: "^[a-z]{1,10}$", "x-key": "link_prefix", description: "Where links are." }),
  most: t.Integer({ default: 100, minimum: 1, maximum: 1_000, description: "Links of a site." }),
  share: t.Number({ default: 0.5, minimum: 0, maximum: 1, description: "A share." }),
  titles: t.Boolean({ default: false, description: "Fetch titles." }),
  mode: t.Union([t.Literal("fill"), t.Literal("override")], { default: "fill", description: "How tags are set." }),
  schemes: t.Array(t.String({ pattern: "^[a-z]+$" }), { default: ["https"], description: "Schemes." }),
  token: t.Optional(t.String({ "x-secret": true, description: "A secret." })),
})
const links = { id: "links", settings }

const load = (sources: Partial<Parameters<typeof loadConfig>[0]>) =>
  loadConfig({ flags: {}, environment: {}, workingDirectory: "/nowhere", plugins: [links], ...sources })

const DEFAULTS = { prefix: "l", most: 100, share: 0.5, titles: false, mode: "fill", schemes: ["https"] }

test("fills in the defaults of a plugin's section", () => {
  expect(load({ plugins: [links, { id: "pixels" }] }).config.plugins).toEqual({ links: DEFAULTS, pixels: {} })
  expect(load({ plugins: [] }).config.plugins).toEqual({})
})

test("reads a section from flags, variables and the file, in this order", () => {
  using folder = temporaryFolder()
  const file = '[links]\nprefix = "file"\nmost = 3\ntitles = true\nschemes = ["https", "mailto"]\nmode = "override"\n'
  writeFileSync(join(folder.path, "footfall.toml"), file)
  const { config, described } = load({
    flags: { links_most: "1" },
    environment: { FOOTFALL_LINKS_MOST: "2", FOOTFALL_LINK_PREFIX: "go", FOOTFALL_LINKS_SHARE: "0.25", FOOTFALL_LINKS_TOKEN: "s3cret" },
    workingDirectory: folder.path,
  })
  expect(config.plugins.links).toEqual({
    prefix: "go",
    most: 1,
    share: 0.25,
    titles: true,
    mode: "override",
    schemes: ["https", "mailto"],
    token: "s3cret",
  })
  const sources = Object.fromEntries(described.map(({ key, value, source }) => [key, [value, source]]))
  expect(sources).toMatchObject({
    links_most: [1, "flag --links-most"],
    link_prefix: ["go", "environment FOOTFALL_LINK_PREFIX"],
    links_titles: [true, `file ${folder.path}/footfall.toml`],
    links_token: ["********", "environment FOOTFALL_LINKS_TOKEN"],
  })
  expect(load({ environment: { FOOTFALL_LINKS_SCHEMES: "https, ftp" } }).config.plugins.links).toMatchObject({ schemes: ["https", "ftp"] })
})

test.each([
  ["an unknown variable", { FOOTFALL_LINKS_COLOUR: "1" }, "links_colour (environment FOOTFALL_LINKS_COLOUR): unknown setting"],
  [
    "the name of a setting with another key",
    { FOOTFALL_LINKS_PREFIX: "x" },
    "links_prefix (environment FOOTFALL_LINKS_PREFIX): unknown setting",
  ],
  ["a number out of bounds", { FOOTFALL_LINKS_MOST: "1001" }, "must be a whole number from 1 to 1000"],
  ["an invalid number", { FOOTFALL_LINKS_MOST: "1e2" }, "must be a whole number from 1 to 1000"],
  ["an invalid boolean", { FOOTFALL_LINKS_TITLES: "yes" }, "must be a boolean (true, false, 1, 0)"],
  ["an unknown choice", { FOOTFALL_LINKS_MODE: "both" }, "must be one of fill, override"],
  [
    "a text that does not match its pattern",
    { FOOTFALL_LINK_PREFIX: "/go" },
    "link_prefix (environment FOOTFALL_LINK_PREFIX): must be text",
  ],
  ["a list with an invalid item", { FOOTFALL_LINKS_SCHEMES: "https,4" }, "must be a list such as a,b"],
  ["a control character", { FOOTFALL_LINKS_TOKEN: "a\nb" }, "links_token (environment FOOTFALL_LINKS_TOKEN): must be text"],
])("rejects %s", (_, environment, message) => {
  expect(() => load({ environment: { ...environment } })).toThrow(message)
})

test.each([
  ["an unknown name", "[links]\ncolour = 1\n", "links.colour (file PATH): unknown setting"],
  ["a section that is not a table", "links = 1\n", "links (file PATH): must be a table [links]"],
  ["a setting outside its table", "links_most = 1\n", "links_most (file PATH): move it to the table of its plugin"],
  ["a text for a number", '[links]\nmost = "many"\n', "links_most (file PATH): must be a whole number from 1 to 1000"],
  ["a table of an unknown plugin", "[pixels]\nmost = 1\n", "pixels (file PATH): unknown setting"],
])("rejects a file with %s", (_, content, message) => {
  using folder = temporaryFolder()
  const path = join(folder.path, "footfall.toml")
  writeFileSync(path, content)
  expect(() => load({ workingDirectory: folder.path })).toThrow(message.replace("PATH", path))
})

const one = (schema: TObject["properties"]) => load({ plugins: [{ id: "links", settings: t.Object(schema) }] })

test.each([
  [
    "of a type that a variable cannot express",
    { x: t.Object({}, { default: {}, description: "X." }) },
    "links.x has a type that cannot be written",
  ],
  ["without a default", { x: t.String({ description: "X." }) }, "links.x has no default"],
  [
    "with an invalid default",
    { x: t.Integer({ default: 0, minimum: 1, description: "X." }) },
    "The default of the setting links.x does not match its schema",
  ],
  ["without a description", { x: t.String({ default: "" }) }, "links.x has no description"],
  [
    "with a key of the core",
    { x: t.String({ default: "", description: "X.", "x-key": "port" }) },
    "setting x of the plugin links has the key port, which another setting already uses",
  ],
])("rejects a plugin that declares a setting %s", (_, schema, message) => {
  expect(() => one(schema)).toThrow(message)
})
