import { trackerScript, vitalsScript } from "../tracker/bundle.ts" with { type: "macro" }
import { COLLECT_PATH, SCRIPT_NAME } from "../tracker/bundle.ts"
import type { Call } from "../web/guard.ts"
import { encodingOf } from "./accept.ts"
import type { RequestHandler } from "./collect/response.ts"
import { baseUrlFor, methodNotAllowed, problem } from "./errors.ts"
import { matchesETag, requestId } from "./headers.ts"

export interface TrackerOptions {
  baseUrl: string
  /** Path to which scripts send events, and an additional path of the native script, if configured. */
  collectPath: string | undefined
  scriptPath: string | undefined
  /** Called for every request of a script, with its `Referer` and the address of the client. */
  onScript?(referer: string, address: string | undefined): void
  /** Returns the address of the client behind trusted proxies. */
  addressOf?(call: Pick<Call, "request" | "server">): string | undefined
  /** Headers that let any page load a script. */
  headers: Readonly<Record<string, string>>
}

const NATIVE = trackerScript("native")
const PLAUSIBLE = trackerScript("plausible")
const UMAMI = trackerScript("umami")
const GOATCOUNTER = trackerScript("goatcounter")
const VITALS = vitalsScript()

const EXTENSIONS = "hash|outbound-links|file-downloads|tagged-events|pageview-props|revenue|exclusions|compat|local|manual"
/** Extensions in the name of the script that change its behaviour. The others are always active. */
const READ = ["hash", "local", "manual", "outbound-links", "file-downloads"]
const EXTENDED = new RegExp(`^/js/(?:script|plausible)((?:\\.(?:${EXTENSIONS}))*)\\.js$`)
const WITH_ID = /^\/js\/(pa-[A-Za-z0-9_-]{1,64})\.js$/
const METHODS = ["GET", "HEAD", "OPTIONS"]
const SCRIPT = { "content-type": "text/javascript; charset=utf-8", "cache-control": "public, max-age=86400", vary: "accept-encoding" }
const PREFLIGHT = { "access-control-allow-methods": METHODS.join(", "), "access-control-max-age": "86400" }

/** Returns a function that finds the request handler for the path of a script. Scripts without an id are prepared once. */
export function trackerHandlers(options: TrackerOptions): (path: string) => RequestHandler | undefined {
  const prepared = new Map<string, Script>()
  return (path) => {
    const variant = findVariant(path, options.scriptPath)
    if (!variant) return undefined
    const script = prepared.get(variant.name) ?? prepare(variant, options.collectPath)
    if (!variant.name.startsWith("pa-")) prepared.set(variant.name, script)
    return async (request, server) => {
      options.onScript?.(request.headers.get("referer") ?? "", options.addressOf?.({ request, server }))
      return answer(request, script, options)
    }
  }
}

interface Variant {
  name: string
  text: string
}

function findVariant(path: string, scriptPath: string | undefined): Variant | undefined {
  if (path === "/js/script.js" || path === scriptPath) return { name: "", text: NATIVE }
  // The native script loads it from its own folder.
  if (path === "/js/vitals.js" || path === scriptPath?.replace(/[^/]*$/, "vitals.js")) return { name: "vitals", text: VITALS }
  if (path === "/script.js") return { name: "umami", text: UMAMI }
  if (path === "/count.js") return { name: "count", text: GOATCOUNTER }
  // All other requests of the instance pass through here, too.
  if (!path.startsWith("/js/")) return undefined
  const id = WITH_ID.exec(path)?.[1]
  if (id) return { name: id, text: PLAUSIBLE }
  const requested = EXTENDED.exec(path)?.[1]?.split(".")
  return requested && { name: ["script", ...READ.filter((extension) => requested.includes(extension))].join("."), text: PLAUSIBLE }
}

interface Script {
  etag: string
  text: string
  gzip?: Uint8Array<ArrayBuffer>
  zstd?: Uint8Array<ArrayBuffer>
}

function prepare({ name, text }: Variant, collectPath: string | undefined): Script {
  const own = text.replaceAll(SCRIPT_NAME, name).replaceAll(COLLECT_PATH, collectPath ? JSON.stringify(collectPath) : COLLECT_PATH)
  return { etag: `W/"${Bun.hash(own).toString(36)}"`, text: own }
}

function answer(request: Request, script: Script, { headers, baseUrl }: TrackerOptions): Response {
  const own = { ...headers, "x-request-id": requestId(request) }
  if (request.method === "OPTIONS") return new Response(null, { status: 204, headers: { ...own, ...PREFLIGHT } })
  if (!METHODS.includes(request.method))
    return problem(methodNotAllowed(METHODS), baseUrlFor(request, baseUrl), { ...own, allow: METHODS.join(", ") })
  const cached = { ...own, ...SCRIPT, etag: script.etag }
  if (matchesETag(request, script.etag)) return new Response(null, { status: 304, headers: cached })
  const encoding = encodingOf(request)
  const encoded = { ...cached, ...(encoding && { "content-encoding": encoding }) }
  return new Response(bodyOf(script, encoding), { headers: encoded })
}

function bodyOf(script: Script, encoding: "zstd" | "gzip" | undefined): string | Uint8Array<ArrayBuffer> {
  if (encoding === "gzip") {
    script.gzip ??= Bun.gzipSync(script.text, { level: 9 })
    return script.gzip
  }
  if (encoding === "zstd") {
    script.zstd ??= new Uint8Array(Bun.zstdCompressSync(script.text))
    return script.zstd
  }
  return script.text
}
