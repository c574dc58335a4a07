/** What the routes of the console share: their documentation, searches, versions and downloads. */
import { type ArgumentReader, caseKey, etagOf, operationsOf, type Versioned } from "#plugin"

/** Sets the header `ETag` to the version of an item and returns the body. */
export function tagged<Body>({ headers }: { headers: Record<string, unknown> }, item: Versioned, body: Body): Body {
  headers.etag = etagOf(item)
  return body
}

/** Returns the OpenAPI documentation of a route. */
export const operation = operationsOf("admin")

/** Returns the headers of a downloaded file. */
export const fileHeaders = (type: string, name: string): Record<string, string> => ({
  "content-type": type,
  "content-disposition": `attachment; filename="${name}"`,
  "content-security-policy": "default-src 'none'; sandbox",
})

/** Returns parts as a body. The runtime accepts an iterable, but its type is missing. */
export const streamed = (parts: AsyncIterable<Uint8Array>): BodyInit => parts as unknown as BodyInit

/** Documents a response that has no schema. */
export const rawResponse = (type = "application/json", status = 200): object => ({
  responses: { [status]: { content: { [type]: { schema: type === "application/json" ? { type: "object" } : { type: "string" } } } } },
})

const SEARCH_CHARS = { min: 0, max: 200 }

/** Reads the search parameter `q`. Returns whether one of the texts of a row contains it, ignoring case; always true without one. */
export function readSearch(reader: ArgumentReader): (texts: readonly (string | null)[]) => boolean {
  const part = caseKey(reader.text("q", SEARCH_CHARS) ?? "")
  return (texts) => part === "" || texts.some((text) => text !== null && caseKey(text).includes(part))
}
