/** Makes the files of the dashboard: from source when the program starts without being built, and once by the build. */
import { statSync } from "node:fs"
import { join } from "node:path"
import { type BuildArtifact, type BunPlugin, Glob } from "bun"

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

/** The script of the pages that need no account; the page itself names that of all others. */
export const GUEST_SCRIPT = /^\/assets\/guest-entry-[a-z0-9]+\.js$/

/**
 * Bundles the dashboard; takes some 100 ms. Throws what the bundler refuses. The pages that need no account are bundled by
 * themselves: in one bundle the bundler would cut what they share with the dashboard into dozens of small files.
 */
export async function bundleDashboard(): Promise<DashboardPart[]> {
  const outputs = (await Promise.all([bundle("index.html"), bundle("guest.tsx")])).flat()
  const parts = await Promise.all(
    outputs.map(async (output) => ({
      path: output.type.startsWith("text/html") ? "/" : output.path.replace(/^\.\//, ASSETS),
      type: output.type,
      bytes: new Uint8Array(await output.arrayBuffer()),
    })),
  )
  const font = new Uint8Array(await Bun.file(Bun.resolveSync(FONT_FILE, SOURCE)).arrayBuffer())
  // A file that both bundles hold has the same hash in its name.
  return [...new Map(parts.map((part) => [part.path, part])).values(), { path: FONT_PATH, type: "font/woff2", bytes: font }]
}

async function bundle(entry: string): Promise<BuildArtifact[]> {
  const { outputs } = await Bun.build({
    entrypoints: [join(SOURCE, entry)],
    target: "browser",
    publicPath: ASSETS,
    naming: { entry: "[name]-entry-[hash].[ext]", chunk: "[name]-[hash].[ext]", asset: "[name]-[hash].[ext]" },
    external: [FONT_PATH],
    minify: true,
    splitting: true,
    define: { "process.env.NODE_ENV": '"production"' },
    plugins: [withoutMutations],
  })
  return outputs
}

/** The dashboard writes through `ui/api.ts`, never through the query library, whose part for writing is 5 kB of every first view. */
const withoutMutations: BunPlugin = {
  name: "without-mutations",
  setup(build) {
    build.onLoad({ filter: /query-core\/build\/modern\/mutationCache\.js$/ }, () => ({
      contents: "export class MutationCache { clear() {} resumePausedMutations() { return Promise.resolve() } }",
      loader: "js",
    }))
  },
}
