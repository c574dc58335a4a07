import type { Clock } from "../domain/clock.ts"
import { INSTANCE_SETTINGS, isSettingKey, isSettingValue, type SettingKey, type SettingValue } from "../domain/instance-settings.ts"
import type { Catalog, Statements } from "../store/catalog/catalog.ts"
import { deleteSetting, listSettings, putSetting } from "../store/catalog/settings.ts"

/** Settings that are changed while the instance runs; from memory, always exact. */
export interface InstanceSettings {
  get<Key extends SettingKey>(key: Key): SettingValue<Key>
  /** Whether a value was chosen, or the default holds. */
  isChosen(key: SettingKey): boolean
  /**
   * Changes several at once; null goes back to the default unless it is a value of the setting. The values have been judged.
   * `alongside` runs in the same transaction.
   */
  change(
    changes: Partial<Record<SettingKey, unknown>>,
    by: number | null,
    alongside?: (statements: Statements) => Promise<void>,
  ): Promise<void>
}

export async function createInstanceSettings({
  catalog,
  clock,
}: {
  catalog: Catalog
  clock: Pick<Clock, "now">
}): Promise<InstanceSettings> {
  const chosen = new Map<string, unknown>()
  for (const { key, value } of await listSettings(catalog)) if (isSettingKey(key) && isSettingValue(key, value)) chosen.set(key, value)

  return {
    // Only values that fit the setting get in.
    get: <Key extends SettingKey>(key: Key) => (chosen.has(key) ? chosen.get(key) : INSTANCE_SETTINGS[key].default) as SettingValue<Key>,
    isChosen: (key) => chosen.has(key),
    async change(changes, by, alongside) {
      const entries = Object.entries(changes) as [SettingKey, unknown][] // the names are keys
      await catalog.transaction(
        async (statements) => {
          for (const [key, value] of entries) {
            if (isSettingValue(key, value)) await putSetting(statements, { key, value, updated_by: by, updated_at: clock.now() })
            else await deleteSetting(statements, key)
          }
          await alongside?.(statements)
        },
        () => {
          for (const [key, value] of entries) isSettingValue(key, value) ? chosen.set(key, value) : chosen.delete(key)
        },
      )
    },
  }
}
