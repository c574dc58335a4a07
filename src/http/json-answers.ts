import { Elysia, ElysiaCustomStatusResponse } from "elysia"
import { encodingOf } from "./encoding.ts"

/** Minimum length of compressed responses, in characters. Smaller ones fit into one packet. */
const MIN_COMPRESSED_LENGTH = 1_024

/** Adds ETag and compression to JSON responses of GET and HEAD, which Bun does not do for handlers. */
export const jsonAnswers = new Elysia({ name: "jsonAnswers" }).mapResponse({ as: "global" }, ({ request, responseValue, set }) => {
  if (request.method !== "GET" && request.method !== "HEAD") return
  if (typeof responseValue !== "object" || responseValue === null || responseValue instanceof Response) return
  // `status(404, …)` is wrapped. Treated as a value, it would become a 200 response.
  if (responseValue instanceof ElysiaCustomStatusResponse) return

  const json = JSON.stringify(responseValue)
  const status = Number(set.status ?? 200)
  // Our header values are text. The type also allows numbers.
  const headers = new Headers(set.headers as Record<string, string>)
  headers.append("vary", "accept-encoding")
  if (status === 200) {
    // A versioned resource already has a strong tag.
    if (!headers.has("etag")) headers.set("etag", `W/"${Bun.hash(json).toString(36)}"`)
    if (isKnown(request, headers.get("etag")!)) return new Response(null, { status: 304, headers })
  }
  headers.set("content-type", "application/json; charset=utf-8")
  return new Response(encoded(json, request, headers), { status, headers })
})

/** Returns whether `If-None-Match` contains the tag. Tags are compared weakly, and the header can list several. */
function isKnown(request: Request, etag: string): boolean {
  const given = request.headers.get("if-none-match")
  if (given === null) return false
  const plain = (tag: string) => tag.trim().replace(/^W\//, "")
  return given.trim() === "*" || given.split(",").some((tag) => plain(tag) === plain(etag))
}

function encoded(json: string, request: Request, headers: Headers): string | Uint8Array<ArrayBuffer> {
  const encoding = json.length < MIN_COMPRESSED_LENGTH ? undefined : encodingOf(request)
  if (encoding === undefined) return json
  headers.set("content-encoding", encoding)
  return encoding === "zstd" ? new Uint8Array(Bun.zstdCompressSync(json)) : Bun.gzipSync(json)
}
