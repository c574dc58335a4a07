/** Makes the files of the dashboard: from source when the program starts without being built, and once by the build. */
import { statSync } from "node:fs"
import { join } from "node:path"
import { Glob } from "bun"

/** One file of the dashboard as a browser loads it. */
export interface DashboardPart {
  /** Its path on the server; it holds a hash of the content, except that of the page itself. */
  path: string
  type: string
  bytes: Uint8Array<ArrayBuffer>
}

/** Where all parts lie but the page. */
export const ASSETS = "/assets/"

const SOURCE = join(import.meta.dir, "../../ui")
/** Kept out of the style sheet: the bundler would put it inside as text, which the content policy forbids. */
export const FONT_PATH = `${ASSETS}hanken-grotesk.woff2`
const FONT_FILE = "@fontsource-variable/hanken-grotesk/files/hanken-grotesk-latin-wght-normal.woff2"

/** When a file of the dashboard was changed last, plugins' pages included; epoch milliseconds. */
export function lastChange(): number {
  const files = new Glob("**/*.{ts,tsx,css,html,svg}")
  const folders = ["ui", "domain", "../plugins"].map((folder) => join(import.meta.dir, "../..", folder))
  const changes = folders.flatMap((cwd) => [...files.scanSync({ cwd, absolute: true })].map((file) => statSync(file).mtimeMs))
  return Math.max(...changes)
}

/** Some 100 ms. Throws what the bundler refuses. */
export async function bundleDashboard(): Promise<DashboardPart[]> {
  const { outputs } = await Bun.build({
    entrypoints: [join(SOURCE, "index.html")],
    target: "browser",
    publicPath: ASSETS,
    naming: { entry: "[name]-[hash].[ext]", chunk: "[name]-[hash].[ext]", asset: "[name]-[hash].[ext]" },
    external: [FONT_PATH],
    minify: true,
    splitting: true,
    define: { "process.env.NODE_ENV": '"production"' },
  })
  const parts = await Promise.all(
    outputs.map(async (output) => ({
      path: output.type.startsWith("text/html") ? "/" : output.path.replace(/^\.\//, ASSETS),
      type: output.type,
      bytes: new Uint8Array(await output.arrayBuffer()),
    })),
  )
  const font = new Uint8Array(await Bun.file(Bun.resolveSync(FONT_FILE, SOURCE)).arrayBuffer())
  return [...parts, { path: FONT_PATH, type: "font/woff2", bytes: font }]
}
