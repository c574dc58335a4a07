import type { Setting } from "./kinds.ts"
import { type PluginSection, pluginSettings } from "./plugins.ts"
import { environmentName, KEYS, SETTINGS } from "./schema.ts"

/** Returns the configuration table of the README, in Markdown. */
export const configurationTable = (): string => tableOf(KEYS.map((key) => [key, SETTINGS[key]]))

/** Returns the configuration table of a plugin under its title, or undefined when it has no settings. */
export function areaTable({ title, ...section }: PluginSection & { title: string }): string | undefined {
  const settings = pluginSettings([section])
  return settings.length === 0
    ? undefined
    : `**${title}** (\`[${section.id}]\`)\n\n${tableOf(settings.map((one) => [one.key, one.setting]))}`
}

/** Returns the description of a setting, its default, and whether it is a secret. */
export function describeSetting(key: string, plugins: readonly PluginSection[]): { about: string; secret: boolean; default: unknown } {
  const settings: Readonly<Record<string, Setting<unknown>>> = SETTINGS
  const { about, secret, default: fallback } = settings[key] ?? pluginSettings(plugins).find((each) => each.key === key)!.setting // the key comes from one of them
  return { about, secret, default: fallback ?? null }
}

function tableOf(settings: readonly (readonly [key: string, setting: Setting<unknown>])[]): string {
  const rows = settings.map(([key, { default: value, form, about }]) => {
    const shown =
      value === undefined || (Array.isArray(value) && value.length === 0) ? "–" : `\`${Array.isArray(value) ? value.join(",") : value}\``
    return `| \`${environmentName(key)}\` | ${form} | ${shown} | ${about} |`
  })
  return ["| Setting | Form | Default | Description |", "|---|---|---|---|", ...rows].join("\n")
}
