import type { Setting } from "./kinds.ts"
import { type PluginSection, pluginSettings } from "./plugins.ts"
import { SETTINGS } from "./schema.ts"

/** Returns the description of a setting, its default, and whether it is a secret. */
export function describeSetting(key: string, plugins: readonly PluginSection[]): { about: string; secret: boolean; default: unknown } {
  const settings: Readonly<Record<string, Setting<unknown>>> = SETTINGS
  const { about, secret, default: fallback } = settings[key] ?? pluginSettings(plugins).find((each) => each.key === key)!.setting // the key comes from one of them
  return { about, secret, default: fallback ?? null }
}
