import { existsSync, readFileSync } from "node:fs"
import { join, resolve } from "node:path"
import { type Config, environmentName, flagName, KEYS, type Key, SETTINGS } from "./schema.ts"

/** What stops the start with exit code 78. The message names key, source and allowed form, never a secret. */
export class ConfigFault extends Error {
  override name = "ConfigFault"
}

export interface Sources {
  /** From the command line, by key; `config` names the file. */
  flags: Readonly<Record<string, string>>
  environment: Readonly<Record<string, string | undefined>>
  workingDirectory: string
}

export interface Loaded {
  config: Config
  /** Where each value comes from, in words. */
  sources: Readonly<Record<Key, string>>
}

/** Flags win over the environment, that over the file, that over the defaults. */
export function loadConfig({ flags, environment, workingDirectory }: Sources): Loaded {
  const layers = [fromFlags(flags), fromEnvironment(environment)]
  const named = flags.config ?? environment.FOOTFALL_CONFIG
  const dataDir = resolve(workingDirectory, String(find(layers, "data_dir")?.given ?? SETTINGS.data_dir.default))
  const file = named ? resolve(workingDirectory, named) : [workingDirectory, dataDir].map((dir) => join(dir, FILE)).find(existsSync)
  if (file !== undefined) layers.push(fromFile(file))

  const found = KEYS.map((key) => [key, resolved(layers, key)] as const)
  return {
    // The keys and their readers come from the same table, which the type of `fromEntries` cannot tell.
    config: Object.fromEntries(found.map(([key, { value }]) => [key, value])) as Config,
    sources: Object.fromEntries(found.map(([key, { source }]) => [key, source])) as Record<Key, string>,
  }
}

/** Value and source of each setting, secrets masked. */
export function describeConfig({ config, sources }: Loaded): { key: Key; value: unknown; source: string }[] {
  return KEYS.map((key) => {
    const masked = SETTINGS[key].secret && config[key] !== undefined
    return { key, value: masked ? "********" : (config[key] ?? null), source: sources[key] }
  })
}

const FILE = "footfall.toml"
type Layer = (key: string) => { given: unknown; source: string } | undefined

function fromFlags(flags: Readonly<Record<string, string>>): Layer {
  for (const name of Object.keys(flags)) if (name !== "config") refuseUnknown(name, `flag --${name.replaceAll("_", "-")}`)
  return (key) => (flags[key] === undefined ? undefined : { given: flags[key], source: `flag ${flagName(key as Key)}` })
}

/** Names the file, or is told to the project's own tests, which start instances. */
const NO_SETTINGS = /^FOOTFALL_(CONFIG|CHROMIUM|TEST_.*)$/

function fromEnvironment(environment: Readonly<Record<string, string | undefined>>): Layer {
  for (const name of Object.keys(environment)) {
    if (!name.startsWith("FOOTFALL_") || NO_SETTINGS.test(name) || isSecretFile(name)) continue
    refuseUnknown(name.slice(9).toLowerCase(), `environment ${name}`)
  }
  return (key) => {
    const name = environmentName(key as Key)
    const file = SETTINGS[key as Key].secret ? environment[`${name}_FILE`] : undefined
    if (file) return { given: firstLine(file, `${name}_FILE`), source: `environment ${name}_FILE` }
    // An empty variable is how compose files write "not set".
    return environment[name] ? { given: environment[name], source: `environment ${name}` } : undefined
  }
}

/** A secret may stand in a file of its own, as containers mount them. */
const isSecretFile = (name: string): boolean => KEYS.some((key) => SETTINGS[key].secret && `${environmentName(key)}_FILE` === name)

function firstLine(path: string, name: string): string {
  try {
    return readFileSync(path, "utf8").split(/\r?\n/)[0]!
  } catch {
    throw new ConfigFault(`environment ${name}: the file cannot be read`)
  }
}

function fromFile(path: string): Layer {
  const entries = parse(path)
  for (const name of Object.keys(entries)) refuseUnknown(name, `file ${path}`)
  return (key) => (entries[key] === undefined ? undefined : { given: entries[key], source: `file ${path}` })
}

function parse(path: string): Record<string, unknown> {
  if (!existsSync(path)) throw new ConfigFault(`file ${path}: does not exist`)
  try {
    // A TOML document is a table at its root.
    return Bun.TOML.parse(readFileSync(path, "utf8")) as Record<string, unknown>
  } catch {
    throw new ConfigFault(`file ${path}: cannot be read as TOML`)
  }
}

function refuseUnknown(key: string, source: string): void {
  if (!Object.hasOwn(SETTINGS, key)) throw new ConfigFault(`${key} (${source}): no such setting; footfall config print lists all`)
}

const find = (layers: readonly Layer[], key: Key) => layers.map((layer) => layer(key)).find((entry) => entry !== undefined)

function resolved(layers: readonly Layer[], key: Key): { value: unknown; source: string } {
  const setting = SETTINGS[key]
  const entry = find(layers, key)
  if (!entry) return { value: key === "data_dir" ? setting.read(setting.default) : setting.default, source: "default" }
  const value = setting.read(entry.given)
  if (value === undefined) throw new ConfigFault(`${key} (${entry.source}): must be ${setting.form}`)
  return { value, source: entry.source }
}
