import { expect, test } from "bun:test"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { loadConfig } from "../../config/load.ts"
import { pluginSettings } from "../../config/plugins.ts"
import { KEYS, SETTINGS } from "../../config/schema.ts"
import { configurationTable } from "../../config/table.ts"
import { plugins } from "../../plugins/index.ts"
import { temporaryFolder } from "../kit.ts"

const load = (sources: Partial<Parameters<typeof loadConfig>[0]>) =>
  loadConfig({ flags: {}, environment: {}, workingDirectory: "/nowhere", ...sources })

test("prefers flags to the environment, the environment to the file and the file to the defaults", () => {
  using folder = temporaryFolder()
  writeFileSync(join(folder.path, "footfall.toml"), 'host = "::1"\nport = 1\nmax_sites = 1\n')
  const { config, described } = load({
    flags: { host: "10.0.0.1" },
    environment: { FOOTFALL_HOST: "10.0.0.2", FOOTFALL_PORT: "2", PATH: "/bin" },
    workingDirectory: folder.path,
  })
  expect(config).toMatchObject({ host: "10.0.0.1", port: 2, max_sites: 1, default_currency: "USD" })
  expect(Object.fromEntries(described.map(({ key, source }) => [key, source]))).toMatchObject({
    host: "flag --host",
    port: "environment FOOTFALL_PORT",
    max_sites: `file ${folder.path}/footfall.toml`,
    default_currency: "default",
  })
})

test("finds the file in the working directory, in the data folder or by its given path", () => {
  using folder = temporaryFolder()
  using other = temporaryFolder()
  writeFileSync(join(folder.path, "footfall.toml"), "port = 1\n")
  writeFileSync(join(other.path, "my.toml"), "port = 2\n")
  expect(load({ flags: { data_dir: folder.path } }).config.port).toBe(1)
  expect(load({ environment: { FOOTFALL_DATA_DIR: folder.path } }).config.port).toBe(1)
  expect(load({ flags: { data_dir: folder.path, config: join(other.path, "my.toml") } }).config.port).toBe(2)
  expect(load({ environment: { FOOTFALL_CONFIG: "my.toml" }, workingDirectory: other.path }).config.port).toBe(2)
})

test.each([
  [
    "an unknown variable",
    { FOOTFALL_PROT: "1" },
    "prot (environment FOOTFALL_PROT): unknown setting; run footfall config print to list all settings",
  ],
  ["a port that is not a number", { FOOTFALL_PORT: "http" }, "port (environment FOOTFALL_PORT): must be a whole number from 0 to 65535"],
  ["a port in hexadecimal", { FOOTFALL_PORT: "0x10" }, "port (environment FOOTFALL_PORT): must be a whole number from 0 to 65535"],
  [
    "a base address without protocol",
    { FOOTFALL_BASE_URL: "example.org" },
    "base_url (environment FOOTFALL_BASE_URL): must be a URL that begins with http:// or https://",
  ],
  [
    "an invalid range",
    { FOOTFALL_TRUSTED_PROXIES: "10.0.0.0/8,x" },
    "trusted_proxies (environment FOOTFALL_TRUSTED_PROXIES): must be a list of address ranges such as 10.0.0.0/8,fd00::/8, or none",
  ],
  [
    "an unknown level",
    { FOOTFALL_LOG_LEVEL: "loud" },
    "log_level (environment FOOTFALL_LOG_LEVEL): must be one of debug, info, warn, error",
  ],
  [
    "an invalid time",
    { FOOTFALL_BACKUP_TIME: "24:00" },
    "backup_time (environment FOOTFALL_BACKUP_TIME): must be a time such as 03:00, or off",
  ],
  [
    "a short key",
    { FOOTFALL_SECRET_KEY: "c2hvcnQ=" },
    "secret_key (environment FOOTFALL_SECRET_KEY): must be 32 random bytes in base64 or hex, not a documented sample",
  ],
  [
    "a key of equal bytes",
    { FOOTFALL_SECRET_KEY: "61".repeat(32) },
    "secret_key (environment FOOTFALL_SECRET_KEY): must be 32 random bytes in base64 or hex, not a documented sample",
  ],
  [
    "a key from a document",
    { FOOTFALL_SECRET_KEY: "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=" },
    "secret_key (environment FOOTFALL_SECRET_KEY): must be 32 random bytes in base64 or hex, not a documented sample",
  ],
  [
    "a path without slash",
    { FOOTFALL_COLLECT_PATH: "in" },
    "collect_path (environment FOOTFALL_COLLECT_PATH): must be a path such as /numbers/in, consisting of letters, digits, ., _, - and /",
  ],
  ["an invalid boolean", { FOOTFALL_HSTS: "yes" }, "hsts (environment FOOTFALL_HSTS): must be a boolean (true, false, 1, 0)"],
])("rejects %s", (_, environment, message) => {
  expect(() => load({ environment })).toThrow(message)
})

