import { existsSync, readFileSync } from "node:fs"
import { join, resolve } from "node:path"
import type { Setting } from "./kinds.ts"
import { type PluginSection, type PluginSetting, pluginSettings } from "./plugins.ts"
import { type Config, environmentName, flagName, SETTINGS } from "./schema.ts"

/** An invalid configuration, which stops the start with exit code 78. The message names key, source and allowed form, never a secret. */
export class ConfigFault extends Error {
  override name = "ConfigFault"
}

export interface Sources {
  /** Flags of the command line, by key. `config` names the file. */
  flags: Readonly<Record<string, string>>
  environment: Readonly<Record<string, string | undefined>>
  workingDirectory: string
  /** Plugins whose sections are part of the configuration. */
  plugins?: readonly PluginSection[]
}

export interface Loaded {
  config: Config
  /** Every setting with its value and source. Secrets are masked. */
  described: Described[]
}

export interface Described {
  key: string
  value: unknown
  source: string
}

/** All settings by key: those of the core and those of plugins. */
interface Table {
  settings: Readonly<Record<string, Setting<unknown>>>
  ofPlugins: readonly PluginSetting[]
}

/** Loads the configuration. Flags take precedence over the environment, that over the file, that over the defaults. */
export function loadConfig({ flags, environment, workingDirectory, plugins = [] }: Sources): Loaded {
  const table = tableOf(plugins)
  const layers = [fromFlags(flags, table), fromEnvironment(environment, table)]
  const named = flags.config ?? environment.FOOTFALL_CONFIG
  const dataDir = resolve(workingDirectory, String(find(layers, "data_dir")?.given ?? SETTINGS.data_dir.default))
  const file = named ? resolve(workingDirectory, named) : [workingDirectory, dataDir].map((dir) => join(dir, FILE)).find(existsSync)
  if (file !== undefined) layers.push(fromFile(file, table))

  const found = Object.entries(table.settings).map(([key, setting]) => ({ key, setting, ...resolved(layers, key, setting) }))
  const values = new Map(found.map(({ key, value }) => [key, value]))
  const sections = plugins.map(({ id }) => {
    const own = table.ofPlugins.filter(({ plugin, key }) => plugin === id && values.get(key) !== undefined)
    return [id, Object.fromEntries(own.map(({ name, key }) => [name, values.get(key)]))]
  })
  return {
    // The keys and their readers come from the same table, which the type of `fromEntries` cannot express.
    config: {
      ...Object.fromEntries(Object.keys(SETTINGS).map((key) => [key, values.get(key)])),
      plugins: Object.fromEntries(sections),
    } as Config,
    described: found.map(({ key, setting, value, source }) => ({ key, value: shown(setting, value), source })),
  }
}

function tableOf(plugins: readonly PluginSection[]): Table {
  const ofPlugins = pluginSettings(plugins)
  const settings: Record<string, Setting<unknown>> = { ...SETTINGS }
  for (const { plugin, name, key, setting } of ofPlugins) {
    if (Object.hasOwn(settings, key))
      throw new ConfigFault(`The setting ${name} of the plugin ${plugin} has the key ${key}, which another setting already uses`)
    settings[key] = setting
  }
  return { settings, ofPlugins }
}

const shown = ({ secret }: Setting<unknown>, value: unknown): unknown => (secret && value !== undefined ? "********" : (value ?? null))

const FILE = "footfall.toml"
type Layer = (key: string) => { given: unknown; source: string } | undefined

function fromFlags(flags: Readonly<Record<string, string>>, table: Table): Layer {
  for (const name of Object.keys(flags)) if (name !== "config") refuseUnknown(name, `flag --${name.replaceAll("_", "-")}`, table)
  return (key) => (flags[key] === undefined ? undefined : { given: flags[key], source: `flag ${flagName(key)}` })
}

/** Variables that are not settings: the path of the file, and those for the project's own tests. */
const NO_SETTINGS = /^FOOTFALL_(CONFIG|CHROMIUM|TEST_.*)$/

function fromEnvironment(environment: Readonly<Record<string, string | undefined>>, table: Table): Layer {
  for (const name of Object.keys(environment)) {
    if (!name.startsWith("FOOTFALL_") || NO_SETTINGS.test(name) || isSecretFile(name, table)) continue
    refuseUnknown(name.slice(9).toLowerCase(), `environment ${name}`, table)
  }
  return (key) => {
    const name = environmentName(key)
    const file = table.settings[key]?.secret ? environment[`${name}_FILE`] : undefined
    if (file) return { given: firstLine(file, `${name}_FILE`), source: `environment ${name}_FILE` }
    // Compose files pass an empty variable for a setting that is not set.
    return environment[name] ? { given: environment[name], source: `environment ${name}` } : undefined
  }
}

/** Returns whether a variable names a file with a secret, as containers mount them. */
const isSecretFile = (name: string, { settings }: Table): boolean =>
  Object.entries(settings).some(([key, { secret }]) => secret && `${environmentName(key)}_FILE` === name)

function firstLine(path: string, name: string): string {
  try {
    return readFileSync(path, "utf8").split(/\r?\n/)[0]!
  } catch {
    throw new ConfigFault(`environment ${name}: cannot read the file`)
  }
}

function fromFile(path: string, table: Table): Layer {
  const source = `file ${path}`
  const entries = new Map<string, unknown>()
  for (const [name, given] of Object.entries(parse(path))) {
    const section = table.ofPlugins.filter(({ plugin }) => plugin === name)
    if (section.length > 0) readSection(name, given, section, source, entries)
    else {
      if (table.ofPlugins.some(({ key }) => key === name)) throw new ConfigFault(`${name} (${source}): move it to the table of its plugin`)
      refuseUnknown(name, source, table)
      entries.set(name, given)
    }
  }
  return (key) => (entries.has(key) ? { given: entries.get(key), source } : undefined)
}

/** Reads the table of a plugin, such as `[links]`. */
function readSection(id: string, given: unknown, section: readonly PluginSetting[], source: string, into: Map<string, unknown>): void {
  if (typeof given !== "object" || given === null || Array.isArray(given))
    throw new ConfigFault(`${id} (${source}): must be a table [${id}]`)
  for (const [name, value] of Object.entries(given)) {
    const setting = section.find((each) => each.name === name)
    if (!setting) throw new ConfigFault(`${id}.${name} (${source}): unknown setting; run footfall config print to list all settings`)
    into.set(setting.key, value)
  }
}

function parse(path: string): Record<string, unknown> {
  if (!existsSync(path)) throw new ConfigFault(`file ${path}: does not exist`)
  try {
    // A TOML document is a table at its root.
    return Bun.TOML.parse(readFileSync(path, "utf8")) as Record<string, unknown>
  } catch {
    throw new ConfigFault(`file ${path}: is not valid TOML`)
  }
}

function refuseUnknown(key: string, source: string, { settings }: Table): void {
  if (!Object.hasOwn(settings, key))
    throw new ConfigFault(`${key} (${source}): unknown setting; run footfall config print to list all settings`)
}

const find = (layers: readonly Layer[], key: string) => layers.map((layer) => layer(key)).find((entry) => entry !== undefined)

function resolved(layers: readonly Layer[], key: string, setting: Setting<unknown>): { value: unknown; source: string } {
  const entry = find(layers, key)
  if (!entry) return { value: key === "data_dir" ? setting.read(setting.default) : setting.default, source: "default" }
  const value = setting.read(entry.given)
  if (value === undefined) throw new ConfigFault(`${key} (${entry.source}): must be ${setting.form}`)
  return { value, source: entry.source }
}
