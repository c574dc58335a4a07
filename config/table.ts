import { environmentName, KEYS, SETTINGS } from "./schema.ts"

/** The configuration table of the README, in Markdown. */
export function configurationTable(): string {
  const rows = KEYS.map((key) => {
    const { default: value, form, about } = SETTINGS[key]
    const shown =
      value === undefined || (Array.isArray(value) && value.length === 0) ? "–" : `\`${Array.isArray(value) ? value.join(",") : value}\``
    return `| \`${environmentName(key)}\` | ${form} | ${shown} | ${about} |`
  })
  return ["| Setting | Form | Default | What it is |", "|---|---|---|---|", ...rows].join("\n")
}