test.each([
  ["an unknown key", "prot = 1\n", "prot (file PATH): unknown setting; run footfall config print to list all settings"],
  ["text for a number", 'port = "http"\n', "port (file PATH): must be a whole number from 0 to 65535"],
  ["invalid TOML", "port: 1\n", "file PATH: is not valid TOML"],
])("rejects a file with %s", (_, content, message) => {
  using folder = temporaryFolder()
  const path = join(folder.path, "footfall.toml")
  writeFileSync(path, content)
  expect(() => load({ workingDirectory: folder.path })).toThrow(message.replace("PATH", path))
})

test("masks secrets in printed settings", () => {
  const loaded = load({ environment: { FOOTFALL_SECRET_KEY: Buffer.alloc(32, "0123456789abcdef").toString("hex") } })
  const printed = loaded.described
  expect(printed.find(({ key }) => key === "secret_key")).toEqual({
    key: "secret_key",
    value: "********",
    source: "environment FOOTFALL_SECRET_KEY",
  })
  expect(printed.find(({ key }) => key === "catalog_auth_token")).toEqual({ key: "catalog_auth_token", value: null, source: "default" })
  expect(printed).toHaveLength(KEYS.length)
})

const example = await Bun.file(new URL("../../config/footfall.example.toml", import.meta.url)).text()
const [ofCore = "", ofAreas = ""] = example.split("\n# Settings of plugins, each in its own table.\n")

test("lists every setting with description and default in the example file", () => {
  const blocks = ofCore.trim().split("\n\n").slice(1)
  expect(blocks.map((block) => block.split("\n")[0]!.slice(2))).toEqual(KEYS.map((key) => SETTINGS[key].about))
  const lines = blocks.map((block) => block.split("\n")[1]!.slice(2))
  const values = Bun.TOML.parse(lines.join("\n")) as Record<string, unknown>
  expect(Object.keys(values)).toEqual(KEYS)
  for (const key of KEYS.filter((name) => SETTINGS[name].default !== undefined)) expect(values[key]).toEqual(SETTINGS[key].default)
  // A setting without a default shows an example that the loader accepts. A secret shows none.
  for (const key of KEYS.filter((name) => SETTINGS[name].default === undefined && !SETTINGS[name].secret))
    expect(SETTINGS[key].read(values[key])).toBeDefined()
})

test.each(plugins.filter(({ settings }) => settings))("lists every setting of $id in the example file", (plugin) => {
  const [, section = ""] = ofAreas.split(`\n# [${plugin.id}]\n`)
  const blocks = section.split("\n# [")[0]!.trim().split("\n\n")
  const settings = pluginSettings([plugin])
  expect(blocks.map((block) => block.split("\n")[0]!.slice(2))).toEqual(settings.map(({ setting }) => setting.about))
  const values = Bun.TOML.parse(blocks.map((block) => block.split("\n")[1]!.slice(2)).join("\n")) as Record<string, unknown>
  expect(Object.keys(values)).toEqual(settings.map(({ name }) => name))
  for (const { name, setting } of settings)
    expect(setting.default === undefined ? setting.read(values[name]) : setting.default).toEqual(values[name])
})

test("lists every setting in the table of the README", () => {
  const lines = configurationTable().split("\n")
  expect(lines).toHaveLength(KEYS.length + 2)
  expect(lines).toContain("| `FOOTFALL_PORT` | a whole number from 0 to 65535 | `8080` | Port to listen on. 0 chooses a free port. |")
})
