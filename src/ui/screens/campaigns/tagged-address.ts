/** Campaign tags of a URL. */
export const TAGS = [
  { id: "utm_source", label: "Source", example: "newsletter", isNeeded: true },
  { id: "utm_medium", label: "Medium", example: "email" },
  { id: "utm_campaign", label: "Campaign", example: "autumn-sale" },
  { id: "utm_term", label: "Term", example: "red shoes" },
  { id: "utm_content", label: "Content", example: "button" },
] as const
type TagId = (typeof TAGS)[number]["id"]
export type Tags = Partial<Record<TagId, string>>

/**
 * Returns the URL with its campaign tags replaced. A URL without a scheme is taken as `https`. Undefined if it is not a web URL.
 */
export function taggedUrl(page: string, tags: Tags): string | undefined {
  const text = page.trim()
  const url = URL.parse(/^[a-z][a-z0-9+.-]*:/i.test(text) ? text : `https://${text}`)
  if (text === "" || !url || !/^https?:$/.test(url.protocol) || !url.hostname.includes(".")) return undefined
  for (const { id } of TAGS) {
    const value = tags[id]?.trim()
    if (value) url.searchParams.set(id, value)
    else url.searchParams.delete(id)
  }
  return url.href
}
