import type { Setting } from "./kinds.ts"
import { type PluginSection, pluginSettings } from "./plugins.ts"
import { SETTINGS } from "./schema.ts"

/** What a setting is, in words, and what it is unless somebody says so. */
export function toldOf(key: string, plugins: readonly PluginSection[]): { about: string; secret: boolean; default: unknown } {
  const settings: Readonly<Record<string, Setting<unknown>>> = SETTINGS
  const { about, secret, default: fallback } = settings[key] ?? pluginSettings(plugins).find((each) => each.key === key)!.setting // it was loaded from one
  return { about, secret, default: fallback ?? null }
}
