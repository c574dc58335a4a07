import type { Clock } from "../../domain/clock.ts"
import {
  INSTANCE_SETTINGS,
  isSettingKey,
  isSettingValue,
  SETTING_KEYS,
  type SettingKey,
  type SettingValue,
} from "../../domain/instance-settings.ts"
import type { Catalog, Statements } from "../../store/catalog/catalog.ts"
import { deleteSetting, listSettings, putSetting } from "../../store/catalog/settings.ts"

/** Values that environment or file hold; they are changed there alone. */
export type ConfiguredSettings = { readonly [Key in SettingKey]?: { value: SettingValue<Key>; source: "env" | "file" } }

/** Settings that are changed while the instance runs; from memory, always exact. */
export interface InstanceSettings {
  get<Key extends SettingKey>(key: Key): SettingValue<Key>
  /** Whether a value was chosen, or the default holds. */
  isChosen(key: SettingKey): boolean
  /** Where the value comes from. */
  sourceOf(key: SettingKey): "env" | "file" | "db" | "default"
  /**
   * Changes several at once; null goes back to the default unless it is a value of the setting. The values have been judged.
   * `alongside` runs in the same transaction; `committed` right after it and before any later statement.
   */
  change(changes: Partial<Record<SettingKey, unknown>>, by: number | null, beside?: BesideSettings): Promise<void>
  /** Counts the changes of all of them, from 1. */
  version(): number
}

/** What is stored with a change of settings. */
export interface BesideSettings {
  alongside?(statements: Statements): Promise<void>
  committed?(): void
}

/** Its row stands beside the settings', and is none. */
const VERSION_KEY = "settings_version"

export async function createInstanceSettings({
  catalog,
  clock,
  configured = {},
}: {
  catalog: Catalog
  clock: Pick<Clock, "now">
  configured?: ConfiguredSettings
}): Promise<InstanceSettings> {
  const chosen = new Map<string, unknown>()
  let version = 1
  for (const { key, value } of await listSettings(catalog)) {
    if (isSettingKey(key) && isSettingValue(key, value)) chosen.set(key, value)
    if (key === VERSION_KEY) version = Number(value)
  }

  function present(key: SettingKey): unknown {
    const told = configured[key]
    if (told) return told.value
    return chosen.has(key) ? chosen.get(key) : INSTANCE_SETTINGS[key].default
  }

  return {
    get: <Key extends SettingKey>(key: Key) => present(key) as SettingValue<Key>, // only values that fit the setting get in
    isChosen: (key) => configured[key] !== undefined || chosen.has(key),
    sourceOf: (key) => configured[key]?.source ?? (chosen.has(key) ? "db" : "default"),
    version: () => version,
    async change(changes, by, { alongside, committed } = {}) {
      const entries = Object.entries(changes) as [SettingKey, unknown][] // the names are keys
      const stamp = { updated_by: by, updated_at: clock.now() }
      await catalog.transaction(
        async (statements) => {
          for (const [key, value] of entries) {
            if (isSettingValue(key, value)) await putSetting(statements, { key, value, ...stamp })
            else await deleteSetting(statements, key)
          }
          if (entries.length > 0) await putSetting(statements, { key: VERSION_KEY, value: version + 1, ...stamp })
          await alongside?.(statements)
        },
        () => {
          for (const [key, value] of entries) isSettingValue(key, value) ? chosen.set(key, value) : chosen.delete(key)
          if (entries.length > 0) version++
          committed?.()
        },
      )
    },
  }
}

/** What of a configuration are settings of the instance. */
export function configuredSettings(
  values: { readonly [Key in SettingKey]?: SettingValue<Key> | undefined },
  sourceOf: (key: SettingKey) => "env" | "file",
): ConfiguredSettings {
  const told = SETTING_KEYS.flatMap((key) => (values[key] === undefined ? [] : [[key, { value: values[key], source: sourceOf(key) }]]))
  return Object.fromEntries(told) as ConfiguredSettings // each value is that of its key
}

/** A setting of the operator and where it was set. Secrets are masked. */
export interface Described {
  key: string
  value: unknown
  source: string
}

/** Returns the kind of place a setting comes from, without the path of the file. */
export function sourceOf(words: string): "env" | "file" | "default" {
  if (words.startsWith("file")) return "file"
  return words === "default" ? "default" : "env"
}
