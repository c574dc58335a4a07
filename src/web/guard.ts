import { AppError } from "../domain/error.ts"
import { API } from "../domain/limits.ts"
import { type Read, readJson } from "./body.ts"

/** Request as passed to a guard, before body and query are parsed. */
export interface Call {
  request: Request
  contentType?: string
  params: Record<string, string | undefined>
  server: Peers | null
  set: { headers: Record<string, unknown> }
}

/** Server functions for a request. They only work with the original request object. */
export interface Peers {
  requestIP(request: Request): { address: string } | null
  /** Sets the idle timeout of a connection in seconds. 0 disables it. */
  timeout?(request: Request, seconds: number): void
}

/**
 * Creates the hooks of an authorization macro. `identify` returns the caller or throws. It runs before the body is read and before
 * validation, because the order of checks is documented.
 */
export function guard<Caller extends object>(identify: (call: Call) => Promise<Caller>, read: Read = readJson(API.bodyBytes)) {
  const callers = new WeakMap<Request, Caller>()

  async function admit(call: Call): Promise<void> {
    if (!callers.has(call.request)) callers.set(call.request, await identify(call))
  }
  /** Runs before the body is read, so that unauthorized callers get 401, not 400, 413 or 415, and no body is read for them. */
  async function parse(call: Call): Promise<unknown> {
    await admit(call)
    return read(call.request, mediaType(call.request))
  }
  /** Runs for GET and HEAD, which are not parsed, before validation: unauthorized callers with an invalid query get 401, not 400. */
  async function transform(call: Call): Promise<void> {
    await admit(call)
    refuseMalformedQuery(call.request.url)
  }
  return {
    // "json" never runs. It only declares the media type for OpenAPI. The type of a macro's `parse` lacks it, hence the cast.
    parse: [parse, "json" as never],
    transform,
    resolve: ({ request }: { request: Request }) => callers.get(request)!,
  }
}

/** Returns the media type in lower case. Elysia's `contentType` keeps the original case. */
export const mediaType = (request: Request): string | undefined => request.headers.get("content-type")?.split(";")[0]?.trim().toLowerCase()

/** Throws `invalid_query` for repeated parameters and invalid escapes, which Elysia would accept silently. */
function refuseMalformedQuery(url: string): void {
  const query = url.split("#")[0]!.split("?").slice(1).join("?")
  if (query === "") return
  if (!isDecodable(query)) throw new AppError("invalid_query", "The query string has an invalid escape or is not UTF-8.")
  const names = [...new URLSearchParams(query).keys()]
  const repeated = names.find((name, i) => names.indexOf(name) !== i)
  if (repeated === undefined) return
  const errors = [{ pointer: pointerTo(repeated), code: "duplicate_parameter", detail: "The parameter is given more than once." }]
  throw new AppError("invalid_query", "A query parameter is repeated.", { errors })
}

function isDecodable(query: string): boolean {
  try {
    decodeURIComponent(query)
    return true
  } catch {
    return false
  }
}

/** Returns the JSON Pointer to a parameter. Truncates long names. */
const pointerTo = (name: string): string => `/${name.slice(0, 100).replaceAll("~", "~0").replaceAll("/", "~1")}`
