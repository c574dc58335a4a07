/** Bundles the dashboard: once in the build, or on first use if the program runs from source. */
import { statSync } from "node:fs"
import { join } from "node:path"
import { type BuildArtifact, type BunPlugin, Glob } from "bun"

/** File of the dashboard as browsers load it. */
export interface DashboardPart {
  /** Path on the server. Contains a hash of the content, except for the page. */
  path: string
  type: string
  bytes: Uint8Array<ArrayBuffer>
}

/** Path prefix of all files except the page. */
export const ASSETS = "/assets/"

const SOURCE = join(import.meta.dir, "../../ui")
/** Path of the font. It is not part of the bundle, because the bundler would inline it as text, which the content policy forbids. */
export const FONT_PATH = `${ASSETS}hanken-grotesk.woff2`
const FONT_FILE = "@fontsource-variable/hanken-grotesk/files/hanken-grotesk-latin-wght-normal.woff2"

/** Returns the time of the last change to a source file of the dashboard or of a plugin, in epoch milliseconds. */
export function lastChange(): number {
  const files = new Glob("**/*.{ts,tsx,css,html,svg}")
  const folders = ["ui", "domain", "../plugins"].map((folder) => join(import.meta.dir, "../..", folder))
  const changes = folders.flatMap((cwd) => [...files.scanSync({ cwd, absolute: true })].map((file) => statSync(file).mtimeMs))
  return Math.max(...changes)
}

/** Matches the script of pages that need no account, and that of shares. The page refers to the script of all other pages. */
export const GUEST_SCRIPT = /^\/assets\/guest-entry-[a-z0-9]+\.js$/
export const SHARE_SCRIPT = /^\/assets\/share-entry-[a-z0-9]+\.js$/

/**
 * Bundles the dashboard, which takes about 100 ms. Throws the errors of the bundler. Pages that need no account and pages of shares
 * have bundles of their own, because in a common bundle their shared code would be split into dozens of small files.
 */
export async function bundleDashboard(): Promise<DashboardPart[]> {
  const outputs = (await Promise.all([bundle("index.html"), bundle("guest.tsx"), bundle("share.tsx")])).flat()
  const parts = await Promise.all(
    outputs.map(async (output) => ({
      path: output.type.startsWith("text/html") ? "/" : output.path.replace(/^\.\//, ASSETS),
      type: output.type,
      bytes: new Uint8Array(await output.arrayBuffer()),
    })),
  )
  const font = new Uint8Array(await Bun.file(Bun.resolveSync(FONT_FILE, SOURCE)).arrayBuffer())
  // A file in several bundles has the same name, because the name contains a hash of the content.
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
    plugins: [leanLibraries],
  })
  return outputs
}

/** A text of a library that is replaced, and its replacement. */
type Edit = readonly [from: string, to: string]

/**
 * Parts of libraries that no screen uses, 7 kB of every first view: the cache of writes of the query library, because the dashboard sends
 * its writes itself, and functions that the chart library attaches to itself, so that the bundler cannot tell which are used.
 */
const LEAN: readonly (readonly [file: RegExp, edits: readonly Edit[] | string])[] = [
  [
    /query-core\/build\/modern\/mutationCache\.js$/,
    "export class MutationCache { clear() {} resumePausedMutations() { return Promise.resolve() } }",
  ],
  [
    /uplot\/dist\/uPlot\.esm\.js$/,
    [
      ...["assign", "fmtNum", "rangeNum", "rangeLog", "rangeAsinh", "orient  ", "join", "fmtDate", "tzDate ", "addGap", "clipGaps"].map(
        (name): Edit => [`uPlot.${name} = ${name.trim()};`, ""],
      ),
      ["(paths.linear  = linear);", ""],
      ["(paths.stepped = stepped);", ""],
      ["(paths.spline  = monotoneCubic);", ""],
    ],
  ],
]

const leanLibraries: BunPlugin = {
  name: "lean-libraries",
  setup(build) {
    for (const [filter, edits] of LEAN)
      build.onLoad({ filter }, async ({ path }) => ({
        contents: typeof edits === "string" ? edits : edits.reduce((text, edit) => edited(text, edit, path), await Bun.file(path).text()),
        loader: "js",
      }))
  },
}

/** Replaces a text wherever it occurs. Throws if the library has changed. */
function edited(text: string, [from, to]: Edit, path: string): string {
  if (!text.includes(from)) throw new Error(`${path} does not contain ${JSON.stringify(from)}. Adapt LEAN in bundle.ts to the new version.`)
  return text.replaceAll(from, to)
}
