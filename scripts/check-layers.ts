/**
 * Checks the structure of the code and prints every violation:
 *
 * - imports that go up or sideways between the layers (architecture.md section 1);
 * - folders of one layer that import each other in both directions, and cycles of value imports between files (layout.md);
 * - network clients outside the one outbound client (reliability.md section 9), and plugins that read a client's address.
 */
import { dirname, normalize } from "node:path"
import { Glob } from "bun"

/** The layers and what each may import in addition to itself. A layer depends only on layers above it in this list. */
const MAY_IMPORT: Record<string, readonly string[]> = {
  config: ["src/domain"],
  "src/domain": [],
  "src/store": ["src/domain"],
  "src/query": ["src/domain", "src/store"],
  "src/ingest": ["src/domain", "src/store"],
  "src/services": ["src/domain", "src/store", "src/query", "src/ingest"],
  "src/web": ["src/domain", "src/services"],
  "src/plugin": ["src/domain", "src/store", "src/query", "src/ingest", "src/services", "src/web"],
  // The tracker is delivered as text: its macro runs while bundling.
  "src/tracker": [],
  "src/http": ["src/domain", "src/services", "src/ingest", "src/web", "src/plugin", "src/tracker"],
  "src/cli": ["src/domain", "src/services"],
  "src/ui": ["src/domain", "plugins/pages.ts", "plugins/share-pages.ts", "plugins/widget-panels.ts"],
  plugins: ["#plugin", "#plugin/ui", "#plugin/worker", "#plugin/test", "#plugin/test/browser"],
}
const WIRING = ["src/app.ts", "src/main.ts", "src/program.ts", "src/plugin-worker.ts", "src/assets.d.ts"]
const LISTS = ["plugins/index.ts", "plugins/pages.ts", "plugins/share-pages.ts", "plugins/widget-panels.ts", "plugins/workers.ts"]
const ALIASES: Record<string, string> = {
  "#plugin": "src/plugin/index.ts",
  "#plugin/ui": "src/ui/plugin.ts",
  "#plugin/worker": "src/plugin/worker.ts",
}

/** Code that runs in a browser, which must send requests to its own server. */
const BROWSER = /^src\/(ui|tracker)\/|^plugins\/[^/]+\/ui\//
/** The files of the outbound client. No other server file may use the network. */
const OUTBOUND = ["src/services/oidc/mail-domains.ts", "src/services/outbound/socket.ts"]
const NETWORK_MODULES = /^(node:)?(http|https|http2|net|tls|dgram|dns)(\/|$)|^(undici|ws|axios|node-fetch)$/
const NETWORK_NAMES = ["fetch", "WebSocket", "EventSource", "Bun.fetch", "Bun.connect", "Bun.udpSocket", "Bun.dns", "Bun.redis", "Bun.sql"]

/** Plugins count clients with `throttle` and record events through the host; only the core knows a client's address. */
const ADDRESS = /\brequestIP\b|x-forwarded-for|x-real-ip/i

interface Import {
  /** As written: `./goal.ts`, `#plugin`, `elysia`. */
  path: string
  /** The imported file, if it is one of ours. */
  file?: string
  /** Whether it imports only types, or only when it is called. Such imports cannot break the order of evaluation. */
  isDeferred: boolean
}

const sources = new Map<string, string>()
for await (const file of new Glob("{src,plugins,config}/**/*.{ts,tsx}").scan(".")) sources.set(file, await Bun.file(file).text())
const imports = new Map([...sources].map(([file, source]) => [file, importsOf(file, source)]))

const faults = [...sources].flatMap(([file, source]) => [
  ...(isWiring(file) ? [] : layerFaults(file)),
  ...(/^plugins\/[^/]+\/(?!test\/)/.test(file) && ADDRESS.test(source) ? [`${file}: a plugin must not look for an address`] : []),
  ...(BROWSER.test(file) || OUTBOUND.includes(file)
    ? []
    : networkClients(file, source).map((name) => `${file}: only the outbound client may use ${name}`)),
])
faults.push(...mutualFolders(), ...valueCycles())
for (const fault of faults.sort()) console.error(fault)
process.exit(faults.length === 0 ? 0 : 1)

