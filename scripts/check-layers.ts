/**
 * Refuses imports that go up or sideways between the floors (style.md section 9), the configuration anywhere but in the
 * wiring, and network clients anywhere but in the one outbound client (reliability.md section 9).
 */
import { dirname, normalize } from "node:path"
import { Glob } from "bun"

/** What a folder may import besides itself. Every line rests only on lines above it. */
const MAY_IMPORT: Record<string, readonly string[]> = {
  config: ["src/domain"],
  "src/domain": [],
  "src/store": ["src/domain"],
  "src/query": ["src/domain", "src/store"],
  "src/ingest": ["src/domain", "src/store"],
  "src/services": ["src/domain", "src/store", "src/query", "src/ingest"],
  "src/plugin": ["src/domain", "src/store", "src/query", "src/ingest", "src/services"],
  // The tracker is handed out as text: its macro is called while bundling.
  "src/tracker": [],
  "src/http": ["src/domain", "src/services", "src/ingest", "src/plugin", "src/tracker"],
  "src/cli": ["src/domain", "src/services"],
  "src/ui": ["src/domain", "plugins/pages.ts"],
  plugins: ["#plugin", "#plugin/ui", "#plugin/test", "#plugin/test/browser"],
}
const WIRING = ["src/app.ts", "src/main.ts", "src/program.ts", "src/assets.d.ts", "plugins/index.ts", "plugins/pages.ts"]

const isWiring = (path: string): boolean => WIRING.includes(path) || path.startsWith("src/wiring/")

/** They run in a browser, where talking to their own server is their work. */
const BROWSER = /^src\/(ui|tracker)\/|^plugins\/[^/]+\/ui\//
/** Parts of the outbound client: what else asks the network is refused. */
const OUTBOUND = ["src/services/txt-records.ts", "src/services/outbound-socket.ts"]
const NETWORK_MODULES = /^(node:)?(http|https|http2|net|tls|dgram|dns)(\/|$)|^(undici|ws|axios|node-fetch)$/
const NETWORK_NAMES = ["fetch", "WebSocket", "EventSource", "Bun.fetch", "Bun.connect", "Bun.udpSocket", "Bun.dns", "Bun.redis", "Bun.sql"]

/** Every floor under src is two words of a path; the configuration and each plugin are one thing as a whole. */
function floorOf(path: string): string {
  if (isWiring(path)) return path
  if (path.startsWith("config/")) return "config"
  return path.split("/").slice(0, 2).join("/")
}

/** Read as text: a transpiler erases `import type`, and a type is a dependency too. */
const importsOf = (source: string): string[] =>
  [...source.matchAll(/\b(?:from|import|require)\s*\(?\s*"([^"\n]+)"/g)].map(([, path]) => path!)

/** The transpiler knows a free name from a method that happens to be called so; a search in the text does not. */
const transpilers = { ts: transpiler("ts"), tsx: transpiler("tsx") }
function transpiler(loader: "ts" | "tsx"): Bun.Transpiler {
  const forms = NETWORK_NAMES.flatMap((name) => [name, `globalThis.${name}`].map((form) => [form, mark(name)]))
  return new Bun.Transpiler({ loader, target: "bun", define: Object.fromEntries(forms) })
}
function mark(name: string): string {
  return `FORBIDDEN_${name.replace(".", "_")}`
}

/** The network clients a server file uses. Macros are not run for the question. */
function networkClients(file: string, source: string): string[] {
  const modules = importsOf(source).filter((path) => NETWORK_MODULES.test(path))
  const plain = transpilers[file.endsWith("x") ? "tsx" : "ts"].transformSync(source.replaceAll(/with \{\s*type: "macro"\s*\}/g, ""))
  // A Unix socket is a file of ours; nothing leaves the machine.
  const remote = plain.replaceAll(`${mark("Bun.connect")}({ unix:`, "")
  return [...modules, ...NETWORK_NAMES.filter((name) => new RegExp(`\\b${mark(name)}\\b`).test(remote))]
}

function layerFaults(file: string, source: string): string[] {
  const from = floorOf(file)
  const allowed = MAY_IMPORT[from.startsWith("plugins/") ? "plugins" : from]
  if (!allowed) return [`${file}: ${from} is no known floor`]
  return importsOf(source)
    .filter((path) => /^[.#]/.test(path))
    .filter((path) => {
      const target = path.startsWith("#") ? path : floorOf(normalize(`${dirname(file)}/${path}`))
      return target !== from && !allowed.includes(target)
    })
    .map((path) => `${file}: ${from} must not import ${path}`)
}

/** Whose address a request has is known to the core alone: plugins count clients with `throttle` and record through the host. */
const ADDRESS = /\brequestIP\b|x-forwarded-for|x-real-ip/i

const faults: string[] = []
for await (const file of new Glob("{src,plugins,config}/**/*.{ts,tsx}").scan(".")) {
  const source = await Bun.file(file).text()
  if (!isWiring(file)) faults.push(...layerFaults(file, source))
  if (/^plugins\/[^/]+\/(?!test\/)/.test(file) && ADDRESS.test(source)) faults.push(`${file}: a plugin must not look for an address`)
  if (BROWSER.test(file) || OUTBOUND.includes(file)) continue
  faults.push(...networkClients(file, source).map((name) => `${file}: only the outbound client may use ${name}`))
}
for (const fault of faults.sort()) console.error(fault)
process.exit(faults.length === 0 ? 0 : 1)
