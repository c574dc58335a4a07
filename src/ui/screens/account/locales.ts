/** Locales that differ in how they write numbers and dates. The user's own choice is offered in addition. */
const OFFERED = [
  "en-GB",
  "en-US",
  "en-IN",
  "de",
  "de-AT",
  "de-CH",
  "fr",
  "fr-CH",
  "es",
  "es-MX",
  "it",
  "nl",
  "pt-BR",
  "pt-PT",
  "da",
  "sv",
  "nb",
  "fi",
  "pl",
  "cs",
  "hu",
  "ro",
  "el",
  "tr",
  "uk",
  "ja",
  "ko",
  "zh-CN",
  "zh-TW",
  "hi",
  "id",
  "vi",
] as const

const EXAMPLE = 12_345.6

/** Returns the locales as options, each with an example. The empty value means the browser's locale. */
export function localeOptions(chosen: string | null): { value: string; label: string }[] {
  const names = new Intl.DisplayNames("en", { type: "language" })
  const tags = [...new Set<string>([...OFFERED, ...(chosen === null ? [] : [chosen])])]
  const own = tags.map((value) => ({ value, label: `${names.of(value)}: ${EXAMPLE.toLocaleString(value)}` }))
  return [{ value: "", label: `Match browser: ${EXAMPLE.toLocaleString()}` }, ...own.sort((a, b) => a.label.localeCompare(b.label, "en"))]
}