/** Reads imports from the text: a transpiler erases `import type`, and a type is a dependency too. */
function importsOf(file: string, source: string): Import[] {
  return [...source.matchAll(/\b(?:(import|export)\s+(type\s[^"';]*|[^"';]*?)\bfrom|(import)|(require))\s*(\(?)\s*"([^"\n]+)"/g)].map(
    ([, , names = "", , , call, path = ""]) => {
      const found = ALIASES[path] ?? (path.startsWith(".") ? normalize(`${dirname(file)}/${path}`) : undefined)
      const isDeferred = call === "(" || isTypesOnly(names)
      return { path, isDeferred, ...(found !== undefined && { file: found }) }
    },
  )
}

/** Reports whether an import clause names only types: `type Goal` or `{ type Goal, type Funnel }`. */
function isTypesOnly(clause: string): boolean {
  if (clause.startsWith("type ")) return true
  const names = clause.match(/^\{([^}]*)\}\s*$/)?.[1]
  const listed = names?.split(",").map((name) => name.trim())
  return listed?.every((name) => name === "" || name.startsWith("type ")) ?? false
}

function isWiring(path: string): boolean {
  return [...WIRING, ...LISTS].includes(path) || path.startsWith("src/wiring/")
}

/** Returns the layer of a file: two words of its path. The configuration and each plugin are one layer as a whole. */
function layerOf(path: string): string {
  if (isWiring(path)) return path
  if (path.startsWith("config/")) return "config"
  return path.split("/").slice(0, 2).join("/")
}

function layerFaults(file: string): string[] {
  const from = layerOf(file)
  const allowed = MAY_IMPORT[from.startsWith("plugins/") ? "plugins" : from]
  if (!allowed) return [`${file}: ${from} is not a known layer`]
  return imports
    .get(file)!
    .filter(({ path }) => /^[.#]/.test(path))
    .filter(({ path }) => {
      const target = path.startsWith("#") ? path : layerOf(normalize(`${dirname(file)}/${path}`))
      return target !== from && !allowed.includes(target)
    })
    .map(({ path }) => `${file}: ${from} must not import ${path}`)
}

/** Finds folders of one layer that import each other. A folder and a folder inside it may, because they belong together. */
function mutualFolders(): string[] {
  const firstImport = new Map<string, string>()
  for (const [file, list] of imports) {
    for (const { file: target } of list) {
      if (target === undefined || !sources.has(target) || layerOf(file) !== layerOf(target) || isTest(file)) continue
      const [from, to] = [dirname(file), dirname(target)]
      if (!`${from}/`.startsWith(`${to}/`) && !`${to}/`.startsWith(`${from}/`))
        firstImport.set(`${from} ${to}`, `${file} imports ${target}`)
    }
  }
  return [...firstImport].flatMap(([pair, example]) => {
    const [from = "", to = ""] = pair.split(" ")
    const back = firstImport.get(`${to} ${from}`)
    return back !== undefined && from < to ? [`${from} and ${to} import each other: ${example}, and ${back}`] : []
  })
}

function isTest(file: string): boolean {
  return /^plugins\/[^/]+\/test\//.test(file)
}

/** Finds files whose value imports lead back to themselves, by Tarjan's algorithm for strongly connected components. */
function valueCycles(): string[] {
  const cycles: string[] = []
  const order = new Map<string, number>()
  const lowest = new Map<string, number>()
  const open: string[] = []
  const visit = (file: string): void => {
    order.set(file, order.size)
    lowest.set(file, order.get(file)!)
    open.push(file)
    for (const { file: target, isDeferred } of imports.get(file) ?? []) {
      if (target === undefined || isDeferred || !sources.has(target)) continue
      if (!order.has(target)) visit(target)
      if (open.includes(target)) lowest.set(file, Math.min(lowest.get(file)!, lowest.get(target)!))
    }
    if (lowest.get(file) !== order.get(file)) return
    const cycle = open.splice(open.indexOf(file))
    if (cycle.length > 1) cycles.push(`${cycle.sort().join(", ")}: these files import each other in a cycle`)
  }
  for (const file of sources.keys()) if (!order.has(file)) visit(file)
  return cycles
}

/** Returns the network clients that a server file uses. The check does not run macros. */
function networkClients(file: string, source: string): string[] {
  const modules = imports
    .get(file)!
    .map(({ path }) => path)
    .filter((path) => NETWORK_MODULES.test(path))
  const plain = transpiler(file).transformSync(source.replaceAll(/with \{\s*type: "macro"\s*\}/g, ""))
  // A Unix socket is a local file, so nothing leaves the machine.
  const remote = plain.replaceAll(`${mark("Bun.connect")}({ unix:`, "")
  return [...modules, ...NETWORK_NAMES.filter((name) => new RegExp(`\\b${mark(name)}\\b`).test(remote))]
}

/** A transpiler distinguishes a global name from a method of the same name, which a text search cannot. */
function transpiler(file: string): Bun.Transpiler {
  const forms = NETWORK_NAMES.flatMap((name) => [name, `globalThis.${name}`].map((form) => [form, mark(name)]))
  return new Bun.Transpiler({ loader: file.endsWith("x") ? "tsx" : "ts", target: "bun", define: Object.fromEntries(forms) })
}

function mark(name: string): string {
  return `FORBIDDEN_${name.replace(".", "_")}`
}
