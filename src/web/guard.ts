import { AppError } from "../domain/error.ts"
import { API } from "../domain/limits.ts"
import { type Read, readJson } from "./body.ts"

/** What a guard sees of a request, before anything of its body or query is looked at. */
export interface Call {
  request: Request
  contentType?: string
  params: Record<string, string | undefined>
  server: Peers | null
  set: { headers: Record<string, unknown> }
}

/** Tells where a request came from. Works only for the very request the server handed out. */
export interface Peers {
  requestIP(request: Request): { address: string } | null
  /** Seconds without a byte after which the connection is closed; 0 = never. */
  timeout?(request: Request, seconds: number): void
}

/**
 * The hooks of a macro that decides who may go on: `identify` returns the caller or throws. It runs before the body is
 * read and before anything is validated, because a caller can observe the order.
 */
export function guard<Caller extends object>(identify: (call: Call) => Promise<Caller>, read: Read = readJson(API.bodyBytes)) {
  const callers = new WeakMap<Request, Caller>()

  async function admit(call: Call): Promise<void> {
    if (!callers.has(call.request)) callers.set(call.request, await identify(call))
  }
  /** Before the body is read: a stranger gets 401, not 400, 413 or 415, and makes us read nothing. */
  async function parse(call: Call): Promise<unknown> {
    await admit(call)
    return read(call.request, mediaType(call.request))
  }
  /** GET and HEAD are not parsed. Still before validation: a stranger with a bad query gets 401, not 400. */
  async function transform(call: Call): Promise<void> {
    await admit(call)
    refuseMalformedQuery(call.request.url)
  }
  return {
    // "json" is never reached: it tells OpenAPI the media type. The type of a macro's `parse` lacks it, hence the cast.
    parse: [parse, "json" as never],
    transform,
    resolve: ({ request }: { request: Request }) => callers.get(request)!,
  }
}

/** Elysia's own `contentType` keeps the case it was sent in. */
export const mediaType = (request: Request): string | undefined => request.headers.get("content-type")?.split(";")[0]?.trim().toLowerCase()

/** Elysia would keep the last of several values and say nothing, and let broken escapes pass as text. */
function refuseMalformedQuery(url: string): void {
  const query = url.split("#")[0]!.split("?").slice(1).join("?")
  if (query === "") return
  if (!isDecodable(query)) throw new AppError("invalid_query", "The query string has a broken escape or is not UTF-8")
  const names = [...new URLSearchParams(query).keys()]
  const repeated = names.find((name, i) => names.indexOf(name) !== i)
  if (repeated === undefined) return
  const errors = [{ pointer: pointerTo(repeated), code: "duplicate_parameter", detail: "Give it once." }]
  throw new AppError("invalid_query", "A query parameter is given twice.", { errors })
}

function isDecodable(query: string): boolean {
  try {
    decodeURIComponent(query)
    return true
  } catch {
    return false
  }
}

/** A JSON Pointer to a parameter; a name of absurd length is cut. */
const pointerTo = (name: string): string => `/${name.slice(0, 100).replaceAll("~", "~0").replaceAll("/", "~1")}`
