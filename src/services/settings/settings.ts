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
import { deleteSetting, listSettings, putSetting, settingByKey } from "../../store/catalog/settings.ts"
import type { Reload } from "../changes/changes.ts"

/** Values from the environment or the configuration file, which can only be changed there. */
export type ConfiguredSettings = { readonly [Key in SettingKey]?: { value: SettingValue<Key>; source: "env" | "file" } }

/** Settings that can be changed while the instance runs. They are held in memory and always current. */
export interface InstanceSettings {
  get<Key extends SettingKey>(key: Key): SettingValue<Key>
  /** Returns whether a value was chosen, so that the default does not apply. */
  isChosen(key: SettingKey): boolean
  /** Returns the source of the value. */
  sourceOf(key: SettingKey): "env" | "file" | "db" | "default"
  /**
   * Changes several settings in one transaction. Null restores the default, unless it is a valid value of the setting. The caller has
   * validated the values. `alongside` runs in the same transaction, `committed` right after it and before any later statement.
   */
  change(changes: Partial<Record<SettingKey, unknown>>, by: number | null, beside?: BesideSettings): Promise<void>
  /** Returns the version of all settings, which starts at 1 and grows with each change. */
  version(): number
  /** Reads some settings again, after another node changed them. */
  reload: Reload
}

/** Work that is done together with a change of settings. */
export interface BesideSettings {
  alongside?(statements: Statements): Promise<void>
  committed?(): void
}

/** Key of the version, which is stored in the table of settings but is not a setting. */
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
  function hold({ key, value }: { key: string; value: unknown }): void {
    if (key === VERSION_KEY) version = Number(value)
    else if (isSettingKey(key) && isSettingValue(key, value)) chosen.set(key, value)
    else chosen.delete(key)
  }
  for (const row of await listSettings(catalog)) hold(row)

  function current(key: SettingKey): unknown {
    const fromConfiguration = configured[key]
    if (fromConfiguration) return fromConfiguration.value
    return chosen.has(key) ? chosen.get(key) : INSTANCE_SETTINGS[key].default
  }

  return {
    get: <Key extends SettingKey>(key: Key) => current(key) as SettingValue<Key>, // only valid values are stored
    isChosen: (key) => configured[key] !== undefined || chosen.has(key),
    sourceOf: (key) => configured[key]?.source ?? (chosen.has(key) ? "db" : "default"),
    version: () => version,
    async reload(statements, keys) {
      for (const key of keys) hold({ key, value: await settingByKey(statements, key) })
    },
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

/** Returns the settings of the instance that a configuration contains. */
export function configuredSettings(
  values: { readonly [Key in SettingKey]?: SettingValue<Key> | undefined },
  sourceOf: (key: SettingKey) => "env" | "file",
): ConfiguredSettings {
  const entries = SETTING_KEYS.flatMap((key) => (values[key] === undefined ? [] : [[key, { value: values[key], source: sourceOf(key) }]]))
  return Object.fromEntries(entries) as ConfiguredSettings // each value belongs to its key
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
