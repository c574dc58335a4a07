import { Elysia, ElysiaCustomStatusResponse } from "elysia"
import { encodingOf } from "./encoding.ts"

/** Smaller answers fit one packet anyway. */
const WORTH_COMPRESSING = 1_024

/** ETag and compression for JSON answers to GET and HEAD. Bun does neither for what a handler returns. */
export const jsonAnswers = new Elysia({ name: "jsonAnswers" }).mapResponse({ as: "global" }, ({ request, responseValue, set }) => {
  if (request.method !== "GET" && request.method !== "HEAD") return
  if (typeof responseValue !== "object" || responseValue === null || responseValue instanceof Response) return
  // `status(404, …)` arrives wrapped: taken for a value, it would answer 200.
  if (responseValue instanceof ElysiaCustomStatusResponse) return

  const json = JSON.stringify(responseValue)
  const status = Number(set.status ?? 200)
  // Header values of ours are text; the type also allows numbers.
  const headers = new Headers(set.headers as Record<string, string>)
  headers.append("vary", "accept-encoding")
  if (status === 200) {
    // A resource with a version brings its own strong tag.
    if (!headers.has("etag")) headers.set("etag", `W/"${Bun.hash(json).toString(36)}"`)
    if (isKnown(request, headers.get("etag")!)) return new Response(null, { status: 304, headers })
  }
  headers.set("content-type", "application/json; charset=utf-8")
  return new Response(encoded(json, request, headers), { status, headers })
})

/** `If-None-Match` compares weakly and may name several tags. */
function isKnown(request: Request, etag: string): boolean {
  const given = request.headers.get("if-none-match")
  if (given === null) return false
  const plain = (tag: string) => tag.trim().replace(/^W\//, "")
  return given.trim() === "*" || given.split(",").some((tag) => plain(tag) === plain(etag))
}

function encoded(json: string, request: Request, headers: Headers): string | Uint8Array<ArrayBuffer> {
  const encoding = json.length < WORTH_COMPRESSING ? undefined : encodingOf(request)
  if (encoding === undefined) return json
  headers.set("content-encoding", encoding)
  return encoding === "zstd" ? new Uint8Array(Bun.zstdCompressSync(json)) : Bun.gzipSync(json)
}
