/** Ways to write numbers and dates that differ from one another; a person's own choice is offered beside them. */
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

/** Each with an example; the empty value is the browser's own. */
export function localeOptions(chosen: string | null): { value: string; label: string }[] {
  const names = new Intl.DisplayNames("en", { type: "language" })
  const tags = [...new Set<string>([...OFFERED, ...(chosen === null ? [] : [chosen])])]
  const own = tags.map((value) => ({ value, label: `${names.of(value)}: ${EXAMPLE.toLocaleString(value)}` }))
  return [{ value: "", label: `As the browser: ${EXAMPLE.toLocaleString()}` }, ...own.sort((a, b) => a.label.localeCompare(b.label, "en"))]
}
